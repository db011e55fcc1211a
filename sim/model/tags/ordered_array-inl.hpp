// SPDX-License-Identifier: BSD-3-Clause
// OrderedArray: sets kept in the order of recency. Compiled once per instruction set.
#if defined(CACHETALLY_ORDERED_ARRAY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHETALLY_ORDERED_ARRAY_INL
#undef CACHETALLY_ORDERED_ARRAY_INL
#else
#define CACHETALLY_ORDERED_ARRAY_INL
#endif

#include <hwy/highway.h>

#include <memory>
#include <utility>

#include "sim/model/tags/batch_loop-inl.hpp"
#include "sim/model/tags/set_ops-inl.hpp"
#include "sim/model/tags/tag_store.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

/// How an entry stands in a word: of 64 bits, as it is; of 32 bits, the bits of the address above the number of the
/// set, where sets are a field of the address.
template <class Word>
struct TagFormat {
    explicit TagFormat(const ArrayGeometry&) {}
    bool fits(Address) const { return true; }
    Word pack(Address line, Entry state) const { return line | state; }
    Entry unpack(Word word, std::uint64_t) const { return word; }
    VictimFormat victim_format(Address) const { return {}; }
};

template <>
struct TagFormat<std::uint32_t> {
    static constexpr unsigned state_bits = 3, tag_bits = 32 - state_bits;

    explicit TagFormat(const ArrayGeometry& geometry)
        : line_bits(geometry.line_bits),
          tag_from(geometry.line_bits + log2_exact(geometry.sets)),
          bound(Address{1} << std::min(tag_from + tag_bits, 63U)) {}

    bool fits(Address line) const { return line < bound; }
    std::uint32_t pack(Address line, Entry state) const {
        return static_cast<std::uint32_t>(line >> tag_from) << state_bits | static_cast<std::uint32_t>(state);
    }
    Entry unpack(std::uint32_t word, std::uint64_t set) const {
        const Entry line = Entry{word >> state_bits} << tag_from | set << line_bits;
        return word == 0 ? 0 : line | (word & entry_bit::all);
    }
    VictimFormat victim_format(Address line_mask) const {
        return {static_cast<int>(tag_from - state_bits), ((Address{1} << tag_from) - 1) & line_mask};
    }

    unsigned line_bits, tag_from;
    Address bound;  ///< addresses below it fit; a power of two
};

/// Entries of a set in order of recency (lru) or insertion (fifo), latest first, invalid ones last: least memory per
/// set, and a victim is found without a search. Words of 32 bits take half of that again; from the first address on
/// that does not fit them, the array goes on with words of 64 bits.
template <class Word, unsigned fixed_ways>
class OrderedArray final : public CacheArray {
    using Ops = SetOps<Word, fixed_ways>;
    using Format = TagFormat<Word>;
    static constexpr bool packed = sizeof(Word) < sizeof(Entry);

public:
    explicit OrderedArray(const ArrayGeometry& geometry)
        : geometry_(geometry), ops_(geometry.ways), format_(geometry), tags_(geometry.sets * ops_.stride()) {}

    Entry access(std::uint64_t index, Address line, Touch touch) override {
        if (is_wide(line)) return wide().access(index, line, touch);
        Word* set = set_at(index);
        const unsigned position = ops_.find(set, key(line));
        if (position >= ops_.stride()) return 0;
        const Word found = set[position], changed = applied(touch, found);
        if (touch.use && reorders()) {
            ops_.move_to_front(set, position, changed);
        } else if (changed != found) {
            set[position] = changed;
        }
        return format_.unpack(found, index);
    }

    ReplaceResult replace(std::uint64_t index, Address line, Touch touch, Entry state) override {
        if (is_wide(line)) return wide().replace(index, line, touch, state);
        Word* set = set_at(index);
        const unsigned position = ops_.find(set, key(line));
        const bool hit = position < ops_.stride();
        const unsigned from = hit ? position : geometry_.ways - 1;
        const Word old = set[from];
        if (!hit) {
            ops_.move_to_front(set, from, format_.pack(line, state | entry_bit::valid));
        } else if (touch.use && reorders()) {
            ops_.move_to_front(set, from, applied(touch, old));
        } else {
            set[from] = applied(touch, old);
        }
        return {hit ? std::uint64_t{0} : 1, format_.unpack(old, index)};
    }

    std::size_t replace_all(std::span<const BlockEvent> accesses, Address line_mask, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        if (!all_fit(accesses)) return wide().replace_all(accesses, line_mask, index, missing);
        if constexpr (fixed_ways != 0)
            if (reorders() && index.is_field())
                return replace_each(OrderedTags(*this, index.field(), line_mask), accesses, missing);
        return replace_each(ArrayTags(*this, index, line_mask), accesses, missing);
    }

    BlockEvent* handle(const ArrayBatch& batch, const IndexingPolicy& index, BatchCounts& counts) override {
        if (!all_fit(batch.requests)) return wide().handle(batch, index, counts);
        if constexpr (fixed_ways != 0)
            if (reorders() && index.is_field()) {
                const OrderedTags tags(*this, index.field(), batch.line_mask);
                return tags_.is_far() ? handle_by<10, true>(tags, batch, counts)
                                      : handle_by<0, true>(tags, batch, counts);
            }
        return handle_by<0>(ArrayTags(*this, index, batch.line_mask), batch, counts);
    }

    Entry insert(std::uint64_t index, Address line, Entry state) override {
        if (is_wide(line)) return wide().insert(index, line, state);
        Word* set = set_at(index);
        const Word victim = set[geometry_.ways - 1];
        ops_.move_to_front(set, geometry_.ways - 1, format_.pack(line, state | entry_bit::valid));
        return format_.unpack(victim, index);
    }

    Entry make_room(std::uint64_t index) override {
        if (wide_) return wide_->make_room(index);
        return format_.unpack(std::exchange(set_at(index)[geometry_.ways - 1], 0), index);
    }

    Entry remove(std::uint64_t index, Address line) override {
        if (is_wide(line)) return wide().remove(index, line);
        Word* set = set_at(index);
        const unsigned position = ops_.find(set, key(line));
        if (position >= ops_.stride()) return 0;
        const Word removed = set[position];
        std::memmove(set + position, set + position + 1, (geometry_.ways - 1 - position) * sizeof(Word));
        set[geometry_.ways - 1] = 0;
        return format_.unpack(removed, index);
    }

    Entry find(std::uint64_t index, Address line) const override {
        if (wide_) return wide_->find(index, line);
        if (!format_.fits(line)) return 0;
        const Word* set = set_at(index);
        const unsigned position = ops_.find(set, key(line));
        return position >= ops_.stride() ? 0 : format_.unpack(set[position], index);
    }

    std::uint64_t digest(std::uint64_t index) const override {
        if (wide_) return wide_->digest(index);
        std::uint64_t digest = 0;
        for (unsigned position = 0; position < geometry_.ways; ++position)
            digest = digest_of(digest, format_.unpack(set_at(index)[position], index));
        return digest;
    }

private:
    /// Uses or inserts lines, latest in front; a copy for loops, with all it needs in registers. For lru, where sets
    /// are a field and all lines fit.
    class OrderedTags {
    public:
        OrderedTags(const OrderedArray& array, IndexingPolicy::Field field, Address line_mask)
            : tags_(array.tags_ + 0),
              last_(std::uint64_t{1} << (array.geometry_.ways - 1)),
              field_(field),
              format_(array.format_),
              line_mask_(line_mask) {}

        HWY_INLINE void expect(Address address) const {
            constexpr unsigned words_per_line = 64 / sizeof(Word);
            const Word* const set = set_of(address);
            for (unsigned word = 0; word < fixed_ways; word += words_per_line) __builtin_prefetch(set + word);
        }

        void keep() const {}

        /// `state` is added to that of a line that is there. The old entry is as it stands in the set.
        HWY_INLINE ReplaceResult replace(Address address, Entry state) const {
            Word* const set = set_of(address);
            const Word fresh = format_.pack(packed ? address : address & line_mask_, entry_bit::valid);
            const std::uint64_t found = Ops::match(set, fresh);
            const auto position = static_cast<unsigned>(std::countr_zero(found | last_));
            const Word old = set[position];
            Ops::use_or_insert(set, position, found != 0, fresh, static_cast<Word>(state));
            return {Address{found == 0}, old};
        }

        VictimFormat victim_format(Address line_mask) const { return format_.victim_format(line_mask); }

    private:
        HWY_INLINE Word* set_of(Address address) const { return tags_ + field_.set_of(address) * fixed_ways; }

        Word* tags_;
        std::uint64_t last_;
        IndexingPolicy::Field field_;
        Format format_;
        Address line_mask_;
    };

    bool reorders() const { return geometry_.replacement == Replacement::lru; }
    Word key(Address line) const { return format_.pack(line, entry_bit::valid); }
    static Word applied(Touch touch, Word word) { return static_cast<Word>(touch.applied_to(word)); }
    Word* set_at(std::uint64_t index) const { return tags_ + index * ops_.stride(); }

    bool all_fit(std::span<const BlockEvent> lines) { return !packed || (!wide_ && format_.fits(bits_of_all(lines))); }

    bool is_wide(Address line) const { return packed && (wide_ != nullptr || !format_.fits(line)); }

    /// Where all goes from the first address on that does not fit.
    HWY_NOINLINE CacheArray& wide() {
        if (wide_) return *wide_;
        wide_ = std::make_unique<OrderedArray<std::uint64_t, fixed_ways>>(geometry_);
        for (std::uint64_t index = 0; index < geometry_.sets; ++index)
            for (unsigned position = geometry_.ways; position-- > 0;)
                if (const Entry entry = format_.unpack(set_at(index)[position], index); entry != 0)
                    wide_->insert(index, line_of(entry), entry & (entry_bit::all & ~entry_bit::valid));
        return *wide_;
    }

    ArrayGeometry geometry_;
    Ops ops_;
    Format format_;
    TagStore<Word> tags_;
    std::unique_ptr<CacheArray> wide_;
};

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
