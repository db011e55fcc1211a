#include "probes/ours/tlb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_pages = 8192;
constexpr double least_step = 0.4;  ///< cycles per load by which a miss of a TLB slows it down, at least

struct Point {
    std::uint64_t pages = 0;
    double cycles = 0;  ///< of translation, per load
};

/// Times of translation.
class Pairs {
public:
    Pairs(Meter& meter, const L1Geometry& l1)
        : meter_(meter),
          l1_(l1),
          unit_(std::max<std::uint64_t>(l1.line, 128)),
          arena_(meter.target().make_arena(std::min(meter.capabilities().largest_arena, most_pages * meter.page()),
                                           meter.page())) {}

    std::uint64_t most() const { return arena_.bytes / arena_.page; }

    /// Of a chase through the first `pages` pages.
    double step(std::uint64_t pages) {
        const auto [place, fresh] = known_.try_emplace(pages, 0);
        if (fresh) {
            const PairedStrings strings = paired_strings(pages, arena_.page, unit_, meter_.seed());
            place->second = difference(strings.spread, strings.packed);
        }
        return place->second;
    }

    /// Of a lap through these pages.
    double lap(const std::vector<std::uint64_t>& pages) {
        Offsets spread, packed;
        const std::uint64_t lines = arena_.page / unit_;
        for (std::size_t i = 0; i < pages.size(); ++i) {
            spread.push_back(pages[i] * arena_.page + i % lines * unit_);
            packed.push_back(i * unit_);
        }
        shuffle(spread, meter_.seed());
        shuffle(packed, meter_.seed());
        return difference(spread, packed) * static_cast<double>(pages.size());
    }

    /// Of a chase through `n` pages, `stride` pages apart.
    double step(std::uint64_t stride, std::uint64_t n) {
        Offsets spread, packed;
        const std::uint64_t lines = std::min(l1_.way(), arena_.page) / unit_;
        for (std::uint64_t i = 0; i < n; ++i) {
            spread.push_back(i * stride * arena_.page + i % lines * unit_);
            packed.push_back(i * unit_);
        }
        shuffle(spread, meter_.seed());
        shuffle(packed, meter_.seed());
        return difference(spread, packed);
    }

    bool fits(std::uint64_t stride, std::uint64_t n) const { return stride * n <= most(); }

    /// What a difference may be off by.
    double tolerance() const { return scatter_; }

private:
    double difference(const Offsets& spread, const Offsets& packed) {
        const double a = meter_.settled(arena_, spread), b = meter_.settled(arena_, packed);
        scatter_ = std::max(scatter_, 0.0);
        last_ = std::max(a, b);
        return a - b - meter_.tolerance(last_);
    }

    Meter& meter_;
    L1Geometry l1_;
    std::uint64_t unit_;  ///< bytes between lines that are used: lower levels may have longer lines than L1
    Arena arena_;
    std::map<std::uint64_t, double> known_;
    double scatter_ = 0, last_ = 0;
};

/// 4, 5, 6, 7, 8, 10, 12, 14, ..., 128, 192, 256, ...
std::vector<Point> sweep(Pairs& pairs) {
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
    EdgeFinder(Pairs& pairs, const std::vector<Point>& points) : pairs_(pairs), points_(points) {}

    std::vector<Edge> edges() {
        std::vector<Edge> found;
        for (std::size_t i = 1; i < points_.size(); ++i) {
            const double slope =
                i > 1 ? std::max(0.0, (points_[i - 1].cycles - points_[i - 2].cycles) / distance(i - 1)) : 0;
            const double foretold = points_[i - 1].cycles + (quiet_before(i) ? slope * distance(i) : 0);
            if (points_[i].cycles <= foretold + clear(foretold)) continue;
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
    bool quiet_before(std::size_t i) const { return i > 1; }

    std::uint64_t last_quiet(const Point& from, double slope, std::uint64_t high, double rise) {
        std::uint64_t low = from.pages;
        while (high - low > 1) {
            const std::uint64_t middle = (low + high) / 2;
            const double foretold = from.cycles + slope * static_cast<double>(middle - from.pages);
            (pairs_.step(middle) > foretold + rise ? high : low) = middle;
        }
        return low;
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

    Pairs& pairs_;
    const std::vector<Point>& points_;
};

/// Ways and entries of the first TLB by (X-Ray, Figure 8) on pages; 0 ways = not found.
struct Sets {
    std::uint64_t ways = 0, entries = 0;
};
Sets first_tlb(Pairs& pairs, std::uint64_t limit) {
    const auto misses = [&](std::uint64_t stride, std::uint64_t n) { return pairs.step(stride, n) > 0.02; };
    std::uint64_t old = 0, high = limit;
    for (std::uint64_t stride = 1;; stride *= 2) {
        std::uint64_t low = 0;
        if (!pairs.fits(stride, high) || !misses(stride, high)) return {};
        while (high - low > 1) {
            const std::uint64_t middle = (low + high) / 2;
            (misses(stride, middle) ? high : low) = middle;
        }
        if (high == old) return {high - 1, (high - 1) * stride / 2};
        old = high;
    }
}

/// The second TLB by compact sets of pages <S,n,S_old,r> (X-Ray, 4.5.1): pages that are S apart, and others that share
/// the set of the first TLB with them, so that it misses, but never that of the second.
class SecondTlb {
public:
    SecondTlb(Pairs& pairs, const Sets& first)
        : pairs_(pairs), first_(first), first_sets_(first.entries / first.ways) {}

    Sets find() {
        std::uint64_t stride = 2048;
        while (!pairs_.fits(stride, most_ways + 2) && stride > 1) stride /= 2;
        const std::uint64_t full = first_misses(stride);
        if (full == 0) return {};
        // Down to the least stride at which as few pages fill a set.
        while (stride > 2 * first_sets_ && first_misses(stride / 2) == full) stride /= 2;
        if (stride > 2 * first_sets_ && !twice(stride / 2, full)) return {};
        return {full - 1, (full - 1) * stride};
    }

private:
    static constexpr std::uint64_t most_ways = 24;

    double lap(std::uint64_t stride, std::uint64_t n) {
        std::vector<std::uint64_t> pages;
        for (std::uint64_t i = 0; i < n; ++i) pages.push_back(i * stride);
        const std::uint64_t others = first_.ways + (first_.ways + 1) / 2 + 2;
        for (std::uint64_t i = 0; i < others; ++i) pages.push_back((2 * i + 1) * first_sets_);
        return pairs_.lap(pages) / static_cast<double>(pages.size());
    }

    /// Whether n pages do not fit, seen from what one page less costs.
    bool bends(std::uint64_t stride, std::uint64_t n) {
        const double before = lap(stride, n - 1), after = lap(stride, n);
        const auto loads = static_cast<double>(n + first_.ways + (first_.ways + 1) / 2 + 2);
        return (after - before) * loads > 3;
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

    Pairs& pairs_;
    Sets first_;
    std::uint64_t first_sets_;
};

/// Times of translation are flat up to so many pages, and rise beyond.
bool ends_at(Pairs& pairs, std::uint64_t entries) {
    const std::uint64_t part = std::max<std::uint64_t>(1, entries / 12);
    const double from = pairs.step(entries - part), at = pairs.step(entries - part / 4),
                 to = pairs.step(entries + part);
    return std::abs(at - from) < 0.05 * at + 0.1 && to - at > 2 + std::abs(at - from);
}

void answer_first(TestReport& report, Pairs& pairs, const Edge& edge, Sets& sets) {
    sets = first_tlb(pairs, edge.high);
    report.decisions.push_back(
        fmt::format("the first TLB ends between {} and {} pages; sets of pages: {} entries, {} ways", edge.low,
                    edge.high, sets.entries, sets.ways));
    const auto low = static_cast<double>(edge.low), high = static_cast<double>(std::max(edge.low, edge.high - 1));
    const auto entries = static_cast<double>(sets.entries), ways = static_cast<double>(sets.ways);
    if (sets.ways != 0 && low <= entries && entries <= high) {
        report.answer("TLB1", "entries", entries, entries, entries, "entries", "compact sets of pages, paired");
        report.answer("TLB1", "ways", ways, ways, ways, "ways", "compact sets of pages, paired");
        return;
    }
    sets = {};
    report.refuse("TLB1", "ways", "sets of pages do not agree with the number of entries");
    if (high - low > 0.1 * low) {
        report.refuse("TLB1", "entries",
                      fmt::format("times begin to rise somewhere between {} and {} pages", low, high));
    } else {
        report.answer("TLB1", "entries", low, low, high, "entries",
                      "end of a quiet stretch of times of translation, bisected");
    }
}

/// Number of levels, and the second TLB.
void answer_second(TestReport& report, Pairs& pairs, const std::vector<Edge>& edges, const Sets& first) {
    const Sets second = first.ways == 0 ? Sets{} : SecondTlb(pairs, first).find();
    const bool ends = second.ways != 0 && second.entries < pairs.most() && ends_at(pairs, second.entries);
    report.decisions.push_back(fmt::format("a second TLB by sets of pages: {} entries, {} ways; times {} there",
                                           second.entries, second.ways, ends ? "end to be flat" : "do not rise"));
    if (ends) {
        const auto entries = static_cast<double>(second.entries), ways = static_cast<double>(second.ways);
        report.answer("TLB2", "entries", entries, entries, entries, "entries",
                      "compact sets of pages with a first TLB that misses, paired");
        report.answer("TLB2", "ways", ways, ways, ways, "ways",
                      "compact sets of pages with a first TLB that misses, paired");
        report.answer("", "tlb_levels", 2, 2, 2, "levels",
                      "compact sets of pages, and rises of the time of translation");
        return;
    }
    for (std::size_t i = 1; i < edges.size(); ++i) {
        if (edges[i].low < 2 * edges[0].low || !ends_at(pairs, edges[i].low)) continue;
        report.refuse(
            "", "tlb_levels",
            fmt::format("times of translation rise at {} pages as if a TLB was full, but sets of pages show none",
                        edges[i].low));
        return;
    }
    report.answer("", "tlb_levels", 1, 1, 1, "levels", "rises of the time of translation over pages");
}

}  // namespace

TestReport tlb_hardened(Meter& meter, const L1Geometry& l1) {
    TestReport report;
    report.test = "tlb";
    report.variant = "hardened";
    Pairs pairs(meter, l1);
    const std::vector<Point> points = sweep(pairs);
    Curve curve{"tlb", "hardened", "translation", "pages", "pages", {}, {}, {}, {}};
    for (const Point& point : points) {
        curve.x.push_back(static_cast<double>(point.pages));
        curve.cycles.push_back(point.cycles);
    }
    report.curves.push_back(std::move(curve));
    if (points.size() < 2) {
        report.refuse(
            "", "tlb_levels",
            fmt::format("an arena of {} holds too few pages", format_size(meter.capabilities().largest_arena)));
        return report;
    }
    const std::vector<Edge> edges = EdgeFinder(pairs, points).edges();
    for (const Edge& edge : edges)
        report.decisions.push_back(
            fmt::format("times of translation rise between {} and {} pages", edge.low, edge.high));
    if (edges.empty()) {
        report.answer("", "tlb_levels", 0, 0, 0, "levels", "the time of translation does not rise over pages");
        return report;
    }
    Sets first;
    answer_first(report, pairs, edges.front(), first);
    answer_second(report, pairs, edges, first);
    return report;
}

}  // namespace cachetally
