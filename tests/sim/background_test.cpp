// SPDX-License-Identifier: BSD-3-Clause
// Background: everything is done, in order, and failures arrive where they are waited for.
#include "sim/model/batching/background.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "sim/model/memory/memory.hpp"

namespace cachetally {
namespace {

struct Told {
    Address address;
    EventKind kind;
    std::uint8_t core;
    friend bool operator==(const Told&, const Told&) = default;
};

class Listener final : public LinkListener {
public:
    std::uint32_t kinds() const override { return bit(EventKind::load) | bit(EventKind::store); }
    bool accepts_merged(std::uint32_t) const override { return true; }
    void on_event(const LinkEvent& event, Injector&) override {
        if (told.size() == fails_at) throw std::runtime_error("enough");
        for (std::uint32_t i = 0; i < event.count; ++i) told.push_back({event.address, event.kind, event.core});
    }
    void on_control(const Control&, Tick, Injector&) override {}

    std::vector<Told> told;
    std::size_t fails_at = ~std::size_t{0};
};

constexpr std::uint32_t both = bit(EventKind::load) | bit(EventKind::store);

TEST(Background, TellsOfAllEventsInOrder) {
    Listener listener;
    RequestPort link;
    link.listen(listener, nullptr);
    Background background;
    std::vector<Told> expected;
    std::vector<BlockEvent> events;
    for (Address block = 0; block < 300000; ++block) {
        const EventKind kind = block % 3 == 0 ? EventKind::store : EventKind::load;
        events.emplace_back(block * 64, kind);
        expected.push_back({block * 64, kind, 5});
        if (events.size() < 1 + block % 700) continue;
        background.notify(link, events, both, 5);
        events.clear();
    }
    background.notify(link, events, both, 5);
    EXPECT_EQ(background.complete(), 0U);
    EXPECT_EQ(listener.told, expected);
    std::vector<BlockEvent> many(100000, BlockEvent(64, EventKind::load));  // more than are handed over at once
    background.notify(link, many, both, 5);
    background.complete();
    EXPECT_EQ(listener.told.size(), expected.size() + many.size());
}

TEST(Background, LeavesOutKindsThatAListenerDoesNotWant) {
    Listener listener;
    RequestPort link;
    link.listen(listener, nullptr);
    Background background;
    const std::vector<BlockEvent> events{{0, EventKind::fetch}, {64, EventKind::load}, {128, EventKind::write_back}};
    background.notify(link, events, ~std::uint32_t{0}, 0);
    background.complete();
    EXPECT_EQ(listener.told, (std::vector<Told>{{64, EventKind::load, 0}}));
}

TEST(Background, FlushesBatchesAndTellsForWhatSomebodyWaits) {
    Memory memory({.latency = 100, .mark = {}}, 1);
    Listener listener;
    RequestPort link;
    link.connect(memory);
    link.listen(listener, nullptr);
    Background background;
    for (Address i = 0; i < 40000; ++i) {
        link.batch().push({i * 64, EventKind::load});
        if (i % 1000 != 0) continue;
        background.flush(link);
        EXPECT_TRUE(link.batch().empty());
    }
    background.flush(link);
    EXPECT_EQ(background.complete(), 40000U * 100U);
    EXPECT_EQ(background.complete(), 0U);
    EXPECT_EQ(memory.counts().reads, 40000U);
    EXPECT_EQ(listener.told.size(), 40000U);
}

TEST(Background, ThrowsWhatWasThrownWhereItIsWaitedFor) {
    Listener listener;
    listener.fails_at = 3;
    RequestPort link;
    link.listen(listener, nullptr);
    Background background;
    for (Address i = 0; i < 10; ++i) {
        const BlockEvent event(64 * i, EventKind::load);
        background.notify(link, {&event, 1}, both, 0);
    }
    EXPECT_THROW(background.complete(), std::runtime_error);
    EXPECT_EQ(listener.told.size(), 3U);
    EXPECT_EQ(background.complete(), 0U);
}

TEST(Background, MayEndWithWorkThatNobodyWaitsFor) {
    Listener listener;
    RequestPort link;
    link.listen(listener, nullptr);
    const BlockEvent event(64, EventKind::load);
    Background background;
    background.notify(link, {&event, 1}, both, 0);
}

}  // namespace
}  // namespace cachetally
