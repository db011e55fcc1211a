// SPDX-License-Identifier: BSD-3-Clause
// Homes and times worked out by hand where nodes have memories of their own. In cycles of 1000 ticks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A core in each of two nodes, memories of 10 and 12 cycles, 5 more to the other one.
MachineDescription two_nodes(std::vector<CacheConfig> caches, HomePolicy policy) {
    MachineDescription description = machine(std::move(caches));
    description.cores = 2;
    for (CacheConfig& each : description.caches) each.shared_by = 1;
    description.numa.nodes = 2;
    description.numa.policy = policy;
    description.numa.interconnect.latency = 5;
    description.memories = {{.name = "M0", .latency = 10, .mark = {}},
                            {.name = "M1", .node = 1, .latency = 12, .mark = {}}};
    return description;
}

/// Page 1 is at home in M1, all else in M0.
MachineDescription second_page_in_m1(std::vector<CacheConfig> caches) {
    MachineDescription description = two_nodes(std::move(caches), HomePolicy::fixed);
    description.numa.ranges = {{0x1000, 0x2000, "M1", {}}};
    return description;
}

/// "load 1000, core 0, at 1" on all copies of a link.
class NodeWatcher final : public LinkListener {
public:
    NodeWatcher(Hierarchy& hierarchy, std::size_t link) {
        for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) hierarchy.listen(link, copy, *this);
    }
    std::uint32_t kinds() const override { return ~(bit(EventKind::fill) | bit(EventKind::eviction)); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override {
        std::ostringstream text;
        text << to_string(event.kind) << std::hex << ' ' << event.address << ", core " << unsigned{event.core}
             << ", at " << std::dec << event.time / 1000;
        seen.push_back(text.str());
    }
    void on_control(const Control&, Tick, Injector&) override {}

    std::vector<std::string> seen;
};

struct OnNodes {
    std::vector<Tick> cycles;  ///< of each reference
    HierarchyCounts counts;
    std::vector<std::string> interconnect, m0, m1;  ///< events
};

/// "0L40 1S40": core, then as golden.hpp has it; each when the one before it is complete.
OnNodes play_on_nodes(const MachineDescription& description, std::string_view text) {
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    NodeWatcher interconnect(hierarchy, topology.link("numa-interconnect")), m0(hierarchy, topology.link("numa-M0")),
        m1(hierarchy, topology.link("numa-M1"));
    OnNodes played;
    Tick now = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const auto core = static_cast<unsigned>(text[begin] - '0');
        const Tick done = hierarchy.access(core, references(text.substr(begin + 1, end - begin - 1)).front(), now);
        played.cycles.push_back((done - now) / 1000);
        now = done;
        begin = end + 1;
    }
    played.counts = hierarchy.counts();
    played.interconnect = interconnect.seen;
    played.m0 = m0.seen;
    played.m1 = m1.seen;
    return played;
}

std::vector<std::size_t> homes_of(const MachineDescription& description,
                                  std::vector<std::pair<unsigned, Address>> asked) {
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    std::vector<std::size_t> homes;
    for (const auto& [core, address] : asked) homes.push_back(hierarchy.home(core, address));
    return homes;
}

TEST(Homes, APageIsAtHomeWhereItIsTouchedFirst) {
    const auto description = two_nodes({}, HomePolicy::first_touch);
    EXPECT_THAT(homes_of(description, {{1, 0x1008}, {0, 0x1ff8}, {0, 0x2000}, {1, 0x2000}, {1, 0x0}}),
                ElementsAre(1, 1, 0, 0, 1));
    MachineDescription huge = description;
    huge.pages.size = 2 << 20;
    EXPECT_THAT(homes_of(huge, {{1, 0x1008}, {0, 0x2000}, {0, 0x1fffff}, {0, 0x200000}}), ElementsAre(1, 1, 1, 0));
}

TEST(Homes, MemoriesTakeTurns) {
    MachineDescription description = two_nodes({}, HomePolicy::interleaved);
    description.memories.push_back({.name = "M2", .node = 1, .mark = {}});
    description.numa.granule = 256;
    EXPECT_THAT(homes_of(description, {{0, 0xff}, {0, 0x100}, {1, 0x2ff}, {1, 0x300}, {0, 0x400}}),
                ElementsAre(0, 1, 2, 0, 1));
}

TEST(Homes, AreAsTheRangesSay) {
    MachineDescription description = second_page_in_m1({});
    const std::vector<std::pair<unsigned, Address>> asked = {{1, 0xfff}, {0, 0x1000}, {1, 0x1fff}, {0, 0x2000}};
    EXPECT_THAT(homes_of(description, asked), ElementsAre(0, 1, 1, 0));
    description.numa.otherwise = "M1";
    description.numa.ranges[0].memory = "M0";
    EXPECT_THAT(homes_of(description, asked), ElementsAre(1, 0, 0, 1));
}

// Straight at memory: 10 where it is local, 5 + 12 and 5 + 10 where it is not.
TEST(Nodes, WhatIsAtHomeElsewhereTakesLonger) {
    const OnNodes played = play_on_nodes(two_nodes({}, HomePolicy::first_touch), "0L0 1L1000 0L1000 1S8 1L1008");
    EXPECT_THAT(played.cycles, ElementsAre(10, 12, 17, 15, 12));
    EXPECT_EQ(played.counts.memories[0], (MemoryCounts{.reads = 1, .writes = 1}));
    EXPECT_EQ(played.counts.memories[1], (MemoryCounts{.reads = 3}));
    EXPECT_EQ(played.counts.numa[0], (NumaCounts{.local_reads = 1, .remote_writes = 1}));
    EXPECT_EQ(played.counts.numa[1], (NumaCounts{.local_reads = 2, .remote_reads = 1}));
    EXPECT_THAT(played.interconnect, ElementsAre("load 1000, core 0, at 22", "store 8, core 1, at 39"));
    EXPECT_THAT(played.m0, ElementsAre("load 0, core 0, at 0", "store 8, core 1, at 44"));
    EXPECT_THAT(played.m1,
                ElementsAre("load 1000, core 1, at 10", "load 1000, core 0, at 27", "load 1008, core 1, at 54"));
    EXPECT_THAT(played.counts.buses, IsEmpty());
}

// Eight bytes take 2 cycles: back for a load, there for a store.
TEST(Nodes, AWordTakesTheInterconnect) {
    MachineDescription description = second_page_in_m1({});
    description.numa.interconnect.bytes_per_cycle = 4;
    const OnNodes played = play_on_nodes(description, "0L1000 0S1000 0L0");
    EXPECT_THAT(played.cycles, ElementsAre(5 + 12 + 2, 2 + 5 + 12, 10));
    EXPECT_EQ(played.counts.buses.back(), (BusCounts{.transfers = 2, .bytes = 16, .busy = 4'000}));
}

// 64 bytes take 4 cycles. S1000: asked at 1, there at 6, line ready at 18, carried until 22. L1100: asked at 23, there
// at 28, ready at 40, carried until 44, and the dirty victim behind it until 48; it is there at 53. L0 is local.
TEST(Nodes, LinesAndVictimsTakeTheInterconnect) {
    MachineDescription description = second_page_in_m1({cache("L1", "numa", 1, 4)});
    description.numa.interconnect.bytes_per_cycle = 16;
    const OnNodes played = play_on_nodes(description, "0S1000 0L1100 0L0");
    EXPECT_THAT(played.cycles, ElementsAre(22, 22, 11));
    EXPECT_EQ(played.counts.buses.back(),
              (BusCounts{.transfers = 3, .bytes = 192, .busy = 12'000, .waited = (44 - 23) * 1000}));
    EXPECT_THAT(played.interconnect,
                ElementsAre("load 1000, core 0, at 1", "load 1100, core 0, at 23", "write_back 1000, core 0, at 44"));
    EXPECT_THAT(played.m1,
                ElementsAre("load 1000, core 0, at 6", "load 1100, core 0, at 28", "write_back 1000, core 0, at 53"));
    EXPECT_THAT(played.m0, ElementsAre("load 0, core 0, at 45"));
    EXPECT_EQ(played.counts.numa[1], (NumaCounts{.remote_reads = 2, .remote_writes = 1}));
}

// Both nodes ask at once for what the other one has. Each has its own way: 1 + 5 + 12 + 4 and 1 + 5 + 10 + 4. With one
// for both, the line of core 0 is ready at 18, that of core 1 at 16.001, but the first to ask is carried first:
// until 22.
TEST(Nodes, MayShareOneInterconnect) {
    MachineDescription description = second_page_in_m1({cache("L1", "numa", 1, 4)});
    description.numa.interconnect.bytes_per_cycle = 16;
    for (const bool shared : {false, true}) {
        description.numa.interconnect.shared = shared;
        const Topology topology(description);
        Hierarchy hierarchy(topology);
        EXPECT_EQ(hierarchy.access(0, references("L1000")[0], 0), 22'000U);
        EXPECT_EQ(hierarchy.access(1, references("L0")[0], 1), shared ? 26'001U : 20'001U);
    }
}

// The bank of M1 is taken until 5 + 30, so that the second request, there at 5 + 17, waits 13.
TEST(Nodes, BanksAreThoseOfTheHome) {
    MachineDescription description = second_page_in_m1({});
    description.memories[1].bank_busy = 30;
    const OnNodes played = play_on_nodes(description, "0L1000 0L1000 0L0");
    EXPECT_THAT(played.cycles, ElementsAre(17, 17 + 13, 10));
    EXPECT_THAT(played.m1, ElementsAre("load 1000, core 0, at 5", "load 1000, core 0, at 22",
                                       "bank_conflict 1000, core 0, at 22"));
}

/// Sends a record of 16 bytes to page 1 for each load.
class NodeRecorder final : public LinkListener {
public:
    std::uint32_t kinds() const override { return bit(EventKind::load); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent&, Injector& injector) override { injector.write({0x1800, 16, true}); }
    void on_control(const Control&, Tick, Injector&) override {}
};

// L0 is local, until 11. Its record is carried for 1, is there at 12 + 5, and takes the bank until 47. L1000 is there
// at 12 + 5, too, but behind it: 47 + 12 + 4.
TEST(Nodes, RecordsCrossTheInterconnectUnseen) {
    MachineDescription description = second_page_in_m1({cache("L1", "numa", 4)});
    description.numa.interconnect.bytes_per_cycle = 16;
    description.memories[1].bank_busy = 30;
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    NodeRecorder recorder;
    hierarchy.listen(topology.link("L1-numa"), 0, recorder);
    NodeWatcher interconnect(hierarchy, topology.link("numa-interconnect"));
    const Tick first = hierarchy.access(0, references("L0")[0], 0);
    EXPECT_EQ(first, 11'000U);
    EXPECT_EQ(hierarchy.access(0, references("L1000")[0], first), (47U + 12 + 4) * 1000);
    EXPECT_EQ(hierarchy.counts().numa[1], (NumaCounts{.remote_reads = 1, .remote_ring_writes = 2}));
    EXPECT_EQ(hierarchy.counts().buses.back().bytes, 16U + 64 + 16);
    EXPECT_THAT(interconnect.seen, ElementsAre("load 1000, core 0, at 12"));
}

// A transaction takes 4 cycles, asking nodes 20, a supply 30. The directory of page 1 is in node 1: 5 more for core 0,
// but then the request need not go there again. Snooping, all are asked first, and then it goes there.
TEST(CoherentNodes, TheDirectoryIsAtTheHome) {
    MachineDescription description = second_page_in_m1({cache("L1", "numa", 4)});
    description.coherence = {.protocol = Protocol::mesi, .by = CoherenceBy::directory, .supply = 30, .mark = {}};
    const char* const text = "0L1000 1L1000 0S1000 1L1000 1L0 0S0";
    const OnNodes by_directory = play_on_nodes(description, text);
    // Core 1 finds the line exclusive with core 0, which is asked; the store is an upgrade that asks core 1; then core
    // 0 supplies; line 0 is remote to core 1, and core 0 takes it from there (exclusive: asked, and memory answers).
    EXPECT_THAT(by_directory.cycles,
                ElementsAre(1 + 5 + 4 + 12, 1 + 24 + 12, 5 + 24 + 1, 1 + 24 + 30, 1 + 5 + 4 + 10, 1 + 24 + 10));
    description.coherence.by = CoherenceBy::snooping;
    const OnNodes by_snooping = play_on_nodes(description, text);
    EXPECT_THAT(by_snooping.cycles,
                ElementsAre(1 + 4 + 5 + 12, 1 + 4 + 12, 4 + 1, 1 + 4 + 30, 1 + 4 + 5 + 10, 1 + 4 + 10));
    for (const OnNodes* played : {&by_directory, &by_snooping}) {
        // What core 0 cleans for core 1 goes home over the interconnect; what it supplies is not asked for there.
        EXPECT_EQ(played->counts.numa[1], (NumaCounts{.local_reads = 1, .remote_reads = 1, .remote_writes = 1}));
        EXPECT_EQ(played->counts.numa[0], (NumaCounts{.local_reads = 1, .remote_reads = 1}));
        EXPECT_EQ(played->interconnect.size(), 3U);
    }
}

}  // namespace
}  // namespace cachetally::golden
