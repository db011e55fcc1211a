// SPDX-License-Identifier: BSD-3-Clause
// The tests by name, and running some of them on a target.
#pragma once

#include <string>
#include <vector>

#include "cachetally/probe_test.hpp"
#include "probes/tests.hpp"

namespace cachetally {

/// The tests of suite.cpp: a row there and a file with its variants are all that a test needs (CONTRIBUTING.md).
/// probe_tests() has them, and those that a program added.
const std::vector<ProbeTest>& built_in_probe_tests();

/// "published and robust", "published only; robust, l1 answers the same", ...
std::string variants_of(const ProbeTest& test);

/// Where a test has one variant only, which tests answer the same in the other, and why: "robust, l1 answers the same
/// (gaps are ...)". Empty where it has both, and of tests that there are not.
std::string note_of(const std::string& test);

struct SuiteOptions {
    std::vector<std::string> tests;  ///< names; empty = all
    bool published = true, robust = true;
    bool cheap = false;   ///< costly published variants are run only if their test is named
    bool curves = false;  ///< also tests that find nothing, without their names
    TlbOptions sweep;     ///< of the published sweeps of Cooper and Xu
    Budget budget;        ///< of all tests together: each run may spend its ProbeTest::parts of what is left
    std::uint64_t seed = 1;
};

/// The tests that are asked for, or all, but have no variant that is: they are left out. Throws std::invalid_argument
/// for names of tests that there are not, and where nothing would remain.
std::vector<const ProbeTest*> left_out_of(const SuiteOptions& options);

/// "left out, as they have no robust variant: gap (l1 answers the same), ..."; empty where nothing is.
std::string left_out_in_words(const SuiteOptions& options);

/// Runs tests on a target. What they need of L1 is found first, and is in the reports only if it was asked for. A
/// target that refuses, or a share of the budget that is spent, ends a test with a finding that says so. Throws what
/// left_out_of() throws.
/// Where Budget::go_on says no, the reports are those of the tests that were complete.
std::vector<TestReport> run_suite(ProbeTarget& target, const SuiteOptions& options);

}  // namespace cachetally
