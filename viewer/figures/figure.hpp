// SPDX-License-Identifier: BSD-3-Clause
// Figures for print, drawn by a Python script with matplotlib (compiled in).
#pragma once

#include <string>
#include <vector>

#include "storage/target.hpp"

namespace cachetally {

struct FigureRequest {
    std::string kind;    ///< histogram, phases, heat, sweep, front, campaign, curves, intrusion, reuse
    std::string file;    ///< the result
    std::string output;  ///< the figure: .pdf, .svg or .png
    bool overwrite = false;
    std::vector<std::string> options;  ///< of the script, as in {"--level", "L1"}
    Trust trust = Trust::digests;
    std::vector<std::string> more = {};  ///< further results, side by side with the first
};

/// "pdf", "svg" or "png" by the end of a file's name; empty for others.
std::string figure_format(const std::string& output);

/// Draws a figure; the file gets its name when it is whole. Throws StorageError: the output exists or cannot be
/// written, no Python with what the script needs ($CACHETALLY_PYTHON, /usr/bin/python3, python3), or what the script
/// says.
void draw_figure(const FigureRequest& request);

/// Why no figures can be drawn, with what to install; empty = they can.
std::string why_no_figures();

}  // namespace cachetally
