// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "probes/analysis.hpp"
#include "probes/ours/resident_lines.hpp"
#include "probes/ours/sets.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {
constexpr std::uint64_t word = 8;
constexpr std::uint64_t moved_by = 21 * 128;
constexpr std::uint64_t flushes_per_way = 3;  ///< of L1: lines that take the places of others in a set
constexpr std::uint64_t most_ways = 32;       ///< that are looked for beside them
constexpr std::uint64_t many_lines = 512;     ///< strides are so long that no more are needed
constexpr const char* small_arena = "the arena is too small for sets that are an odd multiple of a power of two";

struct Second {
    std::uint64_t way = 0, ways = 0;
    bool exclusive = false;
    std::string reason;  ///< where there is no way
};

/// Share of loads that miss both levels in the long run, of lines that meet in one set of both.
double expected(const std::vector<std::uint64_t>& order, unsigned l1_ways, Replacement l1_policy, unsigned ways,
                Replacement policy, bool inclusive) {
    constexpr unsigned warm_up = 64, laps = 192;
    const auto first = make_cache_array({1, l1_ways, l1_policy, 1});
    const auto second = make_cache_array({1, ways, policy, 2});
    std::uint64_t misses = 0;
    for (unsigned lap = 0; lap < warm_up + laps; ++lap)
        for (const std::uint64_t number : order) {
            const Address line = (number + 1) * 64;
            if (first->access(0, line, {}) != 0) continue;
            const auto [miss, old] = second->replace(0, line, {}, 0);
            if (inclusive && miss != 0 && old != 0) first->remove(0, line_of(old));
            first->insert(0, line, 0);
            misses += lap >= warm_up ? miss : 0;
        }
    return static_cast<double>(misses) / static_cast<double>(laps * order.size());
}

class SecondLevel {
public:
    SecondLevel(Meter& meter, const L1Geometry& l1, const KnownLevel& known, std::vector<std::string>& decisions)
        : meter_(meter),
          l1_(l1),
          known_(known),
          decisions_(decisions),
          lines_(meter, known, decisions),
          arena_(lines_.arena()),
          events_(lines_.counts_events()) {}

    Second geometry(const std::string& l1_policy) {
        Second found;
        std::uint64_t stride = std::max<std::uint64_t>(
            l1_.way(), std::bit_ceil(static_cast<std::uint64_t>(known_.high / static_cast<double>(many_lines))));
        std::uint64_t before = 0, now = lines_.most_that_stay(stride);
        for (; now != 0; stride *= 2) {
            const std::uint64_t next = lines_.most_that_stay(2 * stride);
            if (next == now) break;
            before = now;
            now = next;
        }
        if (now == 0) return none("lines that meet in it do not show a number of ways");
        if (before == 0) return none("a way is no longer than one of L1, so that what it adds cannot be seen");
        const bool oldest = l1_.ways == 1 || l1_policy == "lru" || l1_policy == "fifo";
        if (now <= (oldest ? 1 : 2) * l1_.ways) return with_l1_flushed();
        found.way = stride;
        found.ways = now;
        const std::uint64_t odd = odd_factor(stride, now, before == 2 * now);
        if (odd == 0) return none(small_arena);
        if (odd > 1) found.way *= odd, found.ways = lines_.most_that_stay(odd * stride);
        if (before != 2 * now) {
            if (found.ways <= l1_.ways) return none("numbers of lines that stay do not halve with their distance");
            found.exclusive = true;
            found.ways -= l1_.ways;
            // Which lines L1 holds is not as even as they lie in L2.
            const std::uint64_t least = 2 * odd * found.ways;
            if (before < least || before > least + l1_.ways)
                return none("numbers of lines that stay do not halve with their distance");
        }
        const auto capacity = static_cast<double>(found.way * found.ways);
        const double above = found.exclusive ? static_cast<double>(l1_.capacity) : 0;
        if (capacity * 1.001 < known_.low - above || capacity > known_.high * 1.001)
            return none(fmt::format("{} ways of {} bytes do not agree with where times rise", found.ways, found.way));
        return found;
    }

    /// L1 misses of laps in which lines that meet in L1 also meet in L2, and of laps in which they do not. Pseudo-LRU
    /// may keep a line in L2 for good, so that several orders have to agree that nothing is lost.
    std::optional<bool> inclusive(const Second& found, const std::string& l1_policy) {
        constexpr unsigned orders = 6;
        const std::uint64_t apart = found.way / l1_.way();
        if (!events_ || apart < 4 || found.way % l1_.way() != 0) return {};
        if (l1_.ways > 1 && (l1_policy.empty() || l1_policy == "random")) return {};
        bool kept = false;
        for (unsigned order = 0; order < orders; ++order) {
            const std::uint64_t others = 2 * found.ways + 2 + order, visits = std::min(l1_.line / word, others);
            if ((others + 1) * found.way > arena_.bytes) return {};
            const double apart_misses = misses_beside(found, others, visits, order, false),
                         meeting_misses = misses_beside(found, others, visits, order, true);
            decisions_.push_back(
                fmt::format("L1 misses {:.2f} of {} lines that meet in L2, {:.2f} of those that do not", meeting_misses,
                            others + visits, apart_misses));
            if (meeting_misses > apart_misses + 0.5) return true;
            // L2 forgets a line that L1 keeps for a lap; one that L1 fetches more often it may keep as well.
            kept = kept || apart_misses < static_cast<double>(others) + 1.05;
        }
        if (!kept) return {};
        return false;
    }

    /// Replacement: shares of misses in random orders of lines of a set, behind L1.

    void replacement(const Second& found, bool inclusive, const std::string& l1_policy, TestReport& report) {
        const std::optional<Replacement> known = known_policy(l1_policy);
        if (!known && l1_.ways > 1)
            return report.refuse("L2", "replacement", "the policy of L1, which stands before it, is not known");
        if (!events_) return report.refuse("L2", "replacement", "misses of L2 cannot be counted on this target");
        const auto ways = static_cast<unsigned>(found.ways);
        if ((2 * ways + 1) * found.way + policy_margin > arena_.bytes)
            return report.refuse("L2", "replacement", "the arena is too small for so many lines that meet");
        const auto expected_misses = [&](const auto& order, Replacement policy) {
            return expected(order, l1_.ways, known.value_or(Replacement::lru), ways, policy, inclusive);
        };
        find_policy(report, {.level = "L2",
                             .ways = ways,
                             .way = found.way,
                             .line = l1_.line,
                             .seed = meter_.seed(),
                             .expected = expected_misses,
                             .measured =
                                 [&](const Offsets& loads) {
                                     return meter_.count(arena_, {loads}, {64, 128}).cache_misses[1];
                                 },
                             .best_error = 0.03,
                             .unlike = "no policy that is known would miss as often as was counted",
                             .alike = "two policies would miss alike behind this L1",
                             .method = "shares of misses in random orders of the lines of a set, behind L1"});
    }

private:
    /// Where L1 keeps some of the lines that meet, others of its set, which meet none of them in L2, take their places.
    /// (ours)
    Second with_l1_flushed() {
        const auto most = static_cast<std::uint64_t>(known_.high) / 2;
        for (std::uint64_t way = 4 * l1_.way(); way <= most; way *= 2) {
            const std::uint64_t now = most_beside_flush(way, way), sets = flushed_sets(way);
            if (now == 0 || flushes() >= sets * now) continue;
            if (most_beside_flush(way, 2 * way) != now || most_beside_flush(way, way / 2) != 2 * now) continue;
            const auto capacity = static_cast<double>(way * now);
            if (capacity * 1.001 < known_.low || capacity > known_.high * 1.001)
                return none(fmt::format("{} ways of {} bytes do not agree with where times rise", now, way));
            return of_odd_sets_beside_flush(way, now);
        }
        return none("it has few more ways than L1, which keeps some of the lines that meet");
    }

    /// As odd_factor(): where `staying` lines fill an odd number of sets, as many fewer stay at so many times the way.
    Second of_odd_sets_beside_flush(std::uint64_t way, std::uint64_t staying) {
        Second found{way, staying, false, ""};
        for (std::uint64_t odd = 3; odd <= staying; odd += 2) {
            if (staying % odd != 0) continue;
            const std::uint64_t ways = most_beside_flush(way, odd * way);
            if (ways == 0) return none(small_arena);
            if (ways < found.ways) found.way = odd * way, found.ways = ways;
        }
        return found;
    }

    std::uint64_t flushes() const { return flushes_per_way * l1_.ways; }
    /// Sets of L2 at odd multiples of a way of L1, which no line at even ones shares.
    std::uint64_t flushed_sets(std::uint64_t way) const { return way / l1_.way() / 2; }

    /// Lines so far apart that all stay in L2 of so long ways while L1 is flushed, the most; 0 = not to be found.
    std::uint64_t most_beside_flush(std::uint64_t way, std::uint64_t apart) {
        const std::uint64_t sets = flushed_sets(way), high = 2 * (most_ways + 1);
        if (high * apart + (flushes() / sets + 1) * way + 2 * moved_by > arena_.bytes) return 0;
        const auto stay = [&](std::uint64_t count) {
            std::vector<std::uint64_t> offsets;
            for (std::uint64_t i = 0; i < count; ++i) offsets.push_back(i * apart);
            shuffle(offsets, meter_.seed());
            for (std::uint64_t i = 0; i < flushes(); ++i)
                offsets.push_back(i / sets * way + (2 * (i % sets) + 1) * l1_.way());
            return lines_.stay(std::move(offsets));
        };
        if (!stay(1) || stay(high)) return 0;
        const std::uint64_t found = bisect(1, high, stay).low;
        decisions_.push_back(
            fmt::format("{} lines {} bytes apart stay beside {} that meet them in L1", found, apart, flushes()));
        return found;
    }

    /// Sets may be an odd multiple of a power of two, O: then O times as many lines stay at a distance that is one as
    /// at O times this. 1 = they are none; 0 = the arena is too small to decide. `halves`: numbers halve with distance,
    /// so that L1 adds nothing to them, or always as much.
    std::uint64_t odd_factor(std::uint64_t stride, std::uint64_t staying, bool halves) {
        std::uint64_t factor = 1, least = staying;
        for (std::uint64_t odd = 3; odd <= staying; odd += 2) {
            if (!may_be_sets(odd, stride, staying, halves)) continue;
            if (staying * odd * stride + 2 * moved_by > arena_.bytes) return 0;
            if (lines_.stay(odd * stride, staying)) continue;
            const std::uint64_t fewer = lines_.most_that_stay(odd * stride);
            if (fewer != 0 && fewer < least) least = fewer, factor = odd;
        }
        return factor;
    }

    /// Whether so many lines may fill `odd` sets. Of those that L1 adds to an exclusive level some are lost, as they
    /// lie unevenly: then any number up to L1's ways may be more than the sets hold.
    bool may_be_sets(std::uint64_t odd, std::uint64_t stride, std::uint64_t staying, bool halves) const {
        if (halves) return staying % odd == 0 || (staying > l1_.ways && (staying - l1_.ways) % odd == 0);
        const auto way = static_cast<double>(odd * stride), l1 = static_cast<double>(l1_.capacity);
        for (std::uint64_t ways = staying / odd; ways > 0 && odd * ways + l1_.ways >= staying; --ways) {
            const double bytes = way * static_cast<double>(ways);
            if (known_.low - l1 <= bytes * 1.001 && bytes <= known_.high * 1.001) return true;
        }
        return false;
    }

    /// Misses of L1 in a lap through others that meet in a set of it, with visits to one line between them.
    double misses_beside(const Second& found, std::uint64_t others, std::uint64_t visits, unsigned order,
                         bool meeting) {
        const std::uint64_t apart = found.way / l1_.way();
        std::vector<std::uint64_t> lines(others);
        for (std::uint64_t i = 0; i < others; ++i)
            lines[i] = meeting ? (i + 1) * found.way : (1 + i / (apart - 1) * apart + i % (apart - 1)) * l1_.way();
        shuffle(lines, meter_.seed() + order);
        std::vector<std::uint64_t> offsets;
        std::uint64_t visit = 0;
        for (std::uint64_t i = 0; i < others; ++i) {
            if (i * visits / others >= visit) offsets.push_back(word * visit++);
            offsets.push_back(lines[i]);
        }
        const Measurement run = meter_.count(arena_, {offsets}, {64, 64});
        return run.cache_misses.front() * static_cast<double>(offsets.size());
    }

    static Second none(std::string reason) { return {0, 0, false, std::move(reason)}; }

    Meter& meter_;
    L1Geometry l1_;
    KnownLevel known_;
    std::vector<std::string>& decisions_;
    CongruentLines lines_;
    Arena arena_;
    bool events_;
};

TestReport all_refused(TestReport report, const std::string& reason) {
    return refused(std::move(report), "L2", {"ways", "capacity", "inclusion", "replacement"}, reason);
}

/// By resident lines, if congruent lines show nothing; `why_not`: why they do not.
TestReport second_level_by_residents(Meter& meter, const L1Geometry& l1, TestReport report,
                                     const std::string& why_not) {
    const ResidentLines found = find_resident_lines(meter, l1, 2, Asked::ways, report.decisions);
    if (!found.why_not.empty()) report.decisions.push_back("resident lines of L2: " + found.why_not);
    if (found.ways == 0) return all_refused(std::move(report), why_not);
    const std::string method = "resident lines congruent to a rejected one";
    report.answer("L2", "ways", found.ways, "ways", method);
    report.answer("L2", "capacity", found.capacity, found.low, found.high, "bytes", method);
    return refused(std::move(report), "L2", {"inclusion", "replacement"}, why_not);
}

TestReport second_level(Meter& meter, const L1Geometry& l1, const std::string& l1_policy, const TestReport& levels) {
    TestReport report;
    const Finding* capacity = levels.find("L2", "capacity");
    const Finding* latency = levels.find("L2", "latency");
    if (capacity == nullptr || (latency == nullptr && meter.capabilities().cache_events < 2))
        return second_level_by_residents(
            meter, l1, std::move(report),
            "no second level was found whose capacity (and, without event counts, latency) is known");
    SecondLevel level(meter, l1, {2, capacity->low, capacity->high, latency == nullptr ? 0 : latency->value->number},
                      report.decisions);
    const Second found = level.geometry(l1_policy);
    if (found.way == 0) return second_level_by_residents(meter, l1, std::move(report), found.reason);
    if (2 * found.way > meter.large_page())
        return second_level_by_residents(meter, l1, std::move(report),
                                         "lines that would meet in it lie on several pages, which may lie anywhere");
    const std::string method = "numbers of lines that stay, by their distance";
    report.answer("L2", "ways", found.ways, "ways", method);
    report.answer("L2", "capacity", found.way * found.ways, "bytes", method);
    if (found.exclusive) {
        report.answer("L2", "inclusion", "exclusive", "as many lines more stay as L1 has ways, at any distance");
        report.refuse("L2", "replacement", "an exclusive level gets its lines when L1 gives them up");
        return report;
    }
    const std::optional<bool> inclusive = level.inclusive(found, l1_policy);
    if (!inclusive) {
        report.refuse("L2", "inclusion", "not exclusive; whether L1 loses lines to it cannot be seen here");
        return refused(std::move(report), "L2", {"replacement"}, "it is not known whether L1 loses lines to it");
    }
    level.replacement(found, *inclusive, l1_policy, report);
    const Finding* policy = report.find("L2", "replacement");
    const bool may_keep = policy == nullptr || policy->value->word == "tree_plru" || policy->value->word == "srrip";
    if (!*inclusive && may_keep)
        report.refuse("L2", "inclusion",
                      "L1 has lost no lines, but L2 is not known to replace lines that are not used there");
    else
        report.answer("L2", "inclusion", *inclusive ? "inclusive" : "nine",
                      "misses of L1 beside lines that meet in L2, and that do not");
    return report;
}

}  // namespace

TestReport second_level_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy,
                               const TestReport& levels) {
    TestReport report = second_level(meter, l1, l1_policy, levels);
    const Finding* count = levels.find("", "levels");
    for (unsigned level = 3; count != nullptr && level <= count->value->number; ++level)
        report.refuse(fmt::format("L{}", level), {"inclusion", "replacement"},
                      fmt::format("lines that meet in it meet in the {} levels above, too, and what these keep "
                                  "hides which it replaces",
                                  level - 1));
    return report;
}

}  // namespace cachetally
