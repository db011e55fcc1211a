// SPDX-License-Identifier: BSD-3-Clause
// Configurations of nano-benchmarks: which statements on which variables are timed, and the C text that does so.
// (X-Ray, 2.3 and 2.4)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

enum class CpuElement : std::uint8_t { int32, int64, float32, float64 };

/// A type of variables: an element, or a vector of several (GCC's vector extensions).
struct CpuType {
    CpuElement element = CpuElement::int32;
    unsigned elements = 1;

    bool floating_point() const { return element == CpuElement::float32 || element == CpuElement::float64; }
    unsigned bytes() const;
    /// "int32", "float", "floatx8".
    std::string name() const;
    friend bool operator==(const CpuType&, const CpuType&) = default;
};

/// int32, int64, float, double, floatx4, floatx8, doublex2, doublex4, int32x4, int32x8.
std::span<const CpuType> cpu_types();

enum class Operation : std::uint8_t { add, multiply, divide, multiply_add };
inline constexpr Operation cpu_operations[] = {Operation::add, Operation::multiply, Operation::divide,
                                               Operation::multiply_add};
/// "add", "mul", "div", "fma"
std::string_view name_of(Operation operation);

/// <S1|S2|...|Sn, type, r>: statements in turn, on variables p1 to pr that begin with these values. (X-Ray, 2.4)
struct Configuration {
    CpuType type;
    std::vector<std::string> statements;
    std::vector<double> initial;  ///< of p1, p2, ...: whole numbers where the type is whole
    friend bool operator==(const Configuration&, const Configuration&) = default;
};

/// So many chains of one operation, each of which waits for itself alone; one gives the latency, more the initiation
/// interval. (X-Ray, 3.2 and 3.3.) Operands are such that values stay ordinary for ever: division is p = q / p, as a
/// quotient that shrinks gets quicker, and p = q + p * r the multiply-add, as a product of constants would be computed
/// once. (ours)
Configuration chains_of(Operation operation, CpuType type, unsigned chains);

/// p1 = p1 + pn | p2 = p2 + p1 | ... | pn = pn + p(n-1): a chain through n variables. (X-Ray, 3.5)
Configuration ring_of(CpuType type, unsigned variables);

/// A function `void NAME(uint64_t rounds)` in C: the form of Figure 3(d), each statement with a case label of its own
/// in a switch over a volatile, variables that begin with volatiles and end in one.
std::string c_function(const Configuration& configuration, const std::string& name);

/// Statements that a round of it has: the least multiple of their number that is at least 128. (X-Ray, 2.4)
std::uint64_t statements_per_round(const Configuration& configuration);

/// A source file with functions nano_0, nano_1, ... of configurations of one type; of floating-point types also
/// `int rounds_once(void)`: whether a product and a sum in one statement are rounded once, as one instruction does.
std::string c_source(std::span<const Configuration> configurations);

/// A source file whose `unsigned widest_floating_point` and `unsigned widest_whole` are the bytes of the widest vector
/// register that the compiler has for such elements; 0 = none.
std::string widest_vectors_source();

}  // namespace cachetally
