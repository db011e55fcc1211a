// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/trackers/tracker_listener.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

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

namespace {

/// The k units with the most events, most first; of equal ones the lower addresses.
std::vector<UnitShare> hottest(std::vector<UnitShare> units, std::size_t k) {
    std::ranges::stable_sort(units, [](const UnitShare& a, const UnitShare& b) { return a.count > b.count; });
    units.resize(std::min(k, units.size()));
    return units;
}

}  // namespace

std::vector<TopKeys> top_keys(const Histogram& exact, const Histogram& measured, std::size_t k) {
    if (exact.unit_bytes() != measured.unit_bytes())
        throw std::invalid_argument("histograms with different units cannot be compared");
    std::vector<TopKeys> phases;
    for (std::uint32_t phase = 0; phase < exact.phases() && k != 0; ++phase) {
        if (exact.phase(phase).empty()) continue;
        const std::vector<UnitShare> truth = spread_over_units(exact.only_phase(phase));
        std::unordered_map<Address, double> counts;
        for (const UnitShare& unit : truth) counts[unit.address] = unit.count;
        const std::vector<UnitShare> wanted = hottest(truth, k);
        std::vector<UnitShare> reported;
        if (phase < measured.phases()) reported = hottest(spread_over_units(measured.only_phase(phase)), k);
        TopKeys& top = phases.emplace_back(TopKeys{phase, wanted.size(), reported.size(), 0});
        for (const UnitShare& unit : reported) {
            const auto found = counts.find(unit.address);
            if (found != counts.end() && found->second >= wanted.back().count) ++top.right;
        }
    }
    return phases;
}

TopSummary summary_of(std::span<const TopKeys> phases) {
    if (phases.empty()) return {};
    TopSummary sum{0, 1, std::nullopt};
    double precisions = 0;
    std::size_t reported = 0;
    for (const TopKeys& phase : phases) {
        sum.recall += phase.recall();
        sum.worst_recall = std::min(sum.worst_recall, phase.recall());
        precisions += phase.precision().value_or(0);
        reported += phase.reported != 0;
    }
    sum.recall /= static_cast<double>(phases.size());
    if (reported != 0) sum.precision = precisions / static_cast<double>(reported);
    return sum;
}

}  // namespace cachetally
