#include "monitor/monitor.hpp"

#include <algorithm>
#include <utility>

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
    : spec_(checked(std::move(spec))),
      control_(spec_),
      filter_(spec_),
      keys_(spec_),
      counters_(make_counter_array(spec_, copy)),
      ring_(spec_.ring, cycle),
      sums_(spec_) {
    result_.name = spec_.label();
    result_.link = spec_.link;
    result_.histogram = Histogram(spec_.unit());
    result_.swapouts_per_phase.push_back(0);
}

/// What depends on time, on the order of events of one block, or goes into caches needs every event by itself.
bool Monitor::accepts_merged(std::uint32_t line_bytes) const {
    return spec_.ring.path == RingSpec::Path::memory && RingBuffer::timeless(spec_.ring) &&
           keys_.keeps_block_whole(line_bytes) && filter_.keeps_blocks_whole(line_bytes);
}

void Monitor::on_event(const LinkEvent& event, Injector& injector) {
    if (!control_.enabled() || !filter_.passes(event)) return;
    result_.events += event.count;
    counters_->add(keys_.key(event.address), event.count, swapped_);
    if (!swapped_.empty()) write_records(event.time, injector);
}

void Monitor::on_events(std::span<const LinkEvent> events, Injector& injector) {
    if (!control_.enabled()) return;
    keyed_.clear();
    for (const LinkEvent& event : events) {
        if (!filter_.passes(event)) continue;
        result_.events += event.count;
        const std::uint64_t key = keys_.key(event.address);
        if (!keyed_.empty() && keyed_.back().key == key) {
            keyed_.back().count += event.count;
        } else {
            keyed_.push_back({key, event.count});
        }
    }
    counters_->add_all(keyed_, swapped_);
    write_timeless_records(injector);
}

/// As write_records() where the ring is always emptied in time.
void Monitor::write_timeless_records(Injector& injector) {
    std::uint64_t records = 0;
    for (const SwapOut& record : swapped_) {
        records += record.times;
        sums_.add(record, record.times);
    }
    swapped_.clear();
    if (records == 0) return;
    result_.swapouts_per_phase.back() += records;
    ring_.write_all(records);
    injector.write_past(records);
}

void Monitor::on_control(const Control& control, Tick time, Injector& injector) {
    const bool swaps_out = control_.swaps_out(control);
    if (swaps_out) {
        counters_->flush(swapped_);
        write_records(time, injector);
    }
    const std::uint32_t phase = control_.phase();
    if (swaps_out && control.kind == Control::Kind::barrier) close_phase();
    control_.apply(control);
    if (control_.phase() != phase) {
        result_.histogram.set_phases(control_.phase() + 1);
        result_.swapouts_per_phase.push_back(0);
    }
    if (swaps_out) sums_.select(control_.function());
}

void Monitor::write_records(Tick time, Injector& injector) {
    for (const SwapOut& record : swapped_) {
        std::uint64_t written = 0;
        for (std::uint64_t i = 0; i < record.times; ++i) written += ring_.write(time, injector) ? 1 : 0;
        result_.swapouts_per_phase.back() += record.times;
        result_.lost += (record.times - written) * record.count;
        if (written != 0) sums_.add(record, written);
    }
    swapped_.clear();
}

void Monitor::close_phase() {
    std::vector<HistogramRow> rows;
    sums_.take(rows, control_.phase());
    result_.histogram.append(rows);
}

void Monitor::finish() {
    result_.resident = counters_->resident_events();
    result_.resident_counters = counters_->resident_counters();
    counters_->flush(swapped_);
    for (const SwapOut& record : swapped_) {
        result_.swapouts_per_phase.back() += record.times;
        sums_.add(record, record.times);
    }
    swapped_.clear();
    close_phase();
    for (const std::uint64_t swapouts : result_.swapouts_per_phase) result_.swapouts += swapouts;
    result_.lost_records = ring_.lost();
    result_.ring_high_water = ring_.high_water();
    result_.stall = ring_.stall();
    result_.bytes = (result_.swapouts - ring_.lost()) * spec_.ring.record;
}

MonitorResult Monitor::result() { return std::exchange(result_, {}); }

MonitorResult merged(const std::vector<MonitorResult>& copies) {
    MonitorResult sum;
    std::vector<Histogram> histograms;
    for (const MonitorResult& copy : copies) {
        sum.name = copy.name;
        sum.link = copy.link;
        sum.events += copy.events;
        sum.swapouts += copy.swapouts;
        sum.lost += copy.lost;
        sum.lost_records += copy.lost_records;
        sum.resident += copy.resident;
        sum.resident_counters += copy.resident_counters;
        if (sum.swapouts_per_phase.size() < copy.swapouts_per_phase.size())
            sum.swapouts_per_phase.resize(copy.swapouts_per_phase.size(), 0);
        for (std::size_t phase = 0; phase < copy.swapouts_per_phase.size(); ++phase)
            sum.swapouts_per_phase[phase] += copy.swapouts_per_phase[phase];
        sum.ring_high_water = std::max(sum.ring_high_water, copy.ring_high_water);
        sum.stall += copy.stall;
        sum.bytes += copy.bytes;
        histograms.push_back(copy.histogram);
    }
    sum.histogram = merged(histograms);
    return sum;
}

}  // namespace cachetally
