// SPDX-License-Identifier: BSD-3-Clause
// StampArray: lru sets that tell the order of use by stamps; for caches that mostly hit. Compiled once per instruction
// set.
#if defined(CACHETALLY_STAMP_ARRAY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHETALLY_STAMP_ARRAY_INL
#undef CACHETALLY_STAMP_ARRAY_INL
#else
#define CACHETALLY_STAMP_ARRAY_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "sim/model/tags/batch_loop-inl.hpp"
#include "sim/model/tags/set_ops-inl.hpp"
#include "sim/model/tags/tag_store.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

/// A hit writes one stamp and moves no tags, so that hits in close succession do not wait for each other. A stamp
/// carries its way, so that the least stamp tells the victim; invalid ways have the least stamps.
template <unsigned padded>
class StampArray final : public CacheArray {
    using Ops = SetOps<Entry, padded>;
    using Stamp = std::uint64_t;

public:
    explicit StampArray(const ArrayGeometry& geometry)
        : ways_(geometry.ways), stamps_(geometry.sets * padded), tags_(geometry.sets * padded) {
        for (std::uint64_t set = 0; set < geometry.sets; ++set)
            for (unsigned way = 0; way < padded; ++way) (stamps_ + set * padded)[way] = way < ways_ ? way : ~Stamp{0};
    }

    Entry access(std::uint64_t set, Address line, Touch touch) override {
        Entry* const tags = tags_ + set * padded;
        const unsigned way = Ops::find(tags, line | entry_bit::valid);
        if (way >= padded) return 0;
        const Entry found = tags[way], changed = touch.applied_to(found);
        if (changed != found) tags[way] = changed;  // seldom: reading the set soon after it was written stalls
        if (touch.use) use(set, way);
        return found;
    }

    ReplaceResult replace(std::uint64_t set, Address line, Touch touch, Entry state) override {
        if (const Entry found = StampArray::access(set, line, touch)) return {0, found};
        return {1, StampArray::insert(set, line, state)};
    }

    std::size_t replace_all(std::span<const BlockEvent> accesses, Address line_mask, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        if (!index.is_field()) return replace_each(ArrayTags(*this, index), accesses, line_mask, missing);
        return replace_each(StampTags(*this, index.field()), accesses, line_mask, missing);
    }

    BlockEvent* handle(const ArrayBatch& batch, const IndexingPolicy& index, BatchCounts& counts) override {
        if (!index.is_field()) return handle_at<Distance::near>(ArrayTags(*this, index), batch, counts);
        return handle_at<Distance::near>(StampTags(*this, index.field()), batch, counts);
    }

    Entry insert(std::uint64_t set, Address line, Entry state) override {
        const unsigned way = least(set);
        const Entry victim = std::exchange((tags_ + set * padded)[way], line | state | entry_bit::valid);
        use(set, way);
        return victim;
    }

    Entry make_room(std::uint64_t set) override { return clear(set, least(set)); }

    Entry remove(std::uint64_t set, Address line) override {
        const unsigned way = Ops::find(tags_ + set * padded, line | entry_bit::valid);
        return way >= padded ? 0 : clear(set, way);
    }

    Entry find(std::uint64_t set, Address line) const override {
        const Entry* const tags = tags_ + set * padded;
        const unsigned way = Ops::find(tags, line | entry_bit::valid);
        return way >= padded ? 0 : tags[way];
    }

    /// Of the order of use alone: which way a line lies in changes nothing.
    std::uint64_t digest(std::uint64_t set) const override {
        std::array<Stamp, padded> sorted;
        std::copy_n(stamps_ + set * padded, padded, sorted.begin());
        std::ranges::sort(sorted);
        std::uint64_t digest = 0;
        for (unsigned rank = 0; rank < ways_; ++rank)
            digest = digest_of(digest, (tags_ + set * padded)[sorted[rank] % padded]);
        return digest;
    }

private:
    /// Uses or inserts lines, for loops: the clock is in a register until keep(). Where sets are a field.
    class StampTags {
    public:
        StampTags(StampArray& array, IndexingPolicy::Field field)
            : array_(array), tags_(array.tags_ + 0), stamps_(array.stamps_ + 0), now_(array.now_), field_(field) {}

        HWY_INLINE void expect(Address) const {}
        void keep() const { array_.now_ = now_; }

        HWY_INLINE ReplaceResult replace(Address line, Entry state) {
            const std::uint64_t first = field_.set_of(line) * padded;
            Entry* const tags = tags_ + first;
            const std::uint64_t found = Ops::match(tags, line | entry_bit::valid);
            if (found != 0) [[likely]] {
                const auto way = static_cast<unsigned>(std::countr_zero(found));
                const Entry old = tags[way];
                if ((state & ~old) != 0) tags[way] = old | state;  // seldom, as in access()
                stamps_[first + way] = (now_ += padded) | way;
                return {0, old};
            }
            const unsigned way = least_of(stamps_ + first);
            const Entry old = std::exchange(tags[way], line | state | entry_bit::valid);
            stamps_[first + way] = (now_ += padded) | way;
            return {1, old};
        }

        HWY_INLINE Address line_of_old(Entry old, Address) const { return line_of(old); }

    private:
        StampArray& array_;
        Entry* tags_;
        Stamp* stamps_;
        Stamp now_;
        IndexingPolicy::Field field_;
    };

    static HWY_INLINE unsigned least_of(const Stamp* stamps) {
        const hn::CappedTag<Stamp, padded> tag;
        auto least = hn::Load(tag, stamps);
        for (unsigned first = hn::MaxLanes(tag); first < padded; first += hn::MaxLanes(tag))
            least = hn::Min(least, hn::Load(tag, stamps + first));
        return static_cast<unsigned>(hn::GetLane(hn::MinOfLanes(tag, least))) % padded;
    }
    unsigned least(std::uint64_t set) const { return least_of(stamps_ + set * padded); }
    void use(std::uint64_t set, unsigned way) { (stamps_ + set * padded)[way] = (now_ += padded) | way; }

    Entry clear(std::uint64_t set, unsigned way) {
        (stamps_ + set * padded)[way] = way;
        return std::exchange((tags_ + set * padded)[way], 0);
    }

    unsigned ways_;
    Stamp now_ = 0;  ///< the last stamp, without a way
    TagStore<Stamp> stamps_;
    TagStore<Entry> tags_;
};

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
