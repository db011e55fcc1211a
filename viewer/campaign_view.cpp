// SPDX-License-Identifier: BSD-3-Clause
// The table of a campaign from its file, and its medians by two parameters.
#include "viewer/campaign_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "base/text.hpp"
#include "base/units.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

std::vector<std::string> names_of(const auto& all) {
    return column_of(all, [](const auto& each) { return each.name; });
}

const auto& named(const auto& all, const std::string& wanted, const std::string& option, std::string_view kind) {
    const auto found = std::ranges::find_if(all, [&](const auto& each) { return each.name == wanted; });
    if (found == all.end())
        throw std::invalid_argument(fmt::format("'{} {}': the campaign has no such {}; there are: {}", option,
                                                shown(wanted), kind, fmt::join(names_of(all), ", ")));
    return *found;
}

void index_numbers(CampaignParameter& parameter, const std::vector<double>& column) {
    std::map<double, std::uint32_t> places;
    for (const double value : column)
        if (!std::isnan(value)) places.emplace(value, 0);
    for (auto& [value, place] : places) {
        place = static_cast<std::uint32_t>(parameter.values.size());
        parameter.values.push_back(fmt::format("{}", value));
        parameter.numbers.push_back(value);
    }
    parameter.of =
        column_of(column, [&](double value) { return std::isnan(value) ? CampaignParameter::none : places.at(value); });
}

void index_texts(CampaignParameter& parameter, const std::vector<std::string>& column) {
    std::map<std::string, std::uint32_t> places;
    for (const std::string& value : column) {
        if (value.empty()) {
            parameter.of.push_back(CampaignParameter::none);
            continue;
        }
        const auto [place, is_new] = places.emplace(value, static_cast<std::uint32_t>(parameter.values.size()));
        if (is_new) parameter.values.push_back(value);
        parameter.of.push_back(place->second);
    }
}

CampaignParameter read_parameter(const Group& group, const std::string& name, std::size_t rows) {
    CampaignParameter parameter{name};
    parameter.is_number = !group.open_dataset(name).holds_texts();
    if (parameter.is_number)
        index_numbers(parameter, read_column<double>(group, name, rows));
    else
        index_texts(parameter, read_column<std::string>(group, name, rows));
    return parameter;
}

/// Of each level that was accessed and missed, beside what the file has.
void add_miss_rates(std::vector<CampaignMeasure>& measures) {
    constexpr std::string_view before = "accesses_";
    const std::size_t stored = measures.size();
    for (std::size_t i = 0; i < stored; ++i) {
        if (!measures[i].name.starts_with(before)) continue;
        const std::string level = measures[i].name.substr(before.size());
        const auto misses = std::ranges::find(measures, "misses_" + level, &CampaignMeasure::name);
        if (misses == measures.end()) continue;
        CampaignMeasure rate{"miss_rate_" + level, "1",
                             fmt::format("misses_{} / accesses_{}, a fraction", level, level), true};
        for (std::size_t at = 0; at < misses->of.size(); ++at)
            rate.of.push_back(measures[i].of[at] > 0 ? misses->of[at] / measures[i].of[at] : std::nan(""));
        measures.push_back(std::move(rate));
    }
}

bool is_known(const CampaignMeasure& measure) {
    return std::ranges::any_of(measure.of, [](double value) { return !std::isnan(value); });
}

/// Of parameters that differ, those that most points have first, numbers, and those with most values; seeds only
/// repeat.
std::vector<const CampaignParameter*> by_interest(const CampaignView& view) {
    std::vector<const CampaignParameter*> found;
    for (const CampaignParameter& each : view.parameters)
        if (each.values.size() > 1 && each.name != "seed") found.push_back(&each);
    const auto interest = [&](const CampaignParameter* each) {
        const auto without = std::ranges::count(each->of, CampaignParameter::none);
        return std::tuple(2 * static_cast<std::size_t>(without) <= each->of.size(), each->is_number,
                          each->values.size());
    };
    std::ranges::stable_sort(found, std::greater(), interest);
    return found;
}

const CampaignMeasure& default_measure(const CampaignView& view) {
    const auto first = [&](auto wanted) {
        return std::ranges::find_if(view.measures, [&](const auto& each) { return wanted(each) && is_known(each); });
    };
    auto found = first([](const auto& each) { return each.name == "error"; });
    if (found == view.measures.end()) found = first([](const auto& each) { return each.derived; });
    if (found == view.measures.end()) found = first([](const auto&) { return true; });
    return found == view.measures.end() ? view.measures.front() : *found;
}

/// A number, also as a size ("256 KiB").
std::optional<double> number_of(std::string_view text) {
    if (const auto size = parse_size(text)) return static_cast<double>(*size);
    if (const auto whole = parse_whole(text)) return static_cast<double>(*whole);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::uint32_t place_of(const CampaignParameter& parameter, const std::string& value) {
    const auto number = parameter.is_number ? number_of(value) : std::nullopt;
    for (std::uint32_t i = 0; i < parameter.values.size(); ++i)
        if (number ? parameter.numbers[i] == *number : parameter.values[i] == value) return i;
    constexpr std::size_t most = 20;
    const std::span<const std::string> some(parameter.values.data(), std::min(most, parameter.values.size()));
    throw std::invalid_argument(fmt::format(
        "'--where {}={}': no point has it; the values of {} are: {}{}", shown(parameter.name), shown(value),
        shown(parameter.name), fmt::join(some, ", "), some.size() < parameter.values.size() ? ", ..." : ""));
}

/// Which points "NAME=VALUE,..." is true of.
std::vector<bool> chosen_points(const CampaignView& view, const std::string& where) {
    std::map<std::string, std::vector<std::uint32_t>> wanted;
    for (const std::string_view part : where.empty() ? std::vector<std::string_view>{} : split(where, ',')) {
        const auto sign = part.find('=');
        if (sign == std::string_view::npos)
            throw std::invalid_argument(fmt::format("'--where {}': write NAME=VALUE, as in {}=...; there are: {}",
                                                    shown(part), view.parameters.front().name,
                                                    fmt::join(names_of(view.parameters), ", ")));
        const std::string name(trimmed(part.substr(0, sign)));
        wanted[name].push_back(place_of(view.parameter(name, "--where"), std::string(trimmed(part.substr(sign + 1)))));
    }
    std::vector<bool> chosen(view.points.size(), true);
    for (const auto& [name, values] : wanted) {
        const CampaignParameter& parameter = view.parameter(name, "--where");
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (std::ranges::find(values, parameter.of[i]) == values.end()) chosen[i] = false;
    }
    return chosen;
}

PivotCell cell_of(std::vector<double>& values, std::uint64_t matching) {
    PivotCell cell{matching, values.size()};
    if (values.empty()) return cell;
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    cell.median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    cell.least = values.front();
    cell.most = values.back();
    return cell;
}

/// Distinct places that any of the cells has, in order.
std::vector<std::uint32_t> places_in(const auto& cells, auto of) {
    std::vector<std::uint32_t> places;
    for (const auto& [key, cell] : cells) places.push_back(of(key));
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    return places;
}

}  // namespace

bool CampaignMeasure::is_fraction() const {
    return name == "error" || name == "slowdown" || (derived && name.starts_with("miss_rate_"));
}

const CampaignParameter& CampaignView::parameter(const std::string& wanted, const std::string& option) const {
    return named(parameters, wanted, option, "parameter");
}

const CampaignMeasure& CampaignView::measure(const std::string& wanted, const std::string& option) const {
    return named(measures, wanted, option, "measure");
}

CampaignView read_campaign_view(const InputFile& file) {
    const Group& root = file.root();
    const Group group = root.open_group("campaign");
    CampaignView view;
    view.path = file.path();
    view.name = group.text_attribute("name");
    view.complete = root.whole_attribute("complete") != 0;
    if (!view.complete) view.incomplete = root.text_attribute("incomplete");
    view.count = group.whole_attribute("count");
    view.warmup = group.whole_attribute("warmup");
    view.points = group.read<std::uint64_t>("point");
    const std::size_t rows = view.points.size();
    view.failed = read_column<std::uint8_t>(group, "failed", rows);
    for (const std::string& name : group.texts_attribute("parameters"))
        view.parameters.push_back(read_parameter(group, name, rows));
    for (const std::string& name : group.texts_attribute("measures")) {
        const Dataset column = group.open_dataset(name);
        view.measures.push_back({name, column.text_attribute("units"),
                                 column.has_attribute("description") ? column.text_attribute("description") : "", false,
                                 read_column<double>(group, name, rows)});
    }
    if (view.parameters.empty() || view.measures.empty())
        throw StorageError("{}: has no parameters, or no measures; the file is damaged", group.where());
    add_miss_rates(view.measures);
    const Group failures = root.open_group("failures");
    const auto items = failures.read<std::uint64_t>("item");
    const auto errors = read_column<std::string>(failures, "error", items.size());
    for (std::size_t i = 0; i < items.size(); ++i) view.failures.emplace_back(items[i], errors[i]);
    return view;
}

Pivot pivot_of(const CampaignView& view, const PivotChoice& choice) {
    Pivot pivot;
    const std::vector<const CampaignParameter*> interesting = by_interest(view);
    const auto other_than = [&](const CampaignParameter* taken) {
        const auto found = std::ranges::find_if(interesting, [&](const auto* each) { return each != taken; });
        return found == interesting.end() ? nullptr : *found;
    };
    if (!choice.columns.empty()) pivot.columns = &view.parameter(choice.columns, "--columns");
    pivot.rows = choice.rows.empty() ? other_than(pivot.columns) : &view.parameter(choice.rows, "--rows");
    if (pivot.rows == nullptr) pivot.rows = &view.parameters.front();
    if (pivot.columns == nullptr) pivot.columns = other_than(pivot.rows);
    if (pivot.columns == pivot.rows && !choice.columns.empty() && !choice.rows.empty())
        throw std::invalid_argument(
            fmt::format("'--columns {}': is that of the rows, too; name another parameter", choice.columns));
    pivot.value = choice.value.empty() ? &default_measure(view) : &view.measure(choice.value, "--value");
    pivot.where = choice.where;
    struct Gathered {
        std::vector<double> values;
        std::uint64_t matching = 0;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Gathered> cells;
    const std::vector<bool> chosen = chosen_points(view, choice.where);
    for (std::size_t i = 0; i < view.points.size(); ++i) {
        if (!chosen[i]) continue;
        const std::uint32_t row = pivot.rows->of[i], column = pivot.columns != nullptr ? pivot.columns->of[i] : 0;
        if (row == CampaignParameter::none || column == CampaignParameter::none) {
            ++pivot.left_out;
            continue;
        }
        Gathered& cell = cells[{row, column}];
        ++cell.matching;
        if (!std::isnan(pivot.value->of[i])) cell.values.push_back(pivot.value->of[i]);
    }
    pivot.row_values = places_in(cells, [](const auto& key) { return key.first; });
    pivot.column_values = places_in(cells, [](const auto& key) { return key.second; });
    for (const std::uint32_t row : pivot.row_values)
        for (const std::uint32_t column : pivot.column_values) {
            Gathered& cell = cells[{row, column}];
            pivot.cells.push_back(cell_of(cell.values, cell.matching));
        }
    return pivot;
}

}  // namespace cachetally
