// SPDX-License-Identifier: BSD-3-Clause
// A test of memory hierarchies, its ground truth, and how a program adds one of its own (docs/probe-authors.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/probe_meter.hpp"
#include "cachetally/probe_result.hpp"

namespace cachetally {

struct TlbOptions;  // of the project's own tests

/// What later tests want to know of L1.
struct L1Geometry {
    std::uint64_t capacity = 0, line = 0;  ///< bytes
    unsigned ways = 0;
    double latency = 0;  ///< cycles
    /// No stride makes lines meet: a hash chooses the set, or more of the physical address than a page keeps.
    bool scattered = false;
    /// Bytes of a way: lines as far apart meet in a set, unless they are scattered.
    std::uint64_t way() const { return capacity / ways; }
};

/// What tests know of each other's findings.
struct Context {
    std::optional<L1Geometry> published_l1, robust_l1;
    std::optional<TestReport> levels;   ///< robust
    std::string l1_policy;              ///< as `replacement` found it
    std::string no_l1;                  ///< why there is no robust_l1
    bool prefetches = false;            ///< as `prefetcher` found it
    const TlbOptions* sweep = nullptr;  ///< of the published sweeps; never null within a test
};

/// The geometry of L1 that robust tests go by. Where there is none it throws what ends the test with a refusal that
/// says so.
const L1Geometry& l1_of(const Context& context);

/// The same, for tests that need lines a way apart to meet: likewise where sets are hashed.
const L1Geometry& l1_in_ways(const Context& context);

/// A parameter of a machine: what is true.
struct Fact {
    std::string level, parameter;
    Value value;
    double high = 0;  ///< where it depends on the program: the largest number that is true, else 0
    /// Share by which a number may be off and be right; empty: none for counts and sizes, 5 % for latencies, or the
    /// interval of the answer (docs/probes.md).
    std::optional<double> tolerance = {};
};

/// A test, in the variants that it has.
struct ProbeTest {
    std::string name;
    std::string source = {};  ///< where it was published; empty in programs of one's own
    std::string meaning = {};
    bool costly = false;  ///< the published variant takes seconds
    /// Time chains of loads and answer, or refuse with a reason. They know the target by the Meter alone; ProbeError
    /// that leaves them becomes a refusal.
    std::function<TestReport(Meter&, const Context&)> published = {}, robust = {};
    /// Of a test in one variant only: the tests whose other variant answers the same question, and why it has none.
    std::vector<std::string> counterparts = {};
    std::string why = {};
    /// The parameter that it is about: refused where the test ends without an answer.
    std::string level = {}, parameter = {};
    std::vector<std::string> goes_by = {};  ///< tests, besides l1, whose findings its robust variant uses

    unsigned parts = 1;  ///< equal parts of a budget that its robust variant may spend; others spend one

    bool only_curves = false;  ///< it finds nothing: run where it is named, or SuiteOptions::curves

    /// What is true of a machine, from its description alone, of what this test answers. It goes before what the
    /// project knows. An answer that has its parameter here, but no fact of its level, is wrong; one whose parameter
    /// nobody knows is not judged.
    std::function<std::vector<Fact>(const MachineDescription&)> truth = {};

    bool has(std::string_view variant) const { return variant == "published" ? bool{published} : bool{robust}; }
};

/// Adds a test behind those that there are: from here on it is known by its name, and run among all. To be called
/// before any test is run, and by one thread. Throws std::invalid_argument for a name that is taken, or is not of a-z,
/// 0-9 and _, for a test without a variant or parts of a budget, and for tests in goes_by and counterparts that there
/// are not.
void add_test(ProbeTest test);

/// All tests, in the order in which they are run.
std::span<const ProbeTest> probe_tests();

}  // namespace cachetally
