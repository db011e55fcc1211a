// SPDX-License-Identifier: BSD-3-Clause
// A sweep as matrices and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "viewer/sweep_view.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr auto left = TextTable::Align::left;

/// The cells of one eviction policy and granularity, in the order of their counters.
struct Row {
    std::string granularity;
    std::vector<const SweepCell*> cells;

    bool one_error() const {
        return std::ranges::all_of(cells, [&](const SweepCell* cell) { return cell->error == cells[0]->error; });
    }
};

struct Matrix {
    std::string eviction;
    std::vector<Row> rows;
};

std::vector<Matrix> matrices_of(std::span<const SweepCell> cells) {
    std::vector<Matrix> matrices;
    for (const SweepCell& cell : cells) {
        if (matrices.empty() || matrices.back().eviction != cell.eviction) matrices.push_back({cell.eviction, {}});
        std::vector<Row>& rows = matrices.back().rows;
        if (rows.empty() || rows.back().granularity != cell.granularity) rows.push_back({cell.granularity, {}});
        rows.back().cells.push_back(&cell);
    }
    return matrices;
}

TextTable table_for(const std::string& title, const Matrix& matrix, bool error_column) {
    std::vector<TextTable::Column> columns{{title, left}};
    for (const SweepCell* cell : matrix.rows.front().cells) columns.push_back({fmt::format("C={}", cell->counters)});
    if (error_column) columns.push_back({"error %"});
    return TextTable(std::move(columns));
}

template <class Field>
std::string matrix_text(const std::string& title, const Matrix& matrix, bool error_column, unsigned width,
                        Field field) {
    TextTable table = table_for(title, matrix, error_column);
    for (const Row& row : matrix.rows) {
        std::vector<Cell> cells{"G=" + row.granularity};
        for (const SweepCell* cell : row.cells) cells.push_back(field(*cell));
        if (error_column) cells.emplace_back(percent_text(100 * row.cells[0]->error));
        table.add(std::move(cells));
    }
    return '\n' + table.text(width);
}

std::string plain(const Matrix& matrix, unsigned width) {
    const bool one_error = std::ranges::all_of(matrix.rows, &Row::one_error);
    std::string text = matrix_text(fmt::format("swap-outs, {}", matrix.eviction), matrix, one_error, width,
                                   [](const SweepCell& cell) { return count_cell(cell.swapouts); });
    if (!one_error)
        text += matrix_text(fmt::format("error %, {}", matrix.eviction), matrix, false, width,
                            [](const SweepCell& cell) { return Cell(percent_text(100 * cell.error)); });
    return text + matrix_text(fmt::format("bytes/event, {}", matrix.eviction), matrix, false, width,
                              [](const SweepCell& cell) { return Cell(percent_text(cell.bytes_per_event)); });
}

/// The columns that tell a cell, and what it gives and takes.
TextTable cell_table(bool settings, bool timed) {
    std::vector<TextTable::Column> columns{{"eviction", left}};
    if (settings) columns.push_back({"settings", left});
    columns.push_back({"G"});
    columns.push_back({"C"});
    const std::size_t keys = columns.size();
    columns.push_back({"error %"});
    if (timed) columns.push_back({"slower %"});
    for (const char* title : {"bytes/event", "bits", "comparators", "area", "energy/event"}) columns.push_back({title});
    columns.push_back({.title = "", .align = left, .marks = true});
    return TextTable(std::move(columns), keys);
}

std::vector<Cell> cells_of(const SweepCell& cell, const Standing& standing, bool settings, bool timed) {
    std::vector<Cell> cells{cell.eviction};
    if (settings) cells.emplace_back(cell.settings);
    cells.insert(cells.end(), {cell.granularity, std::to_string(cell.counters), percent_text(100 * cell.error)});
    if (timed) cells.emplace_back(cell.slowdown ? slowdown_text(*cell.slowdown) : "?");
    cells.insert(cells.end(),
                 {percent_text(cell.bytes_per_event), count_cell(cell.cost->bits), count_cell(cell.cost->comparators),
                  count_cell(cell.cost->area), count_cell(std::round(cell.cost->energy)),
                  standing.remains ? "*"
                  : standing.front ? "."
                                   : ""});
    return cells;
}

std::string_view told(const Objective& objective) { return objective.name == "bytes" ? "bytes/event" : objective.name; }

/// As the table of cells has it.
std::string value_text(const Objective& objective, double value) {
    if (objective.name == "slowdown") return slowdown_text(value) + " %";
    if (objective.fraction) return percent_text(100 * value) + " %";
    if (objective.name == "bytes") return percent_text(value);
    return with_separators(static_cast<std::uint64_t>(std::round(value)));
}

/// All objectives must be known. "fifo, G=4, C=64 (error 1.20 %, bits 4,789)".
std::string choice_text(const SweepCell& cell, std::span<const Objective* const> objectives) {
    std::vector<std::string> values;
    for (const Objective* each : objectives)
        values.push_back(fmt::format("{} {}", told(*each), value_text(*each, each->of(cell).value())));
    const std::string settings = cell.settings.empty() ? "" : cell.settings + ", ";
    return fmt::format("{}, {}G={}, C={} ({})", cell.eviction, settings, cell.granularity, cell.counters,
                       fmt::join(values, ", "));
}

bool all_known(const SweepCell& cell, std::span<const Objective* const> objectives) {
    return std::ranges::all_of(objectives, [&](const Objective* each) { return each->of(cell).has_value(); });
}

/// Of what is admitted (of all, where nothing is), and of which all objectives are known, the best in each; the page
/// tells the same.
std::string best_text(std::span<const SweepCell> cells, std::span<const Standing> standing, const SweepChoice& choice) {
    if (std::ranges::all_of(cells, [](const SweepCell& cell) { return cell.events == 0; }))
        return "No event passed the monitors: there is nothing to choose.";
    const auto objectives = objectives_for(cells, choice);
    const bool any = std::ranges::any_of(standing, &Standing::admitted);
    std::vector<std::pair<const SweepCell*, std::string>> best;
    for (const Objective* each : objectives) {
        const auto better = [&](const SweepCell& a,
                                const SweepCell& b) {  // of equal ones that with the best of the others
            if (each->of(a) != each->of(b)) return each->of(a) < each->of(b);
            for (const Objective* other : objectives)
                if (other->of(a) != other->of(b)) return other->of(a) < other->of(b);
            return false;
        };
        const SweepCell* least = nullptr;
        for (std::size_t i = 0; i < cells.size(); ++i)
            if ((any ? standing[i].admitted : cells[i].events > 0) && all_known(cells[i], objectives) &&
                (!least || better(cells[i], *least)))
                least = &cells[i];
        if (!least) return "";
        const auto found = std::ranges::find(best, least, &decltype(best)::value_type::first);
        if (found == best.end())
            best.emplace_back(least, told(*each));
        else
            found->second += fmt::format(", {}", told(*each));
    }
    const bool known = std::ranges::all_of(cells, [&](const SweepCell& cell) { return all_known(cell, objectives); });
    std::string text = any ? "" : known ? "Of all cells:" : "Of the cells that are known:";
    for (const auto& [cell, names] : best)
        text += fmt::format("{}Least {}: {}.", text.empty() ? "" : " ", names, choice_text(*cell, objectives));
    return text;
}

bool has_costs(std::span<const SweepCell> cells) {
    return std::ranges::all_of(cells, [](const SweepCell& cell) { return cell.cost.has_value(); });
}

/// How many cells of those that are compared are admitted, and the best of them.
std::string answer_text(std::span<const SweepCell> cells, const std::vector<Standing>& standing,
                        const SweepChoice& choice, unsigned width) {
    if (!has_costs(cells)) return "";
    std::string answer = best_text(cells, standing, choice);
    if (!choice.bounds.empty()) {
        const auto is_unknown = [&](const SweepCell& cell) {
            return std::ranges::any_of(choice.bounds, [&](const Bound& bound) { return !bound.objective->of(cell); });
        };
        const auto unknown = static_cast<std::size_t>(std::ranges::count_if(cells, is_unknown));
        answer =
            fmt::format("{} of {} with {}{}. {}",
                        with_separators(static_cast<std::size_t>(std::ranges::count_if(standing, &Standing::admitted))),
                        counted(cells.size(), "cell"), choice.bounds_text(),
                        unknown == 0 ? "" : fmt::format(" (unknown of {})", with_separators(unknown)), answer);
    }
    return answer.empty() ? "" : wrapped(answer, width);
}

/// The numbers of those admitted: first what remains of the front, then what else is on it.
std::vector<std::size_t> by_standing(const std::vector<Standing>& standing) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < standing.size(); ++i)
        if (standing[i].admitted) order.push_back(i);
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return std::pair(!standing[i].remains, !standing[i].front); });
    return order;
}

/// The admitted cells with what they give and what they take; of many those on the front.
std::string cost_text(std::span<const SweepCell> cells, const std::vector<Standing>& standing, bool timed,
                      unsigned width) {
    constexpr std::size_t many = 24;
    if (!has_costs(cells)) return "";
    const bool settings = std::ranges::any_of(cells, [](const SweepCell& cell) { return !cell.settings.empty(); });
    const std::vector<std::size_t> order = by_standing(standing);
    const auto count = [&](bool Standing::*which) {
        return static_cast<std::size_t>(std::ranges::count_if(standing, which));
    };
    const std::size_t front = count(&Standing::front), remaining = count(&Standing::remains);
    const std::size_t told = order.size() <= many || front == 0 ? order.size() : front <= many ? front : remaining;
    TextTable table = cell_table(settings, timed);
    bool missing = false;
    for (const std::size_t i : std::span(order).first(told)) {
        missing = missing || (timed && !cells[i].slowdown);
        table.add(cells_of(cells[i], standing[i], settings, timed));
    }
    return (order.empty() ? "" : table.text(width)) +
           (missing ? "?: there is no complete run with this monitor.\n" : "") +
           (told < order.size() ? wrapped(fmt::format("{} more are not {} (--where and others choose fewer, "
                                                      "--json has all).",
                                                      counted(order.size() - told, "cell"),
                                                      told == front ? "on the front" : "among what remains"),
                                          width)
                                : "");
}

double ratio_of(const SweepCell& cell) {
    return static_cast<double>(cell.swapouts) / static_cast<double>(cell.published->swapouts);
}

/// Two lines per granularity: ours with ours / published, and the published figures.
std::string beside_published(const Matrix& matrix, unsigned width) {
    std::vector<TextTable::Column> columns{{"swap-outs", left}};
    for (const SweepCell* cell : matrix.rows.front().cells) {
        columns.push_back({fmt::format("C={}", cell->counters)});
        columns.push_back({"", left, true});
    }
    columns.push_back({"error %"});
    TextTable table(std::move(columns));
    for (const Row& row : matrix.rows) {
        std::vector<Cell> ours{fmt::format("G={} ours", row.granularity)}, theirs{"    paper"};
        for (const SweepCell* cell : row.cells) {
            ours.push_back(count_cell(cell->swapouts));
            ours.emplace_back(cell->published ? fmt::format("{:.2f}", ratio_of(*cell)) : "");
            theirs.push_back(cell->published ? count_cell(cell->published->swapouts) : Cell(""));
            theirs.emplace_back(cell->published && cell->published->misprint ? "*" : "");
        }
        ours.emplace_back(fmt::format("{:.2f}", 100 * row.cells[0]->error));
        const auto& published = row.cells[0]->published;
        theirs.emplace_back(published ? fmt::format("{:.2f}", 100 * published->error) : "");
        table.add(std::move(ours));
        table.add(std::move(theirs));
    }
    return '\n' + table.text(width);
}

std::string how_far(const SweepView& view, unsigned width) {
    double factors = 0, worst = 0;
    int clean = 0;
    for (const SweepCell& cell : view.cells) {
        if (!cell.published || cell.published->misprint || cell.swapouts == 0) continue;
        const double factor = std::max(ratio_of(cell), 1 / ratio_of(cell));
        factors += factor;
        worst = std::max(worst, factor);
        ++clean;
    }
    return '\n' +
           wrapped(
               "ours: with ours / published. paper: Schulz et al. 2002, Table 2; * repeats another cell: a misprint. "
               "The error is the same for every C.",
               width) +
           fmt::format("mean factor over the {} clean {}: {:.3f}, worst {:.2f}\n", clean, clean == 1 ? "cell" : "cells",
                       factors / std::max(1, clean), worst);
}

/// What marks in tables mean, if any is there.
std::string marks_text(const SweepView& view, unsigned width) {
    if (!has_costs(view.cells) || std::ranges::none_of(standings_of(view.cells, asked_of(view)), &Standing::front))
        return "";
    std::string names;
    const auto objectives = asked_of(view).objectives;
    const bool has_floor = view.choice.tolerance > 0 && std::ranges::any_of(objectives, &Objective::fraction);
    for (const Objective* each : objectives)
        names += fmt::format("{}{}", names.empty() ? "" : each == objectives.back() ? " and " : ", ", told(*each));
    return wrapped(fmt::format("* and .: no other cell is {}. *: those that remain where "
                               "differences up to {:g} % of the front's range in each{} do not count.",
                               objectives.size() == 1 ? fmt::format("better in {}", names)
                                                      : fmt::format("as good in {}, and better in one", names),
                               100 * view.choice.tolerance,
                               has_floor ? " (in percentages, of at least one percentage point)" : ""),
                   width);
}

/// What tables do not say by themselves.
std::string remarks(const SweepView& view, unsigned width) {
    std::string text = marks_text(view, width);
    if (has_costs(view.cells))
        text += wrapped(
            "Cost of one monitor, by the model of docs/cost.md: area in transistors, energy in reads of an SRAM bit.",
            width);
    if (!view.slowdown_unknown.empty()) text += wrapped("?: " + view.slowdown_unknown + ".", width);
    if (!view.title.complete && !worst_of(std::span(view.cells)).empty())
        text += wrapped("The worst of all workloads is not known: not all were run to their end.", width);
    return text;
}

/// "7,304 events"; where records delay cores, so that monitors see other events, "7,285 to 7,304 events".
std::string events_of(std::span<const SweepCell> field) {
    const auto [least, most] = std::ranges::minmax_element(field, {}, &SweepCell::events);
    return (least->events == most->events ? "" : with_separators(least->events) + " to ") +
           counted(most->events, "event");
}

std::string workloads_of(std::span<const SweepCell> cells) {
    std::vector<std::string> names;
    for (const SweepCell& cell : cells)
        if (std::ranges::count(names, cell.workload) == 0) names.push_back(cell.workload);
    return without_controls(fmt::format("{}", fmt::join(names, ", ")));
}

/// What was run, and how much; of chosen cells what these are of.
std::string heading(const SweepView& view, bool one_field) {
    const std::string events =
        one_field ? fmt::format("{} on {}", events_of(view.cells), without_controls(view.cells.front().link)) : "";
    std::string text;
    if (view.all_cells != 0) {
        text = fmt::format("{} on {}: {} of {}{}{}", workloads_of(view.cells), without_controls(view.title.machine),
                           view.cells.size(), counted(view.all_cells, "cell"), events.empty() ? "" : ", ", events);
    } else {
        text = fmt::format("{}: {}, {}", view.title.head(), counted(view.references, "reference"),
                           one_field ? events : counted(view.cells.size(), "cell"));
        if (view.runs > 1) text += ", " + counted(view.runs, "run");
    }
    return text + '\n' + view.title.remarks() + "C: counters. G: lines per counter.\n";
}

std::string fields_text(std::span<const SweepCell> cells, const SweepView& view, unsigned width) {
    std::string text;
    const SweepChoice asked = asked_of(view);
    const std::vector<Standing> all = standings_of(cells, asked);
    auto next = all.begin();
    for (const auto& field : fields_of(cells)) {
        const auto begin = std::exchange(next, next + static_cast<std::ptrdiff_t>(field.size()));
        const std::vector<Standing> standing(begin, next);
        const std::string settings = counting(field[0].settings);
        text += fmt::format("\n{}, {}{}: {}\n", without_controls(field[0].workload), without_controls(field[0].link),
                            settings.empty() ? "" : ", " + without_controls(settings), events_of(field)) +
                answer_text(field, standing, asked, width) + cost_text(field, standing, view.timed, width);
    }
    return text;
}

}  // namespace

std::string to_text(const SweepView& view, unsigned width) {
    const bool one_part = parts_of(view.cells).size() < 2;
    std::string text = heading(view, fields_of(view.cells).size() == 1);
    if (one_part) {
        const bool published =
            std::ranges::any_of(view.cells, [](const SweepCell& cell) { return cell.published.has_value(); });
        const SweepChoice asked = asked_of(view);
        const std::vector<Standing> standing = standings_of(view.cells, asked);
        if (!published) text += answer_text(view.cells, standing, asked, width) + remarks(view, width);
        for (const Matrix& matrix : matrices_of(view.cells))
            text += published ? beside_published(matrix, width) : plain(matrix, width);
        if (published) return text + how_far(view, width);
        if (has_costs(view.cells)) text += '\n' + cost_text(view.cells, standing, view.timed, width);
    } else {
        text += remarks(view, width) + fields_text(view.cells, view, width) + fields_text(worst_of(view), view, width);
    }
    return text;
}

}  // namespace cachetally
