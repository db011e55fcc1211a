// The tests by name, and running some of them on a target.
#pragma once

#include <functional>
#include <span>

#include "probes/cooper_xu/tests.hpp"
#include "probes/xray/l1.hpp"

namespace cachetally {

/// What tests know of each other's findings.
struct Context {
    std::optional<L1Geometry> published_l1, hardened_l1;
    std::optional<TestReport> levels;  ///< hardened
    std::string l1_policy;             ///< as `replacement` found it
    TlbOptions sweep;                  ///< of the published sweeps
};

/// A test, in the variants that it has.
struct ProbeTest {
    std::string name;
    std::string source;  ///< where it was published
    std::string meaning;
    bool costly = false;  ///< the published variant takes seconds
    std::function<TestReport(Meter&, const Context&)> published, hardened;
};

/// All tests, in the order in which they are run.
std::span<const ProbeTest> probe_tests();

struct SuiteOptions {
    std::vector<std::string> tests;  ///< names; empty = all
    bool published = true, hardened = true;
    bool cheap = false;  ///< costly published variants are run only if their test is named
    TlbOptions sweep;    ///< of the published sweeps of Cooper and Xu
    Budget budget;
    std::uint64_t seed = 1;
};

/// Runs tests on a target. What they need of L1 is found first, and is in the reports only if it was asked for. A
/// target that refuses, or a budget that is spent, ends a test with a finding that says so. Throws
/// std::invalid_argument for names of tests that there are not.
/// Where Budget::go_on says no, the reports are those of the tests that were complete.
std::vector<TestReport> run_suite(ProbeTarget& target, const SuiteOptions& options);

}  // namespace cachetally
