// SPDX-License-Identifier: BSD-3-Clause
// GrowingColumn: a column whose length is not known in advance, written in whole chunks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/group.hpp"

namespace cachetally {

/// Collects rows and writes them chunk by chunk; a column shorter than a chunk is written at the end, in its size.
template <class T>
class GrowingColumn {
public:
    /// `group` must outlive the column.
    GrowingColumn(Group& group, std::string name, Compression compression = Compression::deflate,
                  std::size_t chunk_rows = 65536)
        : group_(&group), name_(std::move(name)), compression_(compression), chunk_rows_(chunk_rows) {}

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
        } else {
            group_->write<T>(name_, std::span<const T>(pending_), compression_);
        }
        pending_.clear();
        column_.reset();
    }

private:
    void write(std::size_t count) {
        if (!column_) column_ = group_->create_column(name_, element_of<T>(), compression_, chunk_rows_);
        column_->append(std::span<const T>(pending_).first(count));
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    }

    Group* group_;
    std::string name_;
    Compression compression_;
    std::size_t chunk_rows_;
    std::optional<Dataset> column_;
    std::vector<T> pending_;
    std::uint64_t rows_ = 0;
};

}  // namespace cachetally
