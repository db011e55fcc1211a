// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cachetally {
namespace {

constexpr std::uint64_t least_statements = 128;  ///< beside which the loop around them is little

constexpr CpuType all_types[] = {{CpuElement::int32, 1},   {CpuElement::int64, 1},   {CpuElement::float32, 1},
                                 {CpuElement::float64, 1}, {CpuElement::float32, 4}, {CpuElement::float32, 8},
                                 {CpuElement::float64, 2}, {CpuElement::float64, 4}, {CpuElement::int32, 4},
                                 {CpuElement::int32, 8}};

/// Without a sign: sums of numbers with one may not overflow in C.
std::string_view c_name(CpuElement element) {
    switch (element) {
        case CpuElement::int32: return "uint32_t";
        case CpuElement::int64: return "uint64_t";
        case CpuElement::float32: return "float";
        case CpuElement::float64: break;
    }
    return "double";
}

/// The value of p, and of the operands that all chains share.
struct Operands {
    double value = 0;
    std::vector<double> shared;
};

Operands operands_of(Operation operation, CpuType type) {
    const bool real = type.floating_point();
    switch (operation) {
        case Operation::add: return {real ? 1.1 : 5, {real ? 1.0 : 7}};
        case Operation::multiply: return {real ? 1.1 : 5, {real ? 1.0 : 3}};
        case Operation::divide:  // a fixed point, or two values in turn: quotients of half of the bits, or of all
            if (real) return {1.1, {1.3}};
            return type.element == CpuElement::int64 ? Operands{1e6, {1e12 + 7}} : Operands{1e3, {1e6 + 3}};
        case Operation::multiply_add: break;
    }
    return {real ? 1.1 : 5, {real ? 1.0 : 7, real ? 0.5 : 3}};
}

std::string statement_of(Operation operation, unsigned chain, unsigned chains) {
    const std::string p = fmt::format("p{}", chain), q = fmt::format("p{}", chains + 1);
    switch (operation) {
        case Operation::add: return fmt::format("{0} = {0} + {1}", p, q);
        case Operation::multiply: return fmt::format("{0} = {0} * {1}", p, q);
        case Operation::divide: return fmt::format("{0} = {1} / {0}", p, q);
        case Operation::multiply_add: break;
    }
    return fmt::format("{0} = {1} + {0} * p{2}", p, q, chains + 2);
}

std::string type_definitions(CpuType type) {
    const std::string vector = type.elements == 1 ? "" : fmt::format(" __attribute__((vector_size({})))", type.bytes());
    return fmt::format("#include <stdint.h>\ntypedef {} E;\ntypedef E T{};\n", c_name(type.element), vector);
}

/// (1 + e)^2 - (1 + 2e) is e^2 where the product is not rounded, and else 0.
std::string rounding_function(CpuType type) {
    const int bits = type.element == CpuElement::float32 ? 12 : 27;
    return fmt::format(
        "int rounds_once(void) {{\n  static volatile E e = (E)1 / ((uint64_t)1 << {});\n"
        "  static volatile E one = 1;\n  static volatile T result;\n"
        "  const T p = (T){{0}} + (one + e), q = (T){{0}} - (one + 2 * e);\n"
        "  result = q + p * p;\n  const T r = result;\n  return r{} != 0;\n}}\n",
        bits, type.elements == 1 ? "" : "[0]");
}

}  // namespace

unsigned CpuType::bytes() const {
    return elements * (element == CpuElement::int32 || element == CpuElement::float32 ? 4 : 8);
}

std::string CpuType::name() const {
    constexpr const char* names[] = {"int32", "int64", "float", "double"};
    const char* const name = names[static_cast<std::size_t>(element)];
    return elements == 1 ? name : fmt::format("{}x{}", name, elements);
}

std::span<const CpuType> cpu_types() { return all_types; }

std::string_view name_of(Operation operation) {
    constexpr std::string_view names[] = {"add", "mul", "div", "fma"};
    return names[static_cast<std::size_t>(operation)];
}

Configuration chains_of(Operation operation, CpuType type, unsigned chains) {
    const Operands operands = operands_of(operation, type);
    Configuration configuration{type, {}, std::vector<double>(chains, operands.value)};
    for (unsigned chain = 1; chain <= chains; ++chain)
        configuration.statements.push_back(statement_of(operation, chain, chains));
    configuration.initial.insert(configuration.initial.end(), operands.shared.begin(), operands.shared.end());
    return configuration;
}

Configuration ring_of(CpuType type, unsigned variables) {
    Configuration configuration{type, {}, std::vector<double>(variables)};  // of zeros: other sums would overflow
    for (unsigned i = 1; i <= variables; ++i)
        configuration.statements.push_back(fmt::format("p{0} = p{0} + p{1}", i, i == 1 ? variables : i - 1));
    return configuration;
}

std::uint64_t statements_per_round(const Configuration& configuration) {
    const std::uint64_t each = configuration.statements.size();
    return (least_statements + each - 1) / each * each;
}

std::string c_function(const Configuration& configuration, const std::string& name) {
    std::string text = fmt::format("void {}(uint64_t rounds) {{\n  static volatile E in[] = {{{}}};\n", name,
                                   fmt::join(configuration.initial, ", "));
    const std::size_t variables = configuration.initial.size();
    const char* const spread = configuration.type.elements == 1 ? "" : "(T){0} + ";
    for (std::size_t i = 0; i < variables; ++i) text += fmt::format("  T p{} = {}in[{}];\n", i + 1, spread, i);
    text += "  uint64_t i = rounds;\n  switch (zero) {\n  case 0:\n  loop:\n";
    const std::uint64_t all = statements_per_round(configuration);
    for (std::uint64_t i = 0; i < all; ++i)
        text += fmt::format("  case {}: {};\n", i + 1, configuration.statements[i % configuration.statements.size()]);
    text += "    if (--i) goto loop;\n    if (!zero) break;\n  default:;\n  }\n";
    for (std::size_t i = 0; i < variables; ++i) text += fmt::format("  out = p{};\n", i + 1);
    return text + "}\n";
}

std::string c_source(std::span<const Configuration> configurations) {
    const CpuType type = configurations.front().type;
    std::string text = type_definitions(type) + "static volatile int zero;\nstatic volatile T out;\n";
    for (std::size_t i = 0; i < configurations.size(); ++i)
        text += c_function(configurations[i], fmt::format("nano_{}", i));
    return type.floating_point() ? text + rounding_function(type) : text;
}

std::string widest_vectors_source() {
    return "#if defined(__AVX__)\nunsigned widest_floating_point = 32;\n"
           "#elif defined(__SSE2__) || defined(__aarch64__)\nunsigned widest_floating_point = 16;\n"
           "#else\nunsigned widest_floating_point = 0;\n#endif\n"
           "#if defined(__AVX2__)\nunsigned widest_whole = 32;\n"
           "#elif defined(__SSE2__) || defined(__aarch64__)\nunsigned widest_whole = 16;\n"
           "#else\nunsigned widest_whole = 0;\n#endif\n";
}

}  // namespace cachetally
