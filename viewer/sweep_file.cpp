// SPDX-License-Identifier: BSD-3-Clause
// Sweeps in HDF5: a row per cell, and a matrix per eviction policy.
#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "storage/columns.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally {
namespace {

/// Calls column(name, member) for each column that all cells have.
template <class Column>
void for_each_column(Column column) {
    column("eviction", &SweepCell::eviction);
    column("granularity", &SweepCell::granularity);
    column("counters", &SweepCell::counters);
    column("swapouts", &SweepCell::swapouts);
    column("error", &SweepCell::error);
    column("bytes_per_event", &SweepCell::bytes_per_event);
}

/// The same of what there may be several of. Older files do not have these.
template <class Column>
void for_each_place(Column column) {
    column("workload", &SweepCell::workload);
    column("link", &SweepCell::link);
    column("settings", &SweepCell::settings);
    column("events", &SweepCell::events);
}

/// The same of what a monitor would take.
template <class Column>
void for_each_cost(Column column) {
    column("bits", &SweepCost::bits);
    column("comparators", &SweepCost::comparators);
    column("area", &SweepCost::area);
    column("energy", &SweepCost::energy);
}

/// The costs of all cells; none where not all have theirs.
std::vector<SweepCost> costs_of(const std::vector<SweepCell>& cells) {
    if (!std::ranges::all_of(cells, [](const SweepCell& cell) { return cell.cost.has_value(); })) return {};
    return column_of(cells, [](const SweepCell& cell) { return *cell.cost; });
}

/// NaN where it was not run.
std::vector<double> slowdowns_of(const std::vector<SweepCell>& cells) {
    return column_of(cells, [](const SweepCell& cell) { return cell.slowdown.value_or(std::nan("")); });
}

template <class T>
std::vector<T> distinct(const std::vector<T>& values) {
    std::vector<T> result;
    for (const T& value : values)
        if (std::ranges::find(result, value) == result.end()) result.push_back(value);
    return result;
}

void write_published(Group& rows, const std::vector<SweepCell>& cells) {
    if (!std::ranges::any_of(cells, [](const SweepCell& cell) { return cell.published.has_value(); })) return;
    const auto write = [&](const char* name, auto of) {
        rows.write(name, column_of(cells, [&](const SweepCell& cell) { return of(cell.published); }));
    };
    using Published = std::optional<PublishedFigures>;
    write("published", [](const Published& figures) { return std::uint8_t{figures.has_value()}; });
    write("published_misprint", [](const Published& figures) { return std::uint8_t{figures && figures->misprint}; });
    write("published_swapouts", [](const Published& figures) { return figures ? figures->swapouts : 0; });
    write("published_error", [](const Published& figures) { return figures ? figures->error : 0; });
}

/// The axis of granularities: lines where all are numbers of them, else their texts, so that .sel() finds each by
/// itself.
void write_granularities(Group& group, const std::vector<std::string>& texts) {
    std::vector<std::uint32_t> lines;
    for (const std::string& text : texts)
        if (const auto number = parse_number(text)) lines.push_back(static_cast<std::uint32_t>(*number));
    if (lines.size() == texts.size()) {
        group.write("granularity", lines);
    } else {
        group.write_texts("granularity", texts);
    }
}

/// Granularities by counters; the cells of one eviction policy stand in this order.
void write_matrices(Group& sweep, const std::vector<SweepCell>& cells, bool timed) {
    Group matrices = sweep.create_group("matrices");
    const std::vector<std::string> evictions = distinct(column_of(cells, &SweepCell::eviction));
    set_nexus_class(matrices, "NXcollection", evictions.empty() ? "" : evictions.front());
    for (const std::string& eviction : evictions) {
        std::vector<SweepCell> own;
        std::ranges::copy_if(cells, std::back_inserter(own),
                             [&](const auto& cell) { return cell.eviction == eviction; });
        const auto counters = distinct(column_of(own, &SweepCell::counters));
        const auto granularities = distinct(column_of(own, &SweepCell::granularity));
        if (own.size() != counters.size() * granularities.size()) continue;  // a value was given twice
        Group group = matrices.create_group(eviction);
        write_granularities(group, granularities);
        group.write("counters", counters);
        const auto table = [&](const char* name, const auto& values) {
            using Value = std::remove_cvref_t<decltype(values.front())>;
            group.write_table(name, std::span<const Value>(values), granularities.size(), counters.size());
        };
        table("swapouts", column_of(own, &SweepCell::swapouts));
        table("error", column_of(own, &SweepCell::error));
        table("bytes_per_event", column_of(own, &SweepCell::bytes_per_event));
        if (const std::vector<SweepCost> costs = costs_of(own); !costs.empty())
            for_each_cost([&](const char* name, auto member) { table(name, column_of(costs, member)); });
        if (timed) table("slowdown", slowdowns_of(own));
        set_axes(group, "swapouts", {"granularity", "counters"}, {"error", "bytes_per_event"});
    }
}

/// Throws for a number that is none; NaN may stand for what is not known.
void require_number(const Group& rows, const char* name, double value, bool may_be_unknown = false) {
    if (!std::isfinite(value) && !(may_be_unknown && std::isnan(value)))
        throw StorageError("{}: the column '{}' has {}, which is no number; the file is damaged", rows.where(), name,
                           value);
}

/// One of the columns above.
template <class Row, class T>
void read_checked(const Group& group, const char* name, std::vector<Row>& rows, T Row::*member) {
    read_member(group, name, rows, member);
    if constexpr (std::is_same_v<T, double>)
        for (const Row& row : rows) require_number(group, name, row.*member);
}

std::vector<double> read_numbers(const Group& rows, const char* name, std::size_t count, bool may_be_unknown = false) {
    std::vector<double> values = read_column<double>(rows, name, count);
    for (const double value : values) require_number(rows, name, value, may_be_unknown);
    return values;
}

/// Tables have a column for each number of counters: all granularities of an eviction policy have the same.
void require_matrix(const Group& rows, std::span<const SweepCell> cells) {
    std::vector<std::uint32_t> before;
    for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
        std::vector<std::uint32_t> counters;
        for (; end < cells.size() && cells[end].eviction == cells[begin].eviction &&
               cells[end].granularity == cells[begin].granularity;
             ++end)
            counters.push_back(cells[end].counters);
        if (begin > 0 && cells[begin].eviction == cells[begin - 1].eviction && counters != before)
            throw StorageError(
                "{}: the cells are not of the same numbers of counters for each granularity; the file is damaged",
                rows.where());
        before = counters;
    }
}

/// A row per cell, with what the choice says of it.
void write_rows(Group rows, const std::vector<SweepCell>& cells, const SweepView& view) {
    rows.write("row", numbers_to(cells.size()));
    for_each_column([&](const char* name, auto member) { write_member(rows, name, cells, member); });
    for_each_place([&](const char* name, auto member) { write_member(rows, name, cells, member); });
    rows.write_texts("counting", column_of(cells, [](const SweepCell& cell) { return counting(cell.settings); }));
    const std::vector<Standing> standings = standings_of(cells, asked_of(view));
    const auto flag = [&](const char* name, bool Standing::*member) {
        rows.write(name, column_of(standings, [&](const Standing& each) { return std::uint8_t{each.*member}; }));
    };
    flag("admitted", &Standing::admitted);
    flag("front", &Standing::front);
    flag("remains", &Standing::remains);
    if (const std::vector<SweepCost> costs = costs_of(cells); !costs.empty())
        for_each_cost([&](const char* name, auto member) { write_member(rows, name, costs, member); });
    if (view.timed) rows.write("slowdown", slowdowns_of(cells));
    write_published(rows, cells);
    set_axes(rows, "swapouts", {"row"}, {"error", "bytes_per_event"});
}

SweepChoice read_choice(const Group& sweep) {
    if (!sweep.has_attribute("objectives")) return {};
    try {
        SweepChoice choice = parse_choice(sweep.text_attribute("objectives"), sweep.text_attribute("where"));
        choice.tolerance = sweep.real_attribute("tolerance");
        return choice;
    } catch (const std::invalid_argument& error) {
        throw StorageError("{}: {}", sweep.where(), error.what());
    }
}

/// Of older files, which are of one workload and link.
void read_places(const Group& rows, SweepView& view) {
    if (rows.has("settings"))
        return for_each_place([&](const char* name, auto member) { read_checked(rows, name, view.cells, member); });
    for (SweepCell& cell : view.cells) {
        cell.link = view.link;
        cell.events = view.events;
    }
}

void read_published(const Group& rows, std::vector<SweepCell>& cells) {
    if (!rows.has("published")) return;
    const auto given = read_column<std::uint8_t>(rows, "published", cells.size());
    const auto misprint = read_column<std::uint8_t>(rows, "published_misprint", cells.size());
    const auto swapouts = read_column<std::uint64_t>(rows, "published_swapouts", cells.size());
    const auto error = read_numbers(rows, "published_error", cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (given[i] != 0) cells[i].published = PublishedFigures{swapouts[i], error[i], misprint[i] != 0};
}

void read_cost(const Group& rows, std::vector<SweepCell>& cells) {
    if (!rows.has("bits")) return;
    std::vector<SweepCost> costs(cells.size());
    for_each_cost([&](const char* name, auto member) { read_checked(rows, name, costs, member); });
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i].cost = costs[i];
}

void read_slowdown(const Group& rows, SweepView& view) {
    view.timed = rows.has("slowdown");
    if (!view.timed) return;
    const auto slowdown = read_numbers(rows, "slowdown", view.cells.size(), true);
    for (std::size_t i = 0; i < view.cells.size(); ++i)
        if (!std::isnan(slowdown[i])) view.cells[i].slowdown = slowdown[i];
}

}  // namespace

void write_sweep(Group& root, const SweepView& view) {
    Group sweep = root.create_group("sweep");
    set_nexus_class(sweep, "NXcollection", "rows");
    sweep.set_attribute("link", view.link);
    sweep.set_attribute("monitor", view.monitor);
    sweep.set_attribute("references", view.references);
    sweep.set_attribute("events", view.events);
    sweep.set_attribute("runs", view.runs);
    sweep.set_attribute("objectives", view.choice.objectives_text());
    sweep.set_attribute("where", view.choice.bounds_text());
    sweep.set_attribute("tolerance", view.choice.tolerance);
    if (!view.slowdown_unknown.empty()) sweep.set_attribute("slowdown_unknown", view.slowdown_unknown);
    write_rows(sweep.create_group("rows"), view.cells, view);
    if (const std::vector<SweepCell> worst = worst_of(view); !worst.empty())
        write_rows(sweep.create_group("worst"), worst, view);
    if (parts_of(view.cells).size() < 2) write_matrices(sweep, view.cells, view.timed);
}

SweepChoice read_sweep_choice(const InputFile& file) { return read_choice(file.root().open_group("sweep")); }

SweepView read_sweep_view(const InputFile& file) {
    SweepView view;
    view.title = read_title(file);
    const Group sweep = file.root().open_group("sweep");
    view.link = sweep.text_attribute("link");
    view.monitor = sweep.text_attribute("monitor");
    view.references = sweep.whole_attribute("references");
    view.events = sweep.whole_attribute("events");
    const Group rows = sweep.open_group("rows");
    view.cells.resize(rows.read_texts("eviction").size());
    for_each_column([&](const char* name, auto member) { read_checked(rows, name, view.cells, member); });
    read_places(rows, view);
    for (const auto& part : parts_of(view.cells)) require_matrix(rows, part);
    view.runs = sweep.has_attribute("runs") ? sweep.whole_attribute("runs") : 0;
    view.choice = read_choice(sweep);
    read_cost(rows, view.cells);
    read_slowdown(rows, view);
    if (sweep.has_attribute("slowdown_unknown")) view.slowdown_unknown = sweep.text_attribute("slowdown_unknown");
    read_published(rows, view.cells);
    return view;
}

}  // namespace cachetally
