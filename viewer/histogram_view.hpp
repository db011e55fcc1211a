// SPDX-License-Identifier: BSD-3-Clause
// The histogram that options choose, from a result file.
#pragma once

#include "viewer/plot.hpp"
#include "viewer/run_view.hpp"
#include "viewer/show.hpp"

namespace cachetally {

struct HistogramView {
    PlotInput plot;
    std::vector<Region> regions;  ///< to label it with
    std::string what, level, monitor;
};

/// Nothing where the options choose nothing in particular and the file has no histograms. Throws StorageError, and
/// std::invalid_argument where the options ask for what the file does not have.
std::optional<HistogramView> histogram_view(const InputFile& file, const RunView& view, const ShowOptions& options);

nlohmann::ordered_json to_json(const HistogramView& histogram);

}  // namespace cachetally
