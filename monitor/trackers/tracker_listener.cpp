// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/trackers/tracker_listener.hpp"

#include <algorithm>

namespace cachetally {
namespace {

const MonitorSpec& trackable(const MonitorSpec& base) {
    validate(base);
    if (base.is_dynamic()) throw SpecError("tracker: ", "trackers have fixed keys; write 'granularity' as lines", {});
    if (base.functions) throw SpecError("tracker: ", "trackers do not tell functions apart; leave 'functions' out", {});
    if (base.line == 0) throw SpecError("tracker: ", "the line size is not known; give 'line' in bytes", {});
    return base;
}

}  // namespace

TrackerListener::TrackerListener(const MonitorSpec& base, const TrackerSpec& spec, unsigned copy)
    : base_(trackable(base)),
      keys_(base_),
      control_(base_),
      filter_(base_),
      tracker_(make_tracker(spec, std::uint64_t{base_.unit()} * base_.units_per_key(), copy)),
      record_(spec.record()),
      epoch_(spec.kind == TrackerKind::sampling ? 0 : spec.epoch),
      left_(epoch_) {
    validate(spec);
    result_.histogram = Histogram(base_.unit());
}

bool TrackerListener::accepts_merged(std::uint32_t line_bytes) const {
    return keys_.keeps_block_whole(line_bytes) && filter_.keeps_blocks_whole(line_bytes);
}

void TrackerListener::on_event(const LinkEvent& event, Injector&) {
    if (!control_.enabled() || !filter_.passes(event.address, event.core)) return;
    result_.events += event.count;
    add(keys_.key(event.address), event.count);
}

void TrackerListener::add(std::uint64_t key, std::uint64_t count) {
    while (epoch_ != 0 && count >= left_) {
        tracker_->add(key, left_, reports_);
        tracker_->end_epoch(reports_);
        count -= left_;
        left_ = epoch_;
    }
    if (count != 0) tracker_->add(key, count, reports_);
    if (epoch_ != 0) left_ -= count;
    if (!reports_.empty()) sum_up();
}

void TrackerListener::sum_up() {
    for (const TrackerReport& report : reports_) sums_[report.key] += report.count;
    result_.reports += reports_.size();
    reports_.clear();
}

void TrackerListener::on_control(const Control& control, Tick, Injector&) {
    const bool phase_ends = control.kind == Control::Kind::barrier && control_.swaps_out(control);
    if (phase_ends) close_phase();
    control_.apply(control);
    if (phase_ends) result_.histogram.set_phases(control_.phase() + 1);
}

void TrackerListener::close_phase() {
    tracker_->end_phase(reports_);
    left_ = epoch_;
    sum_up();
    std::vector<HistogramRow> rows;
    const std::uint32_t span = keys_.units_per_key();
    for (const auto& [key, count] : sums_)
        rows.push_back({key * span * keys_.unit_bytes(), span, control_.phase(), no_function, count});
    result_.histogram.append(std::move(rows));
    sums_.clear();
}

TrackerResult TrackerListener::finish() {
    close_phase();
    result_.lost = tracker_->lost();
    result_.bytes = result_.reports * record_;
    return std::exchange(result_, {});
}

TrackerResult merged(const std::vector<TrackerResult>& copies) {
    TrackerResult sum;
    std::vector<Histogram> histograms;
    for (const TrackerResult& copy : copies) {
        sum.events += copy.events;
        sum.reports += copy.reports;
        sum.lost += copy.lost;
        sum.bytes += copy.bytes;
        histograms.push_back(copy.histogram);
    }
    sum.histogram = merged(histograms);
    return sum;
}

}  // namespace cachetally
