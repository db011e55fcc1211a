// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/resident_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <span>

#include "base/units.hpp"
#include "probes/analysis.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t word = 8;
/// Orders per lap, each through another word of the lines: with a single one, a level above may keep some for ever.
constexpr std::uint64_t most_orders = 4;
constexpr double some_misses = 0.02;  ///< of a lap
constexpr unsigned warm_up = 2, more_laps = 4;
constexpr double most_miss = 0.5;              ///< of the loads of a span that is larger than the level
constexpr std::uint64_t lines_of_span = 512;   ///< used of a span, about
constexpr std::uint64_t least_apart = 256;     ///< bytes
constexpr std::uint64_t spans_drawn_from = 4;  ///< spans of the arena
constexpr std::uint64_t times_l1 = 4;  ///< capacities of a scattered L1, which conflicts do not flush, that are loaded
constexpr std::size_t part_to_ask_again = 16;                    ///< of the residents, as they grow
constexpr unsigned failures_between = 32, enough_failures = 96;  ///< in a row
constexpr unsigned other_orders = 3, many_orders = 8, orders_among_misfits = 16;
constexpr std::size_t few_asked = 3, more_asked = 6;  ///< rejected lines
constexpr unsigned most_corrections = 3;              ///< of a filling
constexpr unsigned fillings = 2;
constexpr std::uint64_t most_loads = 50'000'000;  ///< of a level, one of thousands of pages would take minutes
constexpr std::uint64_t most_loads_among_misfits = 20'000'000;
constexpr double as_many = 1.03;                    ///< ratio of the residents of two fillings
constexpr double least_share = 0.985, room = 1.06;  ///< page tables may take lines, and some sets not be full

using Lines = std::vector<std::uint64_t>;  ///< offsets

class Residency {
public:
    Residency(Meter& meter, const L1Geometry& l1, unsigned level)
        : meter_(meter), l1_(l1), level_(level), orders_(std::min(most_orders, l1.line / word)) {}

    /// Doubles the span until most of its lines miss; lines are taken from such spans. 0 = none.
    std::uint64_t span_that_misses() {
        const std::uint64_t most = meter_.capabilities().largest_arena, page = meter_.large_page();
        for (std::uint64_t span = std::bit_ceil(2 * l1_.capacity); span <= most; span *= 2) {
            arena_ = meter_.target().make_arena(std::max(page, std::min(spans_drawn_from * span, most)), page);
            arena_.written = true;  // pages stay where they are
            apart_ = std::clamp<std::uint64_t>(std::bit_floor(span / lines_of_span), least_apart, page);
            if (l1_.scattered)
                together_ = std::clamp<std::uint64_t>(2 * times_l1 * l1_.capacity * apart_ / l1_.line / span, 1,
                                                      apart_ / 2 / l1_.line);
            const Offsets loads = loads_of(lines(0, span, 0), 0);
            if (misses(loads) > most_miss * static_cast<double>(loads.size())) return span;
            meter_.target().release(arena_);
        }
        return 0;
    }

    /// Adds lines to the residents until the level is full. The two fillings begin at either end of the arena and use
    /// different sets. Returns why it is not full, or nothing.
    std::string fill(std::uint64_t span, unsigned filling) {
        std::size_t group = span / apart_ / 8, grown = 0;
        unsigned failures = 0, corrections = 0;
        residents_.clear();
        rejected_.clear();
        misfits_ = false;
        for (std::uint64_t piece = 0; piece < arena_.bytes / span; ++piece) {
            const std::uint64_t begin = (filling == 0 ? piece : arena_.bytes / span - 1 - piece) * span;
            const Lines some = lines(begin, begin + span, filling * apart_ / fillings);
            for (std::size_t at = 0; at < some.size();) {
                if (const std::uint64_t most = misfits_ ? most_loads_among_misfits : most_loads; loads_ > most)
                    return fmt::format("it is not full after {} loads", most);
                group = std::clamp<std::size_t>(group, 1, some.size() - at);
                if (add(std::span(some).subspan(at, group))) {
                    at += group;
                    grown += group;
                    group *= 2;
                    failures = 0;
                    if (part_to_ask_again * grown < residents_.size()) continue;
                    drop_misfits();
                    grown = 0;
                } else if (group > 1) {
                    group /= 2;
                } else {
                    rejected_.push_back(some[at++]);
                    if (++failures % failures_between == 0 && drop_misfits()) {
                        if (++corrections == most_corrections) return "lines stay resident in some orders only";
                        failures = 0;
                    }
                    if (failures == enough_failures) return {};
                }
            }
        }
        return "the lines of all pages do not fill it";
    }

    /// Whether the size is another one without residents in sets of L1 that have no more of them than ways: these
    /// always hit there, and more of them than ways may share a set of the level, beside which all other lines are
    /// rejected. (Offsets within pages tell sets.)
    bool rests_on_l1() const {
        if (l1_.scattered) return false;
        const std::uint64_t period = std::gcd(l1_.way(), arena_.page);
        const std::uint64_t room = l1_.ways * (l1_.way() / period);
        std::map<std::uint64_t, std::uint64_t> in_set;
        for (const std::uint64_t line : rejected_) in_set[line % period];
        for (const std::uint64_t line : residents_) ++in_set[line % period];
        std::uint64_t sets = 0, others = 0;
        for (const auto& [set, count] : in_set)
            if (count > room) ++sets, others += count;
        const double size = sets == 0 ? 0 : static_cast<double>(others * in_set.size()) / static_cast<double>(sets);
        const auto whole = static_cast<double>(residents_.size());
        return size > as_many * whole || whole > as_many * size;
    }

    std::uint64_t residents() const { return residents_.size(); }
    std::uint64_t apart() const { return apart_; }

    /// Whether the lines halfway between residents fill as many sets again: if they shared sets, most would miss. (Some
    /// miss where page tables take lines.)
    bool fill_distinct_sets() {
        Lines both = residents_;
        for (const std::uint64_t line : residents_) both.push_back(line + apart_ / fillings);
        const Offsets loads = loads_of(both, 0);
        return misses(loads) < most_miss / 2 * static_cast<double>(loads.size());
    }

    /// Residents congruent to a rejected line; 0 = their numbers differ.
    std::size_t ways() {
        std::size_t found = 0;
        for (std::size_t i = 1; i <= (found == 0 || residents_.size() % found == 0 ? few_asked : more_asked); ++i) {
            const std::size_t now =
                congruent_after_eviction(congruent_to(rejected_[rejected_.size() - i], 0, residents_.size()));
            if (now == 0 || (i > 1 && now != found)) return 0;
            found = now;
        }
        return ways_below_one_l1_set(found);
    }

private:
    /// Lines of a piece of the arena, in random order.
    Lines lines(std::uint64_t begin, std::uint64_t end, std::uint64_t offset) const {
        Lines found;
        const std::uint64_t first =
            together_ > 1 ? 0 : apart_ / 4 / l1_.line * l1_.line;  // several lines of a half are resident
        for (std::uint64_t at = begin + first; at < end; at += apart_) found.push_back(at + offset);
        shuffle(found, meter_.seed() + begin + offset);
        return found;
    }

    /// Loads of all lines in several orders, each followed by the others.
    Offsets loads_of(const Lines& lines, std::uint64_t seed, const Lines& others = {},
                     std::uint64_t orders = most_orders) const {
        std::vector<std::uint64_t> all;
        for (std::uint64_t order = 0; order < std::min(orders, orders_); ++order)
            for (const Lines* each : {&lines, &others}) {
                const std::size_t begin = all.size();
                for (const std::uint64_t line : *each)
                    for (std::uint64_t i = 0; i < together_; ++i)
                        all.push_back((line + i * l1_.line) % arena_.bytes + order * word);
                shuffle(std::span(all).subspan(begin), meter_.seed() + orders_ * seed + order);
            }
        return all;
    }

    /// Misses per lap.
    double misses(const Offsets& loads, unsigned laps = 1) {
        const Measurement seen = meter_.count(arena_, {loads}, {warm_up, laps});
        loads_ += loads.size() * (warm_up + laps);
        return seen.cache_misses[level_ - 1] * static_cast<double>(loads.size());
    }

    /// A lap of one order tells most sets that are too large in fewer loads, and some that several orders do not.
    bool all_hit(const Lines& lines, std::uint64_t seed = 0) {
        return misses(loads_of(lines, seed, {}, 1)) <= some_misses && misses(loads_of(lines, seed)) <= some_misses;
    }

    /// The same over more laps: an L1 of random replacement may keep one line too many for a lap.
    bool surely_all_hit(const Offsets& loads) {
        return misses(loads) <= some_misses && misses(loads, more_laps) <= some_misses;
    }

    bool add(std::span<const std::uint64_t> more) {
        residents_.insert(residents_.end(), more.begin(), more.end());
        for (unsigned i = 0; i < (misfits_ ? orders_among_misfits : 1); ++i)
            if (!all_hit(residents_, ++orders_asked_)) {
                residents_.resize(residents_.size() - more.size());
                return false;
            }
        return true;
    }

    /// Removes residents that hit in the tried orders only: beside them all other lines would be rejected. Where there
    /// is one there are more, as in exclusive levels, whose sets have room for what the level above holds just now:
    /// from then on many more orders are asked. Returns whether there were any.
    bool drop_misfits() {
        bool dropped = false;
        for (unsigned i = 0; i < (misfits_ ? 4 : 1) * many_orders; ++i) {
            const std::uint64_t seed = ++orders_asked_;
            while (residents_.size() > 1 && !all_hit(residents_, seed)) {
                const auto first = [&](std::uint64_t count) {
                    return Lines(residents_.begin(), residents_.begin() + static_cast<std::ptrdiff_t>(count));
                };
                const auto fits = [&](std::uint64_t count) { return all_hit(first(count), seed); };
                residents_.erase(residents_.begin() +
                                 static_cast<std::ptrdiff_t>(bisect(0, residents_.size(), fits).low));
                dropped = misfits_ = true;
                i = 0;
            }
        }
        return dropped;
    }

    /// The residents but for some, and a rejected line.
    Lines exchanged(std::size_t begin, std::size_t end, std::uint64_t one) const {
        Lines rest(residents_.begin(), residents_.begin() + static_cast<std::ptrdiff_t>(begin));
        rest.insert(rest.end(), residents_.begin() + static_cast<std::ptrdiff_t>(end), residents_.end());
        rest.push_back(one);
        return rest;
    }

    /// The residents from `begin` to `end` in the set of a rejected line, which hits without them (halving). Single
    /// lines are made sure of.
    Lines congruent_to(std::uint64_t one, std::size_t begin, std::size_t end) {
        const Lines rest = exchanged(begin, end, one);
        if (!all_hit(rest)) return {};
        if (end - begin == 1) return surely_all_hit(loads_of(rest, 0)) ? Lines{residents_[begin]} : Lines{};
        const std::size_t middle = begin + (end - begin) / 2;
        Lines found = congruent_to(one, begin, middle);
        const Lines others = congruent_to(one, middle, end);
        found.insert(found.end(), others.begin(), others.end());
        return found;
    }

    /// If several sets of L1 map to one of the level, an exclusive level seems to have the ways of all of them: as many
    /// lines as hit below a single set of L1.
    std::size_t ways_below_one_l1_set(std::size_t ways) {
        const std::uint64_t way = (residents_.size() + ways / 2) / ways * apart_;  // a few may not be resident
        if (way >= l1_.way()) return ways;
        const std::uint64_t both = std::lcm(way, l1_.way());
        if ((ways + 1) * both > arena_.bytes) return 0;
        Lines congruent;
        for (std::size_t i = 0; i < ways; ++i) congruent.push_back(residents_.front() % both + i * both);
        Lines one_more;
        while (!congruent.empty() && !all_hit(congruent)) one_more = congruent, congruent.pop_back();
        return misses_below_too(one_more) ? 0 : congruent.size();
    }

    /// Whether lines do not stay in the next level either: an inclusive one may have taken them.
    bool misses_below_too(const Lines& lines) {
        if (lines.empty() || meter_.capabilities().exact_cache_events() <= level_) return false;
        const Offsets loads = loads_of(lines, 0);
        const Measurement seen = meter_.count(arena_, {loads}, {warm_up, 1});
        return seen.cache_misses[level_] * static_cast<double>(loads.size()) > some_misses;
    }

    /// How many of these congruent lines hit after others evicted them from L1: an exclusive level does not hold all.
    std::size_t congruent_after_eviction(Lines congruent) {
        for (std::uint64_t seed = 0; seed < other_orders; ++seed) {
            Lines others;
            for (const std::uint64_t line : residents_)
                if (std::ranges::find(congruent, line) == congruent.end()) others.push_back(line);
            shuffle(others, meter_.seed() + seed);
            others.resize(others.size() / 2);  // which stay resident when L1 evicts them
            while (!congruent.empty() && !surely_all_hit(loads_of(congruent, seed, others))) congruent.pop_back();
        }
        return congruent.size();
    }

    Meter& meter_;
    L1Geometry l1_;
    unsigned level_;
    bool misfits_ = false;                                                            ///< in this filling
    std::uint64_t loads_ = 0, orders_, orders_asked_ = 0, apart_ = 0, together_ = 1;  ///< lines that lie together
    Arena arena_;
    Lines residents_, rejected_;
};

}  // namespace

ResidentLines find_resident_lines(Meter& meter, const L1Geometry& l1, unsigned level, Asked asked,
                                  std::vector<std::string>& decisions) {
    if (meter.capabilities().exact_cache_events() < level) return {.why_not = "its misses are not counted"};
    Residency residency(meter, l1, level);
    const std::uint64_t span = residency.span_that_misses();
    if (span == 0) return {.why_not = "it holds most lines of the largest span"};
    std::uint64_t fewest = 0, most = 0;
    std::size_t ways = 0;
    for (unsigned filling = 0; filling < fillings; ++filling) {
        if (std::string why_not = residency.fill(span, filling); !why_not.empty())
            return {.why_not = std::move(why_not)};
        if (filling == 0 && !residency.fill_distinct_sets())
            return {.why_not = "lines between the resident ones do not fill as many sets"};
        if (residency.rests_on_l1()) return {.why_not = "L1 holds all lines of some of its sets"};
        fewest = filling == 0 ? residency.residents() : std::min(fewest, residency.residents());
        most = std::max(most, residency.residents());
        const std::size_t found = asked == Asked::ways ? residency.ways() : 0;
        ways = filling == 0 || found == ways ? found : 0;
    }
    if (static_cast<double>(most) > as_many * static_cast<double>(fewest))
        return {.why_not = fmt::format("it held {} lines at one time and {} at another", fewest, most)};
    decisions.push_back(
        fmt::format("L{} holds {} to {} lines {} bytes apart; a further line is congruent to {} of them", level, fewest,
                    most, residency.apart(), ways > 0 ? std::to_string(ways) : "some"));
    const auto bytes = [&](std::uint64_t lines) { return static_cast<double>(lines * residency.apart()); };
    ResidentLines found{bytes(most), bytes(fewest) * least_share, bytes(most) * room, static_cast<unsigned>(ways)};
    if (ways > 0 && fewest == most && most % ways == 0) found.low = found.high = found.capacity;
    return found;
}

void add_resident_capacities(Meter& meter, const L1Geometry& l1, bool all, TestReport& report) {
    for (unsigned number = 2; number <= meter.capabilities().exact_cache_events(); ++number) {
        const std::string level = fmt::format("L{}", number);
        const Finding* capacity = report.find(level, "capacity");
        if (capacity != nullptr && !all && capacity->low == capacity->high) continue;
        const ResidentLines found = find_resident_lines(meter, l1, number, Asked::capacity, report.decisions);
        if (!found.why_not.empty()) {
            report.decisions.push_back(fmt::format("resident lines of {}: {}", level, found.why_not));
            continue;
        }
        if (capacity != nullptr && capacity->low <= found.high && capacity->high >= found.low) continue;
        const bool contradicts = capacity != nullptr;
        if (contradicts && !all) {
            const std::string times = format_size(static_cast<std::uint64_t>(capacity->value->number));
            std::erase_if(report.findings, [&](const Finding& finding) {
                return finding.level == level && finding.parameter == "capacity";
            });
            report.refuse(level, "capacity", "{} by times, {} by resident lines", times,
                          format_size(static_cast<std::uint64_t>(found.capacity)));
            continue;
        }
        std::erase_if(report.findings, [&](const Finding& finding) {
            if (finding.parameter == "capacity") return finding.level == level || finding.level.empty();
            return contradicts && finding.level == level && finding.parameter == "ways";
        });
        report.answer(level, "capacity", found.capacity, found.low, found.high, "bytes",
                      "resident lines, until no further line fits");
    }
}

}  // namespace cachetally
