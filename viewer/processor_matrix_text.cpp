// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/processor_matrix_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t most_columns = 16;

std::string square_text(const ProcessorMatrix& matrix, unsigned width) {
    std::vector<TextTable::Column> columns{{"from"}};
    for (const unsigned processor : matrix.processors) columns.push_back({fmt::format("to {}", processor)});
    TextTable table(std::move(columns), 1);
    const std::size_t count = matrix.processors.size();
    for (std::size_t row = 0; row < count; ++row) {
        std::vector<Cell> cells{fmt::format("{}", matrix.processors[row])};
        for (std::size_t column = 0; column < count; ++column) {
            const double value = matrix.median[row * count + column];
            cells.emplace_back(std::isnan(value) ? (row == column ? "" : "-") : fmt::format("{:.1f}", value));
        }
        table.add(std::move(cells));
    }
    return table.text(width);
}

std::string summary_text(const ProcessorMatrix& matrix) {
    std::vector<double> values;
    for (const double value : matrix.median)
        if (!std::isnan(value)) values.push_back(value);
    const Quantiles all = quantiles_of(values);
    return fmt::format(
        "{} processors, {} of {} ways measured: least {:.1f}, median {:.1f}, most {:.1f}; all values are in --json and "
        "-o\n",
        matrix.processors.size(), values.size(), matrix.processors.size() * (matrix.processors.size() - 1), all.least,
        all.median, all.most);
}

nlohmann::ordered_json rows_json(const std::vector<double>& values, std::size_t count) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (std::size_t row = 0; row < count; ++row) {
        nlohmann::ordered_json cells = nlohmann::ordered_json::array();
        for (std::size_t column = 0; column < count; ++column) {
            const double value = values[row * count + column];
            cells.push_back(std::isnan(value) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(value));
        }
        rows.push_back(std::move(cells));
    }
    return rows;
}

}  // namespace

std::string to_text(const ProcessorMatrix& matrix, unsigned width) {
    const std::string title =
        wrapped(fmt::format("{} {}, {}: {} per load of lines that one processor wrote and another one loads",
                            matrix.test, matrix.variant, matrix.name, matrix.unit),
                width, 2);
    return title + (matrix.processors.size() <= most_columns ? square_text(matrix, width)
                                                             : wrapped(summary_text(matrix), width, 2));
}

nlohmann::ordered_json to_json(std::span<const ProcessorMatrix> matrices) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const ProcessorMatrix& matrix : matrices) {
        const std::size_t count = matrix.processors.size();
        all.push_back({{"name", matrix.name},
                       {"unit", matrix.unit},
                       {"processors", matrix.processors},
                       {"median", rows_json(matrix.median, count)},
                       {"low", rows_json(matrix.low, count)},
                       {"high", rows_json(matrix.high, count)}});
    }
    return all;
}

}  // namespace cachetally
