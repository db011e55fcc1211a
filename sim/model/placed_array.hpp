// PlacedArray: sets whose entries stay in their ways, with a replacement policy's state beside them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include "sim/model/replacement.hpp"
#include "sim/model/tag_store.hpp"

namespace cachetally {

/// lru by stamps of last use: a hit writes one stamp and moves no tags, so that hits in close succession do not wait
/// for each other. A stamp carries its way, so that the least stamp tells the victim; invalid ways have the least
/// stamps.
template <unsigned padded_ways, class Stamp = std::uint32_t>
class StampLru {
public:
    static constexpr bool knows_invalid_ways = true;

    StampLru(std::uint64_t sets, unsigned ways, std::uint64_t) : ways_(ways), stamps_(sets * padded_ways) {
        for (std::uint64_t set = 0; set < sets; ++set)
            for (unsigned way = 0; way < padded_ways; ++way)
                stamp(set, way) = static_cast<Stamp>(way < ways ? way : ~0U);
    }

    void used(std::uint64_t set, unsigned way) {
        if (++now_ == most) [[unlikely]]
            renumber();
        stamp(set, way) = static_cast<Stamp>(now_ << way_bits | way);
    }
    void inserted(std::uint64_t set, unsigned way) { used(set, way); }
    void removed(std::uint64_t set, unsigned way) { stamp(set, way) = static_cast<Stamp>(way); }

    unsigned victim(std::uint64_t set) const {
        const Stamp* stamps = &stamps_[set * padded_ways];
        Stamp least = stamps[0];
        for (unsigned way = 1; way < padded_ways; ++way) least = std::min(least, stamps[way]);
        return least & (padded_ways_bound - 1);
    }

private:
    static constexpr unsigned padded_ways_bound = std::bit_ceil(padded_ways);
    static constexpr unsigned way_bits = std::countr_zero(padded_ways_bound);
    static constexpr std::uint32_t most = std::numeric_limits<Stamp>::max() >> way_bits;

    Stamp& stamp(std::uint64_t set, unsigned way) { return stamps_[set * padded_ways + way]; }

    /// Only the order within a set matters: when the clock has run full, the valid ways of every set are numbered anew.
    void renumber() {
        std::array<Stamp, padded_ways> sorted;
        for (std::uint64_t set = 0; set < stamps_.size() / padded_ways; ++set) {
            std::copy_n(&stamp(set, 0), padded_ways, sorted.begin());
            std::ranges::sort(sorted);
            for (unsigned rank = 0; rank < ways_; ++rank) {
                const unsigned way = sorted[rank] & (padded_ways_bound - 1);
                if (sorted[rank] >= padded_ways_bound)
                    stamp(set, way) = static_cast<Stamp>((rank + 1) << way_bits | way);
            }
        }
        now_ = ways_ + 1;
    }

    unsigned ways_;
    std::uint32_t now_ = 0;
    std::vector<Stamp> stamps_;
};

/// Entries stay in their ways; the policy keeps its own state.
template <class Policy, unsigned fixed_groups = 0>
class PlacedArray final : public CacheArray {
public:
    explicit PlacedArray(const ArrayGeometry& geometry)
        : ways_(geometry.ways),
          groups_(groups_of(geometry.ways)),
          policy_(geometry.sets, geometry.ways, geometry.seed),
          tags_(geometry.sets * stride()) {}

    Entry access(std::uint64_t set, Address line, Touch touch) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = find_tag<fixed_groups>(tags, groups_, line);
        if (way >= stride()) return 0;
        const Entry found = tags[way];
        const Entry changed = touch.applied_to(found);
        if (changed != found) tags[way] = changed;  // seldom: reading the set soon after it was written stalls
        if (touch.use) policy_.used(set, way);
        return found;
    }

    Outcome access_or_insert(std::uint64_t set, Address line, Touch touch, Entry state) override {
        if (const Entry found = PlacedArray::access(set, line, touch)) return {found, 0};
        return {0, PlacedArray::insert(set, line, state)};
    }

    Entry insert(std::uint64_t set, Address line, Entry state) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = way_to_fill(set, tags);
        const Entry victim = tags[way];
        tags[way] = line | state | entry_bit::valid;
        policy_.inserted(set, way);
        return victim;
    }

    Entry make_room(std::uint64_t set) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = way_to_fill(set, tags);
        return clear(set, tags, way);
    }

    Entry remove(std::uint64_t set, Address line) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = find_tag<fixed_groups>(tags, groups_, line);
        if (way >= stride()) return 0;
        return clear(set, tags, way);
    }

    Entry find(std::uint64_t set, Address line) const override {
        const Entry* tags = tags_ + set * stride();
        const unsigned way = find_tag<fixed_groups>(tags, groups_, line);
        return way >= stride() ? 0 : tags[way];
    }

private:
    unsigned stride() const { return (fixed_groups != 0 ? fixed_groups : groups_) * scan_width; }

    /// The lowest invalid way, else the policy's victim.
    unsigned way_to_fill(std::uint64_t set, const Entry* tags) {
        if constexpr (!Policy::knows_invalid_ways) {
            const auto* const end = tags + ways_;
            const auto* const invalid = std::find(tags, end, Entry{0});
            if (invalid != end) return static_cast<unsigned>(invalid - tags);
        }
        return policy_.victim(set);
    }

    Entry clear(std::uint64_t set, Entry* tags, unsigned way) {
        if constexpr (Policy::knows_invalid_ways) policy_.removed(set, way);
        return std::exchange(tags[way], 0);
    }

    unsigned ways_, groups_;
    Policy policy_;
    TagStore tags_;
};

/// The arrays that loops over hits are specialised for: lru next to a core, of up to so many ways.
using StampArray4 = PlacedArray<StampLru<4>, 1>;
using StampArray8 = PlacedArray<StampLru<8>, 2>;
using StampArray12 = PlacedArray<StampLru<12>, 3>;

}  // namespace cachetally
