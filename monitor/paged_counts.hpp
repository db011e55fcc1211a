// SPDX-License-Identifier: BSD-3-Clause
// Counts per key in pages: nearly as fast as an array, and small where keys lie far apart, too.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "monitor/histogram.hpp"

namespace cachetally {

/// A sparse array of T, indexed by any 64-bit number; elements begin as T{} and never move before each_used(). A page
/// is a line of the host's cache; pages are found by a hash table with open addressing.
template <class T>
class PagedArray {
public:
    static constexpr std::uint64_t page_size = 64 / sizeof(T);
    static constexpr unsigned page_bits = static_cast<unsigned>(std::countr_zero(page_size));
    static_assert(page_bits > 0, "no page has the number of an empty slot");
    using Elements = std::array<T, page_size>;

    PagedArray() { make_slots(fewest_slots); }

    T& operator[](std::uint64_t index) {
        const std::uint64_t number = index >> page_bits;
        const Slot& slot = slots_[home(number)];
        if (slot.number != number) [[unlikely]]
            return (*look_up(number))[index & (page_size - 1)];
        return (*slot.elements)[index & (page_size - 1)];
    }

    /// To be called some time before operator[], which is faster then; and, later, the other.
    [[gnu::always_inline]] void prefetch(std::uint64_t index) const {
        __builtin_prefetch(&slots_[home(index >> page_bits)]);
    }
    [[gnu::always_inline]] void prefetch_element(std::uint64_t index) const {
        if (const Slot& slot = slots_[home(index >> page_bits)]; slot.elements != nullptr)
            __builtin_prefetch(&(*slot.elements)[index & (page_size - 1)], 1);
    }

    /// How many elements of the pages in use satisfy a condition.
    template <class Condition>
    std::size_t count_if(Condition condition) const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < used_; ++i)
            for (const T& element : chunks_[i / chunk_size][i % chunk_size]) count += condition(element) ? 1 : 0;
        return count;
    }

    /// Visits the pages that were used since the last call, in ascending order: visit(index of the first element,
    /// elements). Then all elements are T{}.
    template <class Visit>
    void each_used(Visit visit) {
        std::vector<Slot> used = std::move(slots_);
        std::erase_if(used, [](const Slot& slot) { return slot.number == none; });
        used.shrink_to_fit();
        std::ranges::sort(used, {}, &Slot::number);
        for (const Slot& slot : used) {
            visit(slot.number << page_bits, std::as_const(*slot.elements));
            slot.elements->fill({});
        }
        if (chunks_.size() > most_idle_chunks) chunks_.resize(most_idle_chunks);
        used_ = 0;
        make_slots(std::clamp(std::bit_ceil(used.size() * 2), fewest_slots, most_idle_slots));
    }

private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    static constexpr unsigned group_bits = 2;
    static constexpr std::size_t fewest_slots = 16, chunk_size = 64;
    static constexpr std::size_t most_idle_chunks = 256, most_idle_slots = 4096;  ///< kept for the next phase

    struct Slot {
        std::uint64_t number = none;
        Elements* elements = nullptr;
    };

    /// Slots of neighbouring pages share a line of the host's cache.
    std::size_t home(std::uint64_t number) const {
        return (((number >> group_bits) * 0x9e3779b97f4a7c15U) >> shift_) << group_bits |
               (number & ((1U << group_bits) - 1));
    }

    /// The slot of a page, or the empty one where it belongs.
    Slot& find(std::uint64_t number) {
        std::size_t place = home(number);
        while (slots_[place].number != number && slots_[place].number != none)
            place = (place + 1) & (slots_.size() - 1);
        return slots_[place];
    }

    /// Kept out of the fast path, which then needs no registers saved.
    [[gnu::noinline]] Elements* look_up(std::uint64_t number) {
        if (Slot& slot = find(number); slot.number == number) return slot.elements;
        if (used_ >= slots_.size() / 8 * 5) grow();
        if (used_ == chunks_.size() * chunk_size) chunks_.push_back(std::make_unique<Elements[]>(chunk_size));
        Slot& slot = find(number);
        slot = {number, &chunks_[used_ / chunk_size][used_ % chunk_size]};
        ++used_;
        return slot.elements;
    }

    void grow() {
        const std::vector<Slot> before = std::move(slots_);
        make_slots(before.size() * 2);
        for (const Slot& slot : before)
            if (slot.number != none) find(slot.number) = slot;
    }

    void make_slots(std::size_t number) {
        slots_ = std::vector<Slot>(number);
        shift_ = 64 + group_bits - static_cast<unsigned>(std::countr_zero(number));
    }

    std::vector<Slot> slots_;
    unsigned shift_ = 0;
    std::vector<std::unique_ptr<Elements[]>> chunks_;  ///< of pages, the first ones in use
    std::size_t used_ = 0;                             ///< pages
};

/// Appends a row per element whose count is not 0, ascending, and begins again at 0. Rows have the span,
/// phase and function of `common`; an element stands for a span of units of `unit` bytes.
template <class T, class CountOf>
void take_rows(PagedArray<T>& cells, std::vector<HistogramRow>& rows, const HistogramRow& common, std::uint32_t unit,
               CountOf count_of) {
    rows.reserve(rows.size() + cells.count_if([&](const T& cell) { return count_of(cell) != 0; }));
    cells.each_used([&](std::uint64_t first, const typename PagedArray<T>::Elements& elements) {
        for (std::uint64_t i = 0; i < elements.size(); ++i)
            if (const std::uint64_t count = count_of(elements[i]); count != 0)
                rows.push_back({(first + i) * common.span * unit, common.span, common.phase, common.function, count});
    });
}

/// Counts of one phase per function and key.
class FunctionCounts {
public:
    FunctionCounts() { select(no_function); }

    /// The function that what follows is counted for.
    void select(std::uint32_t function) { current_ = &counts_[function]; }
    void add(std::uint64_t key, std::uint64_t count) { (*current_)[key] += count; }

    /// The count of a key for the selected function; valid until select() or take().
    std::uint64_t& count(std::uint64_t key) { return (*current_)[key]; }

    /// Appends one row per function and key counted, ascending, and begins again at 0. A key covers `span` units of
    /// `unit` bytes.
    void take(std::vector<HistogramRow>& rows, std::uint32_t unit, std::uint32_t span, std::uint32_t phase) {
        for (auto& [function, counts] : counts_)
            take_rows(counts, rows, {.span = span, .phase = phase, .function = function}, unit,
                      [](std::uint64_t count) { return count; });
    }

private:
    std::map<std::uint32_t, PagedArray<std::uint64_t>> counts_;
    PagedArray<std::uint64_t>* current_ = nullptr;
};

}  // namespace cachetally
