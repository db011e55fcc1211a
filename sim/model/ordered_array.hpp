// SPDX-License-Identifier: BSD-3-Clause
// OrderedArray: sets kept in the order of recency.
#pragma once

#include "sim/model/indexing.hpp"
#include "sim/model/tag_store.hpp"

namespace cachetally {

/// Entries of a set in order of recency (lru) or insertion (fifo), latest first, invalid ones last: least memory per
/// set, and a victim is found without a search. A number of groups that is known makes straight-line code; 0 = any.
template <unsigned fixed_groups>
class OrderedArray final : public CacheArray {
public:
    explicit OrderedArray(const ArrayGeometry& geometry)
        : ways_(geometry.ways),
          groups_(groups_of(geometry.ways)),
          reorder_(geometry.replacement == Replacement::lru),
          tags_(geometry.sets * stride()) {}

    Entry access(std::uint64_t index, Address line, Touch touch) override {
        Entry* set = set_at(index);
        const unsigned position = find_tag<fixed_groups>(set, groups_, line);
        if (position >= stride()) return 0;
        const Entry found = set[position];
        const Entry changed = touch.applied_to(found);
        if (touch.use && reorder_) {
            move_to_front<fixed_groups>(set, groups_, position, changed);
        } else if (changed != found) {
            set[position] = changed;
        }
        return found;
    }

    /// Without a branch on whether the line was found: at a level that is hit half the time nobody could predict it.
    ReplaceResult replace(std::uint64_t index, Address line, Touch touch, Entry state) override {
        if (!reorder_ || !touch.use) {
            const Entry found = OrderedArray::access(index, line, touch);
            return found != 0 ? ReplaceResult{0, found} : ReplaceResult{1, OrderedArray::insert(index, line, state)};
        }
        Entry* set = set_at(index);
        const unsigned position = find_tag<fixed_groups>(set, groups_, line);
        const bool hit = position < stride();
        const unsigned from = hit ? position : ways_ - 1;
        const Entry old = set[from];
        move_to_front<fixed_groups>(set, groups_, from, hit ? touch.applied_to(old) : line | state | entry_bit::valid);
        return {hit ? std::uint64_t{0} : 1, old};
    }

    std::size_t replace_all(std::span<const Address> lines, const IndexingPolicy& index,
                            std::uint16_t* missing) override {
        if (replaces_in_order() && index.is_field())
            return replace_each(BatchTags(*this, index.field()), lines, missing);
        return replace_each(ArrayTags(*this, index), lines, missing);
    }

    /// Uses or inserts lines, latest in front; a copy for loops. Where replaces_in_order().
    class BatchTags {
    public:
        BatchTags(const OrderedArray& array, IndexingPolicy::Field field)
            : tags_(array.tags_ + 0), last_(1U << (array.ways_ - 1)), field_(field) {}

        void expect(Address line) const {
            for (unsigned group = 0; group < fixed_groups; group += 2)
                __builtin_prefetch(set_at(field_.set_of(line)) + group * scan_width);
        }

        /// Without a branch, as OrderedArray::replace(). `state` is added to that of a line that is there.
        ReplaceResult replace(Address line, Entry state) const {
            Entry* const set = set_at(field_.set_of(line));
            const unsigned found = match_tags<fixed_groups>(set, line);
            const auto position = static_cast<unsigned>(__builtin_ctz(found | last_));
            const Entry old = set[position], fresh = line | entry_bit::valid;
            move_to_front<fixed_groups>(set, fixed_groups, position, (found != 0 ? old : fresh) | state);
            return {found == 0 ? std::uint64_t{1} : 0, old};
        }

        Address line_of_old(Entry old, Address) const { return line_of(old); }

    private:
        Entry* set_at(std::uint64_t index) const { return tags_ + index * fixed_groups * scan_width; }

        Entry* tags_;
        unsigned last_;
        IndexingPolicy::Field field_;
    };
    bool replaces_in_order() const { return reorder_ && fixed_groups != 0; }

    Entry insert(std::uint64_t index, Address line, Entry state) override {
        Entry* set = set_at(index);
        const Entry victim = set[ways_ - 1];
        move_to_front<fixed_groups>(set, groups_, ways_ - 1, line | state | entry_bit::valid);
        return victim;
    }

    Entry make_room(std::uint64_t index) override { return std::exchange(set_at(index)[ways_ - 1], 0); }

    Entry remove(std::uint64_t index, Address line) override {
        Entry* set = set_at(index);
        const unsigned position = find_tag<fixed_groups>(set, groups_, line);
        if (position >= stride()) return 0;
        const Entry removed = set[position];
        std::memmove(set + position, set + position + 1, (ways_ - 1 - position) * sizeof(Entry));
        set[ways_ - 1] = 0;
        return removed;
    }

    Entry find(std::uint64_t index, Address line) const override {
        const Entry* set = set_at(index);
        const unsigned position = find_tag<fixed_groups>(set, groups_, line);
        return position >= stride() ? 0 : set[position];
    }

    std::uint64_t digest(std::uint64_t index) const override {
        std::uint64_t digest = 0;
        for (unsigned position = 0; position < ways_; ++position) digest = digest_of(digest, set_at(index)[position]);
        return digest;
    }

private:
    unsigned stride() const { return (fixed_groups != 0 ? fixed_groups : groups_) * scan_width; }
    Entry* set_at(std::uint64_t index) const { return tags_ + index * stride(); }

    unsigned ways_, groups_;
    bool reorder_;
    TagStore tags_;
};

}  // namespace cachetally
