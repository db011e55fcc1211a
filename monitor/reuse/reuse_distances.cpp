// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/reuse/reuse_distances.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace cachetally {

unsigned ReuseBins::bin_of(std::uint64_t distance) {
    if (distance < exact) return static_cast<unsigned>(distance);
    const auto bits = static_cast<unsigned>(std::bit_width(distance));  // from 5 on
    return exact + (bits - 5) * in_octave + static_cast<unsigned>(distance >> (bits - 4)) - in_octave;
}

std::uint64_t ReuseBins::least(unsigned bin) {
    if (bin < exact) return bin;
    return std::uint64_t{in_octave + (bin - exact) % in_octave} << ((bin - exact) / in_octave + 1);
}

std::uint64_t MissRatioCurve::misses(std::uint64_t lines) const {
    return std::prev(std::ranges::upper_bound(points, lines, {}, &Point::lines))->misses;
}

MissRatioCurve miss_ratio_curve(const ReuseDistances& reuse, std::optional<std::uint32_t> structure) {
    MissRatioCurve curve;
    std::map<std::uint64_t, std::uint64_t> uses;
    for (const ReuseDistances::Row& row : reuse.rows) {
        if (structure && row.structure != *structure) continue;
        curve.references += row.count;
        (row.distance == ReuseDistances::first_use ? curve.first_uses : uses[row.distance]) += row.count;
    }
    curve.points.push_back({0, curve.references});
    for (const auto& [distance, count] : uses) {
        // caches up to the least distance of a bin miss what is in it
        if (distance > curve.points.back().lines) curve.points.push_back({distance, curve.points.back().misses});
        curve.points.push_back({ReuseBins::least(ReuseBins::bin_of(distance) + 1), curve.points.back().misses - count});
    }
    return curve;
}

}  // namespace cachetally
