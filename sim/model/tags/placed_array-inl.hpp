// SPDX-License-Identifier: BSD-3-Clause
// PlacedArray: sets whose entries stay in their ways, with a replacement policy's state beside them. Compiled once per
// instruction set.
#if defined(CACHETALLY_PLACED_ARRAY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHETALLY_PLACED_ARRAY_INL
#undef CACHETALLY_PLACED_ARRAY_INL
#else
#define CACHETALLY_PLACED_ARRAY_INL
#endif

#include <hwy/highway.h>

#include <utility>

#include "sim/model/replacement/policy.hpp"
#include "sim/model/tags/batch_loop-inl.hpp"
#include "sim/model/tags/set_ops-inl.hpp"
#include "sim/model/tags/tag_store.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

template <ReplacementPolicy Policy, unsigned fixed_ways>
class PlacedArray final : public CacheArray {
    using Ops = SetOps<Entry, fixed_ways>;

public:
    explicit PlacedArray(const ArrayGeometry& geometry)
        : ways_(geometry.ways),
          lowest_first_(geometry.empty_way == EmptyWay::lowest),
          ops_(geometry.ways),
          policy_(geometry.sets, geometry.ways, geometry.seed),
          tags_(geometry.sets * ops_.stride()) {}

    Entry access(std::uint64_t set, Address line, Touch touch) override {
        Entry* tags = set_at(set);
        const unsigned way = ops_.find(tags, line | entry_bit::valid);
        if (way >= ops_.stride()) return 0;
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

    std::size_t replace_all(std::span<const BlockEvent> accesses, Address line_mask, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        if (index.is_field()) return replace_each(PlacedTags(*this, index.field(), line_mask), accesses, missing);
        return replace_each(ArrayTags(*this, index, line_mask), accesses, missing);
    }

    BlockEvent* handle(const ArrayBatch& batch, const IndexingPolicy& index, BatchCounts& counts) override {
        if (!index.is_field()) return handle_by<0>(ArrayTags(*this, index, batch.line_mask), batch, counts);
        const PlacedTags tags(*this, index.field(), batch.line_mask);
        return tags_.is_far() ? handle_by<10>(tags, batch, counts) : handle_by<0>(tags, batch, counts);
    }

    Entry insert(std::uint64_t set, Address line, Entry state) override {
        Entry* tags = set_at(set);
        const unsigned way = way_to_fill(set, tags);
        const Entry victim = std::exchange(tags[way], line | state | entry_bit::valid);
        policy_.inserted(set, way);
        room_ = {};
        return victim;
    }

    Entry make_room(std::uint64_t set) override {
        Entry* tags = set_at(set);
        const unsigned way = way_to_fill(set, tags);
        room_ = {set, way};
        return std::exchange(tags[way], 0);
    }

    Entry remove(std::uint64_t set, Address line) override {
        Entry* tags = set_at(set);
        const unsigned way = ops_.find(tags, line | entry_bit::valid);
        return way >= ops_.stride() ? 0 : std::exchange(tags[way], 0);
    }

    Entry find(std::uint64_t set, Address line) const override {
        const Entry* tags = set_at(set);
        const unsigned way = ops_.find(tags, line | entry_bit::valid);
        return way >= ops_.stride() ? 0 : tags[way];
    }

    std::uint64_t digest(std::uint64_t set) const override {
        std::uint64_t digest = policy_.digest(set);
        for (unsigned way = 0; way < ways_; ++way) digest = digest_of(digest, set_at(set)[way]);
        return digest;
    }

private:
    /// Uses or inserts lines, for loops. Where sets are a field.
    class PlacedTags {
    public:
        PlacedTags(PlacedArray& array, IndexingPolicy::Field field, Address line_mask)
            : array_(array), field_(field), line_mask_(line_mask) {}

        HWY_INLINE void expect(Address address) const {
            const Entry* const tags = array_.set_at(field_.set_of(address));
            for (unsigned way = 0; way < array_.ways_; way += 64 / sizeof(Entry)) __builtin_prefetch(tags + way, 1);
        }
        void keep() const {}

        HWY_INLINE ReplaceResult replace(Address address, Entry state) const {
            const Touch touch{.use = true, .set = static_cast<std::uint8_t>(state)};
            return array_.PlacedArray::replace(field_.set_of(address), address & line_mask_, touch, state);
        }
        VictimFormat victim_format(Address) const { return {}; }

    private:
        PlacedArray& array_;
        IndexingPolicy::Field field_;
        Address line_mask_;
    };

    Entry* set_at(std::uint64_t set) const { return tags_ + set * ops_.stride(); }

    unsigned way_to_fill(std::uint64_t set, const Entry* tags) {
        if (!lowest_first_) return room_.set == set ? room_.way : policy_.victim(set);
        const unsigned empty = find_empty(tags);
        return empty < ways_ ? empty : policy_.victim(set);
    }

    unsigned find_empty(const Entry* tags) const { return ops_.find(tags, 0, ~Entry{0}); }

    /// Where make_room() has made it: the next insertion into this set goes there.
    struct Room {
        std::uint64_t set = ~std::uint64_t{0};
        unsigned way = 0;
    };

    unsigned ways_;
    bool lowest_first_;
    Room room_;
    Ops ops_;
    Policy policy_;
    TagStore<Entry> tags_;
};

/// The array of a policy whose lines stay in their ways.
template <ReplacementPolicy Policy>
std::unique_ptr<CacheArray> make_placed(const ArrayGeometry& geometry) {
    switch (padded_ways(geometry.ways)) {
        case 4:
        case 8: return std::make_unique<PlacedArray<Policy, 8>>(geometry);
        case 16: return std::make_unique<PlacedArray<Policy, 16>>(geometry);
        default: return std::make_unique<PlacedArray<Policy, 0>>(geometry);
    }
}

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
