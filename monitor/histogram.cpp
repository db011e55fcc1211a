// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/histogram.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "monitor/sum_rows.hpp"

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

}  // namespace cachetally
