// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/level_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/units.hpp"

namespace cachetally {
namespace {

constexpr double level_rise = 0.12;  ///< share by which a level is slower than the one above it, at least
/// Share by which times of one level rise little by little, at most: random replacement, lines of page tables.
constexpr double gradual_rise = 0.06;
constexpr double least_growth = 1.9;  ///< of levels that are distinguished from how the one above overflows

double slope_to(const std::vector<SpanTime>& points, std::size_t i) {
    return (points[i].cycles - points[i - 1].cycles) / static_cast<double>(points[i].bytes - points[i - 1].bytes);
}

/// The first point after a rise that began at `edge` bytes where times are quiet again: where they have nearly stopped
/// rising or, at twice the span, where they would rise faster next than before, as only a next level makes them.
std::size_t next_quiet(const std::vector<SpanTime>& points, std::size_t from, std::uint64_t edge) {
    for (std::size_t i = from; i + 1 < points.size(); ++i) {
        const double ratio = points[i + 1].cycles / points[i].cycles;
        if (0.98 < ratio && ratio < 1.03) return i + 1;  // where they fall, they have not settled yet
        if (points[i].bytes < 2 * edge || i == from) continue;
        if (slope_to(points, i + 1) > 1.5 * slope_to(points, i)) return i;
    }
    return points.size();
}

/// A rise within what is taken for one level, where it is more than a share of its times.
void note_small(LevelEdges& found, const SpanTime& from, std::uint64_t bytes, double reached, double share) {
    if (reached > from.cycles * (1 + share)) found.small.push_back({found.edges.size(), bytes, from.cycles, reached});
}

}  // namespace

LevelEdges find_level_edges(SpanSweep& sweep, double noise, std::vector<std::string>& decisions) {
    std::vector<SpanTime> points = sweep.points();
    LevelEdges found;
    std::vector<LevelEdge>& edges = found.edges;
    const double least_rise = noise > 0 ? noise : 1e-6;
    Trend trend{points.front(), 0};
    SpanTime begin = trend.last;  // of the quiet stretch
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
            note_small(found, trend.last, points[i].bytes, reached, clear_rise);
            trend = {points[std::min(quiet, points.size() - 1)], 0};
            decisions.push_back(fmt::format("a rise to {:.2f} cycles at {} is too small for a level", reached,
                                            format_size(points[i].bytes)));
            begin = trend.last;
            i = quiet + 1;
            continue;
        }
        note_small(found, begin, trend.last.bytes, trend.last.cycles, gradual_rise);
        const std::uint64_t low = sweep.last_quiet(trend, trend.last.bytes, points[i].bytes, least_rise);
        const std::uint64_t high = sweep.last_quiet(trend, low, points[i].bytes, clear_rise, 0.005) +
                                   std::max(sweep.stride_at(points[i].bytes), points[i].bytes / 200);
        const bool settled = trend.slope * static_cast<double>(trend.last.bytes) < 0.05 * trend.last.cycles;
        edges.push_back({low, high, trend.last.bytes, trend.last.cycles, settled});
        decisions.push_back(fmt::format("level {} ends {}", edges.size(), edge_in_words(low, high, "bytes")));
        if (quiet >= points.size()) return found;
        begin = points[quiet];
        trend = {points[quiet], std::max(0.0, slope_to(points, quiet))};
        i = quiet + 1;
    }
    note_small(found, begin, points.back().bytes, points.back().cycles, gradual_rise);
    return found;
}

namespace {

/// Of a level: ways are up to 3 times a power of two long, and there are up to 24 of them, so that a piece lies in one
/// third of a way, or less.
constexpr std::uint64_t pieces_of_level = 96;
constexpr unsigned enough_failures = 64;   ///< in a row
constexpr unsigned least_failures = 32;    ///< where no pieces are left
constexpr std::size_t most_trials = 1024;  ///< pieces that are tried

class Packing {
public:
    Packing(SpanSweep& sweep, std::uint64_t quiet, double inside, double beyond)
        : sweep_(sweep),
          quiet_(quiet),
          piece_(std::bit_floor(quiet / pieces_of_level)),
          stride_(std::min(sweep.stride_at(quiet), piece_)),
          most_(inside + (beyond - inside) / 2) {
        for (std::uint64_t i = 0; i < quiet / piece_; ++i) held_.push_back(i * piece_);
        cycles_ = time();
    }

    /// Takes out what does not fit: on other pages the level may have been quiet for longer.
    void prune() {
        for (std::size_t i = held_.size(); i-- > 0;) {
            const double before = cycles_ * loads();
            const std::uint64_t taken = std::exchange(held_[i], held_.back());
            held_.pop_back();
            const double cycles = time();
            if (before - cycles * loads() > most_ * static_cast<double>(lines())) {
                cycles_ = cycles;
            } else {
                held_.push_back(taken);
            }
        }
    }

    std::optional<std::uint64_t> fill() {
        unsigned failures = 0;
        for (const std::uint64_t candidate : candidates()) {
            failures = fits(candidate) ? 0 : failures + 1;
            if (failures == enough_failures) break;
        }
        if (failures < least_failures) return std::nullopt;
        return held_.size() * piece_;
    }

private:
    /// Pieces beyond those held, in random order: those of a page fill sets next to each other.
    std::vector<std::uint64_t> candidates() const {
        std::vector<std::uint64_t> rest;
        for (std::uint64_t at = quiet_ / piece_ * piece_; at + piece_ <= sweep_.arena_bytes(); at += piece_)
            rest.push_back(at);
        shuffle(rest, piece_);
        rest.resize(std::min(rest.size(), most_trials));
        return rest;
    }

    double time() { return sweep_.time_of_pieces(held_, piece_, stride_); }
    double loads() const { return static_cast<double>(held_.size() * lines()); }
    std::uint64_t lines() const { return piece_ / stride_; }

    bool fits(std::uint64_t candidate) {
        const double before = cycles_ * loads();
        held_.push_back(candidate);
        const double cycles = time();
        if (cycles * loads() - before > most_ * static_cast<double>(lines())) {
            held_.pop_back();
            return false;
        }
        cycles_ = cycles;
        return true;
    }

    SpanSweep& sweep_;
    std::uint64_t quiet_, piece_, stride_;
    double most_;                      ///< cycles of a line that fits
    std::vector<std::uint64_t> held_;  ///< offsets of pieces
    double cycles_ = 0;                ///< per load of what is held
};

}  // namespace

std::size_t close_level(const std::vector<LevelEdge>& edges) {
    for (std::size_t i = 1; i < edges.size(); ++i)
        if (static_cast<double>(edges[i].low) < least_growth * static_cast<double>(edges[i - 1].low)) return i;
    return 0;
}

std::string in_words(const LevelEdge& above, const LevelEdge& close) {
    return fmt::format(
        "times rise at {} and again at {}, less than twice as much: a level, or how the one above it overflows",
        format_size(above.low), format_size(close.low));
}

std::optional<std::uint64_t> packed_capacity(SpanSweep& sweep, std::uint64_t quiet, double inside, double beyond) {
    if (!sweep.fields() || quiet < pieces_of_level * sweep.stride_at(quiet)) return std::nullopt;
    Packing packing(sweep, quiet, inside, beyond);
    packing.prune();
    return packing.fill();
}

namespace {

constexpr std::uint64_t least_page = 4096;
constexpr double most_of_pages = 0.2;       ///< share of a time that TLBs may add
constexpr std::size_t latency_askings = 3;  ///< with noise
constexpr double agreed_latency = 0.02;     ///< share by which a second answer is more, at most

/// Where loads lie close together, lines of lower levels that are longer than those of L1 are used several times; where
/// TLBs are in the times, what a page costs is shared by the loads of a page, and leaves with their number.
double full_latency(SpanSweep& sweep, const SpanTime& point) {
    const std::uint64_t apart = sweep.apart(point.bytes);
    if (sweep.local() == least_page) {
        const double many = sweep.time(point.bytes, apart), half = sweep.time(point.bytes, 2 * apart);
        return many - std::clamp(half - many, 0.0, most_of_pages * many);
    }
    if (sweep.stride() >= apart) return point.cycles;
    return std::max(point.cycles, sweep.time(point.bytes, apart));
}

}  // namespace

SpanTime within_level(SpanSweep& sweep, const LevelEdge& edge, const LevelEdge& above, double noise) {
    const std::uint64_t less = edge.quiet / 8 * 7, bytes = less / sweep.stride_at(less) * sweep.stride_at(less);
    if (noise == 0 || bytes < 4 * above.high) return {edge.quiet, edge.latency};
    return {bytes, std::min(edge.latency, sweep.time(bytes))};
}

std::optional<double> sure_latency(SpanSweep& sweep, const SpanTime& point, double noise) {
    std::vector<double> all{full_latency(sweep, point)};
    if (noise == 0) return all.front();
    while (all.size() < latency_askings)
        all.push_back(full_latency(sweep, {point.bytes, sweep.time(point.bytes, sweep.stride_at(point.bytes))}));
    std::ranges::sort(all);
    return all[1] <= all[0] * (1 + agreed_latency) ? std::optional(all[0]) : std::nullopt;
}

}  // namespace cachetally
