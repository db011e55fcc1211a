// SPDX-License-Identifier: BSD-3-Clause
// A sweep as matrices and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>

#include "base/units.hpp"
#include "viewer/sweep_view.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;
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

std::vector<Matrix> matrices_of(const SweepView& view) {
    std::vector<Matrix> matrices;
    for (const SweepCell& cell : view.cells) {
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
                              [](const SweepCell& cell) { return Cell(fmt::format("{:.4f}", cell.bytes_per_event)); });
}

bool all_timed(std::span<const SweepCell> cells) {
    return std::ranges::all_of(cells, [](const SweepCell& cell) { return cell.slowdown.has_value(); });
}

/// All cells of one eviction policy with what they give and what they take.
std::string cost_text(const Matrix& matrix, const std::set<const SweepCell*>& front, bool timed, unsigned width) {
    std::vector<TextTable::Column> columns{{fmt::format("cost, {}", matrix.eviction), left}, {"C"}, {"error %"}};
    if (timed) columns.push_back({"slower %"});
    for (const char* title : {"bytes/event", "bits", "comparators", "area", "energy/event"}) columns.push_back({title});
    columns.push_back({"", left, true});
    TextTable table(std::move(columns), 2);
    for (const Row& row : matrix.rows)
        for (const SweepCell* cell : row.cells) {
            if (!cell->cost) return "";
            std::vector<Cell> cells{"G=" + row.granularity, std::to_string(cell->counters),
                                    percent_text(100 * cell->error)};
            if (timed) cells.emplace_back(cell->slowdown ? fmt::format("{:.3f}", 100 * *cell->slowdown) : "?");
            for (Cell& each :
                 std::vector<Cell>{fmt::format("{:.4f}", cell->bytes_per_event), count_cell(cell->cost->bits),
                                   count_cell(cell->cost->comparators), count_cell(cell->cost->area),
                                   fmt::format("{:.0f}", cell->cost->energy)})
                cells.push_back(std::move(each));
            cells.emplace_back(front.contains(cell) ? "*" : "");
            table.add(std::move(cells));
        }
    const bool some_missing =
        timed && std::ranges::any_of(matrix.rows, [](const Row& row) {
            return std::ranges::any_of(row.cells, [](const SweepCell* cell) { return !cell->slowdown; });
        });
    return '\n' + table.text(width) + (some_missing ? "?: there is no complete run with this monitor.\n" : "");
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
               "C: counters, G: lines per counter. The error is the same for every C.",
               width) +
           fmt::format("mean factor over the {} clean {}: {:.3f}, worst {:.2f}\n", clean, clean == 1 ? "cell" : "cells",
                       factors / std::max(1, clean), worst);
}

std::string remarks_on_cost(const SweepView& view, unsigned width) {
    if (std::ranges::any_of(view.cells, [](const SweepCell& cell) { return !cell.cost; })) return "";
    const std::string also = all_timed(view.cells) ? ", slowdown" : "";
    return wrapped(
               "Cost of one monitor, by the model of docs/cost.md: area in transistors, energy in reads of an SRAM "
               "bit.",
               width) +
           wrapped("*: no other cell is as good in error" + also + ", bytes/event and bits, and better in one.", width);
}

}  // namespace

std::vector<bool> front_of(std::span<const SweepCell> cells) {
    if (std::ranges::any_of(cells, [](const SweepCell& cell) { return !cell.cost; }))
        return std::vector<bool>(cells.size(), false);
    const bool timed = all_timed(cells);
    const auto figures = [&](const SweepCell& cell) {
        return std::array{static_cast<double>(cell.cost->bits), cell.error, cell.bytes_per_event,
                          timed ? *cell.slowdown : 0.0};
    };
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return figures(cells[i]); });
    std::vector<bool> on_front(cells.size());
    std::vector<std::array<double, 4>> front;  // what beats a cell comes before it
    for (const std::size_t i : order) {
        const auto own = figures(cells[i]);
        const bool beaten = std::ranges::any_of(front, [&](const auto& other) {
            return other != own && std::ranges::equal(other, own, std::ranges::less_equal());
        });
        if (beaten) continue;
        on_front[i] = true;
        front.push_back(own);
    }
    return on_front;
}

nlohmann::ordered_json granularity_json(const std::string& granularity) {
    const auto lines = parse_number(granularity);
    return lines ? Json(*lines) : Json(granularity);
}

nlohmann::ordered_json to_json(const SweepView& view) {
    Json rows = Json::array();
    const std::vector<bool> front = front_of(view.cells);
    for (const SweepCell& cell : view.cells) {
        Json row = {{"counters", cell.counters}, {"granularity", granularity_json(cell.granularity)},
                    {"eviction", cell.eviction}, {"swapouts", cell.swapouts},
                    {"error", cell.error},       {"bytes_per_event", cell.bytes_per_event}};
        if (cell.cost) {
            row["bits"] = cell.cost->bits;
            row["comparators"] = cell.cost->comparators;
            row["area"] = cell.cost->area;
            row["energy"] = cell.cost->energy;
            row["front"] = static_cast<bool>(front[rows.size()]);
        }
        if (view.timed) row["slowdown"] = cell.slowdown ? Json(*cell.slowdown) : Json();
        if (cell.published)
            row["published"] = {{"swapouts", cell.published->swapouts},
                                {"error", cell.published->error},
                                {"misprint", cell.published->misprint}};
        rows.push_back(std::move(row));
    }
    Json json = view.title.json();
    json["link"] = view.link;
    json["references"] = view.references;
    json["events"] = view.events;
    if (!view.slowdown_unknown.empty()) json["slowdown_unknown"] = view.slowdown_unknown;
    json["rows"] = std::move(rows);
    return json;
}

std::string to_text(const SweepView& view, unsigned width) {
    std::string text = fmt::format("{}: {}, {} on {}\n", view.title.text(), counted(view.references, "reference"),
                                   counted(view.events, "event"), without_controls(view.link));
    text += view.title.remarks();
    const bool published =
        std::ranges::any_of(view.cells, [](const SweepCell& cell) { return cell.published.has_value(); });
    for (const Matrix& matrix : matrices_of(view))
        text += published ? beside_published(matrix, width) : plain(matrix, width);
    if (published) return text + how_far(view, width);
    std::set<const SweepCell*> front;
    const std::vector<bool> on_front = front_of(view.cells);
    for (std::size_t i = 0; i < view.cells.size(); ++i)
        if (on_front[i]) front.insert(&view.cells[i]);
    for (const Matrix& matrix : matrices_of(view)) text += cost_text(matrix, front, view.timed, width);
    text += "\nC: counters. G: lines per counter.\n";
    if (!view.slowdown_unknown.empty()) text += wrapped("?: " + view.slowdown_unknown + ".", width);
    return text + remarks_on_cost(view, width);
}

}  // namespace cachetally
