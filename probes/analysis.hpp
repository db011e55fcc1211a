// SPDX-License-Identifier: BSD-3-Clause
// What becomes of measured times and counts: bisection, change points of response curves, and how many pages fit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cachetally {

/// Two numbers that follow each other: a condition is true of `low`, and not of `high`.
struct Bisected {
    std::uint64_t low = 0, high = 0;
};

/// `holds` is true of `low` and not of `high`, of neither of which it is asked.
template <class Holds>
Bisected bisect(std::uint64_t low, std::uint64_t high, const Holds& holds) {
    while (high - low > 1) {
        const std::uint64_t middle = (low + high) / 2;
        (holds(middle) ? low : high) = middle;
    }
    return {low, high};
}

/// Leaves out groups of lines as long as `holds` is true of the others: a least set of which it is, if it is of `lines`
/// and of whatever has that set. (after Vila, Koepf, Morales 2019, "Theory and Practice of Finding Eviction Sets")
template <class Holds>
std::vector<std::uint64_t> least_set(std::vector<std::uint64_t> lines, const Holds& holds) {
    std::size_t parts = 2;
    for (std::size_t before = 0; lines.size() != before || parts < lines.size();) {
        parts = lines.size() == before ? 2 * parts : std::max<std::size_t>(2, parts - 1);
        parts = std::min(parts, lines.size());
        before = lines.size();
        for (std::size_t part = parts; part-- > 0;) {
            std::vector<std::uint64_t> fewer = lines;
            const auto at = [&](std::size_t i) {
                return fewer.begin() + static_cast<std::ptrdiff_t>(before * i / parts);
            };
            fewer.erase(at(part), at(part + 1));
            if (holds(fewer)) lines = std::move(fewer);
        }
    }
    return lines;
}

/// The non-decreasing values that are nearest to `values` in the sum of squares (pool adjacent violators). Larger spans
/// are never quicker, so that what falls is noise.
std::vector<double> isotonic(std::span<const double> values);

/// Where a piecewise constant signal changes: the first index of each piece but the first, ascending. The pieces have
/// the least sum of squared deviations plus `penalty` for each. (Killick, Fearnhead, Eckley 2012: PELT, exact in
/// expected linear time)
std::vector<std::size_t> change_points(std::span<const double> values, double penalty);

/// A level of a response curve: a stretch of points where times stand still.
struct Plateau {
    std::size_t first = 0, last = 0;  ///< points
    double value = 0;                 ///< mean of what the pieces were fitted to
};

/// Plateaus of times over spans that grow by equal ratios: log times made isotonic, cut by PELT; pieces of at least
/// `least_points` points are plateaus, shorter ones the ramps between them. `noise` is the share by which times
/// scatter.
std::vector<Plateau> plateaus(std::span<const double> times, double noise, std::size_t least_points);

/// Probability that `pages` pages, each in one of `colours` classes of sets with equal chance, leave at most `ways` in
/// each class. Not exact but for small numbers: the sum of truncated Poisson numbers is taken to be normal. (Levin
/// 1981)
double chance_that_all_fit(std::uint64_t pages, std::uint64_t colours, std::uint64_t ways);

/// Number of classes with an interval, from the numbers of pages with which each of some trials failed to fit first.
struct ColourEstimate {
    std::uint64_t colours = 0;  ///< the likeliest; 0 = none is likely
    std::uint64_t low = 0, high = 0;
    bool contiguous = false;  ///< pages did not lie anywhere: all trials failed with the same number
};
/// By likelihood: the interval holds what is at most exp(2) times less likely than the likeliest. Where numbers scatter
/// much less than pages that lie anywhere make them, none is likely. (ours)
ColourEstimate estimate_colours(std::span<const std::uint64_t> first_failures, std::uint64_t ways);

}  // namespace cachetally
