// The bound of the simulated time, by hand.
#include "sim/topology/time_bound.hpp"

#include <gtest/gtest.h>

namespace cachetally {
namespace {

MachineDescription machine() {
    MachineDescription made;
    made.period = 500;
    made.caches.resize(1);
    made.caches[0].latency = 4;
    made.tlbs.resize(1);
    made.tlbs[0].latency = 7;
    made.memories.resize(1);
    made.memories[0].latency = 100;
    made.pages.walk_latency = 20;
    return made;
}

HierarchyCounts counts() {
    HierarchyCounts made;
    made.caches.resize(1);
    made.caches[0].loads = 10;
    made.caches[0].stores = 5;
    made.caches[0].fetches = 2;
    made.caches[0].page_walks = 3;
    made.caches[0].prefetches = made.caches[0].writebacks_in = 1000;  // cost nothing
    made.tlbs.resize(1);
    made.tlbs[0].accesses = 17;
    made.memories.resize(1);
    made.memories[0].reads = 6;
    made.memories[0].page_walks = 1;
    made.memories[0].ring_writes = 1000;
    made.page_walks = 2;
    return made;
}

TEST(TimeBound, IsTheSumOfAllVisits) {
    // 20 x 4 + 17 x 7 + 7 x 100 + 2 x 20 = 939 cycles of 500 ps
    EXPECT_EQ(time_at_most(machine(), counts()), 939.0 * 500);
    EXPECT_NO_THROW(check_time(machine(), counts()));
}

TEST(TimeBound, HasTheWaysToOtherNodes) {
    MachineDescription nodes = machine();
    nodes.numa.nodes = 1;
    nodes.numa.interconnect.latency = 10;
    HierarchyCounts made = counts();
    made.numa = {{.local_reads = 3, .remote_reads = 2, .remote_writes = 5, .remote_page_walks = 1}};
    made.coherence = {{.reads = 1, .upgrades = 2}};
    nodes.coherence = {.latency = 0, .forward = 0, .supply = 0, .mark = {}};
    made.buses = {{}, {.transfers = 9, .busy = 4000}};  // of the interconnect; that of the cache carries nothing
    EXPECT_EQ(time_at_most(nodes, made), (939.0 + (8 + 3) * 10) * 500 + 4000);
}

TEST(TimeBound, RefusesWhatPassesIt) {
    MachineDescription slow = machine();
    slow.period = 1'000'000;
    slow.caches[0].latency = 1000;  // 1 ms
    HierarchyCounts many = counts();
    many.caches[0].loads = 4'611'000'000;  // of 1 ms each; 2^62 ps are 4,611,686 s
    EXPECT_NO_THROW(check_time(slow, many));
    many.caches[0].loads = 4'612'000'000;
    EXPECT_THROW(check_time(slow, many), std::runtime_error);
}

}  // namespace
}  // namespace cachetally
