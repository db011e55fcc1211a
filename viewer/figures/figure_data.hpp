// SPDX-License-Identifier: BSD-3-Clause
// What figures of counts over addresses show, as the drawing core (viewer/core) computes it: what the page shows, too.
#pragma once

#include <string>

#include "viewer/figures/figure.hpp"

namespace cachetally {

/// Whether a figure is of counts over addresses: histogram, phases, heat.
bool is_of_counts(const FigureRequest& request);

/// What such a figure counts: as asked; else accesses, in heat maps misses, which the page begins with.
std::string drawn_counts(const FigureRequest& request);

/// Writes the axis, the pictures and the cells of such a figure to an HDF5 file, which figure_lines.py and
/// figure_heat.py paint. Throws StorageError for what cannot be read or drawn.
void write_figure_data(const FigureRequest& request, const std::string& path);

/// The phases that a request is for, in the order in which it names them: "0,4,5"; empty: all.
std::string chosen_phases(const FigureRequest& request);

}  // namespace cachetally
