// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "probes/analysis.hpp"
#include "probes/ours/page_groups.hpp"
#include "probes/ours/tlb_events.hpp"
#include "probes/ours/translation_times.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t many_pages = 256;    ///< a TLB may well hold fewer
constexpr std::uint64_t longest_line = 256;  ///< bytes
constexpr double least_step = 0.4;           ///< cycles per load by which a miss of a TLB slows it down, at least

constexpr double some_miss = 0.02;  ///< cycles per load by which some of a lap miss

struct Point {
    std::uint64_t pages = 0;
    double cycles = 0;  ///< of translation, per load
};

/// 4, 5, 6, 7, 8, 10, 12, 14, ..., 128, 192, 256, ...
std::vector<Point> sweep(TranslationTimes& pairs) {
    std::vector<Point> points;
    for (std::uint64_t octave = 4; octave < pairs.most(); octave *= 2)
        for (std::uint64_t quarter = 4; quarter < 8; quarter += octave < 128 ? 1 : 2) {
            const std::uint64_t pages = octave * quarter / 4;
            if (pages <= pairs.most()) points.push_back({pages, pairs.step(pages)});
        }
    return points;
}

struct Edge {
    std::uint64_t low = 0, high = 0;  ///< pages
};

class EdgeFinder {
public:
    EdgeFinder(TranslationTimes& pairs, std::vector<Point> points) : pairs_(pairs), points_(std::move(points)) {}

    std::vector<Edge> edges() {
        std::vector<Edge> found;
        for (std::size_t i = 1; i < points_.size(); ++i) {
            const double slope =
                i > 1 ? std::max(0.0, (points_[i - 1].cycles - points_[i - 2].cycles) / distance(i - 1)) : 0;
            const double foretold = points_[i - 1].cycles + slope * distance(i);
            const bool rises = points_[i].cycles > foretold + clear(foretold) &&
                               pairs_.exceeds(points_[i].pages, foretold + clear(foretold));
            points_[i].cycles = pairs_.step(points_[i].pages);
            if (!rises) continue;
            const std::size_t quiet = next_quiet(i);
            const double reached = points_[std::min(quiet, points_.size() - 1)].cycles;
            if (reached < foretold + least_step + 0.1 * foretold) continue;
            found.push_back({last_quiet(points_[i - 1], slope, points_[i].pages, 1e-6),
                             last_quiet(points_[i - 1], slope, points_[i].pages, clear(foretold)) + 1});
            i = quiet;
        }
        return found;
    }

private:
    double distance(std::size_t i) const { return static_cast<double>(points_[i].pages - points_[i - 1].pages); }
    static double clear(double cycles) { return 0.1 + 0.04 * std::max(0.0, cycles); }

    std::uint64_t last_quiet(const Point& from, double slope, std::uint64_t high, double rise) {
        return bisect(from.pages, high,
                      [&](std::uint64_t pages) {
                          const double foretold = from.cycles + slope * static_cast<double>(pages - from.pages);
                          return !pairs_.exceeds(pages, foretold + rise);
                      })
            .low;
    }

    /// The first point after a rise from which on times rise no more, or at twice the pages faster than before.
    std::size_t next_quiet(std::size_t from) const {
        for (std::size_t i = from; i + 1 < points_.size(); ++i) {
            const double rise = points_[i + 1].cycles - points_[i].cycles;
            if (rise < 0.05 * points_[i].cycles) return i + 1;
            if (points_[i].pages < 2 * points_[from - 1].pages || i == from) continue;
            if (rise / distance(i + 1) > 1.5 * (points_[i].cycles - points_[i - 1].cycles) / distance(i)) return i;
        }
        return points_.size();
    }

    TranslationTimes& pairs_;
    std::vector<Point> points_;
};

/// Ways and entries of the first TLB by (X-Ray, Figure 8) on pages; 0 ways = not found.
struct Sets {
    std::uint64_t ways = 0, entries = 0;
    std::uint64_t together = 0;  ///< pages that stay of those a power of two apart: the ways of several sets, or of one
    bool sure = true;            ///< false: sets may be more, and ways fewer, than the arena can show
};

/// Of `together` pages that stay `sets` pages apart, a power of two, where sets may be an odd multiple of that.
/// `misses(odd, n)`: whether n pages odd * sets apart do not fit.
template <class Misses>
Sets with_odd_sets(const TranslationTimes& pairs, std::uint64_t together, std::uint64_t sets, const Misses& misses) {
    Sets found{together, together * sets, together};
    for (std::uint64_t odd = 3; odd <= together; odd += 2) {
        if (together % odd != 0) continue;
        found.sure = found.sure && pairs.fits(odd * sets, together + 1);
        if (!found.sure) break;
        const std::uint64_t fewer = together / odd;
        if (fewer < found.ways && misses(odd, together) && misses(odd, fewer + 1) && !misses(odd, fewer))
            found.ways = fewer;
    }
    return found;
}

using Lines = TranslationTimes::Lines;

Sets sets_by(TranslationTimes& pairs, std::uint64_t limit, Lines lines) {
    const auto misses = [&](std::uint64_t stride, std::uint64_t n) {
        return pairs.exceeds(stride, n, lines, some_miss);
    };
    std::uint64_t old = 0, high = limit;
    for (std::uint64_t stride = 1;; stride *= 2) {
        if (!pairs.fits(stride, high) || !misses(stride, high)) return {};
        high = bisect(0, high, [&](std::uint64_t n) { return !misses(stride, n); }).high;
        if (high == old) {
            const auto misses_at = [&](std::uint64_t odd, std::uint64_t n) { return misses(odd * stride / 2, n); };
            return with_odd_sets(pairs, high - 1, stride / 2, misses_at);
        }
        old = high;
    }
}

/// Pages of which one more misses do so wherever in them their loads lie; lines that meet in a cache do not.
bool confirmed(TranslationTimes& pairs, const Sets& sets, Lines other) {
    return sets.ways != 0 && pairs.exceeds(sets.entries / sets.together, sets.together + 1, other, some_miss);
}

/// 0 ways where lines that meet in caches, or parts of pages, keep sets of pages from telling.
Sets first_tlb(TranslationTimes& pairs, std::uint64_t limit) {
    const Sets sets = sets_by(pairs, limit, Lines::in_a_way);
    if (sets.ways == 0 || pairs.come_in_groups(sets.entries)) return {};
    if (pairs.holds_parts(sets.entries)) {
        const Sets other = sets_by(pairs, limit, Lines::anywhere);
        return other.ways == sets.ways && other.entries == sets.entries ? sets : Sets{};
    }
    if (confirmed(pairs, sets, Lines::anywhere)) return sets;
    if (pairs.has_parts()) return {};
    const Sets other = sets_by(pairs, limit, Lines::anywhere);
    return confirmed(pairs, other, Lines::in_a_way) ? other : Sets{};
}

/// The second TLB by compact sets of pages <S,n,S_old,r> (X-Ray, 4.5.1): pages that are S apart, and others that share
/// the set of the first TLB with them, so that it misses, but never that of the second.
class SecondTlb {
public:
    SecondTlb(TranslationTimes& pairs, const Sets& first)
        : pairs_(pairs), first_(first), first_sets_(first.together == 0 ? 1 : first.entries / first.together) {}

    Sets find() {
        if (!pairs_.fits(2 * first_sets_, std::max(most_ways + 2, others()))) return {};
        std::uint64_t stride = 2048;
        while (!pairs_.fits(stride, most_ways + 2) && stride > 1) stride /= 2;
        const std::uint64_t longest = stride;
        const std::uint64_t full = first_misses(stride);
        if (full == 0) return {};
        // Down to the least stride at which as few pages fill a set.
        while (stride > 2 * first_sets_ && first_misses(stride / 2) == full) stride /= 2;
        limited_ = stride == longest;
        if (stride > 2 * first_sets_ && !twice(stride / 2, full)) return {};
        return with_odd_sets(pairs_, full - 1, stride,
                             [&](std::uint64_t odd, std::uint64_t n) { return bends(odd * stride, n); });
    }

    /// A longer stride might have shown fewer ways.
    bool limited() const { return limited_; }

private:
    static constexpr std::uint64_t most_ways = 24;
    static constexpr double least_walk = 4;  ///< cycles that a walk takes, at least

    /// Pages enough for the first TLB to miss.
    std::uint64_t others() const { return first_.together + (first_.together + 1) / 2 + 2; }

    /// Of n pages that meet in a set of the second TLB, or that do not, and of those that make the first one miss:
    /// these and those meet in one of its sets, so that it behaves alike in both cases.
    double lap(std::uint64_t stride, std::uint64_t n) {
        std::vector<std::uint64_t> pages;
        for (std::uint64_t i = 0; i < n; ++i) pages.push_back(i * stride);
        for (std::uint64_t i = 0; i < others(); ++i) pages.push_back((2 * i + 1) * first_sets_);
        return pairs_.lap(pages);
    }

    /// Whether n pages do not fit, seen from as many that meet nowhere.
    bool bends(std::uint64_t stride, std::uint64_t n) {
        return lap(stride, n) - lap(2 * first_sets_, n) > 0.4 * static_cast<double>(n) * least_walk;
    }

    /// The least number of pages of this stride that do not fit; 0 = all do.
    std::uint64_t first_misses(std::uint64_t stride) {
        for (std::uint64_t n = 3; n <= most_ways + 1; ++n)
            if (bends(stride, n)) return n;
        return 0;
    }

    /// At half the stride twice as many pages fit.
    bool twice(std::uint64_t stride, std::uint64_t full) {
        const std::uint64_t n = 2 * (full - 1) + 1;
        return !bends(stride, n - 1) && bends(stride, n);
    }

    TranslationTimes& pairs_;
    Sets first_;
    std::uint64_t first_sets_;
    bool limited_ = false;
};

/// What lies behind a rise of the time of translation. A TLB that is full bends the curve up at the same number of
/// pages however many lines of each are used; a cache that is full of lines or of table entries does so at fewer pages
/// the more lines are used. (Cooper and Xu 2018, 3.4)
enum class Cause : std::uint8_t { tlb, cache, unclear };

Cause cause_of(TranslationTimes& pairs, std::uint64_t entries, std::vector<std::string>& decisions) {
    const std::uint64_t part = std::max<std::uint64_t>(2, entries / 12);
    const std::uint64_t before = entries - part, after = std::min(entries + part, pairs.most());
    const double from = pairs.step(before), at = pairs.step(entries - part / 4), to = pairs.step(after);
    const double from_two = pairs.step_of_two(before), at_two = pairs.step_of_two(entries - part / 4),
                 to_two = pairs.step_of_two(after);
    const auto flat = [](double a, double b) { return std::abs(b - a) < 0.05 * std::abs(a) + 0.1; };
    const double bend = (to - at) - (at - from), bend_two = (to_two - at_two) - (at_two - from_two);
    decisions.push_back(
        fmt::format("around {} pages translation takes {:.2f}, {:.2f}, {:.2f} cycles; with two lines of each {:.2f}, "
                    "{:.2f}, {:.2f}",
                    entries, from, at, to, from_two, at_two, to_two));
    if (flat(from, at) && bend > 2 && flat(from_two, at_two) && bend_two > 0.5 * bend) return Cause::tlb;
    if (bend < 1 || (flat(from_two, at_two) && std::abs(to_two - at_two) < 0.2 * bend)) return Cause::cache;
    return Cause::unclear;
}

void answer_first(TestReport& report, TranslationTimes& pairs, const Edge& edge, Sets& sets) {
    sets = first_tlb(pairs, edge.high);
    report.decisions.push_back(fmt::format("the first TLB ends {}; sets of pages: {} entries, {} ways",
                                           edge_in_words(edge.low, edge.high, "pages"), sets.entries, sets.ways));
    const auto low = static_cast<double>(edge.low), high = static_cast<double>(std::max(edge.low, edge.high - 1));
    const auto entries = static_cast<double>(sets.entries);
    if (sets.ways != 0 && low <= entries && entries <= high) {
        report.answer("TLB1", "entries", sets.entries, "entries", "compact sets of pages, paired");
        if (sets.sure)
            report.answer("TLB1", "ways", sets.ways, "ways", "compact sets of pages, paired");
        else
            report.refuse("TLB1", "ways", "the arena has too few pages for a longer stride");
        return;
    }
    sets = {};
    const std::string reason = fmt::format(
        "times of translation rise as where a TLB of {} is full, but pages that would meet in its sets show none of "
        "that size",
        low < high ? fmt::format("{} to {} entries", low, high) : fmt::format("{} entries", low));
    report.refuse("TLB1", {"ways", "entries"}, reason);
}

void answer_levels(TestReport& report, std::uint64_t levels) {
    report.answer("", "tlb_levels", levels, "levels", "rises of the time of translation over pages");
}

void refuse_parts(TestReport& report) {
    report.refuse("", "tlb_levels",
                  "what translation takes depends on which parts of pages are loaded: entries of some TLB hold parts");
}

/// Number of levels, and the second TLB: two methods, which must not contradict each other.
void answer_second(TestReport& report, TranslationTimes& pairs, const Edge& first_edge, std::span<const Edge> later,
                   const Sets& first) {
    if (first.ways == 0 && cause_of(pairs, first_edge.low, report.decisions) != Cause::tlb)
        return report.refuse("", "tlb_levels", "what begins to take longer may be a cache that is full of lines");
    SecondTlb search(pairs, first);
    Sets second = first.ways == 0 ? Sets{} : search.find();
    if (second.entries < 2 * first.entries) second = {};
    report.decisions.push_back(
        fmt::format("a second TLB by sets of pages: {} entries, {} ways", second.entries, second.ways));
    const bool parts = later.empty() ? pairs.depends_on_parts(first_edge.low + first_edge.low / 8 + 1)
                                     : pairs.holds_parts(later.front().low) || pairs.more_stay(later.front().low);
    if (parts) return refuse_parts(report);
    if (!later.empty() && pairs.come_in_groups(later.front().low)) return report.refuse("", "tlb_levels", in_groups);
    const std::string method = "compact sets of pages with a first TLB that misses, and the end of a flat stretch";
    for (const Edge& edge : later) {
        const auto low = static_cast<double>(edge.low), high = std::max(static_cast<double>(edge.high - 1), low * 1.03);
        const auto entries = static_cast<double>(second.entries);
        if (second.ways == 0 || low * 0.97 > entries || entries > high) continue;
        if (cause_of(pairs, edge.low, report.decisions) == Cause::cache) continue;
        report.answer("TLB2", "entries", second.entries, "entries", method);
        if (search.limited() || !second.sure)
            report.refuse("TLB2", "ways", "the arena has too few pages for a longer stride");
        else
            report.answer("TLB2", "ways", second.ways, "ways", method);
        return answer_levels(report, 2);
    }
    for (const Edge& edge : later) {
        const auto low = static_cast<double>(edge.low), high = std::max(static_cast<double>(edge.high - 1), low * 1.03);
        const Cause cause = cause_of(pairs, edge.low, report.decisions);
        if (cause == Cause::tlb && edge.high - edge.low == 1) {
            report.answer("TLB2", "entries", low, low, high, "entries",
                          "end of a flat stretch, confirmed with two lines of each page");
            report.refuse("TLB2", "ways", "sets of pages do not agree with the number of entries");
            return answer_levels(report, 2);
        }
    }
    if (!later.empty())
        report.refuse("", "tlb_levels",
                      "beyond the first TLB times of translation rise at {} pages, where it is not clear "
                      "whether a TLB is full or a cache",
                      later.front().low);
    else
        answer_levels(report, 1);
}

/// A TLB that holds all pages there are leaves no trace in times of pages that were used before. What seemed to be the
/// end of a second TLB may then be one within it, where others hold a part of its ways.
void refuse_where_more_hold_all(TestReport& report, Meter& meter) {
    const Finding* levels = report.find("", "tlb_levels");
    if (levels == nullptr) return;
    const auto count = static_cast<unsigned>(levels->value->number);
    const std::string name = fmt::format("TLB{}", count);
    const Finding* last = report.find(name, "entries");
    if (last == nullptr || !more_tlbs_hold_all(meter, static_cast<std::uint64_t>(last->value->number))) return;
    const std::string reason =
        "pages that nobody has used take longer than those that the last TLB has lost: one more holds all";
    const bool in_doubt = count > 1;
    std::erase_if(report.findings, [&](const Finding& finding) {
        return finding.parameter == "tlb_levels" || (in_doubt && finding.level == name);
    });
    if (in_doubt) report.refuse(name, {"entries", "ways"}, reason);
    report.refuse("", "tlb_levels", reason);
}

TestReport tlb_once(Meter& meter, const L1Geometry& l1) {
    TestReport report;
    if (l1.line > longest_line)
        return refused(
            std::move(report), "", {"tlb_levels"},
            fmt::format("lines of {} are so few in a page that chains fill caches unevenly", format_size(l1.line)));
    TranslationTimes pairs(meter, l1);
    const std::vector<Point> points = sweep(pairs);
    Curve curve{.name = "translation", .x_name = "pages", .x_unit = "pages"};
    for (const Point& point : points) {
        curve.x.push_back(static_cast<double>(point.pages));
        curve.cycles.push_back(point.cycles);
    }
    report.curves.push_back(std::move(curve));
    if (points.size() < 2)
        return refused(
            std::move(report), "", {"tlb_levels"},
            fmt::format("an arena of {} holds too few pages", format_size(meter.capabilities().largest_arena)));
    const std::vector<Edge> edges = EdgeFinder(pairs, points).edges();
    for (const Edge& edge : edges)
        report.decisions.push_back(
            fmt::format("times of translation rise {}", edge_in_words(edge.low, edge.high, "pages")));
    if (edges.empty()) {
        if (points.back().pages < many_pages)
            report.refuse("", "tlb_levels", "a TLB may hold all {} pages of the arena", points.back().pages);
        else if (pairs.depends_on_parts(points.front().pages * 2))
            refuse_parts(report);
        else if (more_tlbs_hold_all(meter, 0))
            report.refuse("", "tlb_levels", "pages that nobody has used take longer than others: a TLB may hold all");
        else
            report.answer("", "tlb_levels", 0, "levels", "the time of translation does not rise over pages");
        if (meter.capabilities().tlb_events > 0) decide_tlbs_by_events(report, meter);
        return report;
    }
    Sets first;
    answer_first(report, pairs, edges.front(), first);
    const auto later = std::ranges::find_if(edges, [&](const Edge& edge) { return edge.low >= 2 * edges.front().low; });
    answer_second(report, pairs, edges.front(), {later, edges.end()}, first);
    refuse_where_more_hold_all(report, meter);
    if (meter.capabilities().tlb_events > 0) decide_tlbs_by_events(report, meter);
    return report;
}

}  // namespace

TestReport tlb_robust(Meter& meter, const L1Geometry& l1) {
    TestReport report = tlb_once(meter, l1);
    // What two methods do not agree on with noise is asked again, once.
    const auto refused = [](const Finding& each) { return each.level == "TLB1" && !each.value; };
    if (meter.noise() > 0 && std::ranges::any_of(report.findings, refused)) report = tlb_once(meter, l1);
    return report;
}

}  // namespace cachetally
