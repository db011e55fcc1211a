// SPDX-License-Identifier: BSD-3-Clause
// Campaigns as tables and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "viewer/campaign_view.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t named_reasons = 10;

/// Whole numbers without a point.
Json json_number(double value) {
    if (std::isnan(value)) return {};
    if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
    return value;
}

Json value_json(const CampaignParameter& parameter, std::uint32_t place) {
    if (place == CampaignParameter::none) return {};
    return parameter.is_number ? json_number(parameter.numbers[place]) : Json(parameter.values[place]);
}

/// Sizes of caches are in bytes.
std::string value_text(const CampaignParameter& parameter, std::uint32_t place) {
    const bool is_size = parameter.is_number && parameter.name.ends_with(".size");
    return is_size ? bytes_text(static_cast<std::uint64_t>(parameter.numbers[place])) : parameter.values[place];
}

std::string parameters_text(const CampaignView& view, unsigned width) {
    TextTable table({{"parameter", TextTable::Align::left}, {"values"}, {"", TextTable::Align::left}});
    std::size_t longest = 0;
    for (const CampaignParameter& each : view.parameters) longest = std::max(longest, columns_of(each.name));
    const std::size_t room = std::max<std::size_t>(20, width - std::min<std::size_t>(width - 20, longest + 14));
    for (const CampaignParameter& each : view.parameters) {
        std::vector<std::string> values;
        for (std::uint32_t i = 0; i < each.values.size() && i < 100; ++i) values.push_back(value_text(each, i));
        table.add({each.name, count_cell(std::uint64_t{each.values.size()}),
                   shortened(fmt::format("{}", fmt::join(values, ", ")), room)});
    }
    return table.text(width);
}

std::string number_text(const CampaignMeasure& measure, double value) {
    if (measure.is_fraction()) return percent_text(100 * value);
    if (std::abs(value) >= 1000 && std::abs(value) < 9e15) return count_cell(std::round(value)).full;
    return fmt::format("{:.4g}", value);
}

Cell pivot_cell(const CampaignMeasure& measure, const PivotCell& cell) {
    if (cell.matching == 0) return "";
    if (cell.points == 0) return "-";
    const std::string median = number_text(measure, cell.median);
    if (cell.points == 1) return median;
    const std::string least = number_text(measure, cell.least), most = number_text(measure, cell.most);
    const std::string spread = least == most ? "" : fmt::format(", {}..{}", least, most);
    return {fmt::format("{} ({}{})", median, cell.points, spread), fmt::format("{} ({})", median, cell.points)};
}

std::string pivot_text(const Pivot& pivot, unsigned width) {
    const CampaignMeasure& measure = *pivot.value;
    const std::string name = measure.name + (measure.is_fraction() ? " %" : "");
    std::string heading = fmt::format("{}, by {}", name, pivot.rows->name);
    if (pivot.columns != nullptr) heading += fmt::format(" and {}", pivot.columns->name);
    if (!pivot.where.empty()) heading += fmt::format(", where {}", pivot.where);
    std::vector<TextTable::Column> columns{{pivot.rows->name, TextTable::Align::left}};
    for (const std::uint32_t place : pivot.column_values)
        columns.push_back({pivot.columns == nullptr
                               ? name
                               : fmt::format("{}={}", pivot.columns->name, value_text(*pivot.columns, place))});
    TextTable table(std::move(columns));
    for (std::size_t row = 0; row < pivot.row_values.size(); ++row) {
        std::vector<Cell> cells{value_text(*pivot.rows, pivot.row_values[row])};
        for (std::size_t column = 0; column < pivot.column_values.size(); ++column)
            cells.push_back(pivot_cell(measure, pivot.cells[row * pivot.column_values.size() + column]));
        table.add(std::move(cells));
    }
    const bool differ = std::ranges::any_of(
        pivot.cells, [](const PivotCell& cell) { return cell.points > 1 && cell.least < cell.most; });
    std::string remarks;
    const auto remark = [&](const std::string& text) { remarks += wrapped(text, width); };
    if (std::ranges::any_of(pivot.cells, [](const PivotCell& cell) { return cell.points > 1; }))
        remark(fmt::format("Of several points a cell has the median ({}).",
                           differ ? "how many they are, least..most" : "how many they are"));
    if (std::ranges::any_of(pivot.cells, [](const PivotCell& cell) { return cell.matching > 0 && cell.points == 0; }))
        remark("-: not known");
    if (measure.derived) remark(fmt::format("{} is derived: {}.", measure.name, measure.meaning));
    if (pivot.left_out > 0)
        remark(fmt::format("Left out: {} without {}{}.", counted(pivot.left_out, "point"), pivot.rows->name,
                           pivot.columns == nullptr ? "" : " or " + pivot.columns->name));
    return wrapped(heading, width) + (pivot.row_values.empty() ? "no points\n" : table.text(width)) + remarks;
}

/// Each reason once, with its first point.
std::string failures_text(const CampaignView& view, unsigned width) {
    struct Reason {
        std::uint64_t first, points;
    };
    std::map<std::string, Reason> reasons;
    std::vector<std::string> order;
    for (const auto& [point, error] : view.failures) {
        const auto [reason, is_new] = reasons.try_emplace(error, Reason{point, 0});
        ++reason->second.points;
        if (is_new) order.push_back(error);
    }
    std::string text = view.failures.empty() ? "" : "\nfailed\n";
    for (std::size_t i = 0; i < std::min(named_reasons, order.size()); ++i) {
        const Reason& reason = reasons.at(order[i]);
        text += wrapped(reason.points == 1 ? fmt::format("  point {}: {}", reason.first, order[i])
                                           : fmt::format("  {}, point {} first: {}", counted(reason.points, "point"),
                                                         reason.first, order[i]),
                        width, 4);
    }
    if (order.size() > named_reasons) text += fmt::format("  ... and {} other reasons\n", order.size() - named_reasons);
    return text;
}

std::string references_text(const CampaignView& view) {
    std::string text;
    if (view.count > 0) text += fmt::format(", the first {} each", counted(view.count, "reference"));
    if (view.warmup > 0) text += fmt::format(" after {} of warm-up", counted(view.warmup, "reference"));
    return text;
}

}  // namespace

nlohmann::ordered_json to_json(const CampaignView& view) {
    Json json{{"name", view.name}, {"complete", view.complete}};
    if (!view.complete) json["incomplete"] = view.incomplete;
    json["points"] = view.points.size();
    json["failed"] = view.failures.size();
    json["parameters"] = Json::array();
    for (const CampaignParameter& each : view.parameters) {
        Json values = Json::array();
        for (std::uint32_t i = 0; i < each.values.size(); ++i) values.push_back(value_json(each, i));
        json["parameters"].push_back({{"name", each.name}, {"values", std::move(values)}});
    }
    json["measures"] = Json::array();
    for (const CampaignMeasure& each : view.measures)
        json["measures"].push_back(
            {{"name", each.name}, {"unit", each.unit}, {"meaning", each.meaning}, {"derived", each.derived}});
    json["rows"] = Json::array();
    for (std::size_t i = 0; i < view.points.size(); ++i) {
        Json row{{"point", view.points[i]}, {"failed", view.failed[i] != 0}};
        for (const CampaignParameter& each : view.parameters) row[each.name] = value_json(each, each.of[i]);
        for (const CampaignMeasure& each : view.measures) row[each.name] = json_number(each.of[i]);
        json["rows"].push_back(std::move(row));
    }
    json["failures"] = Json::array();
    for (const auto& [point, error] : view.failures) json["failures"].push_back({{"point", point}, {"error", error}});
    return json;
}

nlohmann::ordered_json to_json(const Pivot& pivot) {
    Json json{{"rows", pivot.rows->name},   {"columns", pivot.columns != nullptr ? Json(pivot.columns->name) : Json()},
              {"value", pivot.value->name}, {"where", pivot.where},
              {"left_out", pivot.left_out}, {"cells", Json::array()}};
    for (std::size_t i = 0; i < pivot.cells.size(); ++i) {
        const PivotCell& cell = pivot.cells[i];
        if (cell.matching == 0) continue;
        const std::uint32_t row = pivot.row_values[i / pivot.column_values.size()],
                            column = pivot.column_values[i % pivot.column_values.size()];
        const auto number = [&](double value) { return cell.points > 0 ? json_number(value) : Json(); };
        json["cells"].push_back({{"row", value_json(*pivot.rows, row)},
                                 {"column", pivot.columns != nullptr ? value_json(*pivot.columns, column) : Json()},
                                 {"points", cell.points},
                                 {"median", number(cell.median)},
                                 {"least", number(cell.least)},
                                 {"most", number(cell.most)}});
    }
    return json;
}

std::string to_text(const CampaignView& view, const Pivot& pivot, unsigned width) {
    std::string text =
        wrapped(fmt::format("campaign {}: {}, {} failed{}", view.name, counted(view.points.size(), "point"),
                            view.failures.size(), references_text(view)),
                width);
    if (!view.complete) text += wrapped(fmt::format("PARTIAL: {}", view.incomplete), width);
    return text + '\n' + parameters_text(view, width) + failures_text(view, width) + '\n' + pivot_text(pivot, width);
}

}  // namespace cachetally
