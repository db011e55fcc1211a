// SPDX-License-Identifier: BSD-3-Clause
// Histograms over addresses, and response curves, drawn with letters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "cachetally/types.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Something of one line; `weight` is what a rate is over (1 where the height is a count).
struct PlotPoint {
    Address address = 0;
    double value = 0;
    double weight = 0;
};

/// What is drawn.
struct PlotInput {
    std::vector<PlotPoint> points;      ///< any order; points at one address add up
    std::vector<std::uint32_t> phases;  ///< by point, for heat maps; else empty
    std::uint32_t line_bytes = 64;
    bool rate = false;  ///< heights are value / weight in percent; else value per line
    std::string title;  ///< what the height is
};

/// A stretch of addresses that is drawn as one piece: a data structure, or lines that lie close together.
struct PlotSegment {
    std::string label;  ///< empty: between data structures
    Address first = 0;
    std::uint64_t bytes = 0;
    unsigned columns = 0;
    Address base = 0;        ///< of the data structure, where the lines may begin before and end after it
    std::uint64_t size = 0;  ///< bytes
};

/// Heights by column, for drawing and for JSON.
struct PlotColumns {
    std::vector<PlotSegment> segments;  ///< ascending by address; their columns follow each other, one apart
    std::vector<double> heights;        ///< of all columns of all segments
    std::vector<Address> addresses;     ///< where each column begins
    std::vector<std::size_t> sources;  ///< by column, the one whose lines it shows: itself, or where a wide line begins
    double highest = 0;
};

/// Divides `columns` columns among the data structures (and other stretches) that have points.
PlotColumns plot_columns(const PlotInput& input, std::span<const Region> regions, unsigned columns);

/// The column that an address is drawn in; nothing off the segments.
std::optional<std::size_t> column_at(const PlotColumns& columns, Address address);

struct PlotStyle {
    unsigned width = 80, height = 10;
    bool unicode = true;
};

/// The picture: title, columns, and beneath them the data structures; on a logarithmic scale where the lines are uneven
/// (is_uneven()). Where there is nothing to draw it says so.
std::string draw(const PlotInput& input, std::span<const Region> regions, const PlotStyle& style);

/// Phases (downwards) over addresses; more phases than `most_rows` share rows. A cell is the fuller the more its lines
/// have per phase, on the mean of the lines that are ever touched, up to the fullest cell; by factors where lines of
/// phases are uneven.
std::string draw_heat(const PlotInput& input, std::span<const Region> regions, const PlotStyle& style,
                      unsigned most_rows = 40);

/// Whether counts are drawn on a logarithmic scale: more than half of the values above 0 lie below a fiftieth of the
/// largest, where a linear scale would hide them. One rule for the terminal and figures (viewer/figures/figure.py);
/// docs/viewer.md defines it. The page cuts outliers instead.
bool is_uneven(std::span<const double> values);

/// The points of a curve on two logarithmic axes: "*" (Unicode: "●"), and "x" ("×") for those that were knocked out;
/// where they crowd, the lowest point of a cell is seen.
std::string draw_curve(const Curve& curve, const PlotStyle& style);

}  // namespace cachetally
