// SPDX-License-Identifier: BSD-3-Clause
// Intrusion as tables and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "cachetally/machine.hpp"
#include "viewer/intrusion_view.hpp"
#include "viewer/sweep_view.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;
using Extra = Intrusion::Extra;

/// In full in all tables, however narrow: the same numbers stand in several.
Cell full_cell(std::uint64_t value) { return count_cell(value).full; }

/// With its sign where it is negative.
Cell signed_cell(std::int64_t value) {
    return value >= 0 ? full_cell(static_cast<std::uint64_t>(value))
                      : "-" + full_cell(~static_cast<std::uint64_t>(value) + 1).full;
}

Cell slowdown_cell(std::optional<double> slowdown) { return slowdown ? slowdown_text(*slowdown) : "?"; }

std::vector<TextTable::Column> configuration_columns() {
    return {{"link", TextTable::Align::left}, {"C"}, {"G"}, {"ring"}, {"drain", TextTable::Align::left}};
}

std::vector<Cell> configuration_cells(const MonitorSpec& spec) {
    return {spec.link, std::to_string(spec.counters), to_string(spec.granularity), full_cell(spec.ring.capacity),
            drain_text(spec.ring)};
}

std::int64_t sum_of(const std::vector<std::int64_t>& values) {
    std::int64_t sum = 0;
    for (const std::int64_t value : values) sum += value;
    return sum;
}

TextTable cost_table(const IntrusionView& view) {
    auto columns = configuration_columns();
    for (const char* title : {"cycles +", "%", "stalled", "records", "lost", "high", "bytes/event", "misses +"})
        columns.push_back({title});
    TextTable table(std::move(columns), configuration_columns().size());
    for (const IntrusionRow& row : view.rows) {
        const Intrusion& found = row.intrusion;
        auto cells = configuration_cells(row.spec);
        for (const Cell& cell :
             {signed_cell(found.cycles), slowdown_cell(view.slowdown(row)), full_cell(found.stall),
              full_cell(found.swapouts), full_cell(found.lost_records), full_cell(found.ring_high_water),
              Cell(percent_text(found.bytes_per_event())), signed_cell(sum_of(found.misses))})
            cells.push_back(row.known ? cell : Cell("?"));
        table.add(std::move(cells));
    }
    return table;
}

bool leaves_nodes(const std::string& link) { return link.starts_with(numa_name + std::string("-")); }

/// Links that carry more, or less, in some row; and where one of nodes does, those of all nodes that carry anything:
/// that a memory has none of the records is a finding.
std::vector<std::size_t> telling_links(const IntrusionView& view) {
    const auto changes = [&](std::size_t link) {
        return std::any_of(view.rows.begin(), view.rows.end(),
                           [&](const IntrusionRow& row) { return row.intrusion.traffic[link] != Extra{}; });
    };
    bool nodes_change = false;
    for (std::size_t link = 0; link < view.links.size(); ++link)
        nodes_change = nodes_change || (leaves_nodes(view.links[link]) && changes(link));
    std::vector<std::size_t> telling;
    for (std::size_t link = 0; link < view.links.size(); ++link)
        if (changes(link) || (nodes_change && leaves_nodes(view.links[link]) && view.traffic[link] != Traffic{}))
            telling.push_back(link);
    return telling;
}

TextTable traffic_table(const IntrusionView& view, const std::vector<std::size_t>& links, const char* what,
                        std::uint64_t Traffic::*without, std::int64_t Extra::*extra) {
    auto columns = configuration_columns();
    columns.front().title = fmt::format("extra {}", what);
    for (const std::size_t link : links) columns.push_back({view.links[link]});
    TextTable table(std::move(columns), configuration_columns().size());
    std::vector<Cell> baseline{"without monitor", "", "", "", ""};
    for (const std::size_t link : links) baseline.push_back(full_cell(view.traffic[link].*without));
    table.add(std::move(baseline));
    for (const IntrusionRow& row : view.rows) {
        auto cells = configuration_cells(row.spec);
        for (const std::size_t link : links)
            cells.push_back(row.known ? signed_cell(row.intrusion.traffic[link].*extra) : Cell("?"));
        table.add(std::move(cells));
    }
    return table;
}

std::string legend(unsigned width) {
    return '\n' +
           wrapped(
               "C: counters. G: lines per counter. ring: capacity in records. cycles +: by which the program ends "
               "later. stalled: cycles that cores lost to writing records and to a full ring. high: most records in a "
               "ring. misses +: of the program, at all levels. Differences are against the run without monitor.",
               width);
}

template <class Value, class Part>
Json by_name(const std::vector<std::string>& names, const std::vector<Value>& values, Part part) {
    Json json = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i) json[names[i]] = part(values[i]);
    return json;
}

template <class Counts>
Json traffic_json(const Counts& counts) {
    return {{"events", counts.events}, {"bytes", counts.bytes}};
}

Json row_json(const IntrusionView& view, const IntrusionRow& row) {
    const MonitorSpec& spec = row.spec;
    const Intrusion& found = row.intrusion;
    const std::optional<double> slowdown = view.slowdown(row);
    Json json = {{"link", spec.link},
                 {"counters", spec.counters},
                 {"granularity", granularity_json(to_string(spec.granularity))},
                 {"capacity", spec.ring.capacity},
                 {"drain", drain_text(spec.ring)},
                 {"monitor", to_string(spec)},
                 {"extra_cycles", found.cycles},
                 {"slowdown", slowdown ? Json(*slowdown) : Json()},
                 {"events", found.events},
                 {"swapouts", found.swapouts},
                 {"records_written", found.records},
                 {"bytes", found.bytes},
                 {"bytes_per_event", found.bytes_per_event()},
                 {"stall_cycles", found.stall},
                 {"lost", found.lost},
                 {"lost_records", found.lost_records},
                 {"ring_high_water", found.ring_high_water}};
    json["extra_traffic"] = by_name(view.links, found.traffic, traffic_json<Extra>);
    json["extra_misses"] = by_name(view.levels, found.misses, [](std::int64_t misses) { return misses; });
    if (row.known) return json;
    for (auto figure = json.find("extra_cycles"); figure != json.end(); ++figure) *figure = nullptr;
    return json;
}

}  // namespace

IntrusionRow IntrusionView::unknown_row(const MonitorSpec& spec) const {
    IntrusionRow row{spec, {}, false};
    row.intrusion.traffic.resize(links.size());
    row.intrusion.misses.resize(levels.size());
    return row;
}

std::size_t IntrusionView::unknown_rows() const {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const auto& row) { return !row.known; }));
}

std::string drain_text(const RingSpec& ring) {
    switch (ring.drain) {
        case RingSpec::Drain::watermark: return fmt::format("watermark {}", ring.watermark);
        case RingSpec::Drain::periodic: return fmt::format("periodic {}", ring.period);
        case RingSpec::Drain::full: break;
    }
    return "full";
}

nlohmann::ordered_json to_json(const IntrusionView& view) {
    Json json = view.title.json();
    json["references"] = view.references;
    json["cycles"] = view.cycles;
    json["traffic"] = by_name(view.links, view.traffic, traffic_json<Traffic>);
    json["misses"] = by_name(view.levels, view.misses, [](std::uint64_t misses) { return misses; });
    if (!view.unknown.empty()) json["unknown"] = view.unknown;
    json["rows"] = Json::array();
    for (const IntrusionRow& row : view.rows) json["rows"].push_back(row_json(view, row));
    return json;
}

std::string to_text(const IntrusionView& view, unsigned width) {
    std::string text = fmt::format("{}: {}, {} without monitor\n", view.title.head(),
                                   counted(view.references, "reference"), counted(view.cycles, "cycle"));
    text += view.title.remarks();
    if (view.rows.empty()) return text;
    std::vector<TextTable> tables{cost_table(view)};
    if (const auto links = telling_links(view); !links.empty()) {
        tables.push_back(traffic_table(view, links, "events", &Traffic::events, &Extra::events));
        tables.push_back(traffic_table(view, links, "bytes", &Traffic::bytes, &Extra::bytes));
    }
    for (const TextTable& table : tables) text += '\n' + table.text(width);
    if (!view.unknown.empty()) text += wrapped("?: " + view.unknown + ".", width);
    return text + legend(width);
}

}  // namespace cachetally
