// SPDX-License-Identifier: BSD-3-Clause
// What monitors and exact counting found, in HDF5 result files: /monitors, /links, /combined, /structures, /functions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "monitor/level_lines.hpp"
#include "monitor/monitor.hpp"
#include "storage/group.hpp"

namespace cachetally {

/// A monitor as reports show it; the histogram is left in the file.
struct MonitorSummary : MonitorCounts {
    std::string name;
    std::string link;
    std::string spec;  ///< as parse_monitor takes it
    std::uint32_t counters = 0;
    std::string granularity, eviction;
    std::uint64_t ring_capacity = 0, stall_cycles = 0;
    std::optional<double> error;  ///< nothing where it was not measured
    std::vector<std::uint64_t> events_per_phase;
    /// By index of the function (no_function: outside of all); empty where functions were not told apart.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> events_per_function;

    friend bool operator==(const MonitorSummary&, const MonitorSummary&) = default;
};

/// `period`: picoseconds per cycle.
MonitorSummary summary_of(const MonitorSpec& spec, const MonitorResult& result, std::optional<double> error,
                          Tick period);

/// The events of a link, counted exactly, by kind.
struct LinkCounts {
    std::string name;
    std::string from, to;  ///< the components that it connects
    bool virtual_addresses = false;
    std::vector<std::pair<EventKind, Histogram>> kinds;  ///< those of which there were events
};

/// A monitor and its histogram. `map`, where there is one, gives the column virtual_address.
struct MonitorContents {
    MonitorSummary summary;
    const Histogram* histogram = nullptr;
    AddressMap map;
};

void write_monitors(Group& root, const std::vector<MonitorContents>& monitors);
std::vector<MonitorSummary> read_monitors(const Group& root);

/// The addresses are those in the program, where the file knows them.
Histogram read_monitor_histogram(const Group& root, const std::string& name);

void write_links(Group& root, const std::vector<LinkCounts>& links, const AddressMap& map);

/// The links of a file, without their histograms.
struct LinkSummary {
    std::string name, from, to;
    std::vector<std::pair<std::string, std::uint64_t>> events;  ///< by kind
};
std::vector<LinkSummary> read_links(const Group& root);

/// The histogram of one kind on one link, with the addresses in the program; empty where there were no such events.
Histogram read_link_histogram(const Group& root, const std::string& link, EventKind kind);

/// `phases`: of the run, where the last of them have no lines.
void write_combined(Group& root, const std::vector<LevelLines>& levels, std::uint32_t phases = 0);
/// Throws StorageError that lists the levels there are.
LevelLines read_combined(const Group& root, const std::string& level);

void write_structures(Group& root, const StructureTable& table, const std::vector<std::string>& functions);
StructureTable read_structures(const Group& root);

}  // namespace cachetally
