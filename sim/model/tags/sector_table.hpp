// SPDX-License-Identifier: BSD-3-Clause
// SectorTable: which sectors of the lines of a sectored cache are here.
#pragma once

#include <unordered_map>

#include "base/units.hpp"
#include "sim/model/tags/cache_array.hpp"

namespace cachetally {

/// Beside the CacheArray, which keeps the lines. An entry here is a sector's.
class SectorTable {
public:
    static constexpr unsigned most_sectors = 64;  ///< of a line

    /// Powers of two; at most most_sectors of them.
    SectorTable(unsigned line_bytes, unsigned sector_bytes)
        : line_mask_(line_bytes - 1), sector_bits_(log2_exact(sector_bytes)) {}

    /// As CacheArray::access().
    Entry access(Address address, Touch touch) {
        const auto found = lines_.find(address & ~line_mask_);
        if (found == lines_.end()) return 0;
        const std::uint64_t sector = bit_of(address);
        Sectors& line = found->second;
        const Entry before = line.entry(sector);
        if (before == 0) return 0;
        if ((touch.set & entry_bit::dirty) != 0) line.dirty |= sector;
        if ((touch.clear & entry_bit::prefetched) != 0) line.prefetched &= ~sector;
        return before;
    }

    /// As CacheArray::find().
    Entry find(Address address) const {
        const auto found = lines_.find(address & ~line_mask_);
        return found == lines_.end() ? 0 : found->second.entry(bit_of(address));
    }

    /// A sector comes, with these state bits.
    void insert(Address address, Entry state) {
        const std::uint64_t sector = bit_of(address);
        Sectors& line = lines_[address & ~line_mask_];
        line.here |= sector;
        if ((state & entry_bit::dirty) != 0) line.dirty |= sector;
        if ((state & entry_bit::prefetched) != 0) line.prefetched |= sector;
    }

    /// A line leaves. Returns its dirty sectors: bit i is the sector i.
    std::uint64_t remove(Address line) {
        const auto found = lines_.find(line);
        if (found == lines_.end()) return 0;
        const std::uint64_t dirty = found->second.dirty;
        lines_.erase(found);
        return dirty;
    }

    /// As CacheArray::digest(), of all lines.
    std::uint64_t digest() const {
        std::uint64_t sum = 0;  // in any order
        for (const auto& [line, sectors] : lines_)
            sum += digest_of(digest_of(digest_of(line, sectors.here), sectors.dirty), sectors.prefetched);
        return sum;
    }

private:
    struct Sectors {
        std::uint64_t here = 0, dirty = 0, prefetched = 0;

        Entry entry(std::uint64_t sector) const {
            if ((here & sector) == 0) return 0;
            return entry_bit::valid | ((dirty & sector) != 0 ? entry_bit::dirty : 0) |
                   ((prefetched & sector) != 0 ? entry_bit::prefetched : 0);
        }
    };

    std::uint64_t bit_of(Address address) const { return std::uint64_t{1} << ((address & line_mask_) >> sector_bits_); }

    Address line_mask_;
    unsigned sector_bits_;
    std::unordered_map<Address, Sectors> lines_;
};

}  // namespace cachetally
