// SPDX-License-Identifier: BSD-3-Clause
// What `cachetally show` prints of a result file, and the histogram that its options choose.
#pragma once

#include <optional>
#include <string>

#include "storage/file.hpp"
#include "viewer/campaign_view.hpp"
#include "viewer/phase_choice.hpp"
#include "viewer/plot.hpp"
#include "viewer/run_view.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally {

struct ShowOptions {
    std::string level, structure, monitor;  ///< empty = all; the histogram is then of the first level
    std::string what;  ///< accesses (default), misses, hits, missrate, writebacks, or a cause of misses
    PhaseChoice phases;
    bool all_phases = false;
    bool heat = false;  ///< the histogram as phases over addresses
    unsigned width = 80;
    bool unicode = true;
    bool json = false;
    std::optional<SweepChoice> choice;  ///< of sweeps, in place of the file's
    SweepPlaces places;                 ///< of sweeps
    PivotChoice pivot;                  ///< of campaigns
};

struct HistogramView {
    PlotInput plot;
    std::vector<Region> regions;  ///< to label it with
    std::string what, level, monitor;
};

/// Nothing where the options choose nothing in particular and the file has no histograms. Throws StorageError, and
/// std::invalid_argument where the options ask for what the file does not have.
std::optional<HistogramView> histogram_view(const InputFile& file, const RunView& view, const ShowOptions& options);

nlohmann::ordered_json to_json(const HistogramView& histogram);

/// Tables and a histogram, or JSON. Throws StorageError where the file is no result file or damaged, and
/// std::invalid_argument where options name what is not in it.
std::string show(const InputFile& file, const ShowOptions& options);

}  // namespace cachetally
