// SPDX-License-Identifier: BSD-3-Clause
// What the commands share: the machine and the monitors that options name, progress on a terminal, interruption.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "cachetally/reference_source.hpp"
#include "cachetally/run.hpp"
#include "cachetally/topology.hpp"
#include "monitor/spec.hpp"

namespace cachetally::app {

/// Options of every command that simulates.
struct SimulationOptions {
    std::string machine = "generic3";
    unsigned cores = 0;  ///< 0 = as the machine file says
    std::vector<std::string> monitors;
    std::vector<std::string> listeners;
    std::string quantum;          ///< e.g. "1us"
    std::string host = "engine";  ///< or "systemc"; both give the same
    std::uint64_t warmup = 0;     ///< references that are simulated first, and not counted
    std::uint64_t max_references = 0;
    std::uint64_t phase_every = 0;  ///< references, after which a phase ends without a barrier; 0: never
    bool errors = true;
    bool causes = false;                      ///< why levels miss, and what evicts what
    bool attribution = true;                  ///< which code and data misses belong to, where the source knows
    bool cycles = false, used_bytes = false;  ///< of these, too
    bool per_core = false;
    bool reuse = false;  ///< reuse distances
    bool json = false;
    bool explain = false;  ///< report how references are carried out, and run nothing

    /// References that a run takes at most; 0 = all.
    std::uint64_t taken() const {
        return max_references == 0 || warmup > ~max_references ? 0 : warmup + max_references;
    }
};

/// --count, and its former name --max-references; `more`: what else its help says.
CLI::Option* add_count_option(CLI::App& command, std::uint64_t& count, const std::string& more = "");
/// --warmup, in the same way.
CLI::Option* add_warmup_option(CLI::App& command, std::uint64_t& warmup, const std::string& more = "");

/// The machine and its cores, how much is made, and --json.
void add_machine_options(CLI::App& command, SimulationOptions& options);

/// Those, and monitors, quantum and host.
void add_simulation_options(CLI::App& command, SimulationOptions& options);

/// --causes, --no-attribution, --cycles, --used-bytes, --per-core.
void add_causes_option(CLI::App& command, SimulationOptions& options);

/// The machine that the options name, with as many cores as they ask for.
Topology topology_of(const SimulationOptions& options);

/// The monitors that the options or else the machine file name, or else one on each link; none for "none".
/// Throws SpecError, UsageError, MachineError.
std::vector<MonitorSpec> monitors_of(const SimulationOptions& options, const Topology& topology);

/// Run options with a progress line on stderr, where that is a terminal, and with Ctrl-C ending the run.
RunOptions run_options(const SimulationOptions& options, const ReferenceSource& source);

}  // namespace cachetally::app
