// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/sweep_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/text.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally {
namespace {

using Value = std::optional<double>;

template <auto member>
Value of_cost(const SweepCell& cell) {
    return cell.cost ? Value(static_cast<double>((*cell.cost).*member)) : std::nullopt;
}

constexpr Objective objective_rows[] = {
    {"error", "error %", true, [](const SweepCell& cell) { return Value(cell.error); }},
    {"slowdown", "slower %", true, [](const SweepCell& cell) { return cell.slowdown; }},
    {"bytes", "bytes/event", false, [](const SweepCell& cell) { return Value(cell.bytes_per_event); }},
    {"swapouts", "swap-outs", false, [](const SweepCell& cell) { return Value(static_cast<double>(cell.swapouts)); }},
    {"counters", "C", false, [](const SweepCell& cell) { return Value(cell.counters); }},
    {"bits", "bits", false, of_cost<&SweepCost::bits>},
    {"comparators", "comparators", false, of_cost<&SweepCost::comparators>},
    {"area", "area", false, of_cost<&SweepCost::area>},
    {"energy", "energy/event", false, of_cost<&SweepCost::energy>},
};

const Objective& objective_named(const char* option, const std::string& text, std::string_view name) {
    const auto* const found = std::ranges::find(objective_rows, name, &Objective::name);
    if (found != std::end(objective_rows)) return *found;
    std::vector<std::string_view> names;
    for (const Objective& each : objective_rows) names.push_back(each.name);
    throw std::invalid_argument(
        fmt::format("'{} {}': there is no objective '{}'{}", option, text, name, advice(name, names)));
}

/// What a number is multiplied by, which ends so; 0 where it cannot.
double unit_of(std::string_view end, const Objective& objective) {
    if (end.empty() || (end == "%" && objective.fraction)) return 1;
    const auto power =
        objective.fraction || end.size() != 1 ? std::string_view::npos : std::string_view("KMG").find(end);
    return power == std::string_view::npos ? 0 : std::pow(1024, power + 1);
}

Bound parse_bound(const std::string& text, std::string_view part) {
    const auto sign = part.find_first_of("<>");
    double limit = 0;
    if (sign != std::string_view::npos) {
        const bool included = sign + 1 < part.size() && part[sign + 1] == '=';
        const std::string_view digits = trimmed(part.substr(sign + (included ? 2 : 1)));
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
        const Objective& objective = objective_named("--where", text, trimmed(part.substr(0, sign)));
        const double unit = unit_of(trimmed({end, digits.data() + digits.size()}), objective);
        if (error == std::errc() && unit > 0 && std::isfinite(limit))
            return {&objective, part[sign] == '<', included, limit * unit};
    }
    throw std::invalid_argument(
        fmt::format("'--where {}': '{}' is not a bound; write NAME<NUMBER (or <=, >, >=; numbers may end in K, M, G), "
                    "as in error<5,slowdown<=1,bits<4K (the first two in percent)",
                    text, part));
}

/// Whether `a` stands for `b`; `slack` by objective.
bool covers(const Point& a, const Point& b, const Point& slack) {
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] > b[k] + slack[k]) return false;
    return true;
}

/// What differences do not count.
Point slack_of(std::span<const Point> front, double tolerance, const Point& least_ranges) {
    if (front.empty()) return {};
    Point least = front.front(), most = least;
    for (const Point& point : front)
        for (std::size_t k = 0; k < point.size(); ++k) {
            least[k] = std::min(least[k], point[k]);
            most[k] = std::max(most[k], point[k]);
        }
    for (std::size_t k = 0; k < most.size(); ++k) most[k] = tolerance * std::max(most[k] - least[k], least_ranges[k]);
    return most;
}

/// The numbers of the points, by their first objective, then the second, ...
std::vector<std::size_t> by_objectives(std::span<const Point> points) {
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const Point& { return points[i]; });
    return order;
}

}  // namespace

std::span<const Objective> all_objectives() { return objective_rows; }

bool Bound::holds(const SweepCell& cell) const {
    const auto value = objective->of(cell);
    if (!value) return false;
    const double shown = objective->fraction ? 100 * *value : *value;
    return (included && shown == limit) || (below ? shown < limit : shown > limit);
}

bool SweepChoice::admits(const SweepCell& cell) const {
    return std::ranges::all_of(bounds, [&](const Bound& bound) { return bound.holds(cell); });
}

std::string SweepChoice::objectives_text() const {
    std::vector<std::string_view> names;
    for (const Objective* each : objectives) names.push_back(each->name);
    return fmt::format("{}", fmt::join(names, ","));
}

std::string SweepChoice::bounds_text() const {
    std::vector<std::string> texts;
    for (const Bound& bound : bounds)
        texts.push_back(fmt::format("{}{}{}{}", bound.objective->name, bound.below ? "<" : ">",
                                    bound.included ? "=" : "", bound.limit));
    return fmt::format("{}", fmt::join(texts, ","));
}

SweepChoice parse_choice(const std::string& objectives, const std::string& where, double percent) {
    SweepChoice choice;
    choice.tolerance = percent / 100;
    if (!objectives.empty())
        for (const std::string_view part : split(objectives, ',')) {
            const Objective* const named = &objective_named("--objectives", objectives, trimmed(part));
            if (std::ranges::find(choice.objectives, named) == choice.objectives.end())
                choice.objectives.push_back(named);
        }
    if (!where.empty() && where != "none")
        for (const std::string_view part : split(where, ','))
            choice.bounds.push_back(parse_bound(where, trimmed(part)));
    return choice;
}

void require_measured(const SweepChoice& choice, bool timed) {
    if (timed) return;
    const auto of_time = [](const Objective* objective) { return objective->name == "slowdown"; };
    const bool bound = std::ranges::any_of(choice.bounds, of_time, &Bound::objective);
    if (!bound && std::ranges::none_of(choice.objectives, of_time)) return;
    throw std::invalid_argument(fmt::format("'{} {}': the slowdown was not measured; sweep --slowdown measures it",
                                            bound ? "--where" : "--objectives",
                                            bound ? choice.bounds_text() : choice.objectives_text()));
}

std::vector<bool> front_of(std::span<const Point> points) {
    std::vector<bool> on_front(points.size());
    std::vector<const Point*> front;  // what beats a point comes before it
    for (const std::size_t i : by_objectives(points)) {
        const bool beaten = std::ranges::any_of(front, [&](const Point* other) {
            return *other != points[i] && std::ranges::equal(*other, points[i], std::ranges::less_equal());
        });
        if (beaten) continue;
        on_front[i] = true;
        front.push_back(&points[i]);
    }
    return on_front;
}

std::vector<bool> remaining(std::span<const Point> front, double tolerance, const Point& least_ranges) {
    const Point slack = slack_of(front, tolerance, least_ranges);
    std::vector<std::vector<std::size_t>> stands_for(front.size());
    for (std::size_t i = 0; i < front.size(); ++i)
        for (std::size_t j = 0; j < front.size(); ++j)
            if (covers(front[i], front[j], slack)) stands_for[i].push_back(j);
    const std::vector<std::size_t> order = by_objectives(front);
    std::vector<unsigned> times(front.size());  // how many that remain stand for it
    const auto news = [&](std::size_t i) {
        return std::ranges::count_if(stands_for[i], [&](std::size_t j) { return times[j] == 0; });
    };
    std::vector<std::size_t> chosen;
    for (;;) {
        const auto best = std::ranges::max_element(order, {}, news);
        if (best == order.end() || news(*best) == 0) break;
        chosen.push_back(*best);
        for (const std::size_t j : stands_for[*best]) ++times[j];
    }
    std::vector<bool> remains(front.size());
    for (const std::size_t i : chosen) {  // what later ones made superfluous
        const auto needed = [&](std::size_t j) { return times[j] == 1; };
        remains[i] = std::ranges::any_of(stands_for[i], needed);
        if (!remains[i])
            for (const std::size_t j : stands_for[i]) --times[j];
    }
    return remains;
}

std::vector<const Objective*> objectives_for(std::span<const SweepCell> cells, const SweepChoice& choice) {
    if (!choice.objectives.empty()) return choice.objectives;
    const bool timed = std::ranges::all_of(cells, [](const SweepCell& cell) { return cell.slowdown.has_value(); });
    return parse_choice(timed ? "error,slowdown,bytes,bits" : "error,bytes,bits", "").objectives;
}

std::vector<Standing> standings(std::span<const SweepCell> cells, const SweepChoice& choice) {
    const std::vector<const Objective*> objectives = objectives_for(cells, choice);
    std::vector<Standing> result(cells.size());
    std::vector<Point> points;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        result[i].admitted = choice.admits(cells[i]) && cells[i].events > 0;  // what saw nothing is no bargain
        Point point;
        for (const Objective* each : objectives)
            if (const auto value = each->of(cells[i])) point.push_back(*value);
        if (!result[i].admitted || point.size() != objectives.size()) continue;
        points.push_back(std::move(point));
        places.push_back(i);
    }
    const std::vector<bool> on_front = front_of(points);
    std::vector<Point> front;
    std::vector<std::size_t> front_places;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!on_front[i]) continue;
        result[places[i]].front = true;
        front.push_back(points[i]);
        front_places.push_back(places[i]);
    }
    Point least_ranges;
    for (const Objective* each : objectives) least_ranges.push_back(each->fraction ? least_range_of_fractions : 0);
    const std::vector<bool> remain = remaining(front, choice.tolerance, least_ranges);
    for (std::size_t i = 0; i < front.size(); ++i) result[front_places[i]].remains = remain[i];
    return result;
}

}  // namespace cachetally
