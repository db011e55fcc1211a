// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>

namespace cachetally {
namespace {

auto order(const HistogramRow& row) { return std::tuple(row.phase, row.function, row.address, row.span); }

}  // namespace

Histogram::Histogram(std::uint32_t unit_bytes, std::vector<HistogramRow> rows)
    : unit_bytes_(unit_bytes), rows_(std::move(rows)) {
    std::erase_if(rows_, [](const HistogramRow& row) { return row.count == 0; });
    sort_and_sum(rows_, order, [](HistogramRow& sum, const HistogramRow& row) { sum.count += row.count; });
    if (!rows_.empty()) set_phases(rows_.back().phase + 1);
}

void Histogram::set_phases(std::uint32_t phases) { phases_ = std::max(phases_, phases); }

std::span<const HistogramRow> Histogram::phase(std::uint32_t phase) const {
    return {std::ranges::lower_bound(rows_, phase, {}, &HistogramRow::phase),
            std::ranges::upper_bound(rows_, phase, {}, &HistogramRow::phase)};
}

std::uint64_t Histogram::total() const {
    std::uint64_t sum = 0;
    for (const HistogramRow& row : rows_) sum += row.count;
    return sum;
}

std::uint64_t Histogram::total(std::uint32_t phase) const {
    std::uint64_t sum = 0;
    for (const HistogramRow& row : this->phase(phase)) sum += row.count;
    return sum;
}

Histogram Histogram::summed() const {
    std::vector<HistogramRow> rows = rows_;
    for (HistogramRow& row : rows) {
        row.phase = 0;
        row.function = no_function;
    }
    return {unit_bytes_, std::move(rows)};
}

Histogram Histogram::only_phase(std::uint32_t phase) const {
    const auto chosen = this->phase(phase);
    std::vector<HistogramRow> rows(chosen.begin(), chosen.end());
    for (HistogramRow& row : rows) row.phase = 0;
    return {unit_bytes_, std::move(rows)};
}

Histogram Histogram::aggregated(std::uint32_t lines) const {
    const std::uint64_t group = std::uint64_t{lines} * unit_bytes_;
    std::vector<HistogramRow> rows = rows_;
    for (HistogramRow& row : rows) {
        if (row.span != 1) throw std::invalid_argument("only a histogram with one unit per row can be aggregated");
        row.address = row.address / group * group;
        row.span = lines;
    }
    Histogram grouped(unit_bytes_, std::move(rows));
    grouped.set_phases(phases_);
    return grouped;
}

void Histogram::append(std::vector<HistogramRow> rows) {
    if (rows.empty()) return;
    if (!rows_.empty() && order(rows_.back()) >= order(rows.front()))
        throw std::logic_error("rows are appended to a histogram in order");
    if (rows_.empty())
        rows_ = std::move(rows);
    else
        rows_.insert(rows_.end(), rows.begin(), rows.end());
    set_phases(rows_.back().phase + 1);
}

Histogram merged(std::span<const Histogram> histograms) {
    if (histograms.empty()) return Histogram{};
    std::vector<HistogramRow> rows;
    std::uint32_t phases = 1;
    for (const Histogram& histogram : histograms) {
        if (histogram.unit_bytes() != histograms.front().unit_bytes())
            throw std::invalid_argument("histograms with different units cannot be added");
        rows.insert(rows.end(), histogram.rows().begin(), histogram.rows().end());
        phases = std::max(phases, histogram.phases());
    }
    Histogram sum(histograms.front().unit_bytes(), std::move(rows));
    sum.set_phases(phases);
    return sum;
}

std::vector<UnitShare> spread_over_units(const Histogram& histogram) {
    std::vector<UnitShare> shares;
    const Histogram summed = histogram.summed();
    for (const HistogramRow& row : summed.rows())
        for (std::uint32_t i = 0; i < row.span; ++i)
            shares.push_back({row.address + Address{i} * histogram.unit_bytes(),
                              static_cast<double>(row.count) / static_cast<double>(row.span)});
    sort_and_sum(
        shares, [](const UnitShare& share) { return share.address; },
        [](UnitShare& sum, const UnitShare& share) { sum.count += share.count; });
    return shares;
}

double histogram_error(const Histogram& exact, const Histogram& measured, std::span<const AddressRange> data,
                       const AddressMap& map) {
    if (exact.unit_bytes() != measured.unit_bytes())
        throw std::invalid_argument("histograms with units of " + std::to_string(exact.unit_bytes()) + " and " +
                                    std::to_string(measured.unit_bytes()) + " bytes cannot be compared");
    const std::vector<UnitShare> truth = spread_over_units(exact), claim = spread_over_units(measured);
    const auto is_data = [&](Address unit) {
        const Address first = map ? map(unit) : unit, end = first + exact.unit_bytes();
        const auto touches = [&](const AddressRange& range) { return first < range.to && end > range.from; };
        return data.empty() || std::ranges::any_of(data, touches);
    };
    double difference = 0, sum = 0;
    auto t = truth.begin();
    auto c = claim.begin();
    while (t != truth.end() || c != claim.end()) {
        const bool has_truth = t != truth.end() && (c == claim.end() || t->address <= c->address);
        const bool has_claim = c != claim.end() && (t == truth.end() || c->address <= t->address);
        const Address address = has_truth ? t->address : c->address;
        const double true_count = has_truth ? (t++)->count : 0.0;
        const double claimed = has_claim ? (c++)->count : 0.0;
        if (!is_data(address)) continue;
        difference += std::abs(true_count - claimed);
        sum += true_count;
    }
    return sum == 0 ? 0.0 : difference / sum;
}

std::vector<AddressRange> ranges_of(std::span<const Region> regions) {
    std::vector<AddressRange> ranges;
    for (const Region& region : regions)
        if (region.bytes != 0) ranges.push_back({region.base, region.base + region.bytes});
    std::ranges::sort(ranges, {}, &AddressRange::from);
    std::vector<AddressRange> united;
    for (const AddressRange& range : ranges) {
        if (!united.empty() && range.from <= united.back().to) {
            united.back().to = std::max(united.back().to, range.to);
        } else {
            united.push_back(range);
        }
    }
    return united;
}

}  // namespace cachetally
