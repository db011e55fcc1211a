// SPDX-License-Identifier: BSD-3-Clause
// Which cells of a sweep belong together, and what all workloads together say.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "monitor/spec.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally {
namespace {

template <class Same>
std::vector<std::span<const SweepCell>> runs_of(std::span<const SweepCell> cells, Same same) {
    std::vector<std::span<const SweepCell>> runs;
    for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
        while (end < cells.size() && same(cells[begin], cells[end])) ++end;
        runs.push_back(cells.subspan(begin, end - begin));
    }
    return runs;
}

bool one_place(const SweepCell& a, const SweepCell& b) { return a.workload == b.workload && a.link == b.link; }

bool one_field(const SweepCell& a, const SweepCell& b) {
    return one_place(a, b) && counting(a.settings) == counting(b.settings);
}

/// The monitor, whatever it watches.
auto monitor_key(const SweepCell& cell) {
    return std::tie(cell.link, cell.settings, cell.eviction, cell.granularity, cell.counters);
}

void take_worst(SweepCell& worst, const SweepCell& cell) {
    worst.swapouts = std::max(worst.swapouts, cell.swapouts);
    worst.error = std::max(worst.error, cell.error);
    worst.bytes_per_event = std::max(worst.bytes_per_event, cell.bytes_per_event);
    worst.events = std::max(worst.events, cell.events);
    if (worst.cost && cell.cost) worst.cost->energy = std::max(worst.cost->energy, cell.cost->energy);
    if (worst.slowdown && cell.slowdown)
        worst.slowdown = std::max(*worst.slowdown, *cell.slowdown);
    else
        worst.slowdown.reset();
}

}  // namespace

std::string counting(const std::string& settings) {
    std::string found;
    for (const std::string_view part : split(settings, ','))
        if (chooses_events(part.substr(0, part.find('='))))
            found += fmt::format("{}{}", found.empty() ? "" : ",", part);
    return found;
}

std::vector<std::span<const SweepCell>> fields_of(std::span<const SweepCell> cells) {
    return runs_of(cells, one_field);
}

std::vector<std::span<const SweepCell>> parts_of(std::span<const SweepCell> cells) {
    return runs_of(cells, [](const auto& a, const auto& b) { return one_field(a, b) && a.settings == b.settings; });
}

std::vector<SweepCell> worst_of(std::span<const SweepCell> cells) {
    const auto workloads = runs_of(cells, [](const auto& a, const auto& b) { return a.workload == b.workload; });
    if (workloads.size() < 2) return {};
    std::vector<SweepCell> worst(workloads.front().begin(), workloads.front().end());
    std::map<decltype(monitor_key(worst.front())), std::pair<std::size_t, std::size_t>> places;  // and how often found
    for (std::size_t i = 0; i < worst.size(); ++i) {
        worst[i].workload = "worst of all workloads";
        worst[i].published.reset();
        places.emplace(monitor_key(worst[i]), std::pair{i, std::size_t{1}});
    }
    for (const auto& workload : std::span(workloads).subspan(1))
        for (const SweepCell& cell : workload)
            if (const auto found = places.find(monitor_key(cell)); found != places.end()) {
                take_worst(worst[found->second.first], cell);
                ++found->second.second;
            }
    std::vector<SweepCell> everywhere;
    for (const SweepCell& cell : worst)
        if (places.at(monitor_key(cell)).second == workloads.size()) everywhere.push_back(cell);
    return everywhere;
}

std::vector<Standing> standings_of(std::span<const SweepCell> cells, const SweepChoice& choice) {
    std::vector<Standing> all;
    for (const auto& place : runs_of(cells, one_place)) {
        const bool counted = std::ranges::any_of(place, [](const SweepCell& cell) { return cell.events > 0; });
        for (const auto& field : fields_of(place)) {
            const std::vector<Standing> own = standings(field, choice, counted);
            all.insert(all.end(), own.begin(), own.end());
        }
    }
    return all;
}

}  // namespace cachetally
