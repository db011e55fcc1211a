// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "monitor/sum_rows.hpp"

namespace cachetally {

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
