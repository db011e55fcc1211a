// SPDX-License-Identifier: BSD-3-Clause
// Change points of a response curve: isotonic regression of log times, then PELT.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cachetally {

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

}  // namespace cachetally
