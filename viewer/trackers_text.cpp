// SPDX-License-Identifier: BSD-3-Clause
// Trackers as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "viewer/text_table.hpp"
#include "viewer/trackers_view.hpp"

namespace cachetally {
namespace {

nlohmann::ordered_json tracker_json(const TrackerRow& row, const TrackersView& view) {
    using Json = nlohmann::ordered_json;
    Json phases = Json::array();
    for (const TopKeys& phase : row.phases)
        phases.push_back(
            {{"phase", phase.phase}, {"wanted", phase.wanted}, {"reported", phase.reported}, {"right", phase.right}});
    const TopSummary top = row.top();
    return {{"tracker", row.name},
            {"spec", row.spec},
            {"bits", row.bits},
            {"total_bits", row.bits * view.copies},
            {"comparators", row.comparators},
            {"area", row.area},
            {"reports", row.reports},
            {"bytes", row.bytes},
            {"bytes_per_event", row.bytes_per_event},
            {"traffic_is_off", view.is_off(row)},
            {"lost", row.lost},
            {"error", row.error},
            {"recall", top.recall},
            {"precision", top.precision ? Json(*top.precision) : Json()},
            {"worst_recall", top.worst_recall},
            {"phases", phases}};
}

}  // namespace

nlohmann::ordered_json to_json(const TrackersView& view) {
    nlohmann::ordered_json json = view.title.json();
    json["link"] = view.link;
    json["events"] = view.events;
    json["copies"] = view.copies;
    json["top"] = view.top;
    json["asked_bytes_per_event"] = view.asked ? nlohmann::ordered_json(*view.asked) : nlohmann::ordered_json();
    json["rows"] = nlohmann::ordered_json::array();
    for (const TrackerRow& row : view.rows) json["rows"].push_back(tracker_json(row, view));
    return json;
}

std::string to_text(const TrackersView& view, unsigned width) {
    std::string text = fmt::format("{}: {} on {}, {}\n", view.title.head(), counted(view.events, "event"),
                                   without_controls(view.link), counted(view.phases, "phase"));
    text += view.title.remarks() + '\n';
    if (view.events == 0) text += "No event passed: there is nothing to compare.\n\n";
    const bool several = view.copies > 1;
    std::vector<TextTable::Column> columns{{"tracker", TextTable::Align::left}, {"bits"}};
    if (several) columns.push_back({fmt::format("all {} copies", view.copies)});
    for (const std::string& title :
         {std::string("comparators"), std::string("bytes/event"), std::string("error %"),
          fmt::format("top {}: recall %", view.top), std::string("worst"), std::string("precision %")})
        columns.push_back({title});
    TextTable table(std::move(columns));
    for (const TrackerRow& row : view.rows) {
        const TopSummary top = row.top();
        std::vector<Cell> cells{row.name, count_cell(row.bits)};
        if (several) cells.push_back(count_cell(row.bits * view.copies));
        cells.push_back(count_cell(row.comparators));
        if (view.events == 0)
            cells.insert(cells.end(), 4, "-");
        else
            cells.insert(cells.end(), {fmt::format("{}{:#.3g}", view.is_off(row) ? "*" : "", row.bytes_per_event),
                                       percent_text(100 * row.error), fmt::format("{:.1f}", 100 * top.recall),
                                       fmt::format("{:.1f}", 100 * top.worst_recall)});
        cells.push_back(top.precision ? fmt::format("{:.1f}", 100 * *top.precision) : "-");
        table.add(std::move(cells));
    }
    text += table.text(width) + '\n';
    if (std::ranges::any_of(view.rows, [&](const TrackerRow& row) { return view.is_off(row); }))
        text += fmt::format(
            "*: off the {:.4g} bytes/event asked for by more than a tenth; errors are not at equal traffic\n",
            view.asked.value_or(0));
    for (const TrackerRow& row : view.rows)
        text += fmt::format("{}: {}{}\n", without_controls(row.name), without_controls(row.spec),
                            row.lost == 0 ? "" : fmt::format(" ({} lost)", counted(row.lost, "report")));
    return text;
}

}  // namespace cachetally
