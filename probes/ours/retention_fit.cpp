// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "probes/ours/retention.hpp"

namespace cachetally {
namespace {

constexpr std::array<unsigned, 14> ways_tried{0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32};
constexpr double step = 1.01;         ///< between capacities that are tried
constexpr double least_growth = 1.5;  ///< of a level over the one above
constexpr std::size_t most_levels = 4;
constexpr unsigned rounds = 4;       ///< in which each level is sought again beside the others
constexpr double much_better = 0.6;  ///< of the error: another level has to bring as much
constexpr double least_step = 0.12;  ///< of a latency, by which the next level is longer
constexpr double nearly = 4;         ///< deviations, squared: other capacities that remain possible
constexpr double never_below = 0.045, never_above = 0.04;  ///< shares: pages that are drawn are few; more stays than
                                                           ///< holds, rather than less

/// One column of the model by point: the share that does not stay.
using Column = std::vector<double>;

/// Least squares of relative differences; nothing if a coefficient is negative.
struct Solution {
    std::vector<double> steps;
    double error = std::numeric_limits<double>::infinity();
};

Solution solve(std::span<const Column* const> columns, std::span<const RetentionPoint> points, double first) {
    const std::size_t n = columns.size();
    std::vector<std::vector<double>> system(n, std::vector<double>(n + 1, 0));
    for (std::size_t p = 0; p < points.size(); ++p) {
        const double weight = 1 / points[p].cycles / points[p].cycles, rest = points[p].cycles - first;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) system[i][j] += weight * (*columns[i])[p] * (*columns[j])[p];
            system[i][n] += weight * (*columns[i])[p] * rest;
        }
    }
    for (std::size_t i = 0; i < n; ++i) {  // Gauss and Jordan: the matrix is positive
        if (system[i][i] < 1e-12) return {};
        for (std::size_t j = 0; j < n; ++j) {
            if (j == i) continue;
            const double factor = system[j][i] / system[i][i];
            for (std::size_t k = i; k <= n; ++k) system[j][k] -= factor * system[i][k];
        }
    }
    Solution found;
    for (std::size_t i = 0; i < n; ++i) {
        found.steps.push_back(system[i][n] / system[i][i]);
        if (found.steps.back() <= 0) return {};
    }
    double squares = 0;
    for (std::size_t p = 0; p < points.size(); ++p) {
        double cycles = first;
        for (std::size_t i = 0; i < n; ++i) cycles += found.steps[i] * (*columns[i])[p];
        squares += std::pow(cycles / points[p].cycles - 1, 2);
    }
    found.error = std::sqrt(squares / static_cast<double>(points.size()));
    return found;
}

class Search {
public:
    Search(std::span<const RetentionPoint> points, const L1Geometry& l1, double page)
        : points_(points), page_(page), first_(l1.latency), l1_(static_cast<double>(l1.capacity)) {
        column_of_l1_ = column({l1_, static_cast<double>(l1.way()) > page ? l1.ways : 0});
        for (double capacity = least_growth * l1_; capacity < points.back().bytes; capacity *= step)
            for (const unsigned ways : ways_tried) {
                if (ways != 0 && capacity <= ways * page) continue;  // as if sharp
                tried_.push_back({capacity, ways});
                columns_.push_back(column(tried_.back()));
            }
    }

    /// The best so many levels, by their number among those tried.
    std::vector<std::size_t> best(std::vector<std::size_t> known, std::size_t levels) {
        while (known.size() < levels) {
            known.push_back(0);
            known.back() = best_at(known, known.size() - 1);
        }
        for (unsigned round = 0; round < rounds && levels > 1; ++round)
            for (std::size_t i = 0; i < levels; ++i) known[i] = best_at(known, i);
        std::ranges::sort(known);
        return known;
    }

    Solution with(std::span<const std::size_t> levels) const {
        std::vector<const Column*> columns{&column_of_l1_};
        for (const std::size_t level : levels) columns.push_back(&columns_[level]);
        return solve(columns, points_, first_);
    }

    /// Whether each level takes clearly longer than the one above.
    bool differ(std::span<const std::size_t> levels) const {
        double latency = first_;
        for (const double more : with(levels).steps) {
            if (more < least_step * latency) return false;
            latency += more;
        }
        return true;
    }

    RetentionFit result(std::vector<std::size_t> levels) {
        const Solution best = with(levels);
        RetentionFit fit{.error = best.error};
        double latency = first_;
        for (std::size_t i = 0; i < levels.size(); ++i) {
            latency += best.steps[i];
            RetentionLevel level{tried_[levels[i]]};
            level.latency = latency;
            std::tie(level.low, level.high) = possible(levels, i, best.error);
            // Some lines that a random or similar policy takes here are still above.
            const double above = i == 0 ? l1_ : tried_[levels[i - 1]].capacity;
            level.low -= above * above / level.shape.capacity / 2;
            fit.levels.push_back(level);
        }
        return fit;
    }

private:
    Column column(const Shape& shape) const {
        Column found;
        for (const RetentionPoint& point : points_) {
            const double lost = 1 - share_retained(shape, point.bytes, page_);
            found.push_back(lost * (1 + point.part / 2));  // lines of the part that those before them take, on average
        }
        return found;
    }

    /// Whether levels grow from one to the next.
    bool grow(std::vector<std::size_t> levels) const {
        std::ranges::sort(levels);
        for (std::size_t i = 1; i < levels.size(); ++i)
            if (tried_[levels[i]].capacity < least_growth * tried_[levels[i - 1]].capacity) return false;
        return true;
    }

    std::size_t best_at(std::vector<std::size_t> levels, std::size_t place) const {
        double least = std::numeric_limits<double>::infinity();
        std::size_t found = levels[place];
        for (std::size_t i = 0; i < tried_.size(); ++i) {
            levels[place] = i;
            if (!grow(levels)) continue;
            const double error = with(levels).error;
            if (error < least) least = error, found = i;
        }
        return found;
    }

    /// Capacities of a level with which the others, changed as well, explain the times nearly as well.
    std::pair<double, double> possible(const std::vector<std::size_t>& levels, std::size_t place, double best) const {
        constexpr double range = 1.3;
        const double capacity = tried_[levels[place]].capacity;
        const double freedom = static_cast<double>(points_.size()) - 2.0 * static_cast<double>(levels.size()) - 1;
        const double most = best * std::sqrt(1 + nearly / std::max(1.0, freedom));
        double low = capacity * (1 - never_below), high = capacity * (1 + never_above);
        std::vector<std::size_t> others = levels;
        for (std::size_t i = 0; i < tried_.size(); ++i) {
            const double other = tried_[i].capacity;
            if (other > capacity * range || other * range < capacity || (other >= low && other <= high)) continue;
            others[place] = i;
            double error = with(others).error;
            if (error > most && error < 2 * most && levels.size() > 1) {
                std::vector<std::size_t> again = others;
                for (std::size_t j = 0; j < levels.size(); ++j)
                    if (j != place) again[j] = near(again, j);
                error = with(again).error;
            }
            if (error <= most) low = std::min(low, other), high = std::max(high, other);
        }
        return {low, high};
    }

    /// The best capacity near that of a level, beside the others.
    std::size_t near(std::vector<std::size_t> levels, std::size_t place) const {
        constexpr double range = 1.2;
        const double capacity = tried_[levels[place]].capacity;
        double least = std::numeric_limits<double>::infinity();
        std::size_t found = levels[place];
        for (std::size_t i = 0; i < tried_.size(); ++i) {
            if (tried_[i].capacity > capacity * range || tried_[i].capacity * range < capacity) continue;
            levels[place] = i;
            const double error = with(levels).error;
            if (error < least) least = error, found = i;
        }
        return found;
    }

    std::span<const RetentionPoint> points_;
    double page_, first_, l1_;
    Column column_of_l1_;
    std::vector<Shape> tried_;  ///< ascending capacities
    std::vector<Column> columns_;
};

}  // namespace

double share_retained(const Shape& shape, double bytes, double page) {
    const double sharp = std::min(1.0, shape.capacity / bytes);
    if (shape.ways == 0 || shape.capacity <= shape.ways * page) return sharp;
    const double pages = bytes / page, chance = shape.ways * page / shape.capacity;
    // The pages of a colour that do not fill it: sum of (ways - k) x P(K = k).
    double probability = std::exp(pages * std::log1p(-chance)), left = 0;
    for (unsigned k = 0; k < shape.ways && k <= pages; ++k) {
        left += (shape.ways - k) * probability;
        probability *= (pages - k) / (k + 1) * chance / (1 - chance);
    }
    return (shape.ways - left) / (pages * chance);
}

std::optional<RetentionFit> fit_retention(std::span<const RetentionPoint> points, const L1Geometry& l1, double page,
                                          double enough) {
    if (points.size() < 4) return std::nullopt;
    Search search(points, l1, page);
    std::vector<std::size_t> levels;
    double error = search.with(levels).error;
    while (error > enough && levels.size() < most_levels) {
        const std::vector<std::size_t> more = search.best(levels, levels.size() + 1);
        const double less = search.with(more).error;
        if (!(less < much_better * error) || !search.differ(more)) break;
        levels = more;
        error = less;
    }
    if (!std::isfinite(error)) return std::nullopt;
    return search.result(std::move(levels));
}

}  // namespace cachetally
