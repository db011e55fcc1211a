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
#include "sim/model/tags/tag_format-inl.hpp"
#include "sim/model/tags/tag_store.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

/// What a loop asks a policy by.
template <class Policy, unsigned ways>
struct PolicyView {
    explicit PolicyView(Policy&) {}
};
template <PurePolicy Policy, unsigned ways>
requires(ways != 0) struct PolicyView<Policy, ways> : Policy::template View<ways> {
    explicit PolicyView(Policy& policy) : Policy::template View<ways>(policy) {}
};

/// Words of 32 bits take half of the memory; from the first address on that does not fit them, the array goes on with
/// words of 64 bits.
template <class Word, ReplacementPolicy Policy, unsigned fixed_ways>
class PlacedArray final : public CacheArray {
    using Ops = SetOps<Word, fixed_ways>;
    using Format = TagFormat<Word>;
    using Wide = PlacedArray<Entry, Policy, fixed_ways>;
    static constexpr bool packed = sizeof(Word) < sizeof(Entry);

public:
    explicit PlacedArray(const ArrayGeometry& geometry)
        : PlacedArray(geometry, Policy(geometry.sets, geometry.ways, geometry.seed)) {}
    PlacedArray(const ArrayGeometry& geometry, const Policy& policy)
        : geometry_(geometry),
          lowest_first_(geometry.empty_way == EmptyWay::lowest),
          ops_(geometry.ways),
          format_(geometry),
          policy_(policy),
          tags_(geometry.sets * ops_.stride()),
          empty_(geometry.sets * geometry.ways) {}

    Entry access(std::uint64_t set, Address line, Touch touch) override {
        if (is_wide(line)) return wide().access(set, line, touch);
        Word* tags = set_at(set);
        const unsigned way = ops_.find(tags, key(line));
        if (way >= ops_.stride()) return 0;
        const Word found = tags[way], changed = static_cast<Word>(touch.applied_to(found));
        if (changed != found) tags[way] = changed;  // seldom: reading the set soon after it was written stalls
        if (touch.use) policy_.used(set, way);
        return format_.unpack(found, set);
    }

    ReplaceResult replace(std::uint64_t set, Address line, Touch touch, Entry state) override {
        if (const Entry found = PlacedArray::access(set, line, touch)) return {0, found};
        return {1, PlacedArray::insert(set, line, state)};
    }

    std::size_t replace_all(std::span<const BlockEvent> accesses, Address line_mask, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        if (!all_fit(accesses)) return wide().replace_all(accesses, line_mask, index, missing);
        if (index.is_field())
            return replace_each(PlacedTags<false>(*this, index.field(), line_mask), accesses, missing);
        return replace_each(ArrayTags(*this, index, line_mask), accesses, missing);
    }

    BlockEvent* handle(const ArrayBatch& batch, const IndexingPolicy& index, BatchCounts& counts) override {
        if (!all_fit(batch.requests)) return wide().handle(batch, index, counts);
        if (!index.is_field()) return handle_by<0>(ArrayTags(*this, index, batch.line_mask), batch, counts);
        if (PurePolicy<Policy> && (empty_ == 0 || !lowest_first_))
            return handle_batch(PlacedTags<true>(*this, index.field(), batch.line_mask), batch, counts);
        return handle_batch(PlacedTags<false>(*this, index.field(), batch.line_mask), batch, counts);
    }

    Entry insert(std::uint64_t set, Address line, Entry state) override {
        if (is_wide(line)) return wide().insert(set, line, state);
        Word* tags = set_at(set);
        const unsigned way = way_to_fill(set, tags);
        const Word victim = std::exchange(tags[way], format_.pack(line, state | entry_bit::valid));
        empty_ -= victim == 0;
        policy_.inserted(set, way);
        room_ = {};
        return format_.unpack(victim, set);
    }

    Entry make_room(std::uint64_t set) override {
        if (wide_) return wide_->make_room(set);
        Word* tags = set_at(set);
        const unsigned way = way_to_fill(set, tags);
        room_ = {set, way};
        return take(set, way);
    }

    Entry remove(std::uint64_t set, Address line) override {
        if (is_wide(line)) return wide().remove(set, line);
        Word* tags = set_at(set);
        const unsigned way = ops_.find(tags, key(line));
        return way >= ops_.stride() ? 0 : take(set, way);
    }

    Entry find(std::uint64_t set, Address line) const override {
        if (wide_) return wide_->find(set, line);
        if (!format_.fits(line)) return 0;
        const Word* tags = set_at(set);
        const unsigned way = ops_.find(tags, key(line));
        return way >= ops_.stride() ? 0 : format_.unpack(tags[way], set);
    }

    bool holds_any(std::span<const Address> lines, Address offset, const IndexingPolicy& index) const override {
        return holds_one_of(*this, lines, offset, index);
    }

    void copy_to(std::unique_ptr<CacheArray>& copy) const override {
        if (!copy) copy = std::make_unique<PlacedArray>(geometry_);
        auto& same = static_cast<PlacedArray&>(*copy);
        if (wide_) return wide_->copy_to(same.wide_);
        same.wide_.reset();
        same.tags_ = tags_;
        same.policy_ = policy_;
        same.room_ = room_;
        same.empty_ = empty_;
    }

    std::uint64_t digest(std::uint64_t set) const override {
        if (wide_) return wide_->digest(set);
        std::uint64_t digest = policy_.digest(set);
        for (unsigned way = 0; way < geometry_.ways; ++way)
            digest = digest_of(digest, format_.unpack(set_at(set)[way], set));
        return digest;
    }

private:
    friend class PlacedArray<std::uint32_t, Policy, fixed_ways>;

    /// Uses or inserts lines, for loops; then keep(). Where sets are a field and all lines fit. `full`: no empty way is
    /// looked for.
    template <bool full>
    class PlacedTags {
    public:
        PlacedTags(PlacedArray& array, IndexingPolicy::Field field, Address line_mask)
            : array_(array),
              tags_(array.tags_ + 0),
              view_(array.policy_),
              ways_(array.lowest_first_ ? (std::uint64_t{1} << array.geometry_.ways % 64) - 1 : 0),
              field_(field),
              format_(array.format_),
              line_mask_(line_mask) {}

        HWY_INLINE void expect(Address address) const {
            const Word* const tags = array_.set_at(field_.set_of(address));
            for (unsigned way = 0; way < array_.ops_.stride(); way += 64 / sizeof(Word))
                __builtin_prefetch(tags + way, 1);
        }
        void keep() const { array_.empty_ -= filled_; }

        HWY_INLINE ReplaceResult replace(Address address, Entry state) {
            const std::uint64_t set = field_.set_of(address);
            if constexpr (fixed_ways != 0 && PurePolicy<Policy>) {
                Word* const tags = tags_ + set * fixed_ways;
                const Word fresh = format_.pack(packed ? address : address & line_mask_, entry_bit::valid);
                const std::uint64_t found = Ops::match(tags, fresh);
                std::uint64_t free = view_.victim(set);
                if constexpr (!full)
                    if (const std::uint64_t empty = Ops::match(tags, 0, static_cast<Word>(~Word{0})) & ways_;
                        empty != 0) {
                        free = empty & ~(empty - 1);
                        filled_ += found == 0;
                    }
                // all bits if nothing was found; without a branch, since nobody could predict it
                const auto missed = static_cast<std::uint64_t>(static_cast<std::int64_t>(found - 1) >> 63);
                const std::uint64_t bit = found | (missed & free);
                const auto way = static_cast<unsigned>(std::countr_zero(bit));
                const Word old = tags[way];
                Ops::use_or_place(tags, found, bit, fresh, static_cast<Word>(state));
                view_.used(set, way);
                return {missed & 1, old};
            } else {
                const Touch touch{.use = true, .set = static_cast<std::uint8_t>(state)};
                static_assert(!packed);  // the old entry is as it stands in the set
                return array_.PlacedArray::replace(set, address & line_mask_, touch, state);
            }
        }
        VictimFormat victim_format(Address line_mask) const { return format_.victim_format(line_mask); }

    private:
        PlacedArray& array_;
        Word* tags_;
        PolicyView<Policy, fixed_ways> view_;
        std::uint64_t ways_;  ///< that may be empty, as bits
        std::uint64_t filled_ = 0;
        IndexingPolicy::Field field_;
        Format format_;
        Address line_mask_;
    };

    template <bool full>
    BlockEvent* handle_batch(const PlacedTags<full>& tags, const ArrayBatch& batch, BatchCounts& counts) const {
        constexpr bool merges = PurePolicy<Policy>;
        return tags_.is_far() ? handle_by<10, merges>(tags, batch, counts) : handle_by<0, merges>(tags, batch, counts);
    }

    Entry take(std::uint64_t set, unsigned way) {
        const Word taken = std::exchange(set_at(set)[way], 0);
        empty_ += taken != 0;
        return format_.unpack(taken, set);
    }
    Word key(Address line) const { return format_.pack(line, entry_bit::valid); }
    Word* set_at(std::uint64_t set) const { return tags_ + set * ops_.stride(); }

    unsigned way_to_fill(std::uint64_t set, const Word* tags) {
        if (!lowest_first_) return room_.set == set ? room_.way : policy_.victim(set);
        const unsigned empty = ops_.find(tags, 0, static_cast<Word>(~Word{0}));
        return empty < geometry_.ways ? empty : policy_.victim(set);
    }

    bool all_fit(std::span<const BlockEvent> lines) { return !packed || (!wide_ && format_.fits(bits_of_all(lines))); }
    bool is_wide(Address line) const { return packed && (wide_ != nullptr || !format_.fits(line)); }

    /// Where all goes from the first address on that does not fit.
    HWY_NOINLINE CacheArray& wide() {
        if (wide_) return *wide_;
        auto made = std::make_unique<Wide>(geometry_, policy_);
        made->room_ = {room_.set, room_.way};
        made->empty_ = empty_;
        for (std::uint64_t set = 0; set < geometry_.sets; ++set)
            for (unsigned way = 0; way < geometry_.ways; ++way)
                made->set_at(set)[way] = format_.unpack(set_at(set)[way], set);
        wide_ = std::move(made);
        return *wide_;
    }

    /// Where make_room() has made it: the next insertion into this set goes there.
    struct Room {
        std::uint64_t set = ~std::uint64_t{0};
        unsigned way = 0;
    };

    ArrayGeometry geometry_;
    bool lowest_first_;
    Room room_;
    Ops ops_;
    Format format_;
    Policy policy_;
    TagStore<Word> tags_;
    std::uint64_t empty_;  ///< ways of all sets
    std::unique_ptr<CacheArray> wide_;
};

template <ReplacementPolicy Policy, unsigned ways>
std::unique_ptr<CacheArray> make_placed_by(const ArrayGeometry& geometry) {
    if constexpr (PurePolicy<Policy>)
        if (may_be_packed(geometry)) return std::make_unique<PlacedArray<std::uint32_t, Policy, ways>>(geometry);
    return std::make_unique<PlacedArray<Entry, Policy, ways>>(geometry);
}

/// The array of a policy whose lines stay in their ways.
template <ReplacementPolicy Policy>
std::unique_ptr<CacheArray> make_placed(const ArrayGeometry& geometry) {
    switch (padded_ways(geometry.ways)) {
        case 4:
        case 8: return make_placed_by<Policy, 8>(geometry);
        case 16: return make_placed_by<Policy, 16>(geometry);
        default: return std::make_unique<PlacedArray<Entry, Policy, 0>>(geometry);
    }
}

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
