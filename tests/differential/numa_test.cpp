// SPDX-License-Identifier: BSD-3-Clause
// Laws of machines whose nodes have memories of their own, whatever their caches.
#include <algorithm>
#include <numeric>

#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"

namespace cachetally::differential {
namespace {

Case machine_with_nodes(MachineLimits limits = {}) {
    limits.numa = true;
    Case test_case = *arbitrary_case(limits, 6);
    RC_PRE(test_case.machine.has_nodes());
    return test_case;
}

Outcome outcome_on_nodes(const Case& test_case) {
    return run_engine(test_case.machine, test_case.programs, test_case.quantum, Driving::each).outcome;
}

MemoryCounts sum_of_memories(const std::vector<MemoryCounts>& memories) {
    MemoryCounts sum;
    for (const MemoryCounts& each : memories) {
        sum.reads += each.reads;
        sum.writes += each.writes;
        sum.page_walks += each.page_walks;
        sum.ring_writes += each.ring_writes;
    }
    return sum;
}

/// The same machine with one memory for all, in place of the nodes and their memories.
MachineDescription without_nodes(MachineDescription machine) {
    const std::uint64_t bytes = machine.bytes_for_pages();
    const std::string name = machine.memories.front().name;
    for (CacheConfig& cache : machine.caches)
        if (cache.next == numa_name) cache.next = name;
    if (machine.pages.walk_through == numa_name) machine.pages.walk_through = name;
    machine.numa = {};
    machine.memories.resize(1);
    machine.memories[0].node = 0;
    machine.memories[0].size = bytes;
    return machine;
}

TEST(NumaLaws, OneNodeWithOneMemoryIsAsNone) {
    check_cases(200, [] {
        MachineLimits limits;
        limits.coherence = rapidcheck_chooser()(2) == 0;
        Case one = machine_with_nodes(limits);
        RC_PRE(one.machine.coherence.protocol == Protocol::none || one.machine.numa.nodes == 1);
        one.machine.numa.nodes = 1;
        one.machine.numa.ranges.clear();
        one.machine.numa.otherwise.clear();
        one.machine.memories.resize(1);
        one.machine.memories[0].node = 0;
        Case none = one;
        none.machine = without_nodes(one.machine);
        Outcome with = outcome_on_nodes(one), without = outcome_on_nodes(none);
        const NumaCounts at_home = with.counts.numa.at(0);
        RC_ASSERT(at_home.remote_reads + at_home.remote_writes + at_home.remote_page_walks == 0U);
        with.counts.numa.clear();
        with.counts.buses.resize(without.counts.buses.size());
        without.counts.buses.resize(with.counts.buses.size());
        RC_ASSERT(with.core_ends == without.core_ends);
        RC_ASSERT(with.counts == without.counts);
        std::erase_if(with.events, [](const ObservedEvent& event) { return event.link.starts_with("numa-"); });
        std::erase_if(without.events,
                      [](const ObservedEvent& event) { return event.kind == EventKind::bank_conflict; });
        RC_ASSERT(with.events.size() == without.events.size());
        for (std::size_t i = 0; i < with.events.size(); ++i) {
            const ObservedEvent &a = with.events[i], &b = without.events[i];
            RC_ASSERT(a.kind == b.kind && a.address == b.address && a.copy == b.copy && a.core == b.core);
        }
    });
}

// Where memory takes as long wherever it is, nobody sees who has it.
TEST(NumaLaws, MemoriesTogetherAreAskedWhatOneIsAsked) {
    check_cases(200, [] {
        MachineLimits limits;
        limits.coherence = rapidcheck_chooser()(2) == 0;
        limits.link_timing = false;
        Case nodes = machine_with_nodes(limits);
        nodes.machine.numa.interconnect = {};
        for (MemoryConfig& memory : nodes.machine.memories) memory.latency = nodes.machine.memories[0].latency;
        Case one = nodes;
        one.machine = without_nodes(nodes.machine);
        Outcome parted = outcome_on_nodes(nodes);
        const Outcome together = outcome_on_nodes(one);
        RC_ASSERT(parted.core_ends == together.core_ends);
        RC_ASSERT(sum_of_memories(parted.counts.memories) == together.counts.memories.at(0));
        parted.counts.memories = together.counts.memories;
        parted.counts.numa.clear();
        RC_ASSERT(parted.counts == together.counts);
    });
}

TEST(NumaLaws, HomesThatChangePlacesChangeTheirCounts) {
    check_cases(150, [] {
        MachineLimits limits;
        limits.link_timing = false;
        Case before = machine_with_nodes(limits);
        RC_PRE(before.machine.numa.policy == HomePolicy::fixed);
        before.machine.numa.interconnect = {};
        auto& memories = before.machine.memories;
        for (MemoryConfig& memory : memories) memory.latency = memories[0].latency;
        if (before.machine.numa.otherwise.empty()) before.machine.numa.otherwise = memories[0].name;
        Case after = before;
        const auto next = [&](std::string& name) {
            for (std::size_t i = 0; i < memories.size(); ++i)
                if (memories[i].name == name) return void(name = memories[(i + 1) % memories.size()].name);
        };
        for (HomeRange& range : after.machine.numa.ranges) next(range.memory);
        next(after.machine.numa.otherwise);
        std::vector<MemoryCounts> counts = outcome_on_nodes(before).counts.memories;
        std::rotate(counts.begin(), counts.end() - 1, counts.end());
        RC_ASSERT(outcome_on_nodes(after).counts.memories == counts);
    });
}

// What leaves the nodes arrives at the memories; what is remote has crossed the interconnect; each memory's link shows
// all that it is asked.
TEST(NumaLaws, NothingIsLostOnTheWay) {
    check_cases(200, [] {
        MachineLimits limits;
        limits.coherence = rapidcheck_chooser()(2) == 0;
        const Case test_case = machine_with_nodes(limits);
        const Outcome outcome = outcome_on_nodes(test_case);
        std::uint64_t left = 0, crossed = 0, remote = 0;
        std::map<std::string, std::uint64_t> arrived;
        for (const ObservedEvent& event : outcome.events) {
            constexpr std::uint32_t consequences = bit(EventKind::fill) | bit(EventKind::eviction) |
                                                   bit(EventKind::invalidate) | bit(EventKind::flush) |
                                                   bit(EventKind::coherence) | bit(EventKind::bank_conflict);
            if ((bit(event.kind) & consequences) != 0) continue;
            left += event.link.ends_with("-numa") ? 1 : 0;
            crossed += event.link == "numa-interconnect" ? 1 : 0;
            if (event.link.starts_with("numa-M")) ++arrived[event.link.substr(5)];
        }
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < outcome.counts.memories.size(); ++i) {
            const MemoryCounts& memory = outcome.counts.memories[i];
            const NumaCounts& parts = outcome.counts.numa[i];
            RC_ASSERT(memory.reads == parts.local_reads + parts.remote_reads);
            RC_ASSERT(memory.writes == parts.local_writes + parts.remote_writes);
            RC_ASSERT(memory.page_walks == parts.local_page_walks + parts.remote_page_walks);
            const std::uint64_t asked = memory.reads + memory.writes + memory.page_walks;
            RC_ASSERT(arrived[test_case.machine.memories[i].name] == asked);
            all += asked;
            remote += parts.remote_reads + parts.remote_writes + parts.remote_page_walks;
        }
        RC_ASSERT(crossed == remote);
        // What other nodes supply has left, and has not arrived.
        const std::uint64_t supplies = outcome.counts.coherence.empty() ? 0 : outcome.counts.coherence[0].supplies;
        RC_ASSERT(left >= all && left <= all + supplies);
    });
}

}  // namespace
}  // namespace cachetally::differential
