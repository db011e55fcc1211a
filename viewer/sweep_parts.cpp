// SPDX-License-Identifier: BSD-3-Clause
// Which cells of a sweep belong together, and what all workloads together say.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>
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
    return one_place(a, b) && (a.settings == b.settings || counting(a.settings) == counting(b.settings));
}

bool has_events(std::span<const SweepCell> cells) {
    return std::ranges::any_of(cells, [](const SweepCell& cell) { return cell.events > 0; });
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

/// Of a workload "lu n=64": by itself, "lu,n=64" or "lu".
bool is_of_workload(const SweepCell& cell, std::string wanted) {
    std::ranges::replace(wanted, ',', ' ');
    return cell.workload == wanted || cell.workload.starts_with(wanted + ' ');
}

bool has_setting(const SweepCell& cell, const std::string& wanted) {
    return std::ranges::count(split(cell.settings, ','), wanted) != 0;
}

/// That each of what is wanted is somewhere.
template <class Is, class Name>
void require_any(const std::vector<SweepCell>& cells, const std::string& option, const std::vector<std::string>& wanted,
                 Is is, Name name) {
    for (const std::string& each : wanted) {
        if (std::ranges::any_of(cells, [&](const SweepCell& cell) { return is(cell, each); })) continue;
        std::vector<std::string> known;
        for (const SweepCell& cell : cells)
            if (std::ranges::count(known, cachetally::shown(name(cell))) == 0)
                known.push_back(cachetally::shown(name(cell)));
        throw std::invalid_argument(
            fmt::format("--{}: there is no '{}'; there are: {}", option, cachetally::shown(each),
                        known == std::vector<std::string>{""} ? "none" : fmt::format("{}", fmt::join(known, "; "))));
    }
}

/// Throws std::invalid_argument, with what there is, where there are none.
std::vector<SweepCell> cells_at(const std::vector<SweepCell>& cells, const SweepPlaces& places) {
    const auto is_at_links = [](const SweepCell& cell, const std::string& link) { return cell.link == link; };
    require_any(cells, "workload", places.workloads, is_of_workload, [](const auto& cell) { return cell.workload; });
    require_any(cells, "link", places.links, is_at_links, [](const auto& cell) { return cell.link; });
    require_any(cells, "settings", places.settings, has_setting, [](const auto& cell) { return cell.settings; });
    std::vector<SweepCell> found;
    for (const SweepCell& cell : cells) {
        const auto fits = [&](const auto& wanted, auto is) {
            return std::ranges::any_of(wanted, [&](const std::string& each) { return is(cell, each); });
        };
        if ((places.workloads.empty() || fits(places.workloads, is_of_workload)) &&
            (places.links.empty() || fits(places.links, is_at_links)) &&
            std::ranges::all_of(places.settings, [&](const auto& each) { return has_setting(cell, each); }))
            found.push_back(cell);
    }
    if (!found.empty() || cells.empty()) return found;
    throw std::invalid_argument("no cells are of these workloads, links and settings together");
}

}  // namespace

std::string counting(const std::string& settings) {
    try {
        return counting_settings(settings);
    } catch (const std::exception&) {  // of another version
        return settings;
    }
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
    struct Found {
        std::size_t place, times = 0;
        bool blind = false;  ///< saw no event where others did
    };
    std::map<decltype(monitor_key(worst.front())), Found> monitors;
    for (std::size_t i = 0; i < worst.size(); ++i) {
        worst[i].workload = "worst of all workloads";
        worst[i].published.reset();
        monitors.emplace(monitor_key(worst[i]), Found{i});
    }
    for (const auto& place : runs_of(cells, one_place)) {
        const bool counted = has_events(place);
        for (const SweepCell& cell : place)
            if (const auto found = monitors.find(monitor_key(cell)); found != monitors.end()) {
                take_worst(worst[found->second.place], cell);
                ++found->second.times;
                found->second.blind |= counted && cell.events == 0;
            }
    }
    std::vector<SweepCell> everywhere;
    for (SweepCell& cell : worst) {
        const Found& found = monitors.at(monitor_key(cell));
        if (found.blind) cell.events = 0;
        if (found.times == workloads.size()) everywhere.push_back(cell);
    }
    return everywhere;
}

std::vector<SweepCell> worst_of(const SweepView& view) {
    return view.title.complete && !view.of_workloads ? worst_of(std::span(view.cells)) : std::vector<SweepCell>();
}

SweepView chosen(SweepView view, const SweepPlaces& places) {
    if (!places.given()) return view;
    const auto has = [&](const std::vector<SweepCell>& cells) {
        return std::ranges::any_of(
            cells, [&](const SweepCell& cell) { return is_of_workload(cell, places.workloads.front()); });
    };
    std::vector<SweepCell> worst = worst_of(view);
    if (places.workloads.size() == 1 && !has(view.cells) && has(worst)) view.cells = std::move(worst);
    view.all_cells = view.cells.size();
    view.cells = cells_at(view.cells, places);
    view.of_workloads = !places.workloads.empty();
    return view;
}

SweepChoice asked_of(const SweepView& view) {
    SweepChoice asked = view.choice;
    asked.objectives = objectives_for(view.cells, view.choice);
    return asked;
}

std::vector<Standing> standings_of(std::span<const SweepCell> cells, const SweepChoice& choice) {
    std::vector<Standing> all;
    for (const auto& field : fields_of(cells)) {
        const std::vector<Standing> own = standings(field, choice);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

}  // namespace cachetally
