// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/scale.hpp"

#include <algorithm>
#include <cmath>

namespace cachetally {
namespace {

constexpr double clip_quantile = 0.99, far_above = 4;
constexpr double shade_rounding = 1e-9;

/// The mean of a cell; not a number where there is none.
double mean_of(const CellValues& values, std::size_t cell) {
    return values.weight[cell] > 0 ? values.sum[cell] / values.weight[cell] : std::numeric_limits<double>::quiet_NaN();
}

/// As numpy and d3 interpolate it.
double quantile(std::vector<double>& values, double share) {
    const double rank = static_cast<double>(values.size() - 1) * share, whole = std::floor(rank);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(whole);
    std::nth_element(values.begin(), middle, values.end());
    if (rank == whole) return *middle;
    const double next = *std::min_element(middle + 1, values.end());
    return *middle + (next - *middle) * (rank - whole);
}

/// The least and the largest magnitude above 0, and where a scale of its own ends.
struct CellExtent {
    double least = std::numeric_limits<double>::infinity(), most = 0, end = 0;
};

CellExtent extent_of(const CellValues& values, DrawnScale scale) {
    std::vector<double> sizes;
    for (std::size_t cell = 0; cell < values.sum.size(); ++cell) {
        const double mean = mean_of(values, cell), size = values.differences ? std::abs(mean) : mean;
        if (size > 0) sizes.push_back(size);
    }
    if (sizes.empty()) return {};
    const auto ends = std::minmax_element(sizes.begin(), sizes.end());
    const double least = *ends.first, most = *ends.second;
    return {least, most, end_of_scale(quantile(sizes, clip_quantile), most, scale)};
}

}  // namespace

std::vector<std::uint32_t> phase_edges(std::uint32_t phases) {
    const std::uint64_t rows = std::min<std::uint64_t>(phases, most_heat_rows);
    std::vector<std::uint32_t> edges;
    for (std::uint64_t row = 0; row <= rows; ++row)
        edges.push_back(static_cast<std::uint32_t>(rows > 0 ? row * phases / rows : 0));
    return edges;
}

double clip_of(std::vector<double> values) {
    if (values.empty()) return std::numeric_limits<double>::infinity();
    const auto rank = static_cast<std::size_t>(clip_quantile * static_cast<double>(values.size()));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size() - 1, rank));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

double end_of_scale(double clip, double most, DrawnScale scale) {
    return scale == DrawnScale::automatic && most > far_above * clip ? clip : most;
}

CellShades shades_of(const CellValues& values, DrawnScale scale, const CellValues* beside) {
    const CellExtent own = extent_of(values, scale), other = beside != nullptr ? extent_of(*beside, scale) : own;
    const double least = std::min(own.least, other.least), end = std::max(own.end, other.end);
    CellShades found{std::vector<std::uint8_t>(values.sum.size(), cell_empty), std::isfinite(least) ? least : 0, end};
    found.most = own.most;
    found.logarithmic = scale == DrawnScale::logarithmic && end > found.least;
    const double whole = found.logarithmic ? std::log(end / least) : end > 0 ? end : 1;
    for (std::size_t cell = 0; cell < found.cells.size(); ++cell) {
        const double mean = mean_of(values, cell), size = std::abs(mean);
        if (std::isnan(mean)) continue;
        const bool above = size > end * (1 + shade_rounding);
        found.above += above ? 1 : 0;
        const double place =
            size > 0 && found.logarithmic ? std::max(0.0, std::log(size / least)) / whole : size / whole;
        const double step = std::min<double>(heat_shades - 1, std::floor(place * heat_shades + shade_rounding));
        const bool below = mean < 0 && values.differences;
        const std::size_t shade = first_shade + static_cast<std::size_t>(step) + (below ? heat_shades : 0);
        found.cells[cell] = above ? cell_above : mean > 0 || below ? static_cast<std::uint8_t>(shade) : cell_zero;
    }
    return found;
}

}  // namespace cachetally
