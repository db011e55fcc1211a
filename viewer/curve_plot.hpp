// SPDX-License-Identifier: BSD-3-Clause
// Response curves, drawn with letters.
#pragma once

#include <string>

#include "probes/result.hpp"
#include "viewer/plot.hpp"

namespace cachetally {

/// The points of a curve on two logarithmic axes: "*" (Unicode: "●"), and "x" ("×") for those that were knocked out;
/// where they crowd, the lowest point of a cell is seen.
std::string draw_curve(const Curve& curve, const PlotStyle& style);

}  // namespace cachetally
