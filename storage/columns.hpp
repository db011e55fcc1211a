// SPDX-License-Identifier: BSD-3-Clause
// Columns of tables: of equal length, or growing; their units and words; and their axes, twice: H5DS dimension scales
// (netCDF4, xarray) and NeXus NXdata attributes (H5Web).
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "storage/group.hpp"

namespace cachetally {

/// Reads a column that must have so many rows. Throws StorageError where it has not.
template <class T>
std::vector<T> read_column(const Group& group, const std::string& name, std::size_t rows) {
    std::vector<T> values = [&] {
        if constexpr (std::is_same_v<T, std::string>)
            return group.read_texts(name);
        else
            return group.read<T>(name);
    }();
    if (values.size() != rows)
        throw StorageError("{}: the column '{}' has {} rows instead of {}; the file is damaged", group.where(), name,
                           values.size(), rows);
    return values;
}

/// A column of a table: what `of`, a member or a function, gives of each row.
template <class Rows, class Of>
auto column_of(const Rows& rows, Of of) {
    std::vector<std::decay_t<decltype(std::invoke(of, *std::begin(rows)))>> values;
    for (const auto& row : rows) values.push_back(std::invoke(of, row));
    return values;
}

/// Writes a member of all rows, a number or a text, as the column of this name.
template <class Row, class T>
Dataset write_member(Group& group, const std::string& name, const std::vector<Row>& rows, T Row::*member) {
    if constexpr (std::is_same_v<T, std::string>)
        return group.write_texts(name, column_of(rows, member));
    else
        return group.write(name, column_of(rows, member));
}

/// Reads it back. Throws StorageError where the column has not as many rows.
template <class Row, class T>
void read_member(const Group& group, const std::string& name, std::vector<Row>& rows, T Row::*member) {
    std::vector<T> values = read_column<T>(group, name, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = std::move(values[i]);
}

/// 0, 1, ...: an axis of so many things that differ by their place.
inline std::vector<std::uint32_t> numbers_to(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

/// Collects rows, numbers or texts, and writes them chunk by chunk; a column shorter than a chunk is written at the
/// end, in its size.
template <class T>
class GrowingColumn {
public:
    /// `group` must outlive the column. `longest`: bytes of the longest text.
    GrowingColumn(Group& group, std::string name, Compression compression = Compression::deflate,
                  std::size_t chunk_rows = 65536, std::size_t longest = 0)
        : group_(&group),
          name_(std::move(name)),
          compression_(compression),
          chunk_rows_(chunk_rows),
          longest_(longest) {}

    void append(T row) { append(std::span<const T>(&row, 1)); }

    void append(std::span<const T> rows) {
        pending_.insert(pending_.end(), rows.begin(), rows.end());
        rows_ += rows.size();
        if (pending_.size() >= chunk_rows_) write(pending_.size() / chunk_rows_ * chunk_rows_);
    }

    /// Rows appended so far.
    std::uint64_t rows() const { return rows_; }

    /// Writes what is left. Nothing may be appended after that.
    void finish() {
        if (column_) {
            write(pending_.size());
        } else if constexpr (is_text) {
            group_->write_texts(name_, pending_);
        } else {
            group_->write<T>(name_, std::span<const T>(pending_), compression_);
        }
        pending_.clear();
        column_.reset();
    }

private:
    static constexpr bool is_text = std::is_same_v<T, std::string>;

    void write(std::size_t count) {
        const std::span<const T> rows = std::span<const T>(pending_).first(count);
        if constexpr (is_text) {
            if (!column_) column_ = group_->create_text_column(name_, longest_, chunk_rows_);
            column_->append_texts(rows);
        } else {
            if (!column_) column_ = group_->create_column(name_, element_of<T>(), compression_, chunk_rows_);
            column_->append(rows);
        }
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    }

    Group* group_;
    std::string name_;
    Compression compression_;
    std::size_t chunk_rows_, longest_;
    std::optional<Dataset> column_;
    std::vector<T> pending_;
    std::uint64_t rows_ = 0;
};

/// Makes `group` a NeXus NXdata group whose data are the dataset `signal`. `axes` names one 1-D dataset of the group
/// per dimension of the signal (empty where a dimension has none), of numbers or texts; each becomes a dimension scale
/// of it, and of all datasets of the group that have its shape by now. Those that should be drawn beside it are given
/// as `auxiliary`. Throws StorageError where lengths do not match.
void set_axes(Group& group, const std::string& signal, const std::vector<std::string>& axes,
              const std::vector<std::string>& auxiliary = {});

/// Gives a dataset of the group axes, where it came later than set_axes(), or has another shape than the signal.
void attach_axes(Group& group, const std::string& name, const std::vector<std::string>& axes);

/// The axis of a table whose rows differ by their place: writes the dataset `axis` (0, 1, ...) and gives it to
/// all columns.
void number_rows(Group& group, const std::string& axis, std::size_t rows);

/// Makes `group` a NeXus group of a class ("NXroot", "NXentry", "NXcollection"), whose child `shown` is shown first.
void set_nexus_class(Group& group, const std::string& nexus_class, const std::string& shown = "");

/// Gives each dataset below `group` the attributes `long_name` and, where it holds numbers, `units` ("1": a number of
/// things, or a fraction), unless it has them.
void describe_columns(Group& group);

}  // namespace cachetally
