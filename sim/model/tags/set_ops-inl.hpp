// SPDX-License-Identifier: BSD-3-Clause
// SetOps: the tags of one set, compared and moved as vectors. Compiled once per instruction set.
#if defined(CACHETALLY_SET_OPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHETALLY_SET_OPS_INL
#undef CACHETALLY_SET_OPS_INL
#else
#define CACHETALLY_SET_OPS_INL
#endif

#include <hwy/highway.h>

#include <array>
#include <cstring>

#include "sim/model/tags/cache_array.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Without a branch: at a level that is hit half the time nobody could predict it.
template <class Word>
HWY_INLINE Word choose(bool condition, Word yes, Word no) {
    const auto mask = static_cast<Word>(-Word{condition});
    return (yes & mask) | (no & ~mask);
}

/// Ways that sets are padded to with invalid entries, so that they are whole vectors; 0: any multiple of 8.
constexpr unsigned padded_ways(unsigned ways) {
    return ways <= 4 ? 4 : ways <= 8 ? 8 : ways <= 16 ? 16 : ways <= 32 ? 32 : 0;
}

/// Sets of `ways` entries, a power of two up to 32: straight-line code.
template <class Word, unsigned ways>
class SetOps {
    using Tag = hn::CappedTag<Word, ways>;
    static constexpr unsigned lanes = hn::MaxLanes(Tag());
    static constexpr unsigned vectors = ways / lanes;
    static_assert(ways <= 32 && ways % lanes == 0);

public:
    explicit SetOps(unsigned) {}
    static constexpr unsigned stride() { return ways; }

    /// Positions of the entries that are `key` under `mask`, as bits.
    static HWY_INLINE std::uint64_t match(const Word* set, Word key, Word mask = match_mask) {
        const Tag tag;
        const auto wanted = hn::Set(tag, key), looked_at = hn::Set(tag, mask);
        std::uint64_t found = 0;
        for (unsigned vector = 0; vector < vectors; ++vector) {
            const auto tags = hn::Load(tag, set + vector * lanes);
            std::uint64_t bits = 0;
            hn::StoreMaskBits(tag, hn::Eq(hn::And(tags, looked_at), wanted), reinterpret_cast<std::uint8_t*>(&bits));
            found |= bits << vector * lanes;
        }
        return found;
    }

    /// Where the first of them is; stride() where there is none.
    static HWY_INLINE unsigned find(const Word* set, Word key, Word mask = match_mask) {
        return static_cast<unsigned>(std::countr_zero(match(set, key, mask) | std::uint64_t{1} << ways));
    }

    /// Or-es `state` to the entry of `bit`, which is overwritten by `fresh` first if it is not the one that was
    /// `found`: nothing waits for that entry. Whole vectors are written, as below.
    static HWY_INLINE void use_or_place(Word* set, std::uint64_t found, std::uint64_t bit, Word fresh, Word state) {
        const Tag tag;
        for (unsigned vector = 0; vector < vectors; ++vector) {
            const std::uint64_t here = bit >> vector * lanes, placed = (bit ^ found) >> vector * lanes;
            const auto mask_of = [&](const std::uint64_t& bits) {
                return hn::LoadMaskBits(tag, reinterpret_cast<const std::uint8_t*>(&bits));
            };
            Word* const tags = set + vector * lanes;
            const auto entered = hn::IfThenElse(mask_of(placed), hn::Set(tag, fresh), hn::Load(tag, tags));
            hn::Store(hn::Or(entered, hn::IfThenElseZero(mask_of(here), hn::Set(tag, state))), tag, tags);
        }
    }

    /// Puts `entry` in front and moves the entries before `position` back by one; the one at `position` is overwritten.
    /// Whole vectors are written, since reading one soon after a part of it was written stalls a processor.
    static HWY_INLINE void move_to_front(Word* set, unsigned position, Word entry) {
        const Tag tag;
        const auto first = hn::FirstN(tag, 1);
        if constexpr (vectors == 1) {
            const auto order = hn::IndicesFromVec(tag, hn::Load(tag, orders[position].data()));
            hn::Store(hn::IfThenElse(first, hn::Set(tag, entry), hn::TableLookupLanes(hn::Load(tag, set), order)), tag,
                      set);
        } else {
            const auto back_by_one = hn::IndicesFromVec(tag, hn::Load(tag, orders[lanes - 1].data()));
            const Word* const stays = ramp.data() + (ways - 1 - position);
            auto carry = hn::Set(tag, entry);
            for (unsigned vector = 0; vector < vectors; ++vector) {
                Word* const tags = set + vector * lanes;
                const auto old = hn::Load(tag, tags), rotated = hn::TableLookupLanes(old, back_by_one);
                const auto moved = hn::IfThenElse(first, carry, rotated);
                hn::Store(hn::IfThenElse(hn::MaskFromVec(hn::LoadU(tag, stays + vector * lanes)), old, moved), tag,
                          tags);
                carry = rotated;
            }
        }
    }

    /// The same with `fresh`, or with the entry at `position` itself where that is `found`, or-ed with `state`: nothing
    /// waits for that entry then.
    static HWY_INLINE void use_or_insert(Word* set, unsigned position, bool found, Word fresh, Word state) {
        if constexpr (vectors == 1) {
            const Tag tag;
            const auto order = hn::IndicesFromVec(tag, hn::Load(tag, orders[position].data()));
            const auto moved = hn::TableLookupLanes(hn::Load(tag, set), order);
            const auto entered = hn::IfThenElse(hn::FirstN(tag, found ? 0 : 1), hn::Set(tag, fresh), moved);
            hn::Store(hn::Or(entered, hn::IfThenElseZero(hn::FirstN(tag, 1), hn::Set(tag, state))), tag, set);
        } else {
            move_to_front(set, position, choose(found, set[position], fresh) | state);
        }
    }

    static constexpr Word match_mask = static_cast<Word>(~entry_bit::all | entry_bit::valid);

private:
    /// By position: from where each lane of a vector comes when that one moves to the front.
    alignas(64) static constexpr auto orders = [] {
        std::array<std::array<Word, lanes>, lanes> made{};
        for (unsigned position = 0; position < lanes; ++position)
            for (unsigned lane = 0; lane < lanes; ++lane)
                made[position][lane] = lane == 0 ? position : lane <= position ? lane - 1 : lane;
        return made;
    }();
    /// `ways` times "moves", then `ways` times "stays".
    alignas(64) static constexpr auto ramp = [] {
        std::array<Word, 2 * ways> made{};
        for (unsigned i = ways; i < 2 * ways; ++i) made[i] = static_cast<Word>(~Word{0});
        return made;
    }();
};

/// Sets of any number of ways, in a loop.
template <class Word>
class SetOps<Word, 0> {
    using Tag = hn::CappedTag<Word, 8>;
    static constexpr unsigned lanes = hn::MaxLanes(Tag());

public:
    explicit SetOps(unsigned ways) : stride_((ways + 7) / 8 * 8) {}
    unsigned stride() const { return stride_; }

    unsigned find(const Word* set, Word key, Word mask = match_mask) const {
        const Tag tag;
        const auto wanted = hn::Set(tag, key), looked_at = hn::Set(tag, mask);
        for (unsigned first = 0; first < stride_; first += lanes) {
            const auto found = hn::FindFirstTrue(tag, hn::Eq(hn::And(hn::Load(tag, set + first), looked_at), wanted));
            if (found >= 0) return first + static_cast<unsigned>(found);
        }
        return stride_;
    }

    void move_to_front(Word* set, unsigned position, Word entry) const {
        std::memmove(set + 1, set, position * sizeof(Word));
        set[0] = entry;
    }

    static constexpr Word match_mask = static_cast<Word>(~entry_bit::all | entry_bit::valid);

private:
    unsigned stride_;
};

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
