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
    : PhasedListener(trackable(base), KeyMap(base)),
      tracker_(make_tracker(spec, std::uint64_t{base.unit()} * base.units_per_key(), copy)),
      record_(spec.record()),
      epoch_(spec.kind == TrackerKind::sampling ? 0 : spec.epoch),
      left_(epoch_) {
    validate(spec);
    result_.histogram = Histogram(base.unit());
}

void TrackerListener::count(const LinkEvent& event) {
    result_.events += event.count;
    add(keys().key(event.address), event.count);
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

void TrackerListener::end_phase(std::uint32_t phase) {
    tracker_->end_phase(reports_);
    left_ = epoch_;
    sum_up();
    std::vector<HistogramRow> rows;
    const std::uint32_t span = keys().units_per_key();
    for (const auto& [key, count] : sums_)
        rows.push_back({key * span * keys().unit_bytes(), span, phase, no_function, count});
    result_.histogram.append(std::move(rows));
    sums_.clear();
}

TrackerResult TrackerListener::finish() {
    end_phase(phase());
    result_.histogram.set_phases(phase() + 1);
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
