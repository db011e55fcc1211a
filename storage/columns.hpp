// SPDX-License-Identifier: BSD-3-Clause
// Columns of tables: of equal length, with numbers for an axis.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "storage/group.hpp"

namespace cachetally {

/// Reads a column that must have so many rows. Throws StorageError where it has not.
template <class T>
std::vector<T> read_column(const Group& group, const std::string& name, std::size_t rows) {
    std::vector<T> values = group.read<T>(name);
    if (values.size() != rows)
        throw StorageError(fmt::format("{}: the column '{}' has {} rows instead of {}; the file is damaged",
                                       group.where(), name, values.size(), rows));
    return values;
}

/// A column of a table: what `of`, a member or a function, gives of each row.
template <class Rows, class Of>
auto column_of(const Rows& rows, Of of) {
    std::vector<std::decay_t<decltype(std::invoke(of, *std::begin(rows)))>> values;
    for (const auto& row : rows) values.push_back(std::invoke(of, row));
    return values;
}

/// 0, 1, ...: an axis of so many things that differ by their place.
inline std::vector<std::uint32_t> numbers_to(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

}  // namespace cachetally
