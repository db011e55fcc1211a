// SPDX-License-Identifier: BSD-3-Clause
// Scales of what is drawn over addresses: where they end (docs/viewer.md, "The workbench"), and the shades of cells.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace cachetally {

/// automatic: linear, and what lies far above the rest is cut and marked.
enum class DrawnScale : std::uint8_t { automatic, linear, logarithmic };

/// Rows of a heat map: at most so many, of which each has the same number of phases, or one more.
constexpr std::size_t most_heat_rows = 256;
constexpr std::size_t heat_shades = 48;

/// The first phase of each row, and one behind the last.
std::vector<std::uint32_t> phase_edges(std::uint32_t phases);

/// What all but a hundredth of some values above 0 reach; infinite if there are none.
double clip_of(std::vector<double> values);

/// The largest value, or the clip if the largest lies far above it.
double end_of_scale(double clip, double most, DrawnScale scale);

/// Cells as sums over weights; nothing where the weight is 0 or less. Of differences values may be below 0.
struct CellValues {
    std::span<const double> sum, weight;
    bool differences = false;
};

/// What a cell is drawn as: no line or no access, nothing of what is counted, above the end of the scale; then the
/// shades up from 0, and those down from it.
constexpr std::uint8_t cell_empty = 0, cell_zero = 1, cell_above = 2, first_shade = 3;

/// Cells, and their scale.
struct CellShades {
    std::vector<std::uint8_t> cells;
    double least = 0, end = 0;  ///< of the scale: the least magnitude above 0, and where it ends
    double most = 0;            ///< of all cells
    double above = 0;           ///< cells above the end
    bool logarithmic = false;
};

/// `beside`: has the same scale.
CellShades shades_of(const CellValues& values, DrawnScale scale, const CellValues* beside = nullptr);

}  // namespace cachetally
