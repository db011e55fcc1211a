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
          arena_(meter.target().make_arena(std::min(meter.capabilities().largest_arena, most_pages * meter.page()),
                                           meter.page())) {}

    std::uint64_t most() const { return arena_.bytes / arena_.page; }

    /// Of a chase through the first `pages` pages.
    double step(std::uint64_t pages) {
        const auto [place, fresh] = known_.try_emplace(pages, 0);
        if (fresh) {
            const PairedStrings strings = paired_strings(pages, arena_.page, l1_.line, l1_.way(), meter_.seed());
            place->second = difference(strings.spread, strings.packed);
        }
        return place->second;
    }

    /// Of a chase with n loads in each of the first `pages` pages, times n: of a page.
    double step_of_page(unsigned n, std::uint64_t pages) {
        Offsets spread, packed;
        for (unsigned i = 0; i < n; ++i) {
            const PairedStrings strings = paired_strings(pages, arena_.page, l1_.line, l1_.way(), meter_.seed() + i);
            // Another line of each page: as far on as there are lines before it in the packed chase.
            const std::uint64_t shift = pages * i / std::max<std::uint64_t>(1, l1_.way() / arena_.page) * l1_.line;
            for (const std::uint64_t offset : strings.spread)
                spread.push_back(offset / arena_.page * arena_.page + (offset + shift) % arena_.page);
            for (const std::uint64_t offset : strings.packed) packed.push_back(offset + i * pages * l1_.line);
        }
        shuffle(spread, meter_.seed());
        shuffle(packed, meter_.seed());
        return difference(spread, packed) * n;
    }

    /// Of a chase through `n` pages, `stride` pages apart.
    double step(std::uint64_t stride, std::uint64_t n) {
        Offsets spread, packed;
        const std::uint64_t lines = std::min(l1_.way(), arena_.page) / l1_.line;
        for (std::uint64_t i = 0; i < n; ++i) {
            spread.push_back(i * stride * arena_.page + i % lines * l1_.line);
            packed.push_back(i * l1_.line);
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
    Arena arena_;
    std::map<std::uint64_t, double> known_;
    double scatter_ = 0, last_ = 0;
};

/// 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
std::vector<Point> sweep(Pairs& pairs) {
    std::vector<Point> points;
    for (std::uint64_t octave = 4; octave < pairs.most(); octave *= 2)
        for (std::uint64_t quarter = 4; quarter < 8; ++quarter) {
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

/// A TLB that is full bends the curve up at the same number of pages however many lines of each are used; a cache that
/// is full of lines or of page table entries does so at fewer pages the more lines are used. (Cooper and Xu 2018, 3.4)
bool confirmed(Pairs& pairs, std::uint64_t entries) {
    const std::uint64_t before = entries - std::max<std::uint64_t>(1, entries / 12),
                        after = entries + std::max<std::uint64_t>(1, entries / 12);
    double first = 0;
    for (unsigned n = 1; n <= 4; ++n) {
        const double from = pairs.step_of_page(n, before), at = pairs.step_of_page(n, entries),
                     to = pairs.step_of_page(n, after);
        const double bend = (to - at) - (at - from);
        if (n == 1) first = bend;
        if (bend < 0.4 * first || bend <= 0) return false;
    }
    return true;
}

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
    std::vector<Edge> edges;
    for (const Edge& edge : EdgeFinder(pairs, points).edges()) {
        const bool real = edges.empty() || confirmed(pairs, edge.low);
        report.decisions.push_back(fmt::format("times of translation rise between {} and {} pages: {}", edge.low,
                                               edge.high,
                                               real ? "a TLB" : "not with several lines of each page, so no TLB"));
        if (real) edges.push_back(edge);
    }
    const auto count = static_cast<double>(edges.size());
    report.answer("", "tlb_levels", count, count, count, "levels", "rises of the time of translation over pages");
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const Edge& edge = edges[i];
        const std::string level = fmt::format("TLB{}", i + 1);
        const auto low = static_cast<double>(edge.low), high = static_cast<double>(edge.high - 1);
        if (i == 0) {
            const Sets sets = first_tlb(pairs, edge.high);
            report.decisions.push_back(
                fmt::format("the first TLB ends between {} and {} pages; sets of pages: {} entries, {} ways", edge.low,
                            edge.high, sets.entries, sets.ways));
            const auto entries = static_cast<double>(sets.entries), ways = static_cast<double>(sets.ways);
            if (sets.ways != 0 && low <= entries && entries <= std::max(high, low)) {
                report.answer(level, "entries", entries, entries, entries, "entries", "compact sets of pages, paired");
                report.answer(level, "ways", ways, ways, ways, "ways", "compact sets of pages, paired");
                continue;
            }
            report.refuse(level, "ways", "sets of pages do not agree with the number of entries");
        }
        if (high - low > 0.1 * low) {
            report.refuse(level, "entries",
                          fmt::format("times begin to rise somewhere between {} and {} pages", low, high));
        } else {
            report.answer(level, "entries", low, low, std::max(low, high), "entries",
                          "end of a quiet stretch of times of translation, bisected");
        }
    }
    return report;
}

}  // namespace cachetally
