// SPDX-License-Identifier: BSD-3-Clause
// Kernels of 1 to 16 processors on caches that are kept coherent: they end, compute right, and what is counted adds up.
#include <gtest/gtest.h>

#include "cachetally/run.hpp"
#include "workloads/kernels/source.hpp"

namespace cachetally::test {
namespace {

constexpr std::uint64_t lines_of_l1 = 64;

Topology sixteen_cores(const std::string& coherence) {
    return Topology(
        read_machine("cores: 16\ncaches:\n"
                     "  - {name: L1, next: L2, shared_by: 1, size: 4 KiB, ways: 4}\n"
                     "  - {name: L2, next: memory, size: 256 KiB, ways: 8, latency: 10}\n" +
                         coherence,
                     "test"));
}

struct CoherentRun {
    HierarchyCounts counts;
    KernelCheck check;
};

CoherentRun run_kernel(const std::string& name, std::vector<std::string> options, unsigned processors,
                       const std::string& coherence) {
    options.push_back("processors=" + std::to_string(processors));
    WorkloadSource source(make_workload(name, options));
    Hierarchy hierarchy(sixteen_cores(coherence));
    const RunResult result = run(hierarchy, source);
    EXPECT_TRUE(result.complete);
    return {result.counts, source.workload().check()};
}

void expect_sums(const CoherentRun& run, bool owned) {
    const CacheCounts &l1 = run.counts.caches[0], &l2 = run.counts.caches[1];
    const CoherenceCounts& nodes = run.counts.coherence.at(0);
    EXPECT_TRUE(run.check.passed()) << run.check.meaning;
    EXPECT_EQ(nodes.reads, l1.load_misses);
    EXPECT_EQ(nodes.exclusive_reads, l1.store_misses);
    EXPECT_EQ(l2.loads + nodes.supplies, l1.load_misses + l1.store_misses);
    EXPECT_EQ(l2.writebacks_in, l1.writebacks_out + nodes.write_backs);
    EXPECT_EQ(nodes.invalidations, l1.invalidations);
    EXPECT_EQ(nodes.messages, 15 * (nodes.reads + nodes.exclusive_reads + nodes.upgrades));
    const std::uint64_t held = l1.load_misses + l1.store_misses - l1.evictions - l1.invalidations;
    EXPECT_LE(held, 16 * lines_of_l1);
    EXPECT_LE(nodes.write_backs, nodes.downgrades);
    EXPECT_LE(nodes.write_backs, nodes.supplies);
    EXPECT_EQ(owned ? nodes.write_backs : 0, 0U);
}

struct CoherentKernel {
    std::string name;
    std::vector<std::string> options;
};

class KernelsOnCoherentCaches : public testing::TestWithParam<CoherentKernel> {};

TEST_P(KernelsOnCoherentCaches, AddUpForOneToSixteenProcessors) {
    const auto& [name, options] = GetParam();
    for (const unsigned processors : {1U, 2U, 4U, 7U, 16U}) {
        const CoherentRun mesi = run_kernel(name, options, processors, "coherence: {protocol: mesi}\n");
        expect_sums(mesi, false);
        EXPECT_EQ(mesi.counts.coherence[0].supplies > 0, processors > 1);
        expect_sums(run_kernel(name, options, processors, "coherence: {protocol: moesi}\n"), true);
    }
}

// By first touch, on 4 nodes of 4 cores: what the nodes ask is what the memories are asked, and a core alone is at
// home.
TEST_P(KernelsOnCoherentCaches, AddUpOnNodesWithMemoriesOfTheirOwn) {
    const auto& [name, options] = GetParam();
    MachineDescription machine = load_machine("numa4");
    machine.cores = 16;
    for (const unsigned processors : {1U, 16U}) {
        std::vector<std::string> words = options;
        words.push_back("processors=" + std::to_string(processors));
        WorkloadSource source(make_workload(name, words));
        Hierarchy hierarchy{Topology(machine)};
        const HierarchyCounts counts = run(hierarchy, source).counts;
        EXPECT_TRUE(source.workload().check().passed());
        std::uint64_t read = 0, written = 0, remote = 0;
        for (std::size_t i = 0; i < counts.memories.size(); ++i) {
            read += counts.memories[i].reads;
            written += counts.memories[i].writes;
            remote += counts.numa[i].remote_reads + counts.numa[i].remote_writes;
        }
        const CacheCounts& last = counts.caches[2];
        EXPECT_EQ(read + counts.coherence.at(0).supplies, last.load_misses + last.store_misses + last.fetch_misses);
        EXPECT_EQ(written, last.writebacks_out + counts.coherence[0].write_backs);
        EXPECT_EQ(remote > 0, processors > 1);
    }
}

TEST_P(KernelsOnCoherentCaches, OneProcessorHasTheCountsOfCachesThatAreNotCoherent) {
    const auto& [name, options] = GetParam();
    const CoherentRun with = run_kernel(name, options, 1, "coherence: {protocol: mesi, by: directory}\n");
    const CoherentRun without = run_kernel(name, options, 1, "");
    EXPECT_EQ(with.counts.caches, without.counts.caches);
    const CoherenceCounts& nodes = with.counts.coherence.at(0);
    EXPECT_EQ(nodes.supplies + nodes.upgrades + nodes.invalidations + nodes.downgrades + nodes.write_backs, 0U);
    const CacheCounts& l1 = with.counts.caches[0];
    EXPECT_EQ(nodes.messages, 2 * (l1.load_misses + l1.store_misses) + l1.evictions);
}

INSTANTIATE_TEST_SUITE_P(Five, KernelsOnCoherentCaches,
                         testing::Values(CoherentKernel{"lu", {"n=64", "block=8"}},
                                         CoherentKernel{"radix", {"keys=3001", "radix=64", "max_key=5000"}},
                                         CoherentKernel{"fft", {"n=1K"}}, CoherentKernel{"ocean", {"n=32", "levels=3"}},
                                         CoherentKernel{"water", {"molecules=27", "steps=1"}}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace cachetally::test
