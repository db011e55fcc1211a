// SPDX-License-Identifier: BSD-3-Clause
// What was measured of points: in the file of a bundle (/points), and merged into one table (/campaign,
// docs/format.md).
#pragma once

#include <string>
#include <vector>

#include "campaign/grid.hpp"
#include "campaign/store.hpp"

namespace cachetally {

/// A column of the result.
struct Measure {
    std::string name, unit, meaning;
};

/// Of the points of a campaign: of runs, of monitors, of every level and memory of its machines. NaN where a point does
/// not have it.
std::vector<Measure> measures_of(const Grid& grid);

struct PointRow {
    std::uint64_t point = 0;
    std::string hash;            ///< Grid::hash()
    std::vector<double> values;  ///< by measure
    std::string error;           ///< why there are no values; empty where there are
};

void write_points(Group& root, const std::vector<Measure>& measures, const std::vector<PointRow>& rows);
/// Without errors. Throws StorageError where the file is damaged.
std::vector<PointRow> read_points(const Group& root, const std::vector<Measure>& measures);

/// What a merge found.
struct Merged {
    std::uint64_t points = 0;            ///< in the table
    std::uint64_t failed = 0;            ///< of them, without values
    std::uint64_t missing = 0;           ///< points whose bundles are not there, or not whole
    std::vector<std::uint64_t> damaged;  ///< bundles that are there, and damaged or of other points
};

/// Writes all bundles that are there as one table below `root`, in memory that does not grow with them.
Merged merge_points(const CampaignFolder& folder, const Grid& grid, const std::vector<std::string>& bundle_hashes,
                    Group& root);

/// The bundles of a grid: whole groups of points that share a run, of at least so many points together.
std::vector<std::uint64_t> bundles_of(const Grid& grid, std::uint64_t points_per_bundle);

}  // namespace cachetally
