// SPDX-License-Identifier: BSD-3-Clause
// CompactArray: sets kept in the order of recency, in 32 bits per line.
#pragma once

#include <span>

#include "sim/model/event.hpp"
#include "sim/model/ordered_array.hpp"

namespace cachetally {

#if defined(__AVX2__)

/// As OrderedArray, with half the memory and eight entries to a vector. An entry holds the bits of the address above
/// the set's number; once an address does not fit, the array goes on as an OrderedArray.
template <unsigned groups>
class CompactArray final : public CacheArray {
public:
    static constexpr unsigned group_width = 8;
    static constexpr unsigned most_ways = groups * group_width;
    using Packed = std::uint32_t;

    /// Sets must be a field of the address.
    explicit CompactArray(const ArrayGeometry& geometry)
        : geometry_(geometry),
          ways_(geometry.ways),
          reorder_(geometry.replacement == Replacement::lru),
          line_bits_(geometry.line_bits),
          tag_bits_from_(geometry.line_bits + log2_exact(geometry.sets)),
          bound_(Address{1} << std::min(tag_bits_from_ + tag_bits, 63U)),
          tags_(geometry.sets * most_ways / 2) {}

    /// Whether sets of this geometry can be kept so.
    static bool suits(const ArrayGeometry& geometry) {
        return geometry.line_bits != 0 && is_power_of_two(geometry.sets) && geometry.ways <= most_ways;
    }

    Entry access(std::uint64_t index, Address line, Touch touch) override {
        if (line >= bound_) [[unlikely]]
            return wide().access(index, line, touch);
        Packed* set = set_at(index);
        const unsigned position = find(set, line);
        if (position >= most_ways) return 0;
        const Packed found = set[position], changed = touched(found, touch);
        if (touch.use && reorder_) {
            move_to_front(set, position, changed);
        } else if (changed != found) {
            set[position] = changed;
        }
        return entry_of(found, index);
    }

    ReplaceResult replace(std::uint64_t index, Address line, Touch touch, Entry state) override {
        const Entry found = CompactArray::access(index, line, touch);
        return found != 0 ? ReplaceResult{0, found} : ReplaceResult{1, CompactArray::insert(index, line, state)};
    }

    std::size_t replace_all(std::span<const Address> lines, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        return replace_each(ArrayTags(*this, index), lines, missing);
    }

    /// Uses or inserts lines, latest in front; a copy for loops, with all it needs in registers. Where uses_in_order().
    class BatchTags {
    public:
        explicit BatchTags(const CompactArray& array)
            : tags_(reinterpret_cast<Packed*>(array.tags_ + 0)),
              last_(std::uint64_t{1} << (array.ways_ - 1)),
              line_bits_(array.line_bits_),
              tag_bits_from_(array.tag_bits_from_),
              below_tag_((Address{1} << array.tag_bits_from_) - 1),
              set_mask_(below_tag_ >> array.line_bits_) {}

        void expect(Address line) const {
            for (unsigned group = 0; group < groups; group += 2) __builtin_prefetch(set_of(line) + group * group_width);
        }

        /// Without a branch on whether the line is there: at a level that is hit half the time nobody could predict it.
        /// `state` (of 32 bits, as all here) is added to that of a line that is there.
        [[gnu::always_inline]] ReplaceResult replace(Address line, Entry state) const {
            Packed* set = set_of(line);
            const Packed fresh = static_cast<Packed>(line >> tag_bits_from_) << state_bits | entry_bit::valid;
            const std::uint64_t found = matches(set, fresh);
            const auto position = static_cast<unsigned>(__builtin_ctzll(found | last_));
            const Packed old = set[position];
            move_to_front(set, position, (found != 0 ? old : fresh) | static_cast<Packed>(state));
            return {(found - 1) >> 63, old};
        }

        /// The line of an entry that gave way to `line`.
        Address line_of_old(Entry old, Address line) const {
            return (old & ~entry_bit::all) << (tag_bits_from_ - state_bits) | (line & below_tag_);
        }

    private:
        Packed* set_of(Address line) const { return tags_ + (line >> line_bits_ & set_mask_) * most_ways; }

        Packed* tags_;
        std::uint64_t last_;
        unsigned line_bits_, tag_bits_from_;
        Address below_tag_;
        std::uint64_t set_mask_;
        Address bound_;
    };
    bool replaces_in_order() const { return reorder_; }

    /// Whether BatchTags can hold all these lines.
    bool holds(std::span<const BlockEvent> lines) const {
        Address bits = 0;
        for (const BlockEvent line : lines) bits |= line.bits();
        return bits < bound_;  // a power of two, or 0
    }

    Entry insert(std::uint64_t index, Address line, Entry state) override {
        if (line >= bound_) [[unlikely]]
            return wide().insert(index, line, state);
        Packed* set = set_at(index);
        const Packed victim = set[ways_ - 1];
        move_to_front(set, ways_ - 1, packed(line, state));
        return entry_of(victim, index);
    }

    Entry make_room(std::uint64_t index) override {
        if (wide_) return wide_->make_room(index);
        return entry_of(std::exchange(set_at(index)[ways_ - 1], 0), index);
    }

    Entry remove(std::uint64_t index, Address line) override {
        if (line >= bound_) return wide().remove(index, line);
        Packed* set = set_at(index);
        const unsigned position = find(set, line);
        if (position >= most_ways) return 0;
        const Packed removed = set[position];
        std::memmove(set + position, set + position + 1, (ways_ - 1 - position) * sizeof(Packed));
        set[ways_ - 1] = 0;
        return entry_of(removed, index);
    }

    Entry find(std::uint64_t index, Address line) const override {
        if (wide_) return wide_->find(index, line);
        if (line >= bound_) return 0;
        const Packed* set = set_at(index);
        const unsigned position = find(set, line);
        return position >= most_ways ? 0 : entry_of(set[position], index);
    }

    std::uint64_t digest(std::uint64_t index) const override {
        if (wide_) return wide_->digest(index);
        std::uint64_t digest = 0;
        for (unsigned position = 0; position < ways_; ++position)
            digest = digest_of(digest, entry_of(set_at(index)[position], index));
        return digest;
    }

private:
    static constexpr unsigned state_bits = 3, tag_bits = 32 - state_bits;

    Packed packed(Address line, Entry state) const {
        return static_cast<Packed>(line >> tag_bits_from_) << state_bits |
               static_cast<Packed>(state | entry_bit::valid);
    }
    Entry entry_of(Packed entry, std::uint64_t index) const {
        const Entry line = Entry{entry >> state_bits} << tag_bits_from_ | index << line_bits_;
        return entry == 0 ? 0 : line | (entry & entry_bit::all);
    }
    static Packed touched(Packed entry, Touch touch) { return (entry & ~Packed{touch.clear}) | touch.set; }

    unsigned find(const Packed* set, Address line) const {
        return static_cast<unsigned>(__builtin_ctzll(matches(set, packed(line, 0)) | std::uint64_t{1} << most_ways));
    }

    /// Positions of an entry but for its other state bits: one bit at most.
    [[gnu::always_inline]] static std::uint64_t matches(const Packed* set, Packed entry) {
        const __m256i key = _mm256_set1_epi32(static_cast<int>(entry));
        const __m256i mask = _mm256_set1_epi32(static_cast<int>(~entry_bit::all | entry_bit::valid));
        std::uint64_t found = 0;
        for (unsigned group = 0; group < groups; ++group) {
            const __m256i tags = _mm256_load_si256(reinterpret_cast<const __m256i*>(set) + group);
            const __m256i equal = _mm256_cmpeq_epi32(_mm256_and_si256(tags, mask), key);
            const auto bits = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
            found |= std::uint64_t{bits} << (group * group_width);
        }
        return found;
    }

    /// As move_to_front() of set_scan.hpp.
    static void move_to_front(Packed* set, unsigned position, Packed entry) {
        alignas(32) static constexpr auto ramp = [] {
            std::array<Packed, 2 * most_ways> mask{};
            for (unsigned i = most_ways; i < 2 * most_ways; ++i) mask[i] = ~Packed{0};
            return mask;
        }();
        const __m256i back_by_one = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6);
        const Packed* keep = ramp.data() + (most_ways - 1 - position);
        __m256i carry = _mm256_castsi128_si256(_mm_cvtsi32_si128(static_cast<int>(entry)));
        for (unsigned group = 0; group < groups; ++group) {
            auto* tags = reinterpret_cast<__m256i*>(set) + group;
            const __m256i old = _mm256_load_si256(tags);
            const __m256i rotated = _mm256_permutevar8x32_epi32(old, back_by_one);
            const __m256i moved = _mm256_blend_epi32(rotated, carry, 1);
            const __m256i kept = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keep + group * group_width));
            _mm256_store_si256(tags, _mm256_blendv_epi8(moved, old, kept));
            carry = rotated;
        }
    }

    Packed* set_at(std::uint64_t index) const { return reinterpret_cast<Packed*>(tags_ + index * (most_ways / 2)); }

    /// Where all goes from the first address on that does not fit.
    [[gnu::noinline]] CacheArray& wide() {
        if (wide_) return *wide_;
        wide_ = std::make_unique<OrderedArray<groups * group_width / scan_width>>(geometry_);
        for (std::uint64_t index = 0; index < geometry_.sets; ++index)
            for (unsigned position = ways_; position-- > 0;)
                if (const Entry entry = entry_of(set_at(index)[position], index); entry != 0)
                    wide_->insert(index, line_of(entry), entry & (entry_bit::all & ~entry_bit::valid));
        bound_ = 0;
        return *wide_;
    }

    ArrayGeometry geometry_;
    unsigned ways_;
    bool reorder_;
    unsigned line_bits_, tag_bits_from_;
    Address bound_;  ///< addresses below it fit
    TagStore tags_;
    std::unique_ptr<CacheArray> wide_;
};

#endif

}  // namespace cachetally
