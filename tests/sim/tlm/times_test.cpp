// SPDX-License-Identifier: BSD-3-Clause
// Times worked out by hand, in nanoseconds, on both hosts and by plain payloads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/tlm/both_hosts.hpp"

namespace cachetally::testing {
namespace {

/// A reference, when it begins and when it is complete.
struct Row {
    Address address;
    unsigned bytes;
    ReferenceKind kind;
    Tick begin, end;
};
using Table = std::vector<Row>;

constexpr auto load = ReferenceKind::load, store = ReferenceKind::store;

/// A level of two lines and 1 ns before a memory of 10 ns.
MachineDescription two_lines() {
    MachineDescription machine;
    machine.name = "two-lines";
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.size = 128;
    cache.ways = 2;
    machine.caches = {cache};
    machine.memories.emplace_back();
    machine.memories.back().latency = 10;
    return machine;
}

MonitorSpec one_counter(RingSpec::Path path) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.counters = 1;
    spec.ring.path = path;
    spec.ring.base = 0x2000;
    spec.ring.write_cost = 3;
    return spec;
}

Reference reference(const Row& row) {
    return {.address = row.address, .size = static_cast<std::uint16_t>(row.bytes), .kind = row.kind};
}

Case case_of(const MachineDescription& machine, const Table& table, std::vector<MonitorSpec> monitors) {
    Case made;
    made.machine = machine;
    made.monitors = std::move(monitors);
    made.programs.resize(1);
    made.programs[0].emplace_back();
    for (const Row& row : table) made.programs[0][0].references.push_back(reference(row));
    return made;
}

/// The times on the links from the core.
std::vector<Tick> times_at_core(const Run& run) {
    std::vector<Tick> times;
    for (const Seen& seen : run.seen())
        if (run.topology().components()[run.topology().links()[seen.link].from].kind == Component::Kind::core &&
            seen.event.count != 0)
            times.push_back(seen.event.time);
    return times;
}

void expect_times(const Run& run, const Table& table) {
    const std::vector<Tick> times = times_at_core(run);
    for (const Row& row : table) EXPECT_THAT(times, ::testing::Contains(row.begin * 1000));
    EXPECT_EQ(run.result().core_ends.at(0), table.back().end * 1000);
}

/// A core of somebody else's: one payload per reference, none before the last is complete.
class Core final : public sc_core::sc_module {
public:
    SC_HAS_PROCESS(Core);
    tlm_utils::simple_initiator_socket<Core> socket;
    std::vector<Tick> ends;  ///< ns

    Core(const sc_core::sc_module_name& name, const Table& table) : sc_module(name), socket("socket"), table_(table) {
        SC_THREAD(play);
    }

private:
    void play() {
        sc_core::sc_time delay;
        tlm::tlm_generic_payload payload;
        for (const Row& row : table_) {
            payload.set_command(row.kind == store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
            payload.set_address(row.address);
            payload.set_data_length(row.bytes);
            payload.set_streaming_width(row.bytes);
            socket->b_transport(payload, delay);
            ends.push_back(static_cast<Tick>((sc_core::sc_time_stamp() + delay) / sc_core::sc_time(1, sc_core::SC_NS)));
            if (ends.size() % 3 != 0) continue;
            wait(delay);
            delay = sc_core::SC_ZERO_TIME;
        }
    }
    Table table_;
};

std::vector<Tick> ends_of(const Table& table) {
    std::vector<Tick> ends;
    for (const Row& row : table) ends.push_back(row.end);
    return ends;
}

/// When accesses found their bank busy, in nanoseconds.
std::vector<Tick> conflicts(const Run& run) {
    std::vector<Tick> times;
    for (const Seen& seen : run.seen())
        if (seen.event.kind == EventKind::bank_conflict) times.push_back(seen.event.time / 1000);
    return times;
}

void holds_on_both_hosts(const MachineDescription& machine, const Table& table,
                         const std::vector<MonitorSpec>& monitors = {}, const std::vector<Tick>& conflicting = {}) {
    Case test_case = case_of(machine, table, monitors);
    Run engine(test_case), by_reference(test_case);
    test_case.options.quantum = 50'000;
    Run by_quantum(test_case), plain(test_case);

    by_reference.elaborate("by_reference");
    by_quantum.elaborate("by_quantum");
    CacheHierarchy hierarchy("hierarchy", plain.topology(), plain.hierarchy());
    std::vector<std::unique_ptr<TimedMemory>> memories;
    for (const MemoryConfig& config : machine.memories) {
        const std::string name = "memory_" + std::to_string(memories.size());
        memories.push_back(std::make_unique<TimedMemory>(name.c_str(), config, machine.period));
        hierarchy.memory[memories.size() - 1].bind(memories.back()->in);
    }
    Core core("core", table);
    core.socket.bind(hierarchy.core[0]);
    sc_core::sc_start();
    by_reference.take();
    by_quantum.take();
    engine.by_engine();

    expect_times(engine, table);
    expect_times(by_reference, table);
    expect_times(by_quantum, table);
    for (const Run* run : {&engine, &by_reference, &by_quantum}) EXPECT_EQ(conflicts(*run), conflicting);
    EXPECT_EQ(core.ends, ends_of(table));
    for (std::size_t i = 0; i < memories.size(); ++i)
        EXPECT_EQ(memories[i]->counts(), engine.result().counts.memories[i]);
    EXPECT_EQ(by_quantum.result().counts, engine.result().counts);
}

// A miss takes 1 + 10, a hit 1. Line 0 leaves for line 80, clean; line 40 for line 0, dirty, for which nobody waits.
// The last reference crosses from line 40 to line 80, and misses both.
TEST(Times, OfACache) {
    holds_on_both_hosts(two_lines(), {{0x0, 4, load, 0, 11},
                                      {0x0, 4, load, 11, 12},
                                      {0x40, 4, store, 12, 23},
                                      {0x80, 4, load, 23, 34},
                                      {0x0, 4, load, 34, 45},
                                      {0x7c, 8, load, 45, 67}});
}

// An access takes the only bank for 30 from when it begins: from 1, 31, 61, 91, 121. The last load displaces line 80,
// which is written back: both come at 102, the load first.
TEST(Times, OfABusyBank) {
    MachineDescription machine = two_lines();
    machine.memories[0].bank_busy = 30;
    holds_on_both_hosts(machine,
                        {{0x0, 4, load, 0, 11},
                         {0x0, 4, load, 11, 12},
                         {0x40, 4, load, 12, 41},
                         {0x80, 4, store, 41, 71},
                         {0x0, 4, load, 71, 101},
                         {0x40, 4, load, 101, 131}},
                        {}, {13, 42, 72, 102, 102});
}

// Lookups take 1 and 2; a walk 5 and four reads of memory. Pages 1 and 2 are walked for; page 1 is found in the second
// TLB, then in the first.
TEST(Times, OfAWalk) {
    MachineDescription machine = two_lines();
    TlbConfig first, second;
    first.name = "DTLB";
    first.next = "STLB";
    first.entries = 1;
    first.latency = 1;
    second.name = "STLB";
    second.entries = 2;
    second.latency = 2;
    machine.tlbs = {first, second};
    machine.pages.walk_through = "memory";
    machine.pages.walk_latency = 5;
    holds_on_both_hosts(machine, {{0x1000, 4, load, 0, 59},
                                  {0x2000, 4, load, 59, 118},
                                  {0x1000, 4, load, 118, 122},
                                  {0x1004, 4, load, 122, 124}});
}

// The counter changes hands at lines 40 and 0: the core loses 3 for each record; these go straight to memory.
TEST(Times, OfRingWrites) {
    holds_on_both_hosts(two_lines(),
                        {{0x0, 4, load, 0, 11},
                         {0x0, 4, load, 11, 12},
                         {0x40, 4, load, 12, 26},
                         {0x40, 4, load, 26, 27},
                         {0x0, 4, load, 27, 31}},
                        {one_counter(RingSpec::Path::memory)});
}

// Through the cache: the first record takes the place of line 0, so that the next load of it misses and takes that of
// line 40, and so on.
TEST(Times, OfRingWritesThroughTheCache) {
    holds_on_both_hosts(
        two_lines(), {{0x0, 4, load, 0, 11}, {0x40, 4, load, 11, 25}, {0x0, 4, load, 25, 39}, {0x40, 4, load, 39, 53}},
        {one_counter(RingSpec::Path::link)});
}

// Page 1 is at home in the memory of the other node, of 12 ns and 5 ns away, over an interconnect of 16 bytes per ns.
// Line 1000: 1 + 5 + 12 + 4. Line 0 is local. Line 1080 takes the place of line 1000, which is written back behind it,
// from 55 to 59. Line 10c0 is ready at 73, and carried at once.
TEST(Times, OfNodes) {
    MachineDescription machine = two_lines();
    machine.cores = 2;
    machine.caches[0].next = numa_name;
    machine.caches[0].shared_by = 1;
    machine.memories = {{.name = "M0", .latency = 10, .mark = {}},
                        {.name = "M1", .node = 1, .latency = 12, .mark = {}}};
    machine.numa.nodes = 2;
    machine.numa.policy = HomePolicy::fixed;
    machine.numa.ranges = {{0x1000, 0x2000, "M1", {}}};
    machine.numa.interconnect = {.latency = 5, .bytes_per_cycle = 16};
    holds_on_both_hosts(machine, {{0x1000, 4, store, 0, 22},
                                  {0x0, 4, load, 22, 33},
                                  {0x1080, 4, load, 33, 55},
                                  {0x10c0, 4, load, 55, 77},
                                  {0x10c0, 4, load, 77, 78}});
}

}  // namespace
}  // namespace cachetally::testing
