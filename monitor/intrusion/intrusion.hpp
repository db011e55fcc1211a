// SPDX-License-Identifier: BSD-3-Clause
// What a monitor costs the program that it watches: time, traffic and misses, compared with the run without it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/hierarchy.hpp"
#include "cachetally/listener.hpp"
#include "cachetally/run.hpp"
#include "cachetally/topology.hpp"
#include "monitor/monitor.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Events of a link by kind.
using KindCounts = std::array<std::uint64_t, event_kind_count>;

/// Counts the requests, victims and records of one copy of a link.
class LinkTraffic final : public BatchListener {
public:
    std::uint32_t kinds() const override;
    bool accepts_merged(std::uint32_t) const override { return true; }
    void on_event(const LinkEvent& event, Injector&) override { counts_[index_of(event.kind)] += event.count; }
    void on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector& injector) override;
    void on_control(const Control&, Tick, Injector&) override {}

    const KindCounts& counts() const { return counts_; }

private:
    static std::size_t index_of(EventKind kind) { return static_cast<std::size_t>(kind); }

    KindCounts counts_{};
};

struct Traffic {
    std::uint64_t events = 0, bytes = 0;
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// By Topology::links(), what `counts` are in events and bytes. Below a cache the bytes are those that buses carry
/// (docs/timing.md): a line of it per request or victim, 8 per store that is passed on. Between cores, TLBs, the page
/// walker and the first caches a request is taken for 8 bytes. A record, which is no event on the link of its monitor,
/// is added there with its own size, and where it goes past the caches also on every link from there to memory.
/// `monitor`, `records`: whose records, and how many it wrote while the program ran; null = none. `nodes`: of that run,
/// HierarchyCounts::numa, which tells at which node's memory records that go past caches have arrived.
std::vector<Traffic> traffic_of(const Topology& topology, const std::vector<KindCounts>& counts,
                                const MonitorSpec* monitor = nullptr, std::uint64_t records = 0,
                                std::span<const NumaCounts> nodes = {});

/// What a run shows of the system; and of the monitor, where there was one.
struct ObservedRun {
    RunResult run;
    std::vector<KindCounts> links;  ///< by Topology::links(), copies added up
    std::optional<MonitorResult> monitor;
};

/// A run of a source through the hierarchy that it is given.
using HierarchyRun = std::function<RunResult(Hierarchy& hierarchy)>;

/// Makes a hierarchy with `monitor` on all copies of its link (null: none), and counts what `run` sends over all links.
ObservedRun observe(const Topology& topology, const MonitorSpec* monitor, const HierarchyRun& run);

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

/// `with`: has a monitor, that of `spec`. Both runs of the same source on the same topology.
Intrusion intrusion_of(const Topology& topology, const MonitorSpec& spec, const ObservedRun& without,
                       const ObservedRun& with);

}  // namespace cachetally
