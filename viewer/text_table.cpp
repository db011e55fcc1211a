// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <sstream>
#include <utility>

namespace cachetally {
namespace {

/// Columns that fields of such widths take beside each other.
std::size_t taken_by(std::span<const std::size_t> wide, std::size_t gap) {
    return wide.empty() ? 0 : std::accumulate(wide.begin(), wide.end(), (wide.size() - 1) * gap);
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

/// "wb misses" as "wb", "misses": in two lines of which the longer one is as short as can be; of one word, the second.
std::pair<std::string, std::string> broken_title(const std::string& title) {
    std::pair<std::string, std::string> best{"", title};
    for (std::size_t at = title.find(' '); at != std::string::npos; at = title.find(' ', at + 1)) {
        const std::pair halves(title.substr(0, at), title.substr(at + 1));
        const auto longer = [](const auto& each) { return std::max(columns_of(each.first), columns_of(each.second)); };
        if (longer(halves) < longer(best)) best = halves;
    }
    return best;
}

}  // namespace

Cell count_cell(std::uint64_t value) { return with_separators(value); }

Cell count_cell(double value) {
    if (value == std::floor(value) && value < 9e15) return count_cell(static_cast<std::uint64_t>(value));
    const auto tenths = static_cast<std::uint64_t>(std::llround(value * 10));
    return fmt::format("{}.{}", with_separators(tenths / 10), tenths % 10);
}

std::string rounded_text(double value) {
    static constexpr std::array prefixes{"", "k", "M", "G", "T", "P", "E"};
    std::size_t prefix = 0;
    for (; value >= 999.5 && prefix + 1 < prefixes.size(); ++prefix) value /= 1000;
    if (prefix == 0 && value == std::floor(value)) return fmt::format("{:.0f}", value);
    std::string digits = fmt::format("{:.{}f}", value, value < 9.995 ? 2 : (value < 99.95 ? 1 : 0));
    if (prefix == 0 && digits.find('.') != std::string::npos) {  // "3.5", but "4.10k": all of one length
        digits.erase(digits.find_last_not_of('0') + 1);
        if (digits.back() == '.') digits.pop_back();
    }
    return digits + prefixes[prefix];
}

std::string counted(std::uint64_t number, const std::string& noun) {
    return with_separators(number) + ' ' + noun + (number == 1 ? "" : "s");
}

std::string part_title(const std::string& title, std::size_t shown, std::size_t all) {
    return shown < all ? fmt::format("{} ({} of {})", title, with_separators(shown), with_separators(all)) : title;
}

std::string percent_text(double percent) {
    if (percent == 0) return "0";
    if (percent < 0.00095) return "<0.001";
    return fmt::format("{:.{}f}", percent, percent < 0.995 ? 3 : 2);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-" : percent_text(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string slowdown_text(double slowdown) {
    if (slowdown == 0) return "0";
    return slowdown > 0 && slowdown < 0.000005 ? "<0.001" : fmt::format("{:.3f}", 100 * slowdown);
}

std::string bytes_text(std::uint64_t bytes) {
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t unit = 0;
    auto value = static_cast<double>(bytes);
    // as the page's bytes(): what is whole in one unit stays so where few of the next would need many decimals
    const auto rounds = [&](double next) {
        return value == std::floor(value) && next < 16 && std::stod(fmt::format("{:.4g}", next)) != next;
    };
    for (; value >= 1024 && unit + 1 < units.size() && !rounds(value / 1024); ++unit) value /= 1024;
    if (value == std::floor(value)) return fmt::format("{:.0f} {}", value, units[unit]);
    return fmt::format("{:.4g} {}", value, units[unit]);
}

void TextTable::add_line(const std::string& text) { lines_.emplace_back(rows_.size(), printable(text)); }

std::vector<std::size_t> TextTable::widths(Form form) const {
    std::vector<std::size_t> result;
    for (const Column& column : columns_) {
        const auto [first, second] = form.broken ? broken_title(column.title) : std::pair("", column.title);
        result.push_back(std::max(columns_of(first), columns_of(second)));
    }
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            result[i] = std::max(result[i], columns_of(form.brief ? row[i].brief : row[i].full));
    return result;
}

std::size_t TextTable::width_in(Form form) const { return taken_by(widths(form), form.gap); }

bool TextTable::fits(unsigned width) const { return width_in(narrowest()) <= width; }

bool TextTable::differ_in_short() const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::map<std::string, std::string> full;  // by what is short
        for (const auto& row : rows_)
            if (i < row.size() && full.try_emplace(row[i].brief, row[i].full).first->second != row[i].full)
                return false;
    }
    return true;
}

TextTable::Form TextTable::form_for(unsigned width) const {
    const Form in_several{.broken = true, .brief = differ_in_short()};
    for (const Form form : {Form(), Form{.broken = true}, Form{.broken = true, .gap = 1}, in_several, narrowest()})
        if (width_in(form) <= width) return form;
    return in_several;
}

/// As many columns as there is room for, and the next ones in the next part; bound ones stay with those before them,
/// marks end each part.
std::vector<TextTable::Columns> TextTable::parts(const std::vector<std::size_t>& wide, std::size_t gap,
                                                 unsigned width) const {
    Columns keys(std::min(keys_, columns_.size()));
    std::iota(keys.begin(), keys.end(), std::size_t{0});
    const std::span widths(wide);
    Columns marks;
    std::size_t taken_by_each = taken_by(widths.first(keys.size()), gap);
    for (std::size_t i = keys.size(); i < columns_.size(); ++i)
        if (columns_[i].marks) {
            marks.push_back(i);
            taken_by_each += gap + wide[i];
        }
    std::vector<Columns> all{keys};
    std::size_t taken = taken_by_each;
    for (std::size_t from = keys.size(), to = from; from < columns_.size(); from = to) {
        for (++to; to < columns_.size() && columns_[to].bound;) ++to;
        if (columns_[from].marks) continue;
        const std::size_t more = taken_by(widths.subspan(from, to - from), gap);
        if (taken + gap + more > width && all.back().size() > keys.size()) {
            all.push_back(keys);
            taken = taken_by_each;
        }
        taken += gap + more;
        for (std::size_t i = from; i < to; ++i) all.back().push_back(i);
    }
    for (Columns& part : all) part.insert(part.end(), marks.begin(), marks.end());
    return all;
}

std::string TextTable::part(const Columns& shown, const std::vector<std::size_t>& wide, Form form) const {
    std::string result;
    const auto put = [&](const auto& field_of) {
        std::string line;
        for (const std::size_t i : shown) {
            const std::string field = field_of(i);
            const std::string padding(wide[i] - columns_of(field), ' ');
            line += std::string(i == 0 ? 0 : form.gap, ' ') +
                    (columns_[i].align == Align::left ? field + padding : padding + field);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        result += line + '\n';
    };
    const auto first_line = [&](std::size_t i) { return broken_title(columns_[i].title).first; };
    if (form.broken && std::ranges::any_of(shown, [&](std::size_t i) { return !first_line(i).empty(); }))
        put(first_line);
    put([&](std::size_t i) { return form.broken ? broken_title(columns_[i].title).second : columns_[i].title; });
    auto line = lines_.begin();
    for (std::size_t row = 0; row <= rows_.size(); ++row) {
        for (; line != lines_.end() && line->first == row; ++line) result += line->second + '\n';
        if (row == rows_.size()) break;
        put([&](std::size_t i) {
            return i >= rows_[row].size() ? std::string() : (form.brief ? rows_[row][i].brief : rows_[row][i].full);
        });
    }
    return result;
}

std::string TextTable::text(unsigned width) const {
    const Form form = form_for(width);
    const std::vector<std::size_t> wide = widths(form);
    std::string result;
    for (const Columns& shown : parts(wide, form.gap, width))
        result += (result.empty() ? "" : "\n") + part(shown, wide, form);
    return result;
}

std::size_t columns_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
    std::string lines, line = text.substr(0, text.find_first_not_of(' '));
    bool begun = false;
    std::istringstream words(text);
    for (std::string word; words >> word; begun = true) {
        word = without_controls(word);
        if (begun && columns_of(line) + 1 + columns_of(word) > columns) {
            lines += line + '\n';
            line.assign(indent, ' ');
        } else if (begun) {
            line += ' ';
        }
        line += word;
    }
    return lines + line + '\n';
}

std::string shortened(const std::string& raw, std::size_t columns) {
    std::string text = without_controls(raw);
    if (columns_of(text) <= columns) return text;
    if (columns == 0) return "";
    std::size_t end = 0;
    for (std::size_t taken = 0; end < text.size(); ++end)
        if (starts_character(text[end]) && ++taken > columns - 1) break;
    return text.substr(0, end) + "~";
}

std::string shortened_name(const std::string& raw, std::size_t columns) {
    const std::string text = without_controls(raw);
    if (columns_of(text) <= columns) return text;
    // of an allocation the source line tells most: a caller without one goes first
    if (const std::size_t caller = text.rfind(" < "); caller != text.npos && text.find(':', caller) == text.npos)
        return shortened_name(text.substr(0, caller) + "~", columns);
    const std::size_t end = columns * 3 / 5;  // lines of allocations are there
    std::size_t place = text.size();
    for (std::size_t taken = 0; place > 0 && taken < end;)
        if (starts_character(text[--place])) ++taken;
    return shortened(text, columns - end) + text.substr(place);
}

std::string abridged(const std::string& name, std::size_t most) {
    constexpr std::string_view between = " … ";
    std::vector<std::size_t> places;  // where characters begin
    for (std::size_t i = 0; i < name.size(); ++i)
        if (starts_character(name[i])) places.push_back(i);
    if (places.size() <= most) return name;
    const std::size_t half = most / 2;
    return fmt::format("{}{}{}", name.substr(0, places[half]), between, name.substr(places[places.size() - half + 3]));
}

Cell name_cell(const std::string& text, std::size_t columns) {
    return {shortened_name(text, columns), shortened_name(text, columns * 2 / 3)};
}

}  // namespace cachetally
