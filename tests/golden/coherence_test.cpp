// SPDX-License-Identifier: BSD-3-Clause
// Transition counts worked out by hand: false sharing, a producer and its consumers, migration. Two to four nodes of
// one cache each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;

/// Private caches of 4 lines, 1 cycle, over a memory of 10. A transaction takes 4 cycles, asking nodes 20, a supply 30.
MachineDescription coherent_machine(unsigned cores, Protocol protocol, CoherenceBy by) {
    MachineDescription description = machine({cache("L1", "memory", 4)});
    description.cores = cores;
    description.caches[0].shared_by = 1;
    description.coherence.protocol = protocol;
    description.coherence.by = by;
    description.coherence.supply = 30;
    return description;
}

struct Played {
    CoherenceCounts counts;
    CacheCounts level;
    MemoryCounts memory;
    std::vector<std::string> events;  ///< "0 coherence 40": copy of L1-memory, kind, address
    std::vector<Tick> cycles;         ///< of each reference
};

class EventsOfCopy final : public LinkListener {
public:
    EventsOfCopy(unsigned copy, std::vector<std::string>& events) : copy_(copy), events_(events) {}
    std::uint32_t kinds() const override { return ~(bit(EventKind::fill) | bit(EventKind::eviction)); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override {
        events_.push_back(std::to_string(copy_) + " " + to_string(event.kind));
    }
    void on_control(const Control&, Tick, Injector&) override {}

private:
    unsigned copy_;
    std::vector<std::string>& events_;
};

/// "0L40 1S40": core, then as golden.hpp has it; one after the other.
Played play_cores(const MachineDescription& description, std::string_view text) {
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    Played played;
    std::vector<std::unique_ptr<EventsOfCopy>> listeners;
    for (unsigned core = 0; core < description.cores; ++core) {
        listeners.push_back(std::make_unique<EventsOfCopy>(core, played.events));
        hierarchy.listen(topology.link("L1-memory"), core, *listeners.back());
    }
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const auto core = static_cast<unsigned>(text[begin] - '0');
        const auto made = references(text.substr(begin + 1, end - begin - 1));
        played.cycles.push_back(hierarchy.access(core, made.front(), 0) / 1000);
        begin = end + 1;
    }
    const HierarchyCounts counts = hierarchy.counts();
    played.counts = counts.coherence.at(0);
    played.level = counts.caches[0];
    played.memory = counts.memories[0];
    return played;
}

// Two cores write different words of line 0 in turn: each store takes the line from the other. With the directory, the
// first exclusive read is one message there and one back; each of the others one there, two to the owner and back; the
// owner's answer is the line.
TEST(Coherence, FalseSharingMovesTheLineWithEveryStore) {
    for (const Protocol protocol : {Protocol::mesi, Protocol::moesi}) {
        const Played played = play_cores(coherent_machine(2, protocol, CoherenceBy::directory), "0S0 1S8 0S0 1S8 0S0");
        EXPECT_EQ(played.counts,
                  (CoherenceCounts{.exclusive_reads = 5, .supplies = 4, .invalidations = 4, .messages = 2 + 4 * 3}));
        EXPECT_EQ(played.level.store_misses, 5U);
        EXPECT_EQ(played.level.invalidations, 4U);
        EXPECT_EQ(played.memory, (MemoryCounts{.reads = 1}));
        EXPECT_THAT(played.cycles, ElementsAre(1 + 4 + 10, 1 + 24 + 30, 1 + 24 + 30, 1 + 24 + 30, 1 + 24 + 30));
    }
    const Played apart = play_cores(coherent_machine(2, Protocol::mesi, CoherenceBy::directory), "0S0 1S48 0S0 1S48");
    EXPECT_EQ(apart.counts, (CoherenceCounts{.exclusive_reads = 2, .messages = 4}));
    EXPECT_THAT(apart.cycles, ElementsAre(15, 15, 1, 1));
}

// The producer writes, two read, the producer writes again (an upgrade that takes two copies away), two read.
constexpr std::string_view produced_twice = "0S0 1L0 2L0 0S0 1L0 2L0";

// In MESI the first read after each store cleans the producer's line and gets it; the second comes from memory.
TEST(Coherence, AProducerAndItsConsumersInMesi) {
    const Played played = play_cores(coherent_machine(3, Protocol::mesi, CoherenceBy::snooping), produced_twice);
    EXPECT_EQ(played.counts, (CoherenceCounts{.reads = 4,
                                              .exclusive_reads = 1,
                                              .upgrades = 1,
                                              .supplies = 2,
                                              .write_backs = 2,
                                              .invalidations = 2,
                                              .downgrades = 2,
                                              .messages = 6 * 2}));
    EXPECT_EQ(played.memory, (MemoryCounts{.reads = 3, .writes = 2}));
    EXPECT_EQ(played.level.writebacks_out, 0U);
    EXPECT_THAT(played.cycles, ElementsAre(15, 1 + 4 + 30, 15, 4 + 1, 1 + 4 + 30, 15));
    EXPECT_THAT(played.events, ElementsAre("0 load", "1 load", "0 flush", "0 coherence", "0 write_back", "2 load",
                                           "1 invalidate", "2 invalidate", "0 coherence", "1 load", "0 flush",
                                           "0 coherence", "0 write_back", "2 load"));
}

// In MOESI the producer owns the line and supplies it to both; memory is asked once and never written.
TEST(Coherence, AProducerAndItsConsumersInMoesi) {
    const Played played = play_cores(coherent_machine(3, Protocol::moesi, CoherenceBy::directory), produced_twice);
    // Messages: 2; four reads of a line that the producer supplies, 3 each; the upgrade asks two: 1 + 4 + 1.
    EXPECT_EQ(played.counts, (CoherenceCounts{.reads = 4,
                                              .exclusive_reads = 1,
                                              .upgrades = 1,
                                              .supplies = 4,
                                              .invalidations = 2,
                                              .downgrades = 2,
                                              .messages = 2 + 4 * 3 + 6}));
    EXPECT_EQ(played.memory, (MemoryCounts{.reads = 1}));
    EXPECT_THAT(played.cycles, ElementsAre(15, 55, 55, 24 + 1, 55, 55));
    EXPECT_THAT(played.events, ElementsAre("0 load", "1 load", "0 coherence", "2 load", "1 invalidate", "2 invalidate",
                                           "0 coherence", "1 load", "0 coherence", "2 load"));
}

// What one core reads and then writes, core after core: a read and an upgrade each; the first has it alone, and asks
// nobody.
TEST(Coherence, ALineThatMigratesIsReadAndUpgraded) {
    const Played played =
        play_cores(coherent_machine(4, Protocol::mesi, CoherenceBy::snooping), "0L0 0S0 1L0 1S0 2L0 2S0 3L0 3S0");
    EXPECT_EQ(played.counts, (CoherenceCounts{.reads = 4,
                                              .upgrades = 3,
                                              .supplies = 3,
                                              .write_backs = 3,
                                              .invalidations = 3,
                                              .downgrades = 3,
                                              .messages = 7 * 3}));
    EXPECT_EQ(played.events[1], "0 coherence");  // exclusive to modified: no message
}

// An owner's victim goes to memory; those that share the line keep it, and the next reader gets it from there. The
// directory is told of the line that leaves.
TEST(Coherence, AnOwnersVictimIsWrittenBackAndLeavesSharers) {
    const Played played = play_cores(coherent_machine(3, Protocol::moesi, CoherenceBy::directory),
                                     "0S0 1L0 0L40 0L80 0Lc0 0L100 2L0 1S0");
    EXPECT_EQ(played.level.writebacks_out, 1U);
    // 2; supplied 3; four reads 8, a notice; a read that asks nobody 2; an upgrade that asks one 4.
    EXPECT_EQ(played.counts.messages, 2U + 3 + 8 + 1 + 2 + 4);
    EXPECT_EQ(played.memory, (MemoryCounts{.reads = 6, .writes = 1}));
}

}  // namespace
}  // namespace cachetally::golden
