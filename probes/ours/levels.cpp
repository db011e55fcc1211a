#include "probes/ours/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t longest_stride = 1024;
constexpr std::uint64_t largest_span = std::uint64_t{64} << 20;  ///< bytes swept, unless the caches need more
constexpr double clear_rise = 0.015;                             ///< share that is a rise beyond doubt
constexpr double level_rise = 0.12;           ///< share by which a level is slower than the one above it, at least
constexpr std::uint64_t moved_by = 21 * 128;  ///< bytes
constexpr double uneven = 1.025;              ///< lines of others keep times from showing all of a level
constexpr double uneven_pages = 1.06;         ///< nor do several pages that lie anywhere and fill sets unevenly
constexpr unsigned points_per_octave = 4;
constexpr std::uint64_t least_large_page = std::uint64_t{1} << 20;
constexpr std::uint64_t least_page = 4096, local_stride = 256;
constexpr std::uint64_t enough_lines = 4096;  ///< of a span, at least
constexpr std::uint64_t most_ways = 64;

struct Point {
    std::uint64_t bytes = 0;
    double cycles = 0;
};

/// What the times of quiet points foretell for larger spans.
struct Trend {
    Point last;
    double slope = 0;  ///< cycles per byte, not negative

    double at(std::uint64_t bytes) const {
        return last.cycles + slope * (static_cast<double>(bytes) - static_cast<double>(last.bytes));
    }
};

/// An end of a level.
struct Edge {
    std::uint64_t low = 0, high = 0;
    std::uint64_t quiet = 0;  ///< the last quiet span
    double latency = 0;       ///< there: of the level that ends here
    bool settled = true;      ///< times before the edge did not rise any more
};

class Sweep {
public:
    Sweep(Meter& meter, const L1Geometry& l1, std::uint64_t stride, std::uint64_t local)
        : meter_(meter),
          l1_(l1),
          stride_(stride),
          local_(local),
          arena_(meter.target().make_arena(std::min(meter.capabilities().largest_arena, largest_span),
                                           meter.large_page())) {
        fields_ = stride_ > l1.line && arena_.bytes >= l1.capacity && sets_are_fields();
        const bool dense = stride_ <= 128;  // many loads: fewer spans
        const double step = std::exp2(1.0 / (dense ? points_per_octave / 2 : points_per_octave));
        for (double bytes = static_cast<double>(l1.capacity);; bytes *= step) {
            const auto whole = static_cast<std::uint64_t>(std::llround(bytes));
            const std::uint64_t rounded = whole / stride_at(whole) * stride_at(whole);
            if (rounded > arena_.bytes) break;
            points_.push_back({rounded, time(rounded)});
        }
    }

    /// Whether a set is chosen by fields of the address in all levels, so that lines far apart are as good as all.
    bool fields() const { return fields_; }

    /// Bytes between the lines of a span: large ones need no more lines than smaller ones to fill sets evenly.
    std::uint64_t stride_at(std::uint64_t bytes) const {
        return fields_ ? std::max(stride_, std::bit_floor(bytes / enough_lines)) : stride_;
    }

    const std::vector<Point>& points() const { return points_; }
    std::uint64_t stride() const { return stride_; }

    double time(std::uint64_t bytes) {
        const auto [place, fresh] = known_.try_emplace(bytes, 0);
        if (fresh) place->second = time(bytes, stride_at(bytes));
        return place->second;
    }

    /// time() after many more laps.
    double long_settled(std::uint64_t bytes) {
        const auto [place, fresh] = known_settled_.try_emplace(bytes, 0);
        if (!fresh) return place->second;
        const Offsets offsets = page_local_string(bytes, local_, stride_at(bytes), meter_.seed());
        const auto laps = static_cast<unsigned>(std::clamp<std::size_t>(65536 / offsets.size(), 3, 256));
        return place->second = meter_.time(arena_, offsets, laps, std::max(1U, laps / 4));
    }

    /// The time where lines lie closer to each other, or farther.
    double time(std::uint64_t bytes, std::uint64_t stride) {
        return time_of(arena_, page_local_string(bytes, local_, stride, meter_.seed()));
    }

    /// time() in other sets, and on other pages.
    double time_moved(std::uint64_t bytes, unsigned move) {
        Offsets offsets = page_local_string(bytes, local_, stride_at(bytes), meter_.seed());
        for (std::uint64_t& offset : offsets) offset += move * moved_by;
        while (others_.size() < move) others_.push_back(meter_.target().make_arena(arena_.bytes, arena_.page));
        return time_of(others_[move - 1], offsets);
    }

    /// The time of all lines of some pages, in an order that leaves little to any TLB. Where sets are fields of the
    /// address pages far apart are as good as all.
    double time_local(std::uint64_t bytes, std::uint64_t line) {
        const std::uint64_t spread =
            fields_ ? std::max<std::uint64_t>(1, std::bit_floor(bytes / (most_ways * least_page))) : 1;
        Offsets offsets = page_local_string(bytes / spread, least_page, line, meter_.seed());
        for (std::uint64_t& offset : offsets) offset += offset / least_page * (spread - 1) * least_page;
        return time_of(arena_, offsets);
    }

private:
    /// Lines that meet in few sets of any level miss if these are chosen by fields of the address; those of sets that
    /// are hashed do not meet.
    bool sets_are_fields() {
        const std::uint64_t sparse = std::max(stride_, std::bit_floor(arena_.bytes / enough_lines));
        const double memory = time(arena_.bytes, sparse);
        for (const std::uint64_t apart : {arena_.bytes / 64, arena_.bytes / 128, arena_.bytes / 256 * 3}) {
            Offsets meeting = strided_string(arena_.bytes, std::max(apart, stride_)), scattered = meeting;
            shuffle(meeting, meter_.seed());
            shuffle(scattered, meter_.seed());
            for (std::size_t i = 0; i < scattered.size(); ++i)
                scattered[i] = scattered[i] / least_page * least_page + i * 128 % least_page;
            const double met = meter_.settled(arena_, meeting) - meter_.settled(arena_, scattered) + l1_.latency;
            if (met > 0.5 * memory) return true;
        }
        return false;
    }

    double time_of(const Arena& arena, const Offsets& offsets) {
        const bool exact = meter_.noise() <= 0;
        const auto laps = static_cast<unsigned>(std::clamp<std::size_t>(
            (exact ? 4096 : 16384) / offsets.size(), exact || offsets.size() >= 100'000 ? 1 : 2, 64));
        return meter_.time(arena, offsets, offsets.size() > 500'000 ? 1 : laps + 1, laps);
    }

public:
    /// The largest span up to `high` whose time does not exceed the trend by more than `share`, from `low`, which does
    /// not; off by no more than `resolution` of it.
    std::uint64_t last_quiet(const Trend& trend, std::uint64_t low, std::uint64_t high, double share,
                             double resolution = 0) {
        const std::uint64_t step = stride_at(high);
        const auto enough = std::max(step, static_cast<std::uint64_t>(static_cast<double>(low) * resolution));
        while (high - low > enough) {
            const std::uint64_t middle = low + (high - low) / 2 / step * step;
            if (middle == low) break;
            (rises_everywhere(trend, middle, share) ? high : low) = middle;
        }
        return low;
    }

    /// Lines of others (of page tables, say) may stay in some sets for good; so other sets are tried, too.
    bool rises_everywhere(const Trend& trend, std::uint64_t bytes, double share) {
        if (!rises(trend, {bytes, time(bytes)}, share)) return false;
        // A small rise may be what is left of the first laps, of which pseudo-LRU keeps something for long.
        if (time(bytes) < 1.2 * trend.at(bytes) && !rises(trend, {bytes, long_settled(bytes)}, share)) return false;
        if (stride_ <= 128 || bytes + 2 * moved_by > arena_.bytes) return true;
        for (unsigned move = 1; move <= 2; ++move)
            if (!rises(trend, {bytes, time_moved(bytes, move)}, share)) return false;
        return true;
    }

    bool rises(const Trend& trend, const Point& point, double share) const {
        const double expected = trend.at(point.bytes);
        return point.cycles > expected * (1 + share) + meter_.tolerance(expected);
    }

private:
    Meter& meter_;
    L1Geometry l1_;
    std::uint64_t stride_, local_;
    bool fields_ = false;
    Arena arena_;
    std::vector<Arena> others_;
    std::vector<Point> points_;
    std::map<std::uint64_t, double> known_, known_settled_;
};

double slope_to(const std::vector<Point>& points, std::size_t i) {
    return (points[i].cycles - points[i - 1].cycles) / static_cast<double>(points[i].bytes - points[i - 1].bytes);
}

/// The first point after a rise that began at `edge` bytes where times are quiet again: where they have nearly stopped
/// rising or, at twice the span, where they would rise faster next than before, as only a next level makes them.
std::size_t next_quiet(const std::vector<Point>& points, std::size_t from, std::uint64_t edge) {
    for (std::size_t i = from; i + 1 < points.size(); ++i) {
        if (points[i + 1].cycles < points[i].cycles * 1.03) return i + 1;
        if (points[i].bytes < 2 * edge || i == from) continue;
        if (slope_to(points, i + 1) > 1.5 * slope_to(points, i)) return i;
    }
    return points.size();
}

std::vector<Edge> find_edges(Sweep& sweep, double noise, std::vector<std::string>& decisions) {
    std::vector<Point> points = sweep.points();
    std::vector<Edge> edges;
    const double least_rise = noise > 0 ? noise : 1e-6;
    Trend trend{points.front(), 0};
    std::size_t i = 1;
    while (i < points.size()) {
        if (sweep.rises(trend, points[i], clear_rise) && !sweep.rises_everywhere(trend, points[i].bytes, clear_rise))
            points[i].cycles = std::min(points[i].cycles, trend.at(points[i].bytes));
        if (!sweep.rises(trend, points[i], clear_rise)) {
            const double slope =
                (points[i].cycles - points[i - 1].cycles) / static_cast<double>(points[i].bytes - points[i - 1].bytes);
            trend = {points[i], std::max(0.0, slope)};
            ++i;
            continue;
        }
        const std::size_t quiet = next_quiet(points, i, trend.last.bytes);
        const double reached = quiet < points.size() ? points[quiet].cycles : points.back().cycles;
        if (reached < trend.at(points[i].bytes) * (1 + level_rise)) {
            trend = {points[std::min(quiet, points.size() - 1)], 0};
            decisions.push_back(fmt::format("a rise to {:.2f} cycles at {} is too small for a level", reached,
                                            format_size(points[i].bytes)));
            i = quiet + 1;
            continue;
        }
        const std::uint64_t low = sweep.last_quiet(trend, trend.last.bytes, points[i].bytes, least_rise);
        const std::uint64_t high = sweep.last_quiet(trend, low, points[i].bytes, clear_rise, 0.005) +
                                   std::max(sweep.stride_at(points[i].bytes), points[i].bytes / 200);
        const bool settled = trend.slope * static_cast<double>(trend.last.bytes) < 0.05 * trend.last.cycles;
        edges.push_back({low, high, trend.last.bytes, trend.last.cycles, settled});
        decisions.push_back(fmt::format("level {} ends between {} and {} bytes", edges.size(), low, high));
        if (quiet >= points.size()) break;
        trend = {points[quiet], std::max(0.0, slope_to(points, quiet))};
        i = quiet + 1;
    }
    return edges;
}

/// Where loads lie close together, lines of lower levels that are longer than those of L1 are used several times.
double full_latency(Sweep& sweep, const Point& point) {
    if (sweep.stride() >= local_stride) return point.cycles;
    return std::max(point.cycles, sweep.time(point.bytes, local_stride));
}

void report_edges(TestReport& report, const std::vector<Edge>& edges, Sweep& sweep, double noise, std::uint64_t page) {
    for (std::size_t i = 1; i < edges.size(); ++i) {  // L1 has a test of its own
        const std::string level = fmt::format("L{}", i + 1);
        const Edge& edge = edges[i];
        const auto low = static_cast<double>(edge.low) * (noise > 0 ? 0.98 : 0.995),
                   high = std::max(static_cast<double>(edge.high),
                                   static_cast<double>(edge.low) * (edge.low > page ? uneven_pages : uneven));
        if (high - low > 0.1 * low) {
            report.refuse(level, "capacity",
                          fmt::format("times begin to rise somewhere between {} and {} bytes", low, high));
        } else {
            report.answer(level, "capacity", static_cast<double>(edge.low), low, high, "bytes",
                          "end of a quiet stretch of times over spans, bisected");
        }
        if (edge.settled) {
            const double latency = full_latency(sweep, {edge.quiet, edge.latency});
            report.answer(level, "latency", latency, latency * (1 - 3 * noise), latency, "cycles",
                          "times before the end of the level");
        } else {
            report.refuse(level, "latency", "times still rise where the level ends");
        }
    }
    const std::vector<Point>& points = sweep.points();
    const Point& last = points.back();
    const Point& before = points[points.size() - 2];
    if (last.cycles > before.cycles * 1.03) {
        report.refuse("memory", "latency", fmt::format("times still rise at {}", format_size(last.bytes)));
        report.refuse("", "levels", fmt::format("times still rise at {}", format_size(last.bytes)));
        return;
    }
    const double memory = full_latency(sweep, last);
    report.answer("memory", "latency", memory, memory * (1 - 3 * noise), memory, "cycles", "times of the largest span");
    const auto count = static_cast<double>(edges.size());
    report.answer("", "levels", count, count, count, "levels", "rises of times over spans");
}

/// Whether all lines, close together, show the same levels. Lines far apart use sets unevenly where their distance is
/// no divisor of a way, or where the set is no field of the address.
bool same_when_dense(Sweep& sweep, const std::vector<Edge>& edges, std::uint64_t line) {
    const std::vector<Point>& points = sweep.points();
    const auto time = [&](std::uint64_t bytes) {
        return sweep.fields() ? sweep.time_local(bytes, line) : sweep.time(bytes, line);
    };
    for (std::size_t i = 1; i <= edges.size(); ++i) {
        const auto bytes = i < edges.size() ? edges[i].low / 100 * 95 : points.back().bytes;
        const std::uint64_t stride = sweep.stride_at(bytes);
        const double dense = time(bytes), sparse = sweep.time(bytes / stride * stride);
        if (dense > 1.1 * sparse) return false;  // less is well: longer lines of lower levels are used more often
        if (i == edges.size()) break;
        if (time(edges[i].high / 100 * 125) < dense * 1.05) return false;
    }
    return true;
}

/// Whether some TLB has been taken for a level: one that holds little of a large page.
bool shows_tlb(Sweep& sweep, const std::vector<Edge>& edges, std::uint64_t line) {
    for (std::size_t i = 1; i < edges.size(); ++i)
        if (sweep.time_local(edges[i].high / 100 * 140, line) < sweep.time_local(edges[i].low / 100 * 95, line) * 1.05)
            return true;
    return false;
}

TestReport levels_of(Meter& meter, const L1Geometry& l1, std::uint64_t stride, std::uint64_t local) {
    TestReport report;
    report.test = "levels";
    report.variant = "hardened";
    Sweep sweep(meter, l1, stride, local);
    Curve curve{"levels", "hardened", "times", "span", "bytes", {}, {}, {}, {}};
    for (const Point& point : sweep.points()) {
        curve.x.push_back(static_cast<double>(point.bytes));
        curve.cycles.push_back(point.cycles);
    }
    if (sweep.points().size() < 2) {
        report.refuse(
            "", "levels",
            fmt::format("an arena of {} is no larger than L1", format_size(meter.capabilities().largest_arena)));
        return report;
    }
    const std::vector<Edge> edges = find_edges(sweep, meter.noise(), report.decisions);
    if (stride > l1.line && !same_when_dense(sweep, edges, l1.line))
        return levels_of(meter, l1, sweep.fields() ? std::max(l1.line, stride / 4) : l1.line, local);
    if (local > least_page && shows_tlb(sweep, edges, l1.line))
        return levels_of(meter, l1, std::max(l1.line, local_stride), least_page);
    report_edges(report, edges, sweep, meter.noise(), meter.large_page());
    report.curves.push_back(std::move(curve));
    return report;
}

}  // namespace

TestReport levels_hardened(Meter& meter, const L1Geometry& l1) {
    if (meter.large_page() < least_large_page) {
        TestReport report;
        report.test = "levels";
        report.variant = "hardened";
        for (const char* parameter : {"levels", "capacity"})
            report.refuse("", parameter,
                          "there are no large pages: small ones may lie anywhere, so that sets fill unevenly, and TLBs "
                          "are in the times");
        return report;
    }
    return levels_of(meter, l1, std::min(std::max(l1.way(), l1.line), longest_stride), meter.large_page());
}

}  // namespace cachetally
