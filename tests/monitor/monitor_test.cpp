// The laws of a monitor as a whole, and its switch, filters, phases and functions on small cases worked out by hand.
#include "monitor/monitor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "monitor/accuracy.hpp"
#include "monitor/exact_histogram.hpp"
#include "tests/monitor/streams.hpp"

namespace cachetally {
namespace {

MonitorSpec plain(std::uint32_t counters) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = 64;
    spec.counters = counters;
    return spec;
}

/// One thing that a monitor is told.
struct Step {
    LinkEvent event;
    Control control;
};

Step at(Address address, EventKind kind = EventKind::load) { return {{.address = address, .kind = kind}, {}}; }
Step tell(Control::Kind kind, std::uint32_t argument = 0) { return {{}, {kind, argument}}; }

void play(LinkListener& listener, const std::vector<Step>& steps, Injector& injector) {
    Tick time = 0;
    for (const Step& step : steps) {
        time += 500;
        LinkEvent event = step.event;
        event.time = time;
        if (step.control.kind != Control::Kind::none) {
            listener.on_control(step.control, time, injector);
        } else if ((listener.kinds() & bit(event.kind)) != 0) {
            listener.on_event(event, injector);
        }
    }
}

MonitorResult run(const MonitorSpec& spec, const std::vector<Step>& steps) {
    Monitor monitor(spec);
    Injector injector;
    play(monitor, steps, injector);
    monitor.finish();
    return monitor.result();
}

Histogram exact(const MonitorSpec& spec, const std::vector<Step>& steps) {
    ExactHistogram listener(spec);
    Injector injector;
    play(listener, steps, injector);
    return listener.finish();
}

using Rows = std::vector<HistogramRow>;
Rows rows(const Histogram& histogram) { return {histogram.rows().begin(), histogram.rows().end()}; }

TEST(Monitor, SumsPartialCountsPerLine) {
    // One counter: lines 0, 1, 0 give three records.
    const MonitorResult result = run(plain(1), {at(0), at(8), at(64), at(4)});
    EXPECT_EQ(result.events, 4U);
    EXPECT_EQ(result.swapouts, 3U);
    EXPECT_EQ(result.resident, 1U);
    EXPECT_EQ(result.bytes, 3U * 16);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, no_function, 3}, {64, 1, 0, no_function, 1}}));
}

TEST(Monitor, BarriersSwapOutAndBeginPhases) {
    const MonitorResult result =
        run(plain(4), {at(0), at(64), tell(Control::Kind::barrier), at(0), tell(Control::Kind::barrier)});
    EXPECT_EQ(result.swapouts_per_phase, (std::vector<std::uint64_t>{2, 1, 0}));
    EXPECT_EQ(result.histogram.phases(), 3U);
    EXPECT_EQ(rows(result.histogram),
              (Rows{{0, 1, 0, no_function, 1}, {64, 1, 0, no_function, 1}, {0, 1, 1, no_function, 1}}));
}

TEST(Monitor, BarriersMayBeIgnored) {
    MonitorSpec spec = plain(4);
    spec.barriers = false;
    const MonitorResult result = run(spec, {at(0), tell(Control::Kind::barrier), at(0)});
    EXPECT_EQ(result.swapouts, 1U);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, no_function, 2}}));
}

TEST(Monitor, FunctionsHaveHistogramsOfTheirOwn) {
    MonitorSpec spec = plain(4);
    spec.functions = true;
    using K = Control::Kind;
    const MonitorResult result =
        run(spec, {at(0), tell(K::enter_function, 5), at(0), tell(K::enter_function, 2), at(0), tell(K::leave_function),
                   at(0), tell(K::leave_function), at(0), tell(K::leave_function), at(0)});
    // Swapped out at each of the four changes and at the end; leaving what was never entered changes nothing.
    EXPECT_EQ(result.swapouts, 5U);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, 2, 1}, {0, 1, 0, 5, 2}, {0, 1, 0, no_function, 3}}));
}

TEST(Monitor, TheSwitchKeepsCountersAndIgnoresEvents) {
    MonitorSpec spec = plain(4);
    spec.start = false;
    using K = Control::Kind;
    const MonitorResult result =
        run(spec, {at(0), tell(K::monitor_on), at(0), tell(K::monitor_off), at(0), tell(K::monitor_on), at(0)});
    EXPECT_EQ(result.events, 2U);
    EXPECT_EQ(result.swapouts, 1U);
}

TEST(Monitor, FiltersByKindRangeAndCore) {
    MonitorSpec spec = plain(4);
    spec.kinds = bit(EventKind::store);
    spec.ranges = {{0x100, 0x200}, {0x400, 0x440}};
    spec.cores = {1, 3};
    std::vector<Step> steps;
    for (const Address address : {0xffU, 0x100U, 0x1ffU, 0x200U, 0x400U, 0x43fU, 0x440U})
        for (const EventKind kind : {EventKind::load, EventKind::store})
            for (const std::uint8_t core : {0, 1, 2, 3}) {
                steps.push_back(at(address, kind));
                steps.back().event.core = core;
            }
    EXPECT_EQ(run(spec, steps).events, 4U * 2);
}

TEST(Monitor, MasksFinerThanALineCountParts) {
    MonitorSpec spec = plain(8);
    spec.granularity = {Granularity::Mode::mask, 3};
    const MonitorResult result = run(spec, {at(0), at(7), at(8)});
    EXPECT_EQ(result.histogram.unit_bytes(), 8U);
    EXPECT_EQ(rows(result.histogram), (Rows{{0, 1, 0, no_function, 2}, {8, 1, 0, no_function, 1}}));
}

TEST(Monitor, MasksCoarserThanALineCountGroups) {
    MonitorSpec spec = plain(8);
    spec.granularity = {Granularity::Mode::mask, 8};
    EXPECT_EQ(rows(run(spec, {at(0), at(255), at(256)}).histogram),
              (Rows{{0, 4, 0, no_function, 2}, {256, 4, 0, no_function, 1}}));
}

TEST(Monitor, GroupsNeedNotBePowersOfTwo) {
    MonitorSpec spec = plain(8);
    spec.granularity.amount = 3;
    EXPECT_EQ(
        rows(run(spec, {at(0), at(191), at(192), at(~Address{0})}).histogram),
        (Rows{
            {0, 3, 0, no_function, 2}, {192, 3, 0, no_function, 1}, {~Address{0} / 192 * 192, 3, 0, no_function, 1}}));
}

TEST(Monitor, RefusesWhatContradictsItself) {
    MonitorSpec spec = plain(8);
    spec.line = 0;
    EXPECT_THROW(Monitor{spec}, SpecError);
    spec = plain(8);
    spec.ways = 3;
    EXPECT_THROW(Monitor{spec}, SpecError);
}

/// Random programs: events on 0 .. 80 lines, with controls in between.
rc::Gen<std::vector<Step>> steps_gen() {
    return rc::gen::exec([] {
        std::vector<Step> steps;
        for (const std::uint64_t unit : *units_gen()) {
            const auto kind = static_cast<EventKind>(*rc::gen::inRange(0, 3));
            steps.push_back(at(unit * 64 + *rc::gen::inRange<Address>(0, 64), kind));
            using K = Control::Kind;
            if (*rc::gen::inRange(0, 30) == 0)
                steps.push_back(tell(
                    *rc::gen::element(K::barrier, K::monitor_on, K::monitor_off, K::enter_function, K::leave_function),
                    *rc::gen::inRange(0U, 3U)));
        }
        return steps;
    });
}

rc::Gen<MonitorSpec> whole_spec_gen() {
    return rc::gen::exec([] {
        MonitorSpec spec = *spec_gen();
        spec.functions = *rc::gen::arbitrary<bool>();
        spec.barriers = *rc::gen::arbitrary<bool>();
        if (*rc::gen::arbitrary<bool>()) spec.ranges = {{*rc::gen::inRange<Address>(0, 2000), 3000}};
        RingSpec& ring = spec.ring;
        ring.capacity = *rc::gen::inRange<std::uint64_t>(1, 20);
        ring.path = *rc::gen::element(RingSpec::Path::memory, RingSpec::Path::link);
        ring.drain = *rc::gen::element(RingSpec::Drain::full, RingSpec::Drain::watermark, RingSpec::Drain::periodic);
        if (ring.drain == RingSpec::Drain::watermark)
            ring.watermark = *rc::gen::inRange<std::uint64_t>(1, ring.capacity + 1);
        if (ring.drain == RingSpec::Drain::periodic) ring.period = *rc::gen::inRange<std::uint64_t>(1, 50);
        ring.drain_cost = *rc::gen::inRange<std::uint64_t>(0, 6);
        ring.write_cost = *rc::gen::inRange<std::uint64_t>(0, 3);
        ring.overflow = *rc::gen::element(RingSpec::Overflow::stall, RingSpec::Overflow::drop);
        return spec;
    });
}

RC_GTEST_PROP(MonitorLaw, RecordsAndLossesAreAllEvents, ()) {
    const MonitorSpec spec = *whole_spec_gen();
    const auto steps = *steps_gen();
    const MonitorResult result = run(spec, steps);
    RC_ASSERT(result.histogram.total() + result.lost == result.events);
    RC_ASSERT(result.events == exact(spec, steps).total());
    RC_ASSERT(result.resident <= result.events);
    if (spec.ring.overflow == RingSpec::Overflow::stall) RC_ASSERT(result.lost == 0U);
    if (error_known_zero(spec)) RC_ASSERT(histogram_error(exact(spec, steps), result.histogram) == 0.0);
}

RC_GTEST_PROP(MonitorLaw, PhasesSumToTheTotal, ()) {
    const MonitorSpec spec = *whole_spec_gen();
    const MonitorResult result = run(spec, *steps_gen());
    std::uint64_t events = 0, swapouts = 0;
    for (std::uint32_t phase = 0; phase < result.histogram.phases(); ++phase) events += result.histogram.total(phase);
    for (const std::uint64_t some : result.swapouts_per_phase) swapouts += some;
    RC_ASSERT(events == result.histogram.total());
    RC_ASSERT(swapouts == result.swapouts);
    RC_ASSERT(result.swapouts_per_phase.size() == result.histogram.phases());
}

RC_GTEST_PROP(MonitorLaw, EnoughCountersGiveTheExactHistogramInOneRecordPerLine, ()) {
    MonitorSpec spec = plain(128);
    spec.eviction = static_cast<Eviction>(*rc::gen::inRange(0U, eviction_count));
    const auto steps = *steps_gen();
    const MonitorResult result = run(spec, steps);
    const Histogram truth = exact(spec, steps);
    RC_ASSERT(result.histogram == truth);
    RC_ASSERT(result.swapouts == truth.rows().size());
}

RC_GTEST_PROP(MonitorLaw, FixedKeysGiveTheAggregatedExactHistogram, ()) {
    // So the error of aligned groups depends on nothing but the size of the group.
    MonitorSpec spec = *whole_spec_gen();
    spec.ring.overflow = RingSpec::Overflow::stall;
    RC_PRE(!spec.is_dynamic());
    const auto steps = *steps_gen();
    RC_ASSERT(run(spec, steps).histogram == exact(spec, steps).aggregated(spec.units_per_key()));
}

RC_GTEST_PROP(MonitorLaw, WindowsHoldAtMostTheirLines, ()) {
    MonitorSpec spec = *whole_spec_gen();
    spec.ways = 0;
    spec.granularity = {Granularity::Mode::dynamic, *rc::gen::inRange(1U, 9U)};
    const auto steps = *steps_gen();
    const Histogram measured = run(spec, steps).histogram;
    for (const HistogramRow& row : measured.rows()) RC_ASSERT(row.span <= spec.granularity.amount);
}

RC_GTEST_PROP(MonitorLaw, OffIsAbsent, ()) {
    MonitorSpec spec = *whole_spec_gen();
    spec.start = false;
    auto steps = *steps_gen();
    std::erase_if(steps, [](const Step& step) { return step.control.kind == Control::Kind::monitor_on; });
    Monitor monitor(spec);
    Injector injector;
    play(monitor, steps, injector);
    RC_ASSERT(injector.empty());
    monitor.finish();
    RC_ASSERT(monitor.result().swapouts == 0U);
}

/// As a core delivers: events of one kind within one aligned block, together at the first one's place and time.
std::vector<Step> merged_runs(const std::vector<Step>& steps, std::uint32_t line) {
    std::vector<Step> merged;
    std::size_t run = 0;  // where the current run began
    for (const Step& step : steps) {
        const bool control = step.control.kind != Control::Kind::none;
        const bool continues = !control && run < merged.size() && merged[run].control.kind == Control::Kind::none &&
                               merged[run].event.address / line == step.event.address / line;
        if (!continues) run = merged.size();
        Step* same = nullptr;
        for (std::size_t i = run; i < merged.size(); ++i)
            if (merged[i].event.kind == step.event.kind) same = &merged[i];
        if (continues && same != nullptr) {
            ++same->event.count;
        } else {
            merged.push_back(step);
        }
        if (control) run = merged.size();
    }
    return merged;
}

RC_GTEST_PROP(MonitorLaw, MergedEventsGiveTheSameWhereTheyAreAccepted, ()) {
    MonitorSpec spec = *whole_spec_gen();
    if (*rc::gen::arbitrary<bool>()) {  // else hardly any spec accepts
        const RingSpec standard;
        spec.ring = standard;
        spec.ring.capacity = *rc::gen::inRange<std::uint64_t>(1, 9);
    }
    const std::uint32_t line = *rc::gen::element(8U, 16U, 64U, 128U);
    RC_PRE(Monitor(spec).accepts_merged(line));
    const auto steps = *steps_gen();
    const auto runs = merged_runs(steps, line);
    Monitor single(spec), merged(spec);
    Injector single_sent, merged_sent;
    play(single, steps, single_sent);
    play(merged, runs, merged_sent);
    RC_ASSERT(single_sent.writes().size() == merged_sent.writes().size());
    for (std::size_t i = 0; i < single_sent.writes().size(); ++i)
        RC_ASSERT(single_sent.writes()[i].address == merged_sent.writes()[i].address);
    RC_ASSERT(single_sent.stall() == 0U);
    RC_ASSERT(merged_sent.stall() == 0U);
    single.finish();
    merged.finish();
    const MonitorResult a = single.result(), b = merged.result();
    RC_ASSERT(a.events == b.events);
    RC_ASSERT(a.histogram == b.histogram);
    RC_ASSERT(a.swapouts_per_phase == b.swapouts_per_phase);
    RC_ASSERT(a.resident == b.resident);
    RC_ASSERT(a.ring_high_water == b.ring_high_water);
    RC_ASSERT(a.lost == b.lost);
}

/// Where a ring loses nothing and costs no time, records may be counted instead of written: a ring that costs time has
/// each one written.
RC_GTEST_PROP(MonitorLaw, CountedRecordsAreAsManyAsWrittenOnes, ()) {
    MonitorSpec spec = *whole_spec_gen();
    spec.ring = RingSpec{};
    spec.ring.capacity = *rc::gen::inRange<std::uint64_t>(1, 9);
    spec.eviction = *rc::gen::element(Eviction::fifo, Eviction::lru);
    spec.width = *rc::gen::element(1U, 2U, 8U, 32U, 64U);
    const auto steps = *steps_gen();
    const MonitorResult counted = run(spec, steps);
    spec.ring.write_cost = 1;
    const MonitorResult written = run(spec, steps);
    RC_ASSERT(counted.events == written.events);
    RC_ASSERT(counted.histogram == written.histogram);
    RC_ASSERT(counted.swapouts_per_phase == written.swapouts_per_phase);
    RC_ASSERT(counted.resident == written.resident);
    RC_ASSERT(counted.resident_counters == written.resident_counters);
    RC_ASSERT(counted.ring_high_water == written.ring_high_water);
    RC_ASSERT(counted.bytes == written.bytes);
}

/// Enough events that the log of uses is put in order many times.
TEST(Monitor, CountsLongStreamsOfRecordsAsTheyAreWritten) {
    for (const Eviction eviction : {Eviction::fifo, Eviction::lru}) {
        MonitorSpec spec = plain(48);
        spec.eviction = eviction;
        MonitorSpec slow = spec;
        slow.ring.write_cost = 1;
        Monitor counted(spec), blocks(spec), written(slow);
        Injector injector;
        std::uint64_t state = 1;
        std::vector<BlockEvent> some;
        for (int i = 0; i < 200000; ++i) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            const Address block = (state >> 40) % (i % 3 == 0 ? 200 : 30) * 64;
            counted.on_event({.address = block}, injector);
            written.on_event({.address = block}, injector);
            some.emplace_back(block, EventKind::load);
            if (some.size() <= (state >> 50) % 1500) continue;
            blocks.on_blocks(some, 0, injector);
            some.clear();
        }
        blocks.on_blocks(some, 0, injector);
        for (Monitor* monitor : {&counted, &blocks, &written}) monitor->finish();
        const MonitorResult a = counted.result(), b = blocks.result(), c = written.result();
        EXPECT_EQ(a.swapouts, c.swapouts);
        EXPECT_EQ(b.swapouts, c.swapouts);
        EXPECT_EQ(a.histogram, c.histogram);
        EXPECT_EQ(b.histogram, c.histogram);
        EXPECT_EQ(b.resident, c.resident);
        EXPECT_EQ(b.ring_high_water, c.ring_high_water);
    }
}

TEST(Monitor, AcceptsMergedEventsOnlyWhereNothingIsLost) {
    MonitorSpec spec = plain(8);
    EXPECT_TRUE(Monitor(spec).accepts_merged(64));
    EXPECT_FALSE(Monitor(spec).accepts_merged(128));
    spec.granularity.amount = 2;
    EXPECT_TRUE(Monitor(spec).accepts_merged(128));
    spec.granularity = {Granularity::Mode::mask, 3};
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
    spec.granularity = {Granularity::Mode::dynamic, 4};
    EXPECT_FALSE(Monitor(spec).accepts_merged(128));
    spec = plain(8);
    spec.ranges = {{0x20, 0x1000}};
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
    spec = plain(8);
    spec.ring.path = RingSpec::Path::link;
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
    spec = plain(8);
    spec.ring.write_cost = 1;
    EXPECT_FALSE(Monitor(spec).accepts_merged(64));
}

// By hand: a ring of 3 records of 16 bytes takes a page, so that the third copy's begins two pages behind the first's.
TEST(Monitor, CopiesHaveRingsOfTheirOwn) {
    MonitorSpec spec;
    spec.link = "core-L1";
    spec.line = 64;
    spec.counters = 1;
    spec.ring.capacity = 3;
    spec.ring.base = 0x10000;
    for (const std::uint64_t cost : {0U, 1U}) {
        spec.ring.write_cost = cost;
        Monitor monitor(spec, 2);
        Injector injector;
        for (const Address address : {0x40, 0x80})
            monitor.on_event({.address = address}, injector);
        ASSERT_EQ(injector.writes().size(), 1U);
        EXPECT_EQ(injector.writes().front().address, 0x12000U);
    }
}

}  // namespace
}  // namespace cachetally
