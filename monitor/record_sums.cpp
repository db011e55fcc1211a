// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/record_sums.hpp"

#include "monitor/histogram.hpp"

namespace cachetally {

RecordSums::RecordSums(const MonitorSpec& spec)
    : unit_(spec.unit()), span_(spec.is_dynamic() ? 1 : spec.units_per_key()), dynamic_(spec.is_dynamic()) {}

void RecordSums::select(std::uint32_t function) {
    function_ = function;
    if (!dynamic_) keys_.select(function);
}

void RecordSums::add(const SwapOut& record, std::uint64_t times) {
    if (dynamic_) {
        windows_[function_][{record.first, record.span}] += record.count * times;
    } else {
        keys_.add(record.first, record.count * times);
    }
}

void RecordSums::take(std::vector<HistogramRow>& rows, std::uint32_t phase) {
    if (!dynamic_) return keys_.take(rows, unit_, span_, phase);
    std::vector<HistogramRow> unsorted;
    for (const auto& [function, counts] : windows_)
        for (const auto& [window, count] : counts)
            unsorted.push_back({window.first * unit_, window.span, phase, function, count});
    windows_.clear();
    const Histogram sorted(unit_, std::move(unsorted));
    rows.insert(rows.end(), sorted.rows().begin(), sorted.rows().end());
}

}  // namespace cachetally
