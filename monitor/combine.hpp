// SPDX-License-Identifier: BSD-3-Clause
// Combines the histograms of the links around caches into accesses, hits and misses (Schulz et al. 2002, section 3.3).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "monitor/histogram.hpp"

namespace cachetally {

/// A level and the histograms of the links above it (what is asked of it) and below it (what it asks for: its misses).
struct LevelInput {
    std::string name;
    std::vector<const Histogram*> above;
    std::vector<const Histogram*> below;
    std::uint32_t line_bytes = 0;  ///< 0: not known
};

/// Fractional where counts for several units were spread.
struct Tally {
    double accesses = 0;
    double misses = 0;

    double hits() const { return accesses > misses ? accesses - misses : 0.0; }
    /// 0 where there were no accesses. More than 1 where write misses or page walks below outnumber accesses.
    double miss_rate() const { return accesses == 0 ? 0.0 : misses / accesses; }
    Tally& operator+=(const Tally& other);
    friend bool operator==(const Tally&, const Tally&) = default;
};

class CombinedHistogram {
public:
    /// Lines are those of the largest unit among the histograms. Functions are summed.
    explicit CombinedHistogram(const std::vector<LevelInput>& levels);

    const std::vector<std::string>& levels() const { return names_; }
    std::uint32_t line_bytes() const { return line_bytes_; }
    std::uint32_t phases() const { return phases_; }

    struct Line {
        Address address = 0;
        std::uint32_t phase = 0;
        std::vector<Tally> levels;  ///< in the order of levels()
    };
    /// Ascending by (phase, address).
    const std::vector<Line>& lines() const { return lines_; }

    /// Per level: over everything; over one phase.
    std::vector<Tally> total() const;
    std::vector<Tally> total(std::uint32_t phase) const;

    /// Per level: over the lines that begin in a range of addresses.
    std::vector<Tally> in_range(AddressRange range, const AddressMap& map = {}) const;

    struct RegionTally {
        std::string region;  ///< the last row is "(elsewhere)"
        std::uint32_t phase = 0;
        std::vector<Tally> levels;
    };
    /// Per region and phase: ascending by region, then phase; phases without events of a region are left out. A line
    /// belongs to the first region that any of its bytes lies in.
    std::vector<RegionTally> by_region(std::span<const Region> regions, const AddressMap& map = {}) const;

private:
    std::vector<std::string> names_;
    std::uint32_t line_bytes_ = 1;
    std::uint32_t phases_ = 1;
    std::vector<Line> lines_;
};

}  // namespace cachetally
