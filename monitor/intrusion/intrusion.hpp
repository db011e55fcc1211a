// SPDX-License-Identifier: BSD-3-Clause
// Intrusion: what a monitor does to the system that it watches, against the same run without it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/run.hpp"
#include "monitor/intrusion/link_traffic.hpp"
#include "monitor/monitor.hpp"

namespace cachetally {

/// What a run shows of the system; and of the monitor, where there was one.
struct ObservedRun {
    RunResult run;
    std::vector<KindCounts> links;  ///< by Topology::links(), copies added up
    std::optional<MonitorResult> monitor;
    std::optional<double> error;  ///< of the monitor's histogram, where it was asked for
};

/// A run of a source through the hierarchy that it is given.
using HierarchyRun = std::function<RunResult(Hierarchy& hierarchy)>;

/// The error of a histogram against the exact one of the same run.
using ErrorMeasure =
    std::function<double(const Hierarchy& hierarchy, const Histogram& exact, const Histogram& measured)>;

/// Makes a hierarchy with `monitor` on all copies of its link (null: none), and counts what `run` sends over all links.
/// With `error` the monitor's events are counted exactly, too.
ObservedRun observe(const Topology& topology, const MonitorSpec* monitor, const HierarchyRun& run,
                    const ErrorMeasure& error = {});

/// Whether the records of a monitor may change which events it counts, in which order, or lose some; else it counts
/// the same as in a run that it does not disturb. Records that pass caches displace lines; time changes the order of
/// several streams (docs/timing.md: hits and misses of one core stay the same). (ours)
bool feeds_back(const MonitorSpec& monitor, const MachineDescription& machine, unsigned streams);

/// Names of what misses: caches, then TLBs.
std::vector<std::string> levels_that_miss(const MachineDescription& machine);

/// Misses of the program itself by levels_that_miss(): loads, stores, fetches and page walks that found nothing; not
/// those of prefetches, write-backs and records.
std::vector<std::uint64_t> program_misses(const HierarchyCounts& counts);

/// Differences are with - without. With several cores these may meet otherwise than without the monitor: then any may
/// be negative.
struct Intrusion {
    std::int64_t cycles = 0;     ///< by which the latest core ends later
    std::uint64_t events = 0;    ///< counted by the monitor
    std::uint64_t records = 0;   ///< written while the program ran; those of the end are read out without traffic
    std::uint64_t swapouts = 0;  ///< records with those of the end and those lost
    std::uint64_t bytes = 0;     ///< of swapouts that were not lost
    std::uint64_t stall = 0;     ///< cycles that cores lost to write_cost and to a full ring, added up
    std::uint64_t lost = 0;      ///< events of records that found the ring full
    std::uint64_t lost_records = 0;
    std::uint64_t ring_high_water = 0;  ///< most records in a ring at once
    std::vector<std::int64_t> misses;   ///< of the program, by levels_that_miss()

    struct Extra {
        std::int64_t events = 0, bytes = 0;
        friend bool operator==(const Extra&, const Extra&) = default;
    };
    std::vector<Extra> traffic;  ///< by Topology::links()

    double bytes_per_event() const { return bytes_for_each(events, bytes); }
    /// By which fraction a run takes longer that takes so many cycles without monitor; nothing where it takes none
    /// without, but some with it.
    std::optional<double> slowdown(std::uint64_t cycles_without) const {
        if (cycles == 0) return 0.0;
        if (cycles_without == 0) return std::nullopt;
        return static_cast<double>(cycles) / static_cast<double>(cycles_without);
    }
    friend bool operator==(const Intrusion&, const Intrusion&) = default;
};

/// Cycles by which the latest core ends later.
std::int64_t extra_cycles(const Topology& topology, const RunResult& without, const RunResult& with);

/// By which fraction `with` takes longer: Intrusion::slowdown.
std::optional<double> slowdown_of(const Topology& topology, const RunResult& without, const RunResult& with);

/// `with`: has a monitor, that of `spec`. Both runs of the same source on the same topology.
Intrusion intrusion_of(const Topology& topology, const MonitorSpec& spec, const ObservedRun& without,
                       const ObservedRun& with);

}  // namespace cachetally
