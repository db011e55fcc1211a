// SPDX-License-Identifier: BSD-3-Clause
// The bound of the simulated time, by hand.
#include "sim/topology/validate.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cachetally/run.hpp"
#include "cachetally/topology.hpp"

namespace cachetally {
namespace {

/// Caches of one line of 4096 bytes; every reference to another one misses.
MachineDescription machine_of_one_line(std::uint64_t period, unsigned cache, unsigned memory) {
    MachineDescription made;
    made.name = "slow";
    made.period = period;
    CacheConfig config;
    config.name = "L1";
    config.next = "memory";
    config.size = config.line = 4096;
    config.ways = 1;
    config.latency = cache;
    made.caches = {config};
    made.memories.emplace_back();
    made.memories.front().latency = memory;
    return made;
}

TEST(TimeBound, OfAReferenceHasAllThatAReferenceCanTake) {
    // 16 x 1 GHz x (1 + 4 + 100 + the coherence that nobody has, 4 + 20 + 20), for 17 lines of 4096 bytes
    EXPECT_EQ(reference_at_most(machine_of_one_line(1000, 4, 100)), 149U * 16 * 17 * 1000);
    const unsigned most = std::numeric_limits<unsigned>::max();
    MachineDescription slowest = machine_of_one_line(1'000'000, 0, 0);
    slowest.caches.resize(8, slowest.caches.front());
    for (CacheConfig& cache : slowest.caches) cache.latency = most;
    EXPECT_EQ(reference_at_most(slowest), longest_time);
}

TEST(TimeBound, SumsDoNotOverflow) {
    EXPECT_EQ(time_sum(3, 4), 7U);
    const Tick most = longest_time + longest_time / 2;
    EXPECT_EQ(time_sum(longest_time, longest_time), most);
    EXPECT_EQ(time_sum(most, most), most);
    EXPECT_EQ(time_sum(std::numeric_limits<Tick>::max(), 1), most);
    EXPECT_EQ(time_sum(1, std::numeric_limits<Tick>::max()), most);
}

/// So many loads of one line.
class Loads final : public ReferenceSource {
public:
    explicit Loads(std::size_t count) : references_(count, Reference{.address = 0x1000, .size = 8}) {}
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override { return {references_, {Control::Kind::end, 0}}; }

private:
    std::vector<Reference> references_;
};

constexpr Tick longest = Tick{1} << 30;

RunResult run_of(std::size_t loads) {
    const Topology topology(machine_of_one_line(1 << 9, 1 << 10, 0));  // a load takes 2^19 ps
    Hierarchy hierarchy(topology);
    Loads source(loads);
    RunOptions options;
    options.longest = longest;
    return run(hierarchy, source, options);
}

TEST(TimeBound, IsPassedByTheReferenceThatArrivesThere) {
    const RunResult within = run_of(2047);
    EXPECT_TRUE(within.complete);
    EXPECT_FALSE(within.time_over);
    EXPECT_EQ(within.core_ends.front(), longest - (Tick{1} << 19));
    for (const std::size_t loads : {2048, 2049, 5000}) {
        const RunResult over = run_of(loads);
        EXPECT_FALSE(over.complete);
        EXPECT_TRUE(over.time_over);
        EXPECT_EQ(over.failure, time_is_over);
        EXPECT_EQ(over.counts.references, 2048U);
        EXPECT_EQ(over.core_ends.front(), longest);
        EXPECT_EQ(over.phases.back().end, longest);
    }
}

}  // namespace
}  // namespace cachetally
