// SPDX-License-Identifier: BSD-3-Clause
// The tests of a processor by name, within a budget of time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "probes/cpu/features.hpp"

namespace cachetally {

struct CpuTest {
    std::string name, meaning;
    std::string section;                  ///< of X-Ray
    double weight = 1;                    ///< of its part of the budget
    std::vector<std::string> parameters;  ///< refused where the test ends without an answer
    void (CpuTests::*whole)(TestReport&) = nullptr;
    void (CpuTests::*of_type)(TestReport&, CpuType) = nullptr;  ///< where it is one by type
};

/// frequency, instructions, fma, registers, smp, smt: in the order in which they are run.
std::span<const CpuTest> cpu_tests();

struct CpuSuiteOptions {
    std::vector<std::string> tests;  ///< names; empty = all
    std::vector<std::string> types;  ///< names of cpu_types(); empty = all
    /// Of `now`: each test may take a part of what is left, by weight, and each type a third of the test's or an equal
    /// part.
    std::uint64_t end_ns = ~0ULL;
    std::function<std::uint64_t()> now = {};  ///< empty: now_ns()
};

/// Throws std::invalid_argument for names of tests and types that there are not, and for types where no test that is
/// run is about them.
void check_cpu_suite(const CpuSuiteOptions& options);

/// Runs tests. What cannot be measured, or not in time, is a finding with the reason. Where an end is asked for, the
/// reports are those of the tests that were complete. Throws what check_cpu_suite() throws.
std::vector<TestReport> run_cpu_suite(CpuBench& bench, const CpuSuiteOptions& options);

}  // namespace cachetally
