// SPDX-License-Identifier: BSD-3-Clause
// What a simulation gave, as reports and result files show it.
#pragma once

#include <span>

#include "app/simulation.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally::app {

/// `levels`: of the same outcome. `options`: by which it was made.
RunView view_of(const Topology& topology, const Input& input, const Outcome& outcome, const LevelsByLine& levels,
                std::optional<Check> check, const SimulationOptions& options);

/// Writes all of a run but /provenance and the mark that it is complete.
void write_run_result(Group& root, const Topology& topology, const RunView& view, const Outcome& outcome,
                      const LevelsByLine& levels);

RunTitle title_of(const Topology& topology, const Input& input, const RunResult& run, const SimulationOptions& options);

/// All events that a sweep counted.
struct SweptEvents {
    const Histogram& exact;
    const AddressMap& program_addresses;
};

/// The same for a sweep. `events`: null where these are not of all cells.
void write_sweep_result(Group& root, const Topology& topology, const SweepView& view, const SweptEvents* events,
                        const std::vector<Region>& regions);

/// What result files of runs and sweeps have in common: /input, /machine, the attributes of the root.
void write_title(Group& root, const std::string& kind, const Topology& topology, const RunTitle& title);

/// /provenance: command line, machine, the first input's seed, traces.
void write_provenance_of(Group& root, const Topology& topology, std::span<const Input> inputs,
                         const std::vector<std::string>& execution = {});

}  // namespace cachetally::app
