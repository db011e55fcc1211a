// SPDX-License-Identifier: BSD-3-Clause
// PlacedArray: sets whose entries stay in their ways, with a replacement policy's state beside them.
#pragma once

#include <algorithm>
#include <utility>

#include "sim/model/replacement.hpp"
#include "sim/model/tag_store.hpp"

namespace cachetally {

/// Entries stay in their ways; the policy keeps its own state.
template <class Policy>
class PlacedArray final : public CacheArray {
public:
    explicit PlacedArray(const ArrayGeometry& geometry)
        : ways_(geometry.ways),
          groups_(groups_of(geometry.ways)),
          lowest_first_(geometry.empty_way == EmptyWay::lowest),
          policy_(geometry.sets, geometry.ways, geometry.seed),
          tags_(geometry.sets * stride()) {}

    Entry access(std::uint64_t set, Address line, Touch touch) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = find_tag<0>(tags, groups_, line);
        if (way >= stride()) return 0;
        const Entry found = tags[way];
        const Entry changed = touch.applied_to(found);
        if (changed != found) tags[way] = changed;  // seldom: reading the set soon after it was written stalls
        if (touch.use) policy_.used(set, way);
        return found;
    }

    ReplaceResult replace(std::uint64_t set, Address line, Touch touch, Entry state) override {
        if (const Entry found = PlacedArray::access(set, line, touch)) return {0, found};
        return {1, PlacedArray::insert(set, line, state)};
    }

    std::size_t replace_all(std::span<const Address> lines, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        return replace_each(ArrayTags(*this, index), lines, missing);
    }

    Entry insert(std::uint64_t set, Address line, Entry state) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = way_to_fill(set, tags);
        const Entry victim = tags[way];
        tags[way] = line | state | entry_bit::valid;
        policy_.inserted(set, way);
        room_ = {};
        return victim;
    }

    Entry make_room(std::uint64_t set) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = way_to_fill(set, tags);
        room_ = {set, way};
        return std::exchange(tags[way], 0);
    }

    Entry remove(std::uint64_t set, Address line) override {
        Entry* tags = tags_ + set * stride();
        const unsigned way = find_tag<0>(tags, groups_, line);
        if (way >= stride()) return 0;
        return std::exchange(tags[way], 0);
    }

    Entry find(std::uint64_t set, Address line) const override {
        const Entry* tags = tags_ + set * stride();
        const unsigned way = find_tag<0>(tags, groups_, line);
        return way >= stride() ? 0 : tags[way];
    }

    std::uint64_t digest(std::uint64_t set) const override {
        std::uint64_t digest = policy_.digest(set);
        for (unsigned way = 0; way < ways_; ++way) digest = digest_of(digest, *(tags_ + (set * stride() + way)));
        return digest;
    }

private:
    unsigned stride() const { return groups_ * scan_width; }

    unsigned way_to_fill(std::uint64_t set, const Entry* tags) {
        if (!lowest_first_) return room_.set == set ? room_.way : policy_.victim(set);
        const auto* const end = tags + ways_;
        const auto* const invalid = std::find(tags, end, Entry{0});
        return invalid != end ? static_cast<unsigned>(invalid - tags) : policy_.victim(set);
    }

    /// Where make_room() has made it: the next insertion into this set goes there.
    struct Room {
        std::uint64_t set = ~std::uint64_t{0};
        unsigned way = 0;
    };

    unsigned ways_, groups_;
    bool lowest_first_;
    Room room_;
    Policy policy_;
    TagStore tags_;
};

}  // namespace cachetally
