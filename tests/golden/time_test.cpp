// SPDX-License-Identifier: BSD-3-Clause
// Times worked out by hand: buses, write buffers, outstanding misses, banks, walks, records. In cycles of 1000 ticks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <utility>

#include "cachetally/hierarchy.hpp"
#include "sim/model/prefetch/table.hpp"
#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;

/// One line in each of four sets, with a bus below it.
MachineDescription with_bus(BusConfig bus) {
    MachineDescription description = machine({cache("L1", "memory", 1, 4)});
    description.caches[0].bus = bus;
    return description;
}

Tick cycles_of(const MachineDescription& description, std::string_view text) {
    return play(description, text).end / 1000;
}

// Lookup until 1, there at 1 + 2, memory until 13, 64 bytes in 4 cycles.
TEST(Buses, ARequestTravelsAndItsLineIsCarriedBack) {
    const Result result = play(with_bus({.latency = 2, .bytes_per_cycle = 16}), "L0");
    EXPECT_EQ(result.end, 17'000U);
    EXPECT_EQ(result.counts.buses[0], (BusCounts{.transfers = 1, .bytes = 64, .busy = 4'000, .waited = 0}));
}

TEST(Buses, PartOfACycleIsACycle) { EXPECT_EQ(cycles_of(with_bus({.bytes_per_cycle = 60}), "L0"), 1U + 10 + 2); }

// S0 until 77 (1, 3, 13, 64 cycles). S100: asked at 78, line from 90 to 154, the victim behind it until 218.
// L200: asked at 155, the line is there at 167 and carried from 218 to 282.
TEST(Buses, AVictimWaitsForTheLineThatDisplacesItAndTheNextLineForIt) {
    const Result result = play(with_bus({.latency = 2, .bytes_per_cycle = 1}), "S0 S100 L200");
    EXPECT_EQ(result.end, 282'000U);
    EXPECT_EQ(result.counts.buses[0].transfers, 5U);  // three lines, two victims
    EXPECT_EQ(result.counts.buses[0].waited, (154U - 78 + 218 - 167 + 282 - 155) * 1000);
}

// Core 0: 1, 11, carried until 75. Core 1: its line is there at 11.001, and carried from 75.001 on: whole cycles later.
TEST(Buses, ASharedOneServesCoresOneAfterTheOther) {
    MachineDescription description = with_bus({.bytes_per_cycle = 1, .shared = true});
    description.cores = 2;
    description.caches[0].shared_by = 1;
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    EXPECT_EQ(hierarchy.access(0, references("L0")[0], 0), 75'000U);
    EXPECT_EQ(hierarchy.access(1, references("L40")[0], 1), 139'001U);
    description.caches[0].bus.shared = false;
    const Topology apart(description);
    Hierarchy private_buses(apart);
    EXPECT_EQ(private_buses.access(0, references("L0")[0], 0), 75'000U);
    EXPECT_EQ(private_buses.access(1, references("L40")[0], 1), 75'001U);
}

// Eight bytes of a store take 8 cycles. One place: stores enter it at 1, 9, 17. Two: at 1, 2, 9.
TEST(WriteBuffers, StoresThatArePassedOnWaitForAPlace) {
    MachineDescription description = with_bus({.bytes_per_cycle = 1});
    description.caches[0].write = WritePolicy::write_through;
    description.caches[0].write_allocate = false;
    EXPECT_EQ(cycles_of(description, "S0 S40 S80"), 3U);
    description.caches[0].write_buffer = 1;
    EXPECT_EQ(cycles_of(description, "S0 S40 S80"), 17U);
    description.caches[0].write_buffer = 2;
    EXPECT_EQ(cycles_of(description, "S0 S40 S80"), 9U);
}

// L0 asks at 1, its prefetch of 40 too; L40 hits at 12 and prefetches 80; L100 asks at 13. With one place these are
// asked at 1, 11, 21 and 31; with two L100 need not wait.
TEST(OutstandingMisses, RequestsWaitForAPlace) {
    MachineDescription description = machine({cache("L1", "memory", 8)});
    description.caches[0].prefetch.kind = prefetchers::next_line;
    EXPECT_EQ(cycles_of(description, "L0 L40 L100"), 23U);
    description.caches[0].outstanding_misses = 1;
    EXPECT_EQ(cycles_of(description, "L0 L40 L100"), 41U);
    description.caches[0].outstanding_misses = 2;
    EXPECT_EQ(cycles_of(description, "L0 L40 L100"), 23U);
}

// Bank 0 is taken until 30, so that the second load begins then; the third is for bank 1.
TEST(Banks, ABusyBankIsWaitedFor) {
    MachineDescription description = machine({});
    description.memories[0].banks = 2;
    description.memories[0].bank_busy = 30;
    EXPECT_EQ(cycles_of(description, "L0 L0 L40"), 50U);
    EXPECT_EQ(cycles_of(description, "L0 L40 L0"), 10U + 10 + 20);
}

// Each of the four entries is a miss in L1: 1 + 2 + 10 + 4.
TEST(Walks, TheirReferencesTakeTheBus) {
    MachineDescription description = machine({cache("L1", "memory", 64)});
    description.caches[0].bus = {.latency = 2, .bytes_per_cycle = 16};
    TlbConfig tlb;
    tlb.name = "TLB";
    tlb.entries = 4;
    description.tlbs = {tlb};
    EXPECT_EQ(cycles_of(description, "L1004"), 5U * 17);
}

/// Conflicts on all copies of one link: "address, core, site, cycle".
class Conflicts final : public LinkListener {
public:
    Conflicts(Hierarchy& hierarchy, std::size_t link) {
        for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) hierarchy.listen(link, copy, *this);
    }
    std::uint32_t kinds() const override { return bit(EventKind::bank_conflict); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override {
        std::ostringstream text;
        text << std::hex << event.address << std::dec << ", core " << unsigned{event.core} << ", site " << event.site
             << ", " << event.time / 1000;
        seen.push_back(text.str());
    }
    void on_control(const Control&, Tick, Injector&) override {}

    std::vector<std::string> seen;
};

std::vector<std::string> conflicts_of(const MachineDescription& description, std::string_view link,
                                      std::string_view text) {
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    Conflicts conflicts(hierarchy, topology.link(link));
    Tick now = 0;
    for (const Reference& reference : references(text)) now = hierarchy.access(0, reference, now);
    return conflicts.seen;
}

// Without caches a reference comes to memory at once. L0 takes bank 0 until 30, and is answered at 10; L80 comes at 10,
// begins at 30, and is answered at 40, when L40 finds bank 1 free. L4 comes at 50 to a bank that is taken until 60; L0
// at 70 to one that is taken until 90.
TEST(BankConflicts, AreAccessesThatComeToABusyBank) {
    MachineDescription description = machine({});
    description.memories[0].banks = 2;
    description.memories[0].bank_busy = 30;
    EXPECT_THAT(conflicts_of(description, "core-memory", "L0 L80@7 L40 L4 S0"),
                ElementsAre("80, core 0, site 7, 10", "4, core 0, site 0, 50", "0, core 0, site 0, 70"));
    description.memories[0].bank_busy = 10;  // answered when the bank is free again
    EXPECT_THAT(conflicts_of(description, "core-memory", "L0 L80 L0"), ElementsAre());
}

// One line, one bank, 1 cycle to look up and 2 on the way. S0 is at the bank from 3 to 33, and its line there at 13.
// L40 comes to the bank at 16 and begins at 33; the victim goes when its line is asked for, is there at 16 too, and
// begins after it.
TEST(BankConflicts, OfVictimsAreOnTheSameLink) {
    MachineDescription description = with_bus({.latency = 2});
    description.caches[0] = cache("L1", "memory", 1);
    description.caches[0].bus = {.latency = 2};
    description.memories[0].bank_busy = 30;
    EXPECT_THAT(conflicts_of(description, "L1-memory", "S0 L40"),
                ElementsAre("40, core 0, site 0, 16", "0, core 0, site 0, 16"));
}

// In the order of events: after the access, before its consequences.
TEST(BankConflicts, ComeAfterTheAccess) {
    MachineDescription description = machine({cache("L1", "memory", 2)});
    description.memories[0].bank_busy = 30;
    EXPECT_THAT(play(description, "L0 L40").events,
                ElementsAre("core-L1 load 0", "L1-memory load 0", "L1-memory fill 0", "core-L1 load 40",
                            "L1-memory load 40", "L1-memory bank_conflict 40", "L1-memory fill 40"));
}

/// Sends a record of 16 bytes on each load.
class Writer final : public LinkListener {
public:
    explicit Writer(bool bypass) : bypass_(bypass) {}
    std::uint32_t kinds() const override { return bit(EventKind::load); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent&, Injector& injector) override { injector.write({0x8000, 16, bypass_}); }
    void on_control(const Control&, Tick, Injector&) override {}

private:
    bool bypass_;
};

/// When core 0 is done with all.
Tick with_records(const MachineDescription& description, std::string_view link, bool bypass, std::string_view text) {
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    Writer writer(bypass);
    hierarchy.listen(topology.link(link), 0, writer);
    Tick now = 0;
    for (const Reference& reference : references(text)) now = hierarchy.access(0, reference, now);
    return now / 1000;
}

// L0 until 77 as above, its record on the bus until 93, that of the second L0 (a hit, until 78) until 109. The line of
// L40 is there at 91 and carried from 109 on.
TEST(Records, TakeTheBusOnTheirWayToMemory) {
    const MachineDescription description = with_bus({.latency = 2, .bytes_per_cycle = 1});
    EXPECT_EQ(cycles_of(description, "L0 L0 L40"), 155U);
    EXPECT_EQ(with_records(description, "core-L1", true, "L0 L0 L40"), 173U);
}

/// A counter of one line, which takes its events in any way that it is told of them: a record when the line changes.
class OneCounter final : public BatchListener {
public:
    std::uint32_t kinds() const override { return bit(EventKind::load); }
    bool accepts_merged(std::uint32_t) const override { return true; }
    bool sends() const override { return true; }
    void on_event(const LinkEvent& event, Injector& injector) override {
        if (line_ && *line_ != event.address) injector.write({0x8000, 16, true});
        line_ = event.address;
    }
    void on_control(const Control&, Tick, Injector&) override {}

private:
    std::optional<Address> line_;
};

/// One core, all at once, as programs and traces are.
class AtOnce final : public ReferenceSource {
public:
    explicit AtOnce(std::vector<Reference> all) : all_(std::move(all)) {}
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override {
        return {std::exchange(given_, true) ? std::span<const Reference>() : all_, {Control::Kind::end, 0}};
    }

private:
    std::vector<Reference> all_;
    bool given_ = false;
};

// L0 until 15, L40 until 30, then a hit in each cycle. The record of each but the first takes the bus for the cycle
// after it: the next one finds it free. Records of several references that are sent together would wait for each other.
TEST(Records, AreSentAtTheEndOfTheirReferenceHoweverManyAreMadeAtOnce) {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "L0 L40 ";
    const Topology topology(with_bus({.bytes_per_cycle = 16}));
    Hierarchy hierarchy(topology);
    OneCounter counter;
    hierarchy.listen(topology.link("core-L1"), 0, counter);
    AtOnce source(references(text));
    EXPECT_EQ(run(hierarchy, source).end(), (30U + 98) * 1000);
    const HierarchyCounts counts = hierarchy.counts();
    EXPECT_EQ(counts.memories[0].ring_writes, 99U);
    EXPECT_EQ(counts.buses[0], (BusCounts{.transfers = 2 + 99, .bytes = 128 + 99 * 16, .busy = 107'000, .waited = 0}));
}

// Behind L1 only the two misses give records, and the first one is on the bus until 93.
TEST(Records, BehindACacheShareItsBus) {
    const MachineDescription description = with_bus({.latency = 2, .bytes_per_cycle = 1});
    EXPECT_EQ(with_records(description, "L1-memory", false, "L0 L0 L40"), 157U);
}

// The record of L0 takes bank 0 (0x8000) from 10 to 40.
TEST(Records, TakeTheirBank) {
    MachineDescription description = machine({});
    description.memories[0].banks = 2;
    description.memories[0].bank_busy = 30;
    EXPECT_EQ(cycles_of(description, "L40 L0"), 20U);
    EXPECT_EQ(with_records(description, "core-memory", true, "L40 L0"), 50U);
}

// A record is no event on a link that it is sent from: else who counts conflicts would count those that it makes.
TEST(Records, MakeNoConflicts) {
    MachineDescription description = machine({});
    description.memories[0].bank_busy = 30;
    const Topology topology(description);
    for (const bool bypass : {false, true}) {
        Hierarchy hierarchy(topology);
        Writer writer(bypass);
        hierarchy.listen(topology.link("core-memory"), 0, writer);
        const Conflicts conflicts(hierarchy, topology.link("core-memory"));
        hierarchy.access(0, references("L0")[0], 0);  // until 30; its record comes at 10 and waits
        EXPECT_EQ(hierarchy.counts().memories[0].ring_writes, 1U);
        EXPECT_THAT(conflicts.seen, ElementsAre());
    }
}

}  // namespace
}  // namespace cachetally::golden
