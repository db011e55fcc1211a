// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace cachetally {
namespace {

/// True where a unit has a byte in one of the ranges.
class DataUnits {
public:
    DataUnits(std::span<const AddressRange> ranges, const AddressMap& map, std::uint32_t unit)
        : ranges_(ranges), map_(map), unit_(unit) {}

    bool holds(Address address) const {
        if (ranges_.empty()) return true;
        const Address first = map_ ? map_(address) : address;
        return std::ranges::any_of(
            ranges_, [&](const AddressRange& range) { return first < range.to && first + unit_ > range.from; });
    }

private:
    std::span<const AddressRange> ranges_;
    const AddressMap& map_;
    std::uint32_t unit_;
};

}  // namespace

std::vector<UnitShare> spread_over_units(const Histogram& histogram) {
    std::vector<UnitShare> shares;
    const Histogram summed = histogram.summed();
    for (const HistogramRow& row : summed.rows())
        for (std::uint32_t i = 0; i < row.span; ++i)
            shares.push_back({row.address + Address{i} * histogram.unit_bytes(),
                              static_cast<double>(row.count) / static_cast<double>(row.span)});
    std::ranges::stable_sort(shares, {}, &UnitShare::address);
    std::size_t kept = 0;
    for (const UnitShare& share : shares) {
        if (kept != 0 && shares[kept - 1].address == share.address) {
            shares[kept - 1].count += share.count;
        } else {
            shares[kept++] = share;
        }
    }
    shares.resize(kept);
    return shares;
}

double histogram_error(const Histogram& exact, const Histogram& measured, std::span<const AddressRange> data,
                       const AddressMap& map) {
    if (exact.unit_bytes() != measured.unit_bytes())
        throw std::invalid_argument("histograms with units of " + std::to_string(exact.unit_bytes()) + " and " +
                                    std::to_string(measured.unit_bytes()) + " bytes cannot be compared");
    const std::vector<UnitShare> truth = spread_over_units(exact), claim = spread_over_units(measured);
    const DataUnits data_units(data, map, exact.unit_bytes());
    double difference = 0, sum = 0;
    auto t = truth.begin();
    auto c = claim.begin();
    while (t != truth.end() || c != claim.end()) {
        const bool has_truth = t != truth.end() && (c == claim.end() || t->address <= c->address);
        const bool has_claim = c != claim.end() && (t == truth.end() || c->address <= t->address);
        const Address address = has_truth ? t->address : c->address;
        const double true_count = has_truth ? (t++)->count : 0.0;
        const double claimed = has_claim ? (c++)->count : 0.0;
        if (!data_units.holds(address)) continue;
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
