// SPDX-License-Identifier: BSD-3-Clause
// What cachetally sweep is asked for, and its cells as one result: for the command and for sweeps that are campaigns.
#pragma once

#include <string>
#include <vector>

#include "app/campaign_work.hpp"
#include "app/checks.hpp"
#include "app/swept.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally::app {

struct SweepOptions : WorkloadOptions {
    OutputOptions output;
    CampaignWork work;
    std::vector<std::string> workloads;
    std::string counters = "16,32,64,128";
    std::string granularity = "1-6";
    std::string eviction = "fifo";
    std::string links;
    std::string monitor;
    std::vector<std::string> vary;
    std::string preset;
    bool slowdown = false;
    ChoiceTexts choice_of_cells;
};

/// Throws UsageError and SpecError.
SweepPlan plan_of(const SweepOptions& options, const Topology& topology);

/// Of no workload yet.
SweepView begun_view(const SweepOptions& options, const SweepPlan& plan);

/// What one workload gave.
SweepView view_of(const SweptWorkload& swept);

/// Adds the cells of one workload more, which has this name beside others.
void add_workload(SweepView& view, const SweepView& one, const std::string& name);

/// Writes what is swept, of one workload alone with its exact histogram. `first`: null where there are several.
void write_sweep_of(Group& root, const Topology& topology, const SweepView& view, const SweptWorkload* first,
                    const SweepPlan& plan);

/// A sweep as a campaign, whose items are its workloads. `sources`: with their titles.
Manifest sweep_manifest(const SweepOptions& options, const std::vector<SweepSource>& sources, const Topology& topology);

}  // namespace cachetally::app
