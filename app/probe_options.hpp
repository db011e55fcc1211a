// SPDX-License-Identifier: BSD-3-Clause
// The options of cachetally probe, and which of them go together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/output.hpp"
#include "probes/recording/recorded_noise.hpp"

namespace cachetally::app {

struct ProbeOptions {
    std::vector<std::string> tests;
    std::vector<std::string> raw_events;  ///< checked
    std::string machine = "generic3", noise = "none", no_events;
    std::shared_ptr<const RecordedNoise> recorded_noise;  ///< of the file that `noise` names
    std::string record, replay, write_machine;            ///< files
    bool published_only = false, robust_only = false, small_pages = false, json = false;
    OutputOptions output;
    unsigned savings = 0;
    std::uint64_t seed = 1, arena_mib = 256;
    std::optional<std::uint64_t> orders;
    std::optional<double> most_cycles;  ///< 1e12 of a simulated machine, native_seconds of this one
    bool no_knock_out = false, no_revival = false, exhaustive = false, cheap = false;
    unsigned stability = 25;
    bool machine_is_given = false;
};

/// Whether the machine under the program is probed.
inline bool is_native(const ProbeOptions& options) { return options.machine == "native"; }
/// Whether no machine is, but a recording.
inline bool is_recorded(const ProbeOptions& options) { return !options.replay.empty() && !options.machine_is_given; }

void add_probe_options(CLI::App& command, ProbeOptions& options);

/// Throws UsageError where an option would be passed over.
void check_use(const CLI::App& command, ProbeOptions& options);

}  // namespace cachetally::app
