// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/value_scale.hpp"

#include <algorithm>
#include <cmath>

namespace cachetally {
namespace {

constexpr double rounding = 1e-9;
constexpr double most_ticks = 100;
constexpr double most_powers = 4;         ///< between the named ones of a logarithmic scale
constexpr double most_of_side = 3;        ///< named powers on each side of 0
constexpr double symmetric_range = 1e-6;  ///< magnitudes below this share of the largest lie on the linear part

/// Multiples of 1, 2 or 5 times a power of ten, about so many: the values that ticks() of d3-array gives.
std::vector<double> even_ticks(double least, double most, double about) {
    const double step = (most - least) / about, power = std::floor(std::log10(step));
    const double share = step / std::pow(10, power);
    const double factor = share >= std::sqrt(50) ? 10 : share >= std::sqrt(10) ? 5 : share >= std::sqrt(2) ? 2 : 1;
    // below 1 by division, as 3 / 10 is what people write as 0.3 and 3 * 0.1 is not
    const bool divides = power < 0;
    const double size = divides ? std::pow(10, -power) / factor : std::pow(10, power) * factor;
    const auto value = [&](double i) { return divides ? i / size : i * size; };
    double first = std::round(divides ? least * size : least / size);
    double last = std::round(divides ? most * size : most / size);
    if (value(first) < least) ++first;
    if (value(last) > most) --last;
    std::vector<double> found;
    if (!(last - first < most_ticks)) return found;  // of what differs by less than numbers can
    for (double i = 0; i <= last - first; ++i) found.push_back(value(first + i));
    return found;
}

/// Powers of ten, at most about five; if there are fewer than two, steps of 1, 2, 5.
std::vector<double> log_ticks(double least, double most) {
    const double low = std::log10(least), high = std::log10(most);
    const double apart = std::max(1.0, std::round((high - low) / most_powers));
    std::vector<double> found;
    for (double power = std::ceil(low - rounding); power < high + rounding; power += apart)
        found.push_back(std::pow(10, power));
    if (found.size() < 2) {
        found.clear();
        for (const double each : {1, 2, 5, 10, 20, 50}) found.push_back(each * std::pow(10, std::floor(low)));
    }
    std::erase_if(found, [&](double each) { return each < least * (1 - rounding) || each > most; });
    return found.size() > 1 ? found : even_ticks(least, most, 3);
}

/// 0, and on both sides powers of ten, at most three, evenly from the largest down.
std::vector<double> symmetric_ticks(double unit, double least, double most) {
    const double top = std::floor(std::log10(std::max(most, -least) / unit) + rounding);
    std::vector<double> found{0};
    for (double power = top; power >= 0; power -= std::ceil((top + 1) / most_of_side))
        for (const double sign : {-1, 1}) found.push_back(sign * unit * std::pow(10, power));
    std::erase_if(found, [&](double each) { return each < least || each > most; });
    std::sort(found.begin(), found.end());
    return found;
}

ValueSpread spread_of(const ValueExtent& extent, const ValueScaleOptions& options) {
    const bool near = !(extent.large >= extent.small) || options.scale == DrawnScale::linear ||
                      (options.scale == DrawnScale::automatic && extent.large <= far_apart * extent.small);
    return near                                   ? ValueSpread::linear
           : extent.least > 0 && !options.centred ? ValueSpread::logarithmic
                                                  : ValueSpread::symmetric_logarithmic;
}

struct Ends {
    double from, to;
};

/// Before there is room.
Ends ends_of(const ValueExtent& extent, const ValueScaleOptions& options, ValueSpread spread) {
    const auto [least, most, small, large] = extent;
    if (!(least <= most)) return {0, 1};
    const bool logarithmic = spread == ValueSpread::logarithmic;
    Ends ends{std::min(0.0, least), std::max(0.0, most)};
    if (options.tight || logarithmic) ends = {least, most};
    if (logarithmic && !options.tight && least == most) ends = {least / 2, 2 * most};
    if (options.centred && large > 0) ends = {-large, large};
    if (spread == ValueSpread::linear && !(ends.to > ends.from)) ends.to = ends.from + 1;
    return ends;
}

/// A value as its scale spreads it, and back.
double spread_out(double value, const ValueScale& scale) {
    return scale.spread == ValueSpread::linear        ? value
           : scale.spread == ValueSpread::logarithmic ? std::log(value)
                                                      : std::copysign(std::log1p(std::abs(value) / scale.unit), value);
}
double value_at(double place, const ValueScale& scale) {
    return scale.spread == ValueSpread::linear        ? place
           : scale.spread == ValueSpread::logarithmic ? std::exp(place)
                                                      : std::copysign(std::expm1(std::abs(place)) * scale.unit, place);
}

}  // namespace

ValueScale value_scale(const ValueExtent& extent, const ValueScaleOptions& options) {
    ValueScale scale;
    scale.spread = spread_of(extent, options);
    // linear up to a power of ten that is not above the least magnitude
    if (scale.spread == ValueSpread::symmetric_logarithmic)
        scale.unit =
            std::pow(10, std::floor(std::log10(std::max(extent.small, extent.large * symmetric_range)) + rounding));
    const auto [from, to] = ends_of(extent, options, scale.spread);
    scale.bottom = from;
    scale.top = to;
    if (!options.tight) {
        const double below = from < 0 || scale.spread == ValueSpread::logarithmic ? scale_room : 0;
        const double low = spread_out(from, scale), high = spread_out(to, scale);
        const double whole = (high - low) / (1 - scale_room - below);
        if (below > 0) scale.bottom = value_at(low - below * whole, scale);
        scale.top = value_at(high + scale_room * whole, scale);
    }
    scale.ticks = scale.spread == ValueSpread::linear        ? even_ticks(scale.bottom, scale.top, options.ticks)
                  : scale.spread == ValueSpread::logarithmic ? log_ticks(scale.bottom, scale.top)
                                                             : symmetric_ticks(scale.unit, from, to);
    return scale;
}

}  // namespace cachetally
