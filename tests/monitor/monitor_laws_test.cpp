// SPDX-License-Identifier: BSD-3-Clause
// The laws of a monitor as a whole, on random specifications and streams.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "monitor/histogram.hpp"
#include "tests/monitor/steps.hpp"
#include "tests/monitor/streams.hpp"

namespace cachetally {
namespace {

/// Random programs: events on 0 .. 80 lines, with controls in between.
rc::Gen<std::vector<Step>> steps_gen() {
    return rc::gen::exec([] {
        std::vector<Step> steps;
        for (const std::uint64_t unit : *units_gen()) {
            const auto kind = static_cast<EventKind>(*rc::gen::inRange(0, 3));
            steps.push_back(at(unit * 64 + *rc::gen::inRange<Address>(0, 64), kind));
            using K = Control::Kind;
            if (*rc::gen::inRange(0, 30) == 0)
                steps.push_back(notify(
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
    spec.eviction = static_cast<Eviction>(*rc::gen::inRange<std::size_t>(0, eviction_names().size()));
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

}  // namespace
}  // namespace cachetally
