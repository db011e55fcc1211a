// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/coloured_l1.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/analysis.hpp"

namespace cachetally {
namespace {

using Lines = std::vector<std::uint64_t>;  ///< offsets

constexpr std::size_t most_ways = 64, most_colours = 64;
constexpr std::uint64_t longest_line = 256, apart = 3 * longest_line;  ///< bytes
constexpr unsigned places = 3;
/// Of pages in a row that have known colours: with one more colour, one in 3,000 times.
constexpr std::size_t pages_for_each_colour = 12;

Lines with(Lines lines, std::uint64_t more) {
    lines.push_back(more);
    return lines;
}

class Colours {
public:
    explicit Colours(CompactTest& compact) : compact_(compact) {}

    /// Empty: found; else why not.
    std::string find() {
        Lines unknown;
        std::size_t known = 0;
        for (std::uint64_t page = 0; known < pages_for_each_colour * (sets_.size() + 1); ++page) {
            if (sets_.size() > most_colours || unknown.size() > most_ways * most_colours ||
                !compact_.fits(compact_.page(), page + 2))
                return "pages are of more colours than are looked for";
            const std::uint64_t line = page * compact_.page();
            known = is_known(line) ? known + 1 : 0;
            if (known > 0) continue;
            unknown.push_back(line);
            if (stays(unknown)) continue;
            if (!new_colour(unknown)) return "lines that meet are not as many in each set, or cannot be told";
            if (std::string reason = why_no_colour(); !reason.empty()) return reason;
            std::erase_if(unknown, [&](std::uint64_t each) { return meets(sets_.back(), each); });
        }
        if (!unknown.empty()) return "pages of some colour are too few";
        return sets_.size() < 2 ? "all pages are of one colour" : "";
    }

    /// Whether all lines of half of its pages stay: of a lower level, whose lines leave this one with those that it
    /// includes, they do not.
    bool holds_half() const {
        const std::size_t pages = std::max<std::size_t>(1, ways() / 2);
        const std::size_t colours = ways() == 1 ? sets_.size() / 2 : sets_.size();
        Lines all;
        for (std::size_t i = 0; i < colours; ++i)
            for (std::size_t page = 1; page <= pages; ++page)
                for (std::uint64_t at = 0; at < compact_.page(); at += line_) all.push_back(sets_[i][page] + at);
        for (unsigned i = 0; i < places; ++i)
            if (compact_.compact(Offsets(all), line_)) return true;
        return false;
    }

    std::uint64_t line() const { return line_; }

    std::size_t count() const { return sets_.size(); }
    std::size_t ways() const { return sets_.front().size() - 1; }

private:
    /// Of the latest. Empty: it is one.
    std::string why_no_colour() {
        const Lines& latest = sets_.back();
        if (sets_.size() == 1) line_ = line_of(latest);
        if (line_ > longest_line) return "lines of pages that meet do so wherever in a page they lie";
        const bool apart_from_all = std::ranges::all_of(
            sets_, [&](const Lines& each) { return is_apart(each, latest.front()) && is_apart(latest, each.front()); });
        return apart_from_all ? "" : "lines at other offsets of pages meet, too";
    }
    /// Bytes; those of a page where none is found.
    std::uint64_t line_of(const Lines& set) const {
        std::uint64_t line = CompactTest::location;
        const Lines fewer(set.begin(), std::prev(set.end()));
        while (line < compact_.page() && !stays(with(fewer, set.back() + line))) line *= 2;
        return line;
    }
    /// Whether no line of a page meets those of a colour at another offset.
    bool is_apart(const Lines& full, std::uint64_t page) const {
        for (unsigned i = 0; i < places; ++i) {
            Lines all;
            for (auto each = std::next(full.begin()); each != full.end(); ++each) all.push_back(*each + i * apart);
            for (std::uint64_t at = 0; at < compact_.page(); at += line_)
                if (at != i * apart) all.push_back(page + at);
            if (compact_.compact(Offsets(std::move(all)), line_)) return true;
        }
        return false;
    }
    /// Others' lines may stay in a set for good. But no set anywhere holds more than its ways.
    bool stays(const Lines& lines) const {
        for (unsigned i = 0; i < places; ++i)
            if (compact_.compact(moved(Offsets(lines), i * apart), compact_.page() / 2)) return true;
        return false;
    }
    bool meets(const Lines& set, std::uint64_t line) const {
        if (std::ranges::find(set, line) != set.end()) return true;
        return !stays(with(Lines(std::next(set.begin()), set.end()), line));
    }
    bool is_known(std::uint64_t line) const {
        return std::ranges::any_of(sets_, [&](const Lines& set) { return meets(set, line); });
    }

    /// From lines that do not stay.
    bool new_colour(Lines lines) {
        lines = least_set(std::move(lines), [&](const Lines& fewer) { return !fewer.empty() && !stays(fewer); });
        if (lines.size() < 2 || lines.size() > most_ways + 1 || stays(lines)) return false;
        if (!sets_.empty() && sets_.front().size() != lines.size()) return false;
        sets_.push_back(std::move(lines));
        return true;
    }
    CompactTest& compact_;
    std::uint64_t line_ = 0;
    std::vector<Lines> sets_;  ///< of each colour one line more than stay
};

FoundL1 find_once(CompactTest& compact, std::vector<std::string>& decisions) {
    Colours colours(compact);
    if (std::string reason = colours.find(); !reason.empty()) return {.why_not = std::move(reason)};
    const auto ways = static_cast<unsigned>(colours.ways());
    decisions.push_back(fmt::format("{} page colours of {} ways, lines of {}", colours.count(), ways, colours.line()));
    if (!colours.holds_half())
        return {.why_not = "pages that meet are of a lower level: their other lines do not stay"};
    return {.capacity = colours.count() * ways * compact.page(), .line = colours.line(), .ways = ways};
}

}  // namespace

FoundL1 coloured_l1(CompactTest& compact, std::vector<std::string>& decisions) {
    const FoundL1 found = find_once(compact.keep_placed(), decisions);
    if (!found.why_not.empty()) return found;
    const FoundL1 again = find_once(compact.keep_placed(), decisions);
    if (!again.why_not.empty()) return again;
    if (again.capacity != found.capacity || again.ways != found.ways)
        return {.why_not = "pages that were placed anew have other colours"};
    return {.capacity = found.capacity, .line = std::min(found.line, again.line), .ways = found.ways};
}

}  // namespace cachetally
