// SPDX-License-Identifier: BSD-3-Clause
// Scales of values, in plots and in the colours of matrices: how they are spread, where they end, which values are
// named.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "viewer/core/scale.hpp"

namespace cachetally {

/// Of the values that a scale is for; without any: as it is made.
struct ValueExtent {
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
    double small = std::numeric_limits<double>::infinity();   ///< the smallest magnitude above 0
    double large = -std::numeric_limits<double>::infinity();  ///< the largest
};

/// symmetric_logarithmic: as log(1 + |value| / unit), with the sign of the value.
enum class ValueSpread : std::uint8_t { linear, logarithmic, symmetric_logarithmic };

/// What a scale is to be like.
struct ValueScaleOptions {
    /// automatic: logarithmic if magnitudes above 0 differ by more than `far_apart` times.
    DrawnScale scale = DrawnScale::automatic;
    bool centred = false;  ///< 0 is in the middle
    bool tight = false;    ///< from the least to the largest value, without 0 and without room at the ends
    double ticks = 5;      ///< about so many, of linear scales
};

constexpr double far_apart = 30;
constexpr double scale_room = 0.06;  ///< of a scale's length, at each end that is not 0

struct ValueScale {
    ValueSpread spread = ValueSpread::linear;
    double bottom = 0, top = 1;  ///< the values at its ends, room included
    double unit = 1;             ///< of symmetric logarithmic scales
    std::vector<double> ticks;   ///< ascending
};

/// Logarithmic scales that are centred, or of values that are not all above 0, are symmetric logarithmic.
ValueScale value_scale(const ValueExtent& extent, const ValueScaleOptions& options);

}  // namespace cachetally
