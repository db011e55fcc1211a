// SPDX-License-Identifier: BSD-3-Clause
// Sweeps in HDF5: a row per cell, and a matrix per eviction policy.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "storage/axes.hpp"
#include "storage/columns.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally {
namespace {

template <class T>
std::vector<T> column(const std::vector<SweepCell>& cells, T SweepCell::*member) {
    std::vector<T> values;
    values.reserve(cells.size());
    for (const SweepCell& cell : cells) values.push_back(cell.*member);
    return values;
}

bool has_cost(std::span<const SweepCell> cells) {
    return !cells.empty() && std::ranges::all_of(cells, [](const SweepCell& cell) { return cell.cost.has_value(); });
}

/// Calls `write(name, values)` for each column of cost.
template <class Write>
void for_each_cost(std::span<const SweepCell> cells, Write write) {
    const auto values = [&](auto member) {
        std::vector<std::remove_cvref_t<decltype(SweepCost{}.*member)>> all;
        for (const SweepCell& cell : cells) all.push_back((*cell.cost).*member);
        return all;
    };
    write("bits", values(&SweepCost::bits));
    write("comparators", values(&SweepCost::comparators));
    write("area", values(&SweepCost::area));
    write("energy", values(&SweepCost::energy));
}

/// NaN where it was not run.
std::vector<double> slowdowns_of(std::span<const SweepCell> cells) {
    std::vector<double> all;
    for (const SweepCell& cell : cells) all.push_back(cell.slowdown.value_or(std::nan("")));
    return all;
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
    std::vector<std::uint8_t> given, misprint;
    std::vector<std::uint64_t> swapouts;
    std::vector<double> error;
    for (const SweepCell& cell : cells) {
        const PublishedFigures figures = cell.published.value_or(PublishedFigures{});
        given.push_back(cell.published ? 1 : 0);
        misprint.push_back(figures.misprint ? 1 : 0);
        swapouts.push_back(figures.swapouts);
        error.push_back(figures.error);
    }
    rows.write("published", given);
    rows.write("published_misprint", misprint);
    rows.write("published_swapouts", swapouts);
    rows.write("published_error", error);
}

/// The axis of granularities: lines where all are numbers of them, else their texts, so that .sel() finds each by
/// itself.
void write_granularities(Group& group, const std::vector<std::string>& texts) {
    std::vector<std::uint32_t> lines;
    for (const std::string& text : texts) {
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc() && end == text.data() + text.size()) lines.push_back(value);
    }
    if (lines.size() == texts.size()) {
        group.write("granularity", lines);
    } else {
        group.write_texts("granularity", texts);
    }
}

/// Granularities by counters; the cells of one eviction policy stand in this order.
void write_matrices(Group& sweep, const std::vector<SweepCell>& cells, bool timed) {
    Group matrices = sweep.create_group("matrices");
    const std::vector<std::string> evictions = distinct(column(cells, &SweepCell::eviction));
    set_nexus_class(matrices, "NXcollection", evictions.empty() ? "" : evictions.front());
    for (const std::string& eviction : evictions) {
        std::vector<SweepCell> own;
        std::ranges::copy_if(cells, std::back_inserter(own),
                             [&](const auto& cell) { return cell.eviction == eviction; });
        const auto counters = distinct(column(own, &SweepCell::counters));
        const auto granularities = distinct(column(own, &SweepCell::granularity));
        if (own.size() != counters.size() * granularities.size()) continue;  // a value was given twice
        Group group = matrices.create_group(eviction);
        write_granularities(group, granularities);
        group.write("counters", counters);
        const auto table = [&](const char* name, const auto& values) {
            using Value = std::remove_cvref_t<decltype(values.front())>;
            group.write_table(name, std::span<const Value>(values), granularities.size(), counters.size());
        };
        table("swapouts", column(own, &SweepCell::swapouts));
        table("error", column(own, &SweepCell::error));
        table("bytes_per_event", column(own, &SweepCell::bytes_per_event));
        if (has_cost(own)) for_each_cost(own, table);
        if (timed) table("slowdown", slowdowns_of(own));
        set_axes(group, "swapouts", {"granularity", "counters"}, {"error", "bytes_per_event"});
    }
}

/// Numbers; also NaN, where that stands for what is not known.
std::vector<double> read_numbers(const Group& rows, const char* name, std::size_t count, bool may_be_unknown = false) {
    std::vector<double> values = read_column<double>(rows, name, count);
    for (const double value : values)
        if (!std::isfinite(value) && !(may_be_unknown && std::isnan(value)))
            throw StorageError(fmt::format("{}: the column '{}' has {}, which is no number; the file is damaged",
                                           rows.where(), name, value));
    return values;
}

/// Tables have a column for each number of counters: all granularities of an eviction policy have the same.
void require_matrices(const Group& rows, std::span<const SweepCell> cells) {
    std::vector<std::uint32_t> before;
    for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
        std::vector<std::uint32_t> counters;
        for (; end < cells.size() && cells[end].eviction == cells[begin].eviction &&
               cells[end].granularity == cells[begin].granularity;
             ++end)
            counters.push_back(cells[end].counters);
        if (begin > 0 && cells[begin].eviction == cells[begin - 1].eviction && counters != before)
            throw StorageError(
                fmt::format("{}: the cells are not of the same numbers of counters for each granularity; the file is "
                            "damaged",
                            rows.where()));
        before = counters;
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
    const auto bits = read_column<std::uint64_t>(rows, "bits", cells.size());
    const auto comparators = read_column<std::uint64_t>(rows, "comparators", cells.size());
    const auto area = read_column<std::uint64_t>(rows, "area", cells.size());
    const auto energy = read_numbers(rows, "energy", cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i].cost = SweepCost{bits[i], comparators[i], area[i], energy[i]};
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
    Group rows = sweep.create_group("rows");
    rows.write("row", numbers_to(view.cells.size()));
    rows.write_texts("eviction", column(view.cells, &SweepCell::eviction));
    rows.write_texts("granularity", column(view.cells, &SweepCell::granularity));
    rows.write("counters", column(view.cells, &SweepCell::counters));
    rows.write("swapouts", column(view.cells, &SweepCell::swapouts));
    rows.write("error", column(view.cells, &SweepCell::error));
    rows.write("bytes_per_event", column(view.cells, &SweepCell::bytes_per_event));
    if (has_cost(view.cells))
        for_each_cost(view.cells, [&](const char* name, const auto& values) { rows.write(name, values); });
    if (view.timed) rows.write("slowdown", slowdowns_of(view.cells));
    if (!view.slowdown_unknown.empty()) sweep.set_attribute("slowdown_unknown", view.slowdown_unknown);
    write_published(rows, view.cells);
    set_axes(rows, "swapouts", {"row"}, {"error", "bytes_per_event"});
    write_matrices(sweep, view.cells, view.timed);
}

SweepView read_sweep_view(const InputFile& file) {
    SweepView view;
    view.title = read_title(file);
    const Group sweep = file.root().open_group("sweep");
    view.link = sweep.text_attribute("link");
    view.monitor = sweep.text_attribute("monitor");
    view.references = sweep.whole_attribute("references");
    view.events = sweep.whole_attribute("events");
    const Group rows = sweep.open_group("rows");
    const auto eviction = rows.read_texts("eviction"), granularity = rows.read_texts("granularity");
    const auto counters = read_column<std::uint32_t>(rows, "counters", eviction.size());
    const auto swapouts = read_column<std::uint64_t>(rows, "swapouts", eviction.size());
    const auto error = read_numbers(rows, "error", eviction.size());
    const auto bytes = read_numbers(rows, "bytes_per_event", eviction.size());
    if (granularity.size() != eviction.size())
        throw StorageError(fmt::format("{}: columns of unequal length; the file is damaged", rows.where()));
    for (std::size_t i = 0; i < eviction.size(); ++i)
        view.cells.push_back({eviction[i], granularity[i], counters[i], swapouts[i], error[i], bytes[i], {}, {}});
    require_matrices(rows, view.cells);
    read_cost(rows, view.cells);
    read_slowdown(rows, view);
    if (sweep.has_attribute("slowdown_unknown")) view.slowdown_unknown = sweep.text_attribute("slowdown_unknown");
    read_published(rows, view.cells);
    return view;
}

}  // namespace cachetally
