// SPDX-License-Identifier: BSD-3-Clause
// The histograms of the links around a cache as its accesses and misses, per line and phase, and per data structure
// (Schulz et al. 2002, section 3.3).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "monitor/causes/line_causes.hpp"
#include "monitor/histogram.hpp"

namespace cachetally {

/// Finds the first region (in the order given) that a line touches. Regions that overlap each other are searched one by
/// one. The regions must live as long as it is used.
class RegionFinder {
public:
    explicit RegionFinder(std::span<const Region> regions);

    /// Its index; the number of regions where none is touched.
    std::uint32_t find(Address line, std::uint32_t bytes) const;

private:
    Address last(std::uint32_t i) const { return regions_[i].base + (regions_[i].bytes - 1); }

    std::span<const Region> regions_;
    std::vector<std::uint32_t> by_base_;
    bool disjoint_ = true;
};

/// A level and the histograms of the links above it (its accesses) and below it (its misses).
struct LevelInput {
    std::string name;
    std::vector<const Histogram*> above;
    std::vector<const Histogram*> below;
    std::uint32_t line_bytes = 0;             ///< 0: not known
    std::function<bool(Address)> holds = {};  ///< addresses that are its own; empty: all
};

/// Fractional where counts for several units were spread.
struct Tally {
    double accesses = 0;
    double misses = 0;

    double hits() const { return accesses > misses ? accesses - misses : 0.0; }
    /// 0 where there were no accesses. More than 1 where write misses or page walks below outnumber accesses.
    double miss_rate() const { return accesses == 0 ? 0.0 : misses / accesses; }
    Tally& operator+=(const Tally& other) {
        accesses += other.accesses;
        misses += other.misses;
        return *this;
    }
    friend bool operator==(const Tally&, const Tally&) = default;
};

/// One level's lines in columns, ascending by (phase, address); counts for several units are spread evenly.
struct LevelLines {
    std::string level;
    std::uint32_t line_bytes = 64;  ///< of the level; where not known, the largest unit
    std::vector<std::uint32_t> phase;
    std::vector<Address> address;  ///< as `map` gives it: virtual, so that regions can be found
    std::vector<double> accesses, misses;
    std::array<std::vector<double>, miss_cause_count> causes{};  ///< of the misses; empty if not known
};

/// Adds causes of misses, which are of lines of the level, to be mapped; not if any is of no row.
void add_causes(LevelLines& lines, std::span<const LineCauses> rows, const AddressMap& map = {});

/// Misses of one cause in place of all. Throws std::invalid_argument if causes are not known.
LevelLines only_cause(LevelLines lines, MissCause cause);

/// Functions are summed. `map` is applied to the lines' addresses.
LevelLines level_lines(const LevelInput& input, const AddressMap& map = {});

/// Accesses and misses of a level in one data structure and phase.
struct StructureTally {
    std::uint32_t structure = 0;  ///< index into the regions; their number = elsewhere
    std::uint32_t phase = 0;
    Tally tally;
    friend bool operator==(const StructureTally&, const StructureTally&) = default;
};

/// Ascending by (structure, phase); only where there were accesses or misses. A line belongs to the first region (in
/// the order given) that any of its bytes lies in.
std::vector<StructureTally> by_structure(const LevelLines& lines, std::span<const Region> regions);

/// Where the accesses and misses of all levels went.
struct StructureTable {
    struct Level {
        std::string name;
        bool exact = true;  ///< false where counts for several lines were spread
        std::vector<StructureTally> tallies;
    };
    std::vector<Region> regions;
    std::vector<Level> levels;

    /// Per structure and, last, elsewhere: over the run, or over one phase.
    std::vector<Tally> totals(std::size_t level, std::optional<std::uint32_t> phase = {}) const;
};

}  // namespace cachetally
