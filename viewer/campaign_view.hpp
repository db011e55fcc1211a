// SPDX-License-Identifier: BSD-3-Clause
// CampaignView: the table of a campaign, and what remains of it by two parameters.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "storage/file.hpp"

namespace cachetally {

/// What points differ by: its distinct values, and which of them each point has.
struct CampaignParameter {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    std::string name{};
    bool is_number = false;
    std::vector<std::string> values{};  ///< numbers from the least on, texts as they come first
    std::vector<double> numbers{};      ///< of `values`, where they are numbers
    std::vector<std::uint32_t> of{};    ///< by point, a place in `values`; none: the point does not have it
};

/// What was measured of points.
struct CampaignMeasure {
    std::string name{}, unit{}, meaning{};
    bool derived = false;      ///< not in the file, but worked out of two that are
    std::vector<double> of{};  ///< by point; NaN: not known

    bool is_fraction() const;  ///< which people read in percent
};

struct CampaignView {
    std::string path;
    std::string name;
    bool complete = true;
    std::string incomplete;  ///< why not
    std::uint64_t count = 0, warmup = 0;
    std::vector<std::uint64_t> points;  ///< their numbers
    std::vector<std::uint8_t> failed;   ///< by point
    std::vector<CampaignParameter> parameters;
    std::vector<CampaignMeasure> measures;  ///< also miss_rate_LEVEL = misses_LEVEL / accesses_LEVEL, derived
    std::vector<std::pair<std::uint64_t, std::string>> failures;  ///< point and reason

    /// Throw std::invalid_argument, which names `option` and what there is.
    const CampaignParameter& parameter(const std::string& wanted, const std::string& option) const;
    const CampaignMeasure& measure(const std::string& wanted, const std::string& option) const;
};

/// Texts of options; empty = as by default.
struct PivotChoice {
    std::string rows, columns;  ///< parameters; default: of the numbers but seeds those with most values
    std::string value;          ///< a measure; default: error, where it is known, else the miss rate of the first level
    std::string where;          ///< "NAME=VALUE,..."; of one name several: any of them

    bool given() const { return !rows.empty() || !columns.empty() || !value.empty() || !where.empty(); }
};

/// The points of one row and column whose value is known.
struct PivotCell {
    std::uint64_t matching = 0;  ///< points, also those whose value is not known
    std::uint64_t points = 0;
    double median = 0, least = 0, most = 0;  ///< of an even number of points the mean of the middle two
};

struct Pivot {
    const CampaignParameter* rows = nullptr;
    const CampaignParameter* columns = nullptr;  ///< nullptr: one column of all
    const CampaignMeasure* value = nullptr;
    std::vector<std::uint32_t> row_values, column_values;  ///< that points have, as places in the values
    std::vector<PivotCell> cells;                          ///< row by row
    std::uint64_t left_out = 0;                            ///< points that do not have one of the two parameters
    std::string where;
};

/// Throws StorageError where the file is damaged.
CampaignView read_campaign_view(const InputFile& file);

/// The pivot refers to the view. Throws std::invalid_argument, with what there is, where the choice names what is not
/// there (--rows, --columns, --value, --where).
Pivot pivot_of(const CampaignView& view, const PivotChoice& choice);

/// name, complete, points, failed, parameters[].{name, values}, measures[].{name, unit, meaning, derived},
/// rows[].{point, failed, one of each parameter and measure; null: not known}, failures[].{point, error}.
nlohmann::ordered_json to_json(const CampaignView& view);

/// rows, columns, value, where, left_out, cells[].{row, column, points, median, least, most}.
nlohmann::ordered_json to_json(const Pivot& pivot);

/// What was varied, failures, and the pivot.
std::string to_text(const CampaignView& view, const Pivot& pivot, unsigned width);

}  // namespace cachetally
