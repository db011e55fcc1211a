// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/monitor.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "monitor/granularity.hpp"

namespace cachetally {
namespace {

MonitorSpec checked(MonitorSpec spec) {
    validate(spec);
    if (spec.line == 0)
        throw SpecError("monitor '" + spec.label() + "': ", "the line size is not known; give 'line' in bytes", {});
    return spec;
}

}  // namespace

Monitor::Monitor(MonitorSpec spec, unsigned copy, Tick cycle)
    : spec_(checked(std::move(spec))), control_(spec_), filter_(spec_), bank_(make_counter_bank(spec_, copy, cycle)) {
    result_.name = spec_.label();
    result_.link = spec_.link;
    result_.histogram = Histogram(spec_.unit());
}

/// What depends on time, on the order of events of one block, or goes into caches needs every event by itself.
bool Monitor::accepts_merged(std::uint32_t line_bytes) const {
    return spec_.ring.path == RingSpec::Path::memory && RingBuffer::timeless(spec_.ring) &&
           KeyMap(spec_).keeps_block_whole(line_bytes) && filter_.keeps_blocks_whole(line_bytes);
}

void Monitor::on_event(const LinkEvent& event, Injector& injector) {
    if (!control_.enabled() || !filter_.passes(event.address, event.core)) return;
    result_.events += event.count;
    bank_->add(event.address, event.count, event.time, injector);
}

void Monitor::on_blocks(std::span<const BlockEvent> events, std::uint8_t core, Injector& injector) {
    if (!control_.enabled()) return;
    if (!filter_.passes_all()) {
        passing_.clear();
        std::ranges::copy_if(events, std::back_inserter(passing_),
                             [&](const BlockEvent& event) { return filter_.passes(event.block(), core); });
        events = passing_;
    }
    result_.events += events.size();
    bank_->add_all(events, injector);
}

bool Monitor::takes_filtered() const { return filter_.passes_all() && bank_->takes_filtered(); }

void Monitor::on_filtered(const FilteredEvents& events, std::uint8_t, Injector& injector) {
    if (!control_.enabled()) {
        bank_->follow_filtered(events.retained);
        return;
    }
    result_.events += events.marks.size();
    bank_->add_filtered(events, injector);
}

void Monitor::on_control(const Control& control, Tick time, Injector& injector) {
    const bool swaps_out = control_.follow(control, [&](bool phase_ends) {
        bank_->flush(time, injector);
        if (phase_ends) close_phase();
    });
    result_.histogram.set_phases(control_.phase() + 1);
    if (swaps_out) bank_->select(control_.function());
}

void Monitor::close_phase() {
    std::vector<HistogramRow> rows;
    bank_->take(rows, control_.phase());
    result_.histogram.append(std::move(rows));
    result_.swapouts_per_phase.push_back(bank_->swapouts() - swapouts_before_);
    swapouts_before_ = bank_->swapouts();
}

void Monitor::finish() {
    result_.resident = bank_->resident_events();
    result_.resident_counters = bank_->resident_counters();
    bank_->read_out();
    close_phase();
    result_.swapouts = bank_->swapouts();
    result_.lost = bank_->lost();
    const RingBuffer& ring = bank_->ring();
    result_.lost_records = ring.lost();
    result_.ring_high_water = ring.high_water();
    result_.stall = ring.stall();
    result_.bytes = (result_.swapouts - ring.lost()) * spec_.ring.record;
}

MonitorResult Monitor::result() { return std::exchange(result_, {}); }

MonitorResult merged(const std::vector<MonitorResult>& copies) {
    MonitorResult sum;
    std::vector<Histogram> histograms;
    for (const MonitorResult& copy : copies) {
        sum.name = copy.name;
        sum.link = copy.link;
        for (const auto count :
             {&MonitorCounts::events, &MonitorCounts::swapouts, &MonitorCounts::lost, &MonitorCounts::lost_records,
              &MonitorCounts::resident, &MonitorCounts::resident_counters, &MonitorCounts::bytes})
            sum.*count += copy.*count;
        sum.swapouts_per_phase.resize(std::max(sum.swapouts_per_phase.size(), copy.swapouts_per_phase.size()));
        std::ranges::transform(copy.swapouts_per_phase, sum.swapouts_per_phase, sum.swapouts_per_phase.begin(),
                               std::plus<>());
        sum.ring_high_water = std::max(sum.ring_high_water, copy.ring_high_water);
        sum.stall += copy.stall;
        histograms.push_back(copy.histogram);
    }
    sum.histogram = merged(histograms);
    return sum;
}

}  // namespace cachetally
