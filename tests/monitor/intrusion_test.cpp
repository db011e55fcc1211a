// SPDX-License-Identifier: BSD-3-Clause
// What monitors cost the system: worked out by hand where nothing else contends, and laws on random machines.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <utility>

#include "monitor/intrusion/intrusion.hpp"
#include "monitor/spec_placement.hpp"
#include "tests/differential/random_machine.hpp"

namespace cachetally::testing {
namespace {

constexpr Address line = 64;

/// Plays references on one core.
class Played final : public ReferenceSource {
public:
    explicit Played(std::vector<Reference> references) : references_(std::move(references)) {}
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override {
        return {std::exchange(given_, true) ? std::span<const Reference>() : references_, {Control::Kind::end, 0}};
    }

private:
    std::vector<Reference> references_;
    bool given_ = false;
};

std::vector<Reference> loads_of_lines(std::uint64_t count) {
    std::vector<Reference> references;
    for (std::uint64_t i = 0; i < count; ++i)
        references.push_back({.address = 0x10000 + i * line, .size = 8, .kind = ReferenceKind::load});
    return references;
}

ObservedRun observed(const Topology& topology, const MonitorSpec* monitor, const std::vector<Reference>& references) {
    Played source(references);
    return observe(topology, monitor, [&](Hierarchy& hierarchy) { return run(hierarchy, source); });
}

Intrusion measured(const MachineDescription& machine, const MonitorSpec& monitor,
                   const std::vector<Reference>& references) {
    const Topology topology(machine);
    return intrusion_of(topology, monitor, observed(topology, nullptr, references),
                        observed(topology, &monitor, references));
}

/// L1 of 4 lines and 1 ns, a bus of a byte per ns, memory of `latency` ns.
MachineDescription small_machine(unsigned latency) {
    MachineDescription machine;
    machine.name = "small";
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.size = 4 * line;
    cache.ways = 4;
    cache.bus.bytes_per_cycle = 1;
    machine.caches = {cache};
    machine.memories.emplace_back();
    machine.memories.back().latency = latency;
    return machine;
}

/// Every event but the first displaces the one before.
MonitorSpec one_counter(const std::string& link) {
    MonitorSpec spec;
    spec.link = link;
    spec.counters = 1;
    return spec;
}

// 100 lines: 99 records of 16 bytes, 16 ns on the bus each. A miss asks 1 ns after the record was sent; memory answers
// at once, and the line waits for 15 ns. The record of the last reference is sent when the program is over.
TEST(Intrusion, IsTheBurstsOfRecordsWhereNothingHidesThem) {
    const Intrusion found = measured(small_machine(0), one_counter("L1-memory"), loads_of_lines(100));
    EXPECT_EQ(found.records, 99U);
    EXPECT_EQ(found.swapouts, 100U);
    EXPECT_EQ(found.bytes, 1600U);
    EXPECT_EQ(found.cycles, 98 * 15);
    EXPECT_EQ(found.stall, 0U);
    EXPECT_EQ(found.misses, std::vector<std::int64_t>{0});
    ASSERT_EQ(found.traffic.size(), 2U);
    EXPECT_EQ(found.traffic[0], Intrusion::Extra{});
    EXPECT_EQ(found.traffic[1], (Intrusion::Extra{99, 99 * 16}));
}

// The bus is free again before memory answers.
TEST(Intrusion, SlowsDownByAFractionOfTheTimeWithoutMonitor) {
    Intrusion intrusion;
    EXPECT_EQ(intrusion.slowdown(0), 0.0);
    intrusion.cycles = 50;
    EXPECT_EQ(intrusion.slowdown(200), 0.25);
    EXPECT_EQ(intrusion.slowdown(0), std::nullopt);
    intrusion.cycles = -50;
    EXPECT_EQ(intrusion.slowdown(200), -0.25);
}

TEST(Intrusion, IsNothingWhereBurstsFallIntoTimesOfWaiting) {
    const Intrusion found = measured(small_machine(15), one_counter("L1-memory"), loads_of_lines(100));
    EXPECT_EQ(found.records, 99U);
    EXPECT_EQ(found.cycles, 0);
    EXPECT_EQ(measured(small_machine(14), one_counter("L1-memory"), loads_of_lines(100)).cycles, 98);
}

// No time on links: all that a record costs is what the core loses by writing it.
TEST(Intrusion, IsRecordsTimesWriteCostWhereNothingContends) {
    MachineDescription machine = small_machine(10);
    machine.caches[0].bus = {};
    MonitorSpec spec = one_counter("core-L1");
    spec.ring.write_cost = 7;
    const Intrusion found = measured(machine, spec, loads_of_lines(100));
    EXPECT_EQ(found.cycles, 99 * 7);
    EXPECT_EQ(found.stall, 99U * 7);
    // straight to memory, over the link of the monitor and the one below
    EXPECT_EQ(found.traffic[0], (Intrusion::Extra{99, 99 * 16}));
    EXPECT_EQ(found.traffic[1], (Intrusion::Extra{99, 99 * 16}));
}

// Four lines stay in L1; a record into L1 for each reference takes lines away from them.
TEST(Intrusion, TellsTheMissesThatRecordsCause) {
    MachineDescription machine = small_machine(10);
    MonitorSpec spec = one_counter("core-L1");
    spec.ring.path = RingSpec::Path::link;
    spec.ring.record = line;
    spec.ring.capacity = 1;
    spec.ring.base = 0x8000;
    std::vector<Reference> references;
    for (unsigned pass = 0; pass < 10; ++pass)
        for (const Reference& each : loads_of_lines(4)) references.push_back(each);
    const Intrusion found = measured(machine, spec, references);
    EXPECT_EQ(found.records, 39U);
    // The ring's line stays, since each reference brings a record. Three places for four lines in LRU: each reference
    // misses, 40 in place of 4.
    EXPECT_EQ(found.misses, std::vector<std::int64_t>{36});
    EXPECT_EQ(found.traffic[0], (Intrusion::Extra{39, 39 * 64}));
}

// Pages in turn are at home in M0 and M1. The ring begins 256 bytes before a page of M1: 16 records are at home in M0,
// where the core is, and 83 in M1, whichever link they are sent from. Of the 100 lines 36 are in M1.
TEST(Intrusion, TellsWhichMemoryOfNodesTheRecordsGoTo) {
    MachineDescription machine = small_machine(10);
    machine.cores = 2;
    machine.caches[0].next = numa_name;
    machine.caches[0].shared_by = 1;
    machine.numa.nodes = 2;
    machine.numa.policy = HomePolicy::interleaved;
    machine.numa.granule = 4096;
    machine.numa.interconnect.bytes_per_cycle = 16;
    machine.memories = {{.name = "M0", .mark = {}}, {.name = "M1", .node = 1, .mark = {}}};
    const Topology topology(machine);
    for (const char* link : {"core-L1", "L1-numa"}) {
        MonitorSpec spec = one_counter(link);
        spec.ring.base = 0x8f00;
        const ObservedRun with = observed(topology, &spec, loads_of_lines(100));
        const Intrusion found = intrusion_of(topology, spec, observed(topology, nullptr, loads_of_lines(100)), with);
        const auto extra = [&](const char* name) { return found.traffic[topology.link(name)]; };
        EXPECT_EQ(extra("L1-numa"), (Intrusion::Extra{99, 99 * 16})) << link;
        EXPECT_EQ(extra("numa-M0"), (Intrusion::Extra{16, 16 * 16})) << link;
        EXPECT_EQ(extra("numa-M1"), (Intrusion::Extra{83, 83 * 16})) << link;
        EXPECT_EQ(extra("numa-interconnect"), (Intrusion::Extra{83, 83 * 16})) << link;
        EXPECT_EQ(with.run.counts.buses.back().bytes, 36 * line + 83 * 16) << "what the interconnect carried";
    }
    MonitorSpec at_m1 = one_counter("numa-M1");  // 35 records, of its 36 events
    at_m1.ring.base = 0x8f00;
    const Intrusion found = measured(machine, at_m1, loads_of_lines(100));
    EXPECT_EQ(found.traffic[topology.link("numa-M0")], (Intrusion::Extra{16, 16 * 16}));
    EXPECT_EQ(found.traffic[topology.link("numa-M1")], (Intrusion::Extra{19, 19 * 16}));
    EXPECT_EQ(found.traffic[topology.link("numa-interconnect")], (Intrusion::Extra{16, 16 * 16}));
}

// 10 ns between misses; a record takes the software 50: the ring of 4 overflows.
TEST(Intrusion, TellsWhatAFullRingLoses) {
    MachineDescription machine = small_machine(9);
    machine.caches[0].bus = {};
    MonitorSpec spec = one_counter("core-L1");
    spec.ring.capacity = 4;
    spec.ring.drain_cost = 50;
    spec.ring.overflow = RingSpec::Overflow::drop;
    const Intrusion dropping = measured(machine, spec, loads_of_lines(100));
    EXPECT_EQ(dropping.cycles, 0);
    EXPECT_EQ(dropping.ring_high_water, 4U);
    EXPECT_EQ(dropping.lost, dropping.lost_records);
    // Drained from 40 ns on (the fourth record), a place every 50 ns up to 990 ns: 4 records, then 19.
    EXPECT_EQ(dropping.records, 4U + 19);
    EXPECT_EQ(dropping.lost_records, 99U - 23);
    spec.ring.overflow = RingSpec::Overflow::stall;
    const Intrusion waiting = measured(machine, spec, loads_of_lines(100));
    EXPECT_EQ(waiting.lost, 0U);
    EXPECT_EQ(waiting.cycles, static_cast<std::int64_t>(waiting.stall));
    EXPECT_GT(waiting.stall, 0U);
}

/// Random machines of one core with time on links, and random references.
struct RandomSystem {
    explicit RandomSystem(std::uint64_t seed) : generator(seed) {
        differential::MachineLimits limits;
        limits.cores = 1;
        machine = differential::random_machine([&](std::uint64_t bound) { return generator() % bound; }, limits);
        for (unsigned i = 0; i < 400; ++i)
            references.push_back({.address = 0x1000 + generator() % 8192,
                                  .size = static_cast<std::uint16_t>(1 + generator() % 8),
                                  .kind = static_cast<ReferenceKind>(generator() % 3)});
    }
    /// On a link that data pass.
    MonitorSpec monitor(const Topology& topology) {
        MonitorSpec spec = default_monitors(topology)[generator() % topology.links().size()];
        spec.counters = 1 + static_cast<std::uint32_t>(generator() % 4);
        return spec;
    }
    std::mt19937_64 generator;
    MachineDescription machine;
    std::vector<Reference> references;
};

// What is counted on links is what buses carry, with the monitor and without.
TEST(IntrusionLaw, TrafficIsWhatBusesCarry) {
    unsigned checked = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomSystem system(seed);
        if (!system.machine.has_link_timing()) continue;
        const Topology topology(system.machine);
        MonitorSpec spec = system.monitor(topology);
        if (system.generator() % 2 == 0) spec.ring.path = RingSpec::Path::link;
        for (const MonitorSpec* monitor : {static_cast<const MonitorSpec*>(nullptr), &std::as_const(spec)}) {
            const ObservedRun ran = observed(topology, monitor, system.references);
            std::uint64_t records = 0;
            if (ran.monitor)
                records = ran.monitor->swapouts - ran.monitor->lost_records - ran.monitor->resident_counters;
            const auto traffic = traffic_of(topology, ran.links, monitor, records);
            for (std::size_t link = 0; link < traffic.size(); ++link) {
                const Component& above = topology.components()[topology.links()[link].from];
                if (above.kind != Component::Kind::cache) continue;
                EXPECT_EQ(traffic[link].bytes, ran.run.counts.buses.at(above.index).bytes)
                    << "seed " << seed << ", " << topology.links()[link].name;
                ++checked;
            }
        }
    }
    EXPECT_GT(checked, 200U);
}

// A ring that costs nothing on links that take no time is no monitor at all, but for the records.
TEST(IntrusionLaw, AnInfiniteRingWithoutCostIsAbsence) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        RandomSystem system(seed);
        for (CacheConfig& cache : system.machine.caches) {
            cache.bus = {};
            cache.outstanding_misses = cache.write_buffer = 0;
        }
        for (MemoryConfig& memory : system.machine.memories) memory.bank_busy = 0;
        const Topology topology(system.machine);
        MonitorSpec spec = system.monitor(topology);
        spec.ring.capacity = std::uint64_t{1} << 40;
        const ObservedRun without = observed(topology, nullptr, system.references);
        const ObservedRun with = observed(topology, &spec, system.references);
        const Intrusion found = intrusion_of(topology, spec, without, with);
        EXPECT_EQ(found.cycles, 0) << "seed " << seed;
        EXPECT_EQ(found.misses, std::vector<std::int64_t>(found.misses.size(), 0)) << "seed " << seed;
        EXPECT_EQ(with.links, without.links) << "seed " << seed;
        EXPECT_EQ(with.run.counts.memories[0].ring_writes, found.records) << "seed " << seed;
        MonitorSpec off = spec;
        off.start = false;
        const Intrusion nothing = intrusion_of(topology, off, without, observed(topology, &off, system.references));
        EXPECT_EQ(nothing.traffic, std::vector<Intrusion::Extra>(topology.links().size())) << "seed " << seed;
    }
}

}  // namespace
}  // namespace cachetally::testing
