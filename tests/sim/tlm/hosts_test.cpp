// SPDX-License-Identifier: BSD-3-Clause
// The engine and the SystemC host: every count, every event and record in order and with its time, every end time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "tests/sim/tlm/random_case.hpp"

namespace cachetally::testing {
namespace {

constexpr std::array<Tick, 4> quanta{0, 50'000, 1'000'000, 1'000'000'000};

#ifdef CACHETALLY_SANITIZED
constexpr unsigned usual_cases = 5;  // sanitizers watch memory, not agreement
#else
constexpr unsigned usual_cases = 40;
#endif

/// Per quantum; CACHETALLY_CASES times as many.
unsigned cases_of_each() {
    const char* more = std::getenv("CACHETALLY_CASES");
    return usual_cases * (more != nullptr ? static_cast<unsigned>(std::max(1, std::atoi(more))) : 1);
}

/// All in one simulation: a process has no second one.
void agree_on(unsigned cores) {
    std::vector<Case> cases;
    for (const Tick quantum : quanta)
        for (unsigned i = 0; i < cases_of_each(); ++i) {
            cases.push_back(random_case(1000 * cores + i, cores));
            cases.back().options.quantum = quantum;
        }
    expect_equal_hosts(cases);
}

RunResult by_engine(const Case& made) {
    Run engine(made);
    engine.by_engine();
    return engine.result();
}

/// Not only where nobody comes near the longest time.
TEST(Hosts, AreComparedWhereTimeIsOver) {
    unsigned over = 0;
    for (const unsigned cores : {1U, 2U, 4U, 8U})
        for (unsigned i = 0; i < 40; ++i) {
            over += by_engine(random_case(1000 * cores + i, cores)).time_over ? 1 : 0;
        }
    EXPECT_GT(over, 5U);
}

TEST(Hosts, AgreeOnOneCore) { agree_on(1); }
TEST(Hosts, AgreeOnTwoCores) { agree_on(2); }
TEST(Hosts, AgreeOnFourCores) { agree_on(4); }
TEST(Hosts, AgreeOnEightCores) { agree_on(8); }

/// Of the cases of four cores.
template <class Counts>
std::map<std::string, std::uint64_t> sums_of(std::vector<Counts> HierarchyCounts::*member) {
    std::map<std::string, std::uint64_t> sum;
    for (unsigned i = 0; i < 40; ++i) {  // with sanitizers too: the engine alone is quick
        Run engine(random_case(4000 + i, 4));
        engine.by_engine();
        for (const Counts& counts : engine.result().counts.*member)
            for (const auto& [name, count] : named(counts)) sum[name] += count;
    }
    return sum;
}

/// Not only caches that are kept coherent, but lines that their cores take from each other.
TEST(Hosts, AreComparedWhereCoresTalkToEachOther) {
    const auto sum = sums_of(&HierarchyCounts::coherence);
    EXPECT_EQ(sum.size(), named(CoherenceCounts{}).size());
    for (const auto& [name, count] : sum) EXPECT_GT(count, 10U) << name;
}

TEST(Hosts, AreComparedWhereMemoriesBelongToNodes) {
    const auto sum = sums_of(&HierarchyCounts::numa);
    EXPECT_EQ(sum.size(), named(NumaCounts{}).size());
    for (const auto& [name, count] : sum) EXPECT_GT(count, 10U) << name;
}

TEST(Hosts, AgreeWhereReferencesAreHandedOverByNumber) {
    std::vector<Case> cases;
    for (const Tick quantum : quanta)
        for (unsigned i = 0; i < cases_of_each(); ++i) {
            cases.push_back(random_plain_case(i));
            cases.back().options.quantum = quantum;
        }
    expect_equal_hosts(cases);
}

/// Time is not looked at in most of it: 10^8 cycles in which nearly every reference misses, a few at a time.
Case long_plain_case(Tick quantum, bool filtered) {
    Case made = random_plain_case(1);
    made.options.longest = made.machine.period * 100'000'000;
    made.filtered = filtered;
    Program program;
    std::uint64_t random = 1;
    for (unsigned part = 0; part < 300'000; ++part) {
        program.push_back({{}, {Control::Kind::none, 0}});
        for (unsigned i = 0; i < 4; ++i) {
            random = random * 6364136223846793005 + 1442695040888963407;
            program.back().references.push_back({.address = random >> 44 << 6, .size = 8});
        }
    }
    program.push_back({{}, {Control::Kind::end, 0}});
    made.programs = {program};
    made.options.quantum = quantum;
    return made;
}

TEST(Hosts, AgreeWhereTimeIsOverAfterMuchThatWasHandedOverByNumber) {
    std::vector<Case> cases;
#ifdef CACHETALLY_SANITIZED
    cases.push_back(long_plain_case(1'000'000'000, true));
#else
    for (const Tick quantum : {Tick{1'000'000}, Tick{1'000'000'000}})
        for (const bool filtered : {false, true}) cases.push_back(long_plain_case(quantum, filtered));
#endif
    const RunResult alone = by_engine(cases.front());
    EXPECT_TRUE(alone.time_over);
    EXPECT_GT(alone.counts.references, 400'000U);
    EXPECT_LT(alone.counts.references, 1'100'000U);
    expect_equal_hosts(cases);
}

/// Records into the caches of two levels, of which those of the first displace dirty lines that the second counts.
Case records_by_records(Tick quantum) {
    Case made;
    made.machine.name = "small";
    CacheConfig first, second;
    first.name = "L1";
    first.next = "L2";
    first.size = 256;
    first.ways = 2;
    second.name = "L2";
    second.next = "memory";
    second.size = 512;
    second.ways = 2;
    made.machine.caches = {first, second};
    made.machine.memories.emplace_back();
    MonitorSpec above, below;
    above.link = "core-L1";
    below.link = "L1-L2";
    below.kinds = bit(EventKind::write_back);
    for (MonitorSpec* spec : {&above, &below}) {
        spec->counters = 1;
        spec->ring.path = RingSpec::Path::link;
        spec->ring.record = 64;
    }
    below.ring.base = 0x8000000;
    made.monitors = {below, above};  // in this order they are asked for records
    made.watching = Watching::monitors;
    Part part;
    for (unsigned i = 0; i < 200; ++i)
        part.references.push_back({.address = i * 7 % 64 * 64, .size = 8, .kind = ReferenceKind::store});
    made.programs = {{part}};
    made.options.quantum = quantum;
    return made;
}

TEST(Hosts, AgreeOnRecordsThatRecordsCause) {
    std::vector<Case> cases;
    for (const Tick quantum : quanta) cases.push_back(records_by_records(quantum));
    expect_equal_hosts(cases);
}

/// A record every 4 cycles, which takes a bus below for one: nobody ever waits, by hand.
Case records_of_hits() {
    Case made;
    made.machine.name = "hits";
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.size = 256;
    cache.ways = 2;
    cache.latency = 4;
    cache.bus.bytes_per_cycle = 16;
    made.machine.caches = {cache};
    made.machine.memories.emplace_back();
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.counters = 1;
    made.monitors = {spec};
    made.watching = Watching::monitors;
    Part part;
    for (unsigned i = 0; i < 100; ++i)
        part.references.push_back({.address = i % 2 * 64, .size = 8, .kind = ReferenceKind::load});
    made.programs = {{part}};
    return made;
}

TEST(Hosts, RecordsOfHitsFindABusFree) {
    const HierarchyCounts counts = by_engine(records_of_hits()).counts;
    EXPECT_EQ(counts.memories.front().ring_writes, 99U);
    EXPECT_EQ(counts.buses.front().waited, 0U);
    std::vector<Case> cases;
    for (const Tick quantum : quanta) {
        cases.push_back(records_of_hits());
        cases.back().options.quantum = quantum;
    }
    expect_equal_hosts(cases);
}

}  // namespace
}  // namespace cachetally::testing
