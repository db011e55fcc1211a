// SPDX-License-Identifier: BSD-3-Clause
// ReuseDistances: how often lines come back after how many others, by data structure and phase; and the misses of
// fully associative LRU caches that follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cachetally {

/// Bins of distances: one for each distance below 16, then eight for each power of two (ours). Edges are so the
/// capacities of nearly all caches that are built.
struct ReuseBins {
    static constexpr unsigned exact = 16, in_octave = 8;

    static unsigned bin_of(std::uint64_t distance);
    /// The least distance of a bin.
    static std::uint64_t least(unsigned bin);
};

/// Of the references over one link from a core, all its copies added up; each core's lines are its own.
struct ReuseDistances {
    /// "first use" has no distance.
    static constexpr std::uint64_t first_use = ~std::uint64_t{0};

    struct Row {
        std::uint32_t structure = 0;  ///< into `structures`
        std::uint32_t phase = 0;
        std::uint64_t distance = 0;  ///< least one of its bin, in lines; or first_use
        std::uint64_t count = 0;     ///< references, one for each line that they touch
        friend bool operator==(const Row&, const Row&) = default;
    };
    std::string link;
    std::uint32_t line_bytes = 64;
    std::vector<std::string> structures;  ///< names, none twice
    std::vector<Row> rows;                ///< ascending by structure, phase, distance; no counts of 0

    friend bool operator==(const ReuseDistances&, const ReuseDistances&) = default;
};

/// What a fully associative LRU cache (one for each core) of so many lines makes of the references.
struct MissRatioCurve {
    struct Point {
        std::uint64_t lines = 0;  ///< an edge of a bin
        std::uint64_t misses = 0;
    };
    std::uint64_t references = 0;
    std::uint64_t first_uses = 0;
    std::vector<Point> points;  ///< ascending, from no line on; between two there is no edge with other misses

    /// Of a cache of so many lines: an edge of a bin, or the misses are those at the edge below.
    std::uint64_t misses(std::uint64_t lines) const;
    double miss_ratio(std::uint64_t lines) const {
        return references == 0 ? 0.0 : static_cast<double>(misses(lines)) / static_cast<double>(references);
    }
    /// The least capacity that is on an edge and leaves only first uses.
    std::uint64_t footprint() const { return points.back().lines; }
};

/// `structure`: nothing: all.
MissRatioCurve miss_ratio_curve(const ReuseDistances& reuse, std::optional<std::uint32_t> structure = std::nullopt);

}  // namespace cachetally
