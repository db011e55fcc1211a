// SPDX-License-Identifier: BSD-3-Clause
// Monitors that are notified of filtered references count as those told of each event.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "monitor/monitor.hpp"
#include "sim/model/batching/background.hpp"
#include "tests/monitor/streams.hpp"

namespace cachetally {
namespace {

/// A reference, or a control.
struct Turn {
    Reference reference;
    Control control;
};

std::vector<Turn> some_turns() {
    std::vector<Turn> turns(*rc::gen::inRange<std::size_t>(0, 1500));
    std::uint64_t state = *rc::gen::arbitrary<std::uint32_t>() + 1U;
    const bool switches = *rc::gen::arbitrary<bool>();
    for (Turn& turn : turns) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const Address spread = (state >> 20 & 3) == 0 ? 0xfffff : 0x31cf;
        const bool straddles = (state >> 24 & 63) == 0;
        const auto kind = (state >> 50 & 3) == 0 ? ReferenceKind::store : ReferenceKind::load;
        turn.reference = {state >> 40 & spread & ~Address{7}, 0, static_cast<std::uint16_t>(straddles ? 72 : 8), kind,
                          0};
        if (!switches || (state >> 30 & 127) != 0) continue;
        constexpr Control::Kind kinds[] = {Control::Kind::barrier, Control::Kind::monitor_off,
                                           Control::Kind::monitor_on, Control::Kind::enter_function,
                                           Control::Kind::leave_function};
        turn.control = {kinds[(state >> 55) % 5], static_cast<std::uint32_t>(state >> 60)};
    }
    return turns;
}

/// Each line of each reference by itself.
void play_each(Monitor& monitor, const std::vector<Turn>& turns) {
    Injector injector;
    for (const auto& [reference, control] : turns) {
        if (control.kind != Control::Kind::none) {
            monitor.on_control(control, 0, injector);
            continue;
        }
        const EventKind kind = static_cast<EventKind>(reference.kind);
        for (Address line = reference.address / 64 * 64; line < reference.address + reference.size; line += 64)
            if ((monitor.kinds() & bit(kind)) != 0)
                monitor.on_event({.address = line, .kind = kind, .core = 3}, injector);
    }
}

/// As CorePipeline does it: in pieces, by a link, perhaps in the background.
class Teller {
public:
    Teller(RequestPort& link, std::size_t piece) : link_(link), piece_(piece) {}

    void play(const std::vector<Turn>& turns, Background* background) {
        link_.notify_through(background);
        for (const auto& [reference, control] : turns) {
            if (control.kind != Control::Kind::none) {
                hand_over();
                if (background != nullptr) background->complete();
                link_.control(control, 0);
            } else {
                add(reference);
            }
        }
        hand_over();
        if (background != nullptr) background->complete();
    }

private:
    void add(const Reference& reference) {
        pending_.push_back(reference);
        if (pending_.size() == piece_) hand_over();
    }
    void hand_over() {
        for (std::size_t done = 0; done < pending_.size();) {
            const FilteredBlock block = filter_.filter(std::span(pending_).subspan(done));
            link_.notify_filtered(block.data, 3);
            done += block.references;
        }
        pending_.clear();
    }

    RequestPort& link_;
    std::size_t piece_;
    RedundancyFilter filter_{{.data = packed_shape, .fetches = {}}};
    std::vector<Reference> pending_;
};

void expect_equal(const MonitorResult& expected, const MonitorResult& found) {
    RC_ASSERT(found.events == expected.events);
    RC_ASSERT(found.swapouts == expected.swapouts);
    RC_ASSERT(found.resident == expected.resident);
    RC_ASSERT(found.resident_counters == expected.resident_counters);
    RC_ASSERT(found.swapouts_per_phase == expected.swapouts_per_phase);
    RC_ASSERT(found.bytes == expected.bytes);
    RC_ASSERT(found.histogram == expected.histogram);
}

MonitorSpec filtered_spec() {
    MonitorSpec spec = *spec_gen();
    if (*rc::gen::arbitrary<bool>()) {  // mostly those that take filtered events
        spec.eviction = *rc::gen::element(Eviction::lru, Eviction::fifo);
        spec.granularity = {Granularity::Mode::aligned, *rc::gen::inRange(1U, 5U)};
        spec.ways = 0;
    }
    spec.functions = *rc::gen::arbitrary<bool>();
    if (*rc::gen::inRange(0, 4) == 0) spec.kinds = bit(EventKind::load);
    return spec;
}

RC_GTEST_PROP(FilteredMonitor, CountsAsOneThatIsToldOfEachEvent, ()) {
    const MonitorSpec spec = filtered_spec();
    const auto turns = some_turns();
    Monitor one_by_one(spec), filtered(spec), also(spec);
    RC_PRE(filtered.accepts_merged(64));
    play_each(one_by_one, turns);
    RequestPort link;
    link.listen(filtered, nullptr);
    link.listen(also, nullptr);
    Background background;
    Teller(link, *rc::gen::inRange<std::size_t>(1, FilteredBlock::most + 1))
        .play(turns, *rc::gen::arbitrary<bool>() ? &background : nullptr);
    for (Monitor* monitor : {&one_by_one, &filtered, &also}) monitor->finish();
    const MonitorResult expected = one_by_one.result();
    expect_equal(expected, filtered.result());
    expect_equal(expected, also.result());
}

/// LRU by another way: the ring costs time, so that each record is written.
RC_GTEST_PROP(FilteredMonitor, HasTheRecordsOfOneThatWritesEach, ()) {
    MonitorSpec spec = filtered_spec();
    spec.kinds = bit(EventKind::load) | bit(EventKind::store);
    const auto turns = some_turns();
    Monitor filtered(spec);
    RC_PRE(filtered.takes_filtered());
    MonitorSpec slow = spec;
    slow.ring.write_cost = 1;
    Monitor recorded(slow);
    RC_ASSERT(!recorded.takes_filtered());
    play_each(recorded, turns);
    RequestPort link;
    link.listen(filtered, nullptr);
    Teller(link, 100).play(turns, nullptr);
    filtered.finish();
    recorded.finish();
    const MonitorResult expected = recorded.result(), found = filtered.result();
    RC_ASSERT(found.swapouts == expected.swapouts);
    RC_ASSERT(found.swapouts_per_phase == expected.swapouts_per_phase);
    RC_ASSERT(found.histogram == expected.histogram);
}

}  // namespace
}  // namespace cachetally
