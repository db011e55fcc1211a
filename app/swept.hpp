// SPDX-License-Identifier: BSD-3-Clause
// What cachetally sweep does with each workload: one pass for all monitors that count as in a run that they do not
// disturb, and a run for each of the others.
#pragma once

#include "app/comparison.hpp"
#include "app/program.hpp"
#include "app/report.hpp"

namespace cachetally::app {

/// A kernel with its settings, or a trace.
struct SweepSource {
    std::string name;
    std::vector<std::string> settings;
    std::string title{};  ///< how results name it
};

/// "lu,n=64,block=8", "t.ct.h5": of --workload.
SweepSource parse_source(const std::string& text);

/// A monitor, and of what counters, granularities and eviction policies it is taken: all combinations.
struct SweepVariant {
    MonitorSpec base;      ///< placed and completed
    std::string settings;  ///< of --vary
    std::vector<std::uint32_t> counters;
    std::vector<Granularity> granularities;
    std::vector<Eviction> evictions;
};

/// --vary: the settings of each combination of the values, as in "ways=4,width=8"; an empty text where nothing is
/// varied. Each of `texts` is a key and its values: "ways=0,4", "width=4-8", "drain=full,watermark:64,periodic:10000".
/// Throws UsageError.
std::vector<std::string> combinations(const std::vector<std::string>& texts);

struct SweepPlan {
    std::vector<SweepVariant> variants;
    /// What no monitor of some settings can have, in words: of many for one reason the first.
    std::vector<std::string> left_out;
    bool slowdown = false;
    bool beside_paper = false;
};

struct SweptWorkload {
    RunTitle title;
    RunResult run;
    std::uint64_t runs = 1;        ///< of the program
    std::vector<SweepCell> cells;  ///< but those that had no complete run of their own
    std::string missing;           ///< why some slowdowns or cells are; empty where all are there
    std::size_t unknown = 0;       ///< cells whose runs are beyond the longest time
    std::vector<Region> regions;
    std::unique_ptr<Hierarchy> hierarchy;  ///< of the addresses
    std::optional<Histogram> exact;        ///< of the first variant, where the pass counted it
    AddressMap program_addresses;
};

/// `first`: the source, opened. `options`: of all sources. Throws UsageError, SpecError and what a run throws.
SweptWorkload sweep_workload(const SweepSource& source, const Input& first, const SweepPlan& plan,
                             const WorkloadOptions& options, const Topology& topology);

}  // namespace cachetally::app
