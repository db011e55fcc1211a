// SPDX-License-Identifier: BSD-3-Clause
// Tables and numbers for terminals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace cachetally {

/// A field in two lengths: the short one is taken where a table would be too wide for the terminal. Numbers have one
/// length, so that no table shortens what the next one has in full. Names come from anybody's file; a field is a line
/// without control characters.
struct Cell {
    std::string full;
    std::string brief;

    Cell(const std::string& text) : full(without_controls(text)), brief(full) {}  // NOLINT: texts are cells
    Cell(const char* text) : Cell(std::string(text)) {}                           // NOLINT
    Cell(const std::string& whole, const std::string& shortened)
        : full(without_controls(whole)), brief(without_controls(shortened)) {}
};

/// 12345678 as "12,345,678".
Cell count_cell(std::uint64_t value);
/// The same for sums of shares: one decimal where they are not whole.
Cell count_cell(double value);

/// 12345678 as "12.3M": for scales, not for tables.
std::string rounded_text(double value);

/// "1 reference", "12,345 references".
std::string counted(std::uint64_t number, const std::string& noun);

/// "12.35", "0.012": as many decimals as mean something, also of bytes per event. 0 is "0".
std::string percent_text(double percent);

/// In percent, with three decimals.
std::string slowdown_text(double slowdown);
std::string percent_text(std::uint64_t part, std::uint64_t whole);

/// "32 KiB", "1.5 MiB".
std::string bytes_text(std::uint64_t bytes);

/// Columns of texts (to the left) and numbers (to the right).
class TextTable {
public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::right;
        bool bound = false;  ///< means nothing without the column before it
        bool marks = false;  ///< says something of the row: where there are several tables, each ends in it
    };

    /// `keys`: how many of the first columns name a row.
    explicit TextTable(std::vector<Column> columns, std::size_t keys = 1) : columns_(std::move(columns)), keys_(keys) {
        for (Column& column : columns_) column.title = without_controls(column.title);
    }

    /// Missing fields at the end stay empty.
    void add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
    /// A line of text across the table.
    void add_line(const std::string& text);

    bool empty() const { return rows_.empty(); }

    /// Whether `width` columns suffice for one table.
    bool fits(unsigned width) const;

    /// Lines, each ended by a line break. Where `width` columns do not suffice, titles take two lines, then one space
    /// is between columns, then texts are in short (if they still differ), with two spaces or one. Where these do not
    /// fit either, the columns follow each other in several tables, each with the keys.
    std::string text(unsigned width) const;

private:
    using Columns = std::vector<std::size_t>;  ///< by their numbers

    struct Form {
        bool broken = false;  ///< titles in two lines
        bool brief = false;   ///< texts in short
        std::size_t gap = 2;  ///< between columns
    };

    /// Whether texts that differ do so in short, too.
    bool differ_in_short() const;
    Form narrowest() const { return {.broken = true, .brief = differ_in_short(), .gap = 1}; }
    std::size_t width_in(Form form) const;

    std::vector<std::size_t> widths(Form form) const;
    /// The first form that fits; or that of several tables.
    Form form_for(unsigned width) const;
    std::vector<Columns> parts(const std::vector<std::size_t>& wide, std::size_t gap, unsigned width) const;
    std::string part(const Columns& shown, const std::vector<std::size_t>& wide, Form form) const;

    std::vector<Column> columns_;
    std::size_t keys_;
    std::vector<std::vector<Cell>> rows_;
    std::vector<std::pair<std::size_t, std::string>> lines_;  ///< before which row
};

/// Of a column whose rows are some of so many: "data structure (10 of 330)".
std::string part_title(const std::string& title, std::size_t shown, std::size_t all);

/// Columns that a UTF-8 text takes on a terminal, for letters of one column.
std::size_t columns_of(const std::string& text);

/// A paragraph, without control characters, in lines of at most so many columns, where words allow it, each ended by a
/// line break. The first is indented as the text is, the others by `indent`.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent = 0);

/// A line of at most so many columns, without control characters; cut texts end with "~".
std::string shortened(const std::string& text, std::size_t columns);
/// The same with the ends of names, in which those of allocations differ: "heap~g.cpp:9".
std::string shortened_name(const std::string& text, std::size_t columns);
/// In sentences: a name of more than `most` characters without its middle. As abridged() of the page.
std::string abridged(const std::string& name, std::size_t most);
/// Such a name of at most so many columns, in short of two thirds of them.
Cell name_cell(const std::string& text, std::size_t columns);

}  // namespace cachetally
