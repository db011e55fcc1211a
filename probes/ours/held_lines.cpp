// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/held_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "probes/analysis.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t word = 8;
/// That lines are visited in, each by a word of its own: in a single one a level above may keep some of them for good.
constexpr std::uint64_t most_orders = 4;
constexpr double some_misses = 0.02;  ///< of a lap
constexpr unsigned warm_up = 2, more_laps = 4;
constexpr double most_miss = 0.5;              ///< share of the loads of a span that is larger than the level
constexpr std::uint64_t lines_of_span = 512;   ///< that are used, about
constexpr std::uint64_t least_apart = 256;     ///< bytes
constexpr std::uint64_t spans_drawn_from = 4;  ///< such spans that lines are taken from
constexpr std::uint64_t times_l1 = 4;  ///< lines of a hashed L1, which it holds wherever they lie, that are used
constexpr unsigned failures_between = 32, enough_failures = 96;  ///< in a row
constexpr unsigned other_orders = 3, many_orders = 8;
constexpr std::size_t few_asked = 3, more_asked = 6;  ///< lines that are too many
constexpr unsigned most_corrections = 8;              ///< of a filling
constexpr unsigned fillings = 2;
constexpr std::uint64_t most_loads = 50'000'000;     ///< of a level, one of thousands of pages would take minutes
constexpr double as_many = 1.03;                     ///< lines of two fillings, of the fewer ones
constexpr double others_share = 0.985, room = 1.06;  ///< lines of page tables may be held, and few sets not be full

using Lines = std::vector<std::uint64_t>;  ///< offsets

class Holding {
public:
    Holding(Meter& meter, const L1Geometry& l1, unsigned level)
        : meter_(meter), l1_(l1), level_(level), orders_(std::min(most_orders, l1.line / word)) {}

    /// The first span, of those that double, most of which does not stay, and from which lines are taken; 0 = none.
    std::uint64_t larger_span() {
        const std::uint64_t most = meter_.capabilities().largest_arena, page = meter_.large_page();
        for (std::uint64_t span = std::bit_ceil(2 * l1_.capacity); span <= most; span *= 2) {
            arena_ = meter_.target().make_arena(std::max(page, std::min(spans_drawn_from * span, most)), page);
            arena_.written = true;  // pages stay where they are
            apart_ = std::clamp<std::uint64_t>(std::bit_floor(span / lines_of_span), least_apart, page);
            if (l1_.hashed)
                together_ = std::clamp<std::uint64_t>(2 * times_l1 * l1_.capacity * apart_ / l1_.line / span, 1,
                                                      apart_ / 2 / l1_.line);
            const Offsets loads = loads_of(lines(0, span, 0), 0);
            if (misses(loads) > most_miss * static_cast<double>(loads.size())) return span;
            meter_.target().release(arena_);
        }
        return 0;
    }

    /// Fills the level with the lines of one of two fillings: from one end of the arena or the other, which lie in
    /// other sets. Returns why it is not full, or nothing.
    std::string fill(std::uint64_t span, unsigned filling) {
        std::size_t group = span / apart_ / 8;
        unsigned failures = 0, corrections = 0;
        held_.clear();
        too_many_.clear();
        for (std::uint64_t piece = 0; piece < arena_.bytes / span; ++piece) {
            const std::uint64_t begin = (filling == 0 ? piece : arena_.bytes / span - 1 - piece) * span;
            const Lines some = lines(begin, begin + span, filling * apart_ / fillings);
            for (std::size_t at = 0; at < some.size();) {
                if (loads_ > most_loads) return fmt::format("{} loads do not fill it", most_loads);
                group = std::clamp<std::size_t>(group, 1, some.size() - at);
                if (add(std::span(some).subspan(at, group))) {
                    at += group;
                    group *= 2;
                    failures = 0;
                } else if (group > 1) {
                    group /= 2;
                } else {
                    too_many_.push_back(some[at++]);
                    if (++failures % failures_between == 0 && leave_out_wrong_ones()) {
                        if (++corrections == most_corrections) return "lines stay in it in some orders only";
                        failures = 0;
                    }
                    if (failures == enough_failures) return {};
                }
            }
        }
        return "lines of as many pages as there are do not fill it";
    }

    /// Of some lines that are too many, whether each stays in the place of one that is held.
    bool others_can_be_exchanged() {
        for (std::size_t i = 1; i <= few_asked; ++i)
            if (!can_be_exchanged(too_many_[too_many_.size() - i])) return false;
        return true;
    }

    std::uint64_t held() const { return held_.size(); }
    std::uint64_t apart() const { return apart_; }

    /// Whether lines between those that are held fill as many sets again: else several of them share one, and most do
    /// not stay. A few may not stay beside lines of page tables.
    bool are_in_own_sets() {
        Lines both = held_;
        for (const std::uint64_t line : held_) both.push_back(line + apart_ / fillings);
        const Offsets loads = loads_of(both, 0);
        return misses(loads) < most_miss / 2 * static_cast<double>(loads.size());
    }

    /// As many lines of a set as stay, by some that are too many; 0 = these differ.
    std::size_t ways() {
        std::size_t found = 0;
        for (std::size_t i = 1; i <= (found == 0 || held_.size() % found == 0 ? few_asked : more_asked); ++i) {
            const std::size_t now = staying_of(met(too_many_[too_many_.size() - i], 0, held_.size()));
            if (now == 0 || (i > 1 && now != found)) return 0;
            found = now;
        }
        return staying_below_one_set(found);
    }

private:
    /// Of a piece of the arena, in random order.
    Lines lines(std::uint64_t begin, std::uint64_t end, std::uint64_t offset) const {
        Lines found;
        const std::uint64_t first = together_ > 1 ? 0 : apart_ / 4 / l1_.line * l1_.line;  // several stay in a half
        for (std::uint64_t at = begin + first; at < end; at += apart_) found.push_back(at + offset);
        shuffle(found, meter_.seed() + begin + offset);
        return found;
    }

    /// Of all lines in several orders; in each of them others follow.
    Offsets loads_of(const Lines& lines, std::uint64_t seed, const Lines& others = {}) const {
        std::vector<std::uint64_t> all;
        for (std::uint64_t order = 0; order < orders_; ++order)
            for (const Lines* each : {&lines, &others}) {
                const std::size_t begin = all.size();
                for (const std::uint64_t line : *each)
                    for (std::uint64_t i = 0; i < together_; ++i)
                        all.push_back((line + i * l1_.line) % arena_.bytes + order * word);
                shuffle(std::span(all).subspan(begin), meter_.seed() + orders_ * seed + order);
            }
        return all;
    }

    /// In a lap.
    double misses(const Offsets& loads, unsigned laps = 1) {
        const Measurement seen = meter_.count(arena_, {loads}, {warm_up, laps});
        loads_ += loads.size() * (warm_up + laps);
        return seen.cache_misses[level_ - 1] * static_cast<double>(loads.size());
    }

    bool stay(const Lines& lines, std::uint64_t seed = 0) { return misses(loads_of(lines, seed)) <= some_misses; }

    /// The same for longer: where L1 replaces at random, it may well keep one too many for a lap.
    bool surely_stay(const Offsets& loads) {
        return misses(loads) <= some_misses && misses(loads, more_laps) <= some_misses;
    }

    /// Where L1 and the level share lines, or a prefetcher brings some, too many may well stay in a single order.
    bool stay_in_other_orders(const Lines& lines) {
        for (unsigned i = 0; i < other_orders; ++i)
            if (!stay(lines, ++orders_asked_)) return false;
        return true;
    }

    bool add(std::span<const std::uint64_t> more) {
        held_.insert(held_.end(), more.begin(), more.end());
        if (stay(held_) && stay_in_other_orders(held_)) return true;
        held_.resize(held_.size() - more.size());
        return false;
    }

    /// Lines that stayed but in the orders that they were asked in: beside them all others would seem too many. Whether
    /// there were any.
    bool leave_out_wrong_ones() {
        bool left_out = false;
        for (unsigned i = 0; i < many_orders; ++i) {
            const std::uint64_t seed = ++orders_asked_;
            while (held_.size() > 1 && !stay(held_, seed)) {
                const auto first = [&](std::uint64_t count) {
                    return Lines(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
                };
                const auto fits = [&](std::uint64_t count) { return stay(first(count), seed); };
                held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(bisect(0, held_.size(), fits).low));
                left_out = true;
            }
        }
        return left_out;
    }

    /// Those held but some, and one that is too many.
    Lines in_place_of(std::size_t begin, std::size_t end, std::uint64_t one) const {
        Lines rest(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(begin));
        rest.insert(rest.end(), held_.begin() + static_cast<std::ptrdiff_t>(end), held_.end());
        rest.push_back(one);
        return rest;
    }

    bool can_be_exchanged(std::uint64_t one) {
        std::size_t begin = 0, end = held_.size();
        while (end - begin > 1) {
            const std::size_t middle = begin + (end - begin) / 2;
            if (stay(in_place_of(begin, middle, one)))
                end = middle;
            else
                begin = middle;
        }
        return stay_in_other_orders(in_place_of(begin, end, one));
    }

    /// Those held, from `begin` to `end`, that give their place to one that is too many.
    Lines met(std::uint64_t one, std::size_t begin, std::size_t end) {
        if (!surely_stay(loads_of(in_place_of(begin, end, one), 0))) return {};
        if (end - begin == 1) return {held_[begin]};
        const std::size_t middle = begin + (end - begin) / 2;
        Lines found = met(one, begin, middle);
        const Lines others = met(one, middle, end);
        found.insert(found.end(), others.begin(), others.end());
        return found;
    }

    /// Where several sets of L1 are above one of the level, an exclusive one seems to have the ways of them all: as
    /// many lines as stay below one.
    std::size_t staying_below_one_set(std::size_t ways) {
        const std::uint64_t way = (held_.size() + ways / 2) / ways * apart_;  // a few may not be held
        if (way >= l1_.way()) return ways;
        const std::uint64_t both = std::lcm(way, l1_.way());
        if ((ways + 1) * both > arena_.bytes) return 0;
        Lines meeting;
        for (std::size_t i = 0; i < ways; ++i) meeting.push_back(held_.front() % both + i * both);
        while (!meeting.empty() && !stay(meeting)) meeting.pop_back();
        return meeting.size();
    }

    /// How many of these, which meet, stay after others took L1 from them: an exclusive level has not all.
    std::size_t staying_of(Lines meeting) {
        for (std::uint64_t seed = 0; seed < other_orders; ++seed) {
            Lines others;
            for (const std::uint64_t line : held_)
                if (std::ranges::find(meeting, line) == meeting.end()) others.push_back(line);
            shuffle(others, meter_.seed() + seed);
            others.resize(others.size() / 2);  // which stay wherever L1 gives them up
            while (!meeting.empty() && !surely_stay(loads_of(meeting, seed, others))) meeting.pop_back();
        }
        return meeting.size();
    }

    Meter& meter_;
    L1Geometry l1_;
    unsigned level_;
    std::uint64_t loads_ = 0, orders_, orders_asked_ = 0, apart_ = 0, together_ = 1;  ///< lines that lie together
    Arena arena_;
    Lines held_, too_many_;
};

}  // namespace

HeldLines find_held_lines(Meter& meter, const L1Geometry& l1, unsigned level, Asked asked,
                          std::vector<std::string>& decisions) {
    if (meter.capabilities().exact_cache_events() < level) return {.why_not = "its misses are not counted"};
    Holding holding(meter, l1, level);
    const std::uint64_t span = holding.larger_span();
    if (span == 0) return {.why_not = "most lines of all spans stay in it"};
    std::uint64_t fewest = 0, most = 0;
    std::size_t ways = 0;
    for (unsigned filling = 0; filling < fillings; ++filling) {
        if (std::string why_not = holding.fill(span, filling); !why_not.empty()) return {.why_not = std::move(why_not)};
        if (filling == 0 && !holding.are_in_own_sets())
            return {.why_not = "lines between those that it holds do not fill as many sets"};
        if (!holding.others_can_be_exchanged())
            return {.why_not = "lines that are too many do not stay in the place of others either"};
        fewest = filling == 0 ? holding.held() : std::min(fewest, holding.held());
        most = std::max(most, holding.held());
        const std::size_t found = asked == Asked::ways ? holding.ways() : 0;
        ways = filling == 0 || found == ways ? found : 0;
    }
    if (static_cast<double>(most) > as_many * static_cast<double>(fewest))
        return {.why_not = fmt::format("it holds {} lines at one time and {} at another", fewest, most)};
    decisions.push_back(fmt::format("L{} holds {} to {} lines {} bytes apart; another one meets {} of them", level,
                                    fewest, most, holding.apart(), ways > 0 ? std::to_string(ways) : "some"));
    const auto bytes = [&](std::uint64_t lines) { return static_cast<double>(lines * holding.apart()); };
    HeldLines found{bytes(most), bytes(fewest) * others_share, bytes(most) * room, static_cast<unsigned>(ways)};
    if (ways > 0 && fewest == most && most % ways == 0) found.low = found.high = found.capacity;
    return found;
}

void add_held_capacities(Meter& meter, const L1Geometry& l1, bool all, TestReport& report) {
    for (unsigned number = 2; number <= meter.capabilities().exact_cache_events(); ++number) {
        const std::string level = fmt::format("L{}", number);
        const Finding* capacity = report.find(level, "capacity");
        if (capacity != nullptr && !all) continue;
        const HeldLines held = find_held_lines(meter, l1, number, Asked::capacity, report.decisions);
        if (!held.why_not.empty()) {
            report.decisions.push_back(fmt::format("lines held by {}: {}", level, held.why_not));
            continue;
        }
        if (capacity != nullptr && capacity->low <= held.high && capacity->high >= held.low) continue;
        const bool contradicts = capacity != nullptr;
        std::erase_if(report.findings, [&](const Finding& finding) {
            if (finding.parameter == "capacity") return finding.level == level || finding.level.empty();
            return contradicts && finding.level == level && finding.parameter == "ways";
        });
        report.answer(level, "capacity", held.capacity, held.low, held.high, "bytes",
                      "lines that stay together, as many as there is room for");
    }
}

}  // namespace cachetally
