// SPDX-License-Identifier: BSD-3-Clause
// Sweeps as JSON (docs/schemas.md).
#include <span>

#include "base/units.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

Json row_json(const SweepCell& cell, const Standing& standing, bool timed) {
    Json row = {{"workload", cell.workload}, {"link", cell.link},
                {"settings", cell.settings}, {"events", cell.events},
                {"counters", cell.counters}, {"granularity", granularity_json(cell.granularity)},
                {"eviction", cell.eviction}, {"swapouts", cell.swapouts},
                {"error", cell.error},       {"bytes_per_event", cell.bytes_per_event}};
    if (cell.cost)
        row.update({{"bits", cell.cost->bits},
                    {"comparators", cell.cost->comparators},
                    {"area", cell.cost->area},
                    {"energy", cell.cost->energy},
                    {"admitted", standing.admitted},
                    {"front", standing.front},
                    {"remains", standing.remains}});
    if (timed) row["slowdown"] = cell.slowdown ? Json(*cell.slowdown) : Json();
    if (cell.published)
        row["published"] = {{"swapouts", cell.published->swapouts},
                            {"error", cell.published->error},
                            {"misprint", cell.published->misprint}};
    return row;
}

Json rows_json(std::span<const SweepCell> cells, const SweepView& view) {
    Json rows = Json::array();
    const std::vector<Standing> standing = standings_of(cells, asked_of(view));
    for (std::size_t i = 0; i < cells.size(); ++i) rows.push_back(row_json(cells[i], standing[i], view.timed));
    return rows;
}

}  // namespace

nlohmann::ordered_json granularity_json(const std::string& granularity) {
    const auto lines = parse_number(granularity);
    return lines ? Json(*lines) : Json(granularity);
}

nlohmann::ordered_json to_json(const SweepView& view) {
    Json json = view.title.json();
    json["link"] = view.link;
    json["references"] = view.references;
    json["events"] = view.events;
    if (view.runs != 0) json["runs"] = view.runs;
    json["objectives"] = Json::array();
    const SweepChoice asked = asked_of(view);
    for (const Objective* each : asked.objectives) json["objectives"].push_back(each->name);
    json["where"] = view.choice.bounds_text();
    json["tolerance"] = view.choice.tolerance;
    if (!view.slowdown_unknown.empty()) json["slowdown_unknown"] = view.slowdown_unknown;
    json["rows"] = rows_json(view.cells, view);
    if (const auto worst = worst_of(view); !worst.empty()) json["worst"] = rows_json(worst, view);
    return json;
}

}  // namespace cachetally
