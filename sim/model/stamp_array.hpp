// SPDX-License-Identifier: BSD-3-Clause
// StampArray: lru sets that tell the order of use by stamps; for caches that mostly hit.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "sim/model/tag_store.hpp"

namespace cachetally {

/// A hit writes one stamp and moves no tags, so that hits in close succession do not wait for each other. A stamp
/// carries its way, so that the least stamp tells the victim; invalid ways have the least stamps.
template <unsigned groups, class Stamp = std::uint32_t>
class StampArray final : public CacheArray {
    static constexpr unsigned padded_ways = groups * scan_width;
    static constexpr unsigned way_bound = std::bit_ceil(padded_ways);
    static constexpr unsigned way_bits = std::countr_zero(way_bound);
    static constexpr std::uint32_t most = std::numeric_limits<Stamp>::max() - way_bound;

public:
    explicit StampArray(const ArrayGeometry& geometry)
        : ways_(geometry.ways), stamps_(geometry.sets * padded_ways), tags_(geometry.sets * padded_ways) {
        for (std::uint64_t set = 0; set < geometry.sets; ++set)
            for (unsigned way = 0; way < padded_ways; ++way)
                stamps_[set * padded_ways + way] = static_cast<Stamp>(way < ways_ ? way : ~0U);
    }

    /// Does access() and insert(); a copy that a loop keeps in registers: keep() before and reload() after the array is
    /// used in another way, and after `fewest_uses` at the latest.
    class Lookup {
    public:
        static constexpr std::uint64_t fewest_uses = most / 2 / way_bound;

        explicit Lookup(StampArray& array) : array_(array), tags_(array.tags_ + 0), stamps_(array.stamps_.data()) {
            reload();
        }

        Entry access(std::uint64_t set, Address line, Touch touch) {
            Entry* tags = tags_ + set * padded_ways;
            const unsigned way = find_tag<groups>(tags, groups, line);
            if (way >= padded_ways) return 0;
            const Entry found = tags[way];
            const Entry changed = touch.applied_to(found);
            if (changed != found) tags[way] = changed;  // seldom: reading the set soon after it was written stalls
            if (touch.use) stamp(set, way);
            return found;
        }

        /// access() as a use that sets `state`; false where the line is not there.
        bool use(std::uint64_t set, Address line, Entry state, Entry& found) {
            Entry* tags = tags_ + set * padded_ways;
            const unsigned way = find_tag<groups>(tags, groups, line);
            if (way >= padded_ways) return false;
            found = tags[way];
            if ((state & ~found) != 0) tags[way] = found | state;  // seldom: as above
            stamp(set, way);
            return true;
        }

        /// Where a line is, for use_at(), as long as it is not replaced.
        std::uint32_t place_of(std::uint64_t set, Address line) const {
            const unsigned way = find_tag<groups>(tags_ + set * padded_ways, groups, line);
            return way >= padded_ways ? nowhere : static_cast<std::uint32_t>(set * padded_ways + way);
        }
        static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

        /// use() without a change of state. Where ways are a power of two after padding.
        void use_at(std::uint32_t place) {
            static_assert(padded_ways == way_bound);
            stamps_[place] = static_cast<Stamp>((now_ += way_bound) | (place & (way_bound - 1)));
        }

        Entry insert(std::uint64_t set, Address line, Entry state) {
            const unsigned way = least(set);
            const Entry victim = std::exchange(tags_[set * padded_ways + way], line | state | entry_bit::valid);
            stamp(set, way);
            return victim;
        }

        void keep() const { array_.now_ = now_; }
        void reload() {
            if (array_.now_ > most / 2) [[unlikely]]
                array_.renumber();
            now_ = array_.now_;
        }

    private:
        friend class StampArray;

        unsigned least(std::uint64_t set) const {
            const Stamp* stamps = stamps_ + set * padded_ways;
            Stamp least = stamps[0];
            for (unsigned way = 1; way < padded_ways; ++way) least = std::min(least, stamps[way]);
            return least & (way_bound - 1);
        }

        void stamp(std::uint64_t set, unsigned way) {
            stamps_[set * padded_ways + way] = static_cast<Stamp>((now_ += way_bound) | way);
        }

        StampArray& array_;
        Entry* tags_;
        Stamp* stamps_;
        std::uint32_t now_;
    };

    Entry access(std::uint64_t set, Address line, Touch touch) override {
        Lookup lookup(*this);
        const Entry found = lookup.access(set, line, touch);
        lookup.keep();
        return found;
    }

    ReplaceResult replace(std::uint64_t set, Address line, Touch touch, Entry state) override {
        if (const Entry found = StampArray::access(set, line, touch)) return {0, found};
        return {1, StampArray::insert(set, line, state)};
    }

    std::size_t replace_all(std::span<const Address> lines, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        return replace_each(ArrayTags(*this, index), lines, missing);
    }

    Entry insert(std::uint64_t set, Address line, Entry state) override {
        Lookup lookup(*this);
        const Entry victim = lookup.insert(set, line, state);
        lookup.keep();
        return victim;
    }

    Entry make_room(std::uint64_t set) override { return clear(set, Lookup(*this).least(set)); }

    Entry remove(std::uint64_t set, Address line) override {
        const unsigned way = find_tag<groups>(tags_ + set * padded_ways, groups, line);
        return way >= padded_ways ? 0 : clear(set, way);
    }

    Entry find(std::uint64_t set, Address line) const override {
        const Entry* tags = tags_ + set * padded_ways;
        const unsigned way = find_tag<groups>(tags, groups, line);
        return way >= padded_ways ? 0 : tags[way];
    }

    /// Of the order of use alone: which way a line lies in changes nothing.
    std::uint64_t digest(std::uint64_t set) const override {
        std::array<Stamp, padded_ways> sorted;
        std::copy_n(&stamps_[set * padded_ways], padded_ways, sorted.begin());
        std::ranges::sort(sorted);
        std::uint64_t digest = 0;
        for (unsigned rank = 0; rank < ways_; ++rank)
            digest = digest_of(digest, *(tags_ + (set * padded_ways + (sorted[rank] & (way_bound - 1)))));
        return digest;
    }

private:
    Entry clear(std::uint64_t set, unsigned way) {
        stamps_[set * padded_ways + way] = static_cast<Stamp>(way);
        return std::exchange(*(tags_ + (set * padded_ways + way)), 0);
    }

    /// Only the order within a set matters: when the clock has half run full, the valid ways of every set are numbered
    /// anew.
    [[gnu::noinline]] void renumber() {
        std::array<Stamp, padded_ways> sorted;
        for (std::uint64_t first = 0; first < stamps_.size(); first += padded_ways) {
            std::copy_n(&stamps_[first], padded_ways, sorted.begin());
            std::ranges::sort(sorted);
            for (unsigned rank = 0; rank < ways_; ++rank) {
                const unsigned way = sorted[rank] & (way_bound - 1);
                if (sorted[rank] >= way_bound) stamps_[first + way] = static_cast<Stamp>((rank + 1) << way_bits | way);
            }
        }
        now_ = (ways_ + 1) * way_bound;
    }

    unsigned ways_;
    std::uint32_t now_ = 0;  ///< the last stamp, without a way
    std::vector<Stamp> stamps_;
    TagStore tags_;
};

}  // namespace cachetally
