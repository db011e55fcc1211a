// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/trackers/top_keys.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace cachetally {
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
        std::vector<UnitShare> told;
        if (phase < measured.phases()) told = hottest(spread_over_units(measured.only_phase(phase)), k);
        TopKeys& top = phases.emplace_back(TopKeys{phase, wanted.size(), told.size(), 0});
        for (const UnitShare& unit : told) {
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
    std::size_t told = 0;
    for (const TopKeys& phase : phases) {
        sum.recall += phase.recall();
        sum.worst_recall = std::min(sum.worst_recall, phase.recall());
        precisions += phase.precision().value_or(0);
        told += phase.told != 0;
    }
    sum.recall /= static_cast<double>(phases.size());
    if (told != 0) sum.precision = precisions / static_cast<double>(told);
    return sum;
}

}  // namespace cachetally
