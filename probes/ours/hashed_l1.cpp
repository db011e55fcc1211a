// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/hashed_l1.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "base/units.hpp"
#include "probes/analysis.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t longest_line = 256;  ///< bytes
constexpr std::uint64_t most_ways = 64;      ///< that are looked for
constexpr unsigned sets_looked_at = 3, lines_more = 16;
constexpr unsigned placements_asked = 12;  ///< of pages
constexpr unsigned places = 3, many_laps = 256;
/// Bytes to other places: a hash of exclusive ors treats a span alike wherever it begins at a multiple of this.
constexpr std::uint64_t elsewhere = CompactTest::largest * 2;

class HashedSets {
public:
    explicit HashedSets(CompactTest& compact) : compact_(compact) {}

    /// Capacity and line, of so many bytes or more. Empty: found; else why not.
    std::string find_span(std::uint64_t least_line) {
        std::uint64_t before = 0;
        for (line_ = least_line; line_ <= 2 * longest_line; line_ *= 2) {
            const std::uint64_t span = longest_span(line_);
            if (span == 0) return "no span of any length is too long";
            if (before != 0 && 2 * span >= 3 * before) {
                line_ /= 2;
                capacity_ = before;
                return "";
            }
            before = span;
        }
        return "every other location stays in spans no longer than others, however far apart";
    }

    /// Whether more lines than the span has do not stay, wherever they lie: all sets are full.
    bool is_full() {
        Random random(compact_.seed());
        for (unsigned i = 0; i < lines_more; ++i)
            if (stays(with(span(), beyond(random)))) return false;
        return true;
    }

    /// Whether the span stays on other pages, and no more.
    bool stays_placed_anew() {
        if (capacity_ + line_ <= compact_.page()) return true;
        for (unsigned i = 0; i < placements_asked; ++i) {
            compact_.place_anew();
            if (!stays(span()) || stays(with(span(), capacity_))) return false;
        }
        return true;
    }

    /// Lines of the span that meet one beyond it, none where they cannot be told: with it they are one too many, and
    /// all stay without any of them.
    std::vector<std::uint64_t> that_meet(std::uint64_t more) {
        const std::vector<std::uint64_t> lines =
            least_set(span(), [&](const std::vector<std::uint64_t>& fewer) { return !stays(with(fewer, more)); });
        if (lines.size() > most_ways || stays(with(lines, more))) return {};
        return lines;
    }

    std::uint64_t beyond(Random& random) const { return capacity_ + random.below(3 * capacity_ / line_) * line_; }
    std::uint64_t capacity() const { return capacity_; }
    std::uint64_t line() const { return line_; }

private:
    static Offsets with(std::vector<std::uint64_t> offsets, std::uint64_t more) {
        offsets.push_back(more);
        return offsets;
    }

    /// Lines of page tables may stay beside lines that are used in one order, and not in another one.
    bool stays(const Offsets& offsets, std::uint64_t stride) {
        for (unsigned i = 0; i < places; ++i) {
            Offsets there = moved(offsets, i * elsewhere);
            shuffle(there.change(), i);
            if (compact_.compact(std::move(there), stride)) return true;
        }
        return false;
    }
    bool stays(const Offsets& offsets) { return stays(offsets, line_); }

    std::uint64_t longest_span(std::uint64_t stride) {
        const auto stay = [&](std::uint64_t n) { return stays(compact_string(stride, n), stride); };
        std::uint64_t n = 1;
        for (; stay(n); n *= 2)
            if (2 * n * stride > CompactTest::largest) return 0;
        return bisect(0, n, stay).low * stride;
    }

    std::vector<std::uint64_t> span() const {
        std::vector<std::uint64_t> offsets;
        for (std::uint64_t i = 0; i < capacity_ / line_; ++i) offsets.push_back(i * line_);
        return offsets;
    }

    CompactTest& compact_;
    std::uint64_t capacity_ = 0, line_ = 0;
};

/// Whether lines of a set are as far apart as where the address chooses it, without a hash.
bool at_multiples(const std::vector<std::uint64_t>& lines, std::uint64_t more, std::uint64_t way) {
    return std::ranges::all_of(lines, [&](std::uint64_t line) { return (more - line) % way == 0; });
}

FoundL1 refused(FoundL1 found, std::string reason) {
    found.why_not = std::move(reason);
    return found;
}

FoundL1 find_once(CompactTest& compact, std::uint64_t least_line, std::vector<std::string>& decisions) {
    HashedSets sets(compact);
    if (std::string reason = sets.find_span(least_line); !reason.empty()) return {.why_not = std::move(reason)};
    FoundL1 found{.capacity = sets.capacity(), .line = sets.line()};
    decisions.push_back(fmt::format("a span of {} stays, and no more; lines of {}: every other one of a longer span",
                                    format_size(found.capacity), found.line));
    if (!sets.is_full()) return refused(found, "further lines stay beside the longest span that does");
    bool hashed = false;
    Random random(compact.seed() + 1);
    for (unsigned i = 0; i < sets_looked_at; ++i) {
        const std::uint64_t more = i == 0 ? found.capacity : sets.beyond(random);
        const std::vector<std::uint64_t> lines = sets.that_meet(more);
        decisions.push_back(fmt::format("{} lines of the span meet the one at {}", lines.size(), more));
        if (lines.empty() || (i > 0 && lines.size() != found.ways))
            return refused(found, "lines that meet are not as many in each set, or cannot be told");
        found.ways = static_cast<unsigned>(lines.size());
        hashed = hashed || !at_multiples(lines, more, found.capacity / found.ways);
    }
    if (found.capacity / found.line % found.ways != 0) return refused(found, "sets are not of equal ways");
    if (!hashed) return refused(found, "lines that meet are a way apart, as without a hash");
    if (!sets.stays_placed_anew()) return refused(found, "what stays depends on where pages lie");
    return found;
}

}  // namespace

FoundL1 hashed_l1(CompactTest& compact, std::vector<std::string>& decisions) {
    FoundL1 found = find_once(compact, CompactTest::location, decisions);
    if (found.why_not.empty() || found.capacity == 0 || found.ways != 0) return found;
    decisions.push_back(fmt::format("after more laps, as {}:", found.why_not));
    compact.wait_for(many_laps);
    found = find_once(compact, found.line, decisions);
    compact.wait_for(0);
    return found;
}

}  // namespace cachetally
