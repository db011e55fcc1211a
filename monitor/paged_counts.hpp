// Counts per key in pages: as fast as an array, as small as what is touched.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "monitor/histogram.hpp"

namespace cachetally {

/// A sparse array of T, indexed by any 64-bit number; elements begin as T{} and never move.
template <class T>
class PagedArray {
public:
    static constexpr unsigned page_bits = 9;
    static constexpr std::uint64_t page_size = std::uint64_t{1} << page_bits;
    using Elements = std::array<T, page_size>;

    T& operator[](std::uint64_t index) {
        const std::uint64_t number = index >> page_bits;
        const Recent& recent = recent_[number % recent_.size()];
        if (recent.number != number) [[unlikely]]
            return (*look_up(number))[index & (page_size - 1)];
        return (*recent.elements)[index & (page_size - 1)];
    }

    /// Visits the pages that were used since the last call, in ascending order: visit(index of the first element,
    /// elements).
    template <class Visit>
    void each_used(Visit visit) {
        std::ranges::sort(used_, {}, [](const auto& used) { return used.first; });
        for (auto& [number, page] : used_) {
            visit(number << page_bits, page->elements);
            page->used = false;
        }
        used_.clear();
        recent_.fill({});
    }

private:
    struct Page {
        Elements elements{};
        bool used = false;
    };
    struct Recent {
        std::uint64_t number = ~std::uint64_t{0};  ///< which no page has
        Elements* elements = nullptr;
    };

    /// Kept out of the fast path, which then needs no registers saved.
    [[gnu::noinline]] Elements* look_up(std::uint64_t number) {
        Elements* const found = find(number);
        recent_[number % recent_.size()] = {number, found};
        return found;
    }

    Elements* find(std::uint64_t number) {
        std::unique_ptr<Page>& page = pages_[number];
        if (!page) page = std::make_unique<Page>();
        if (!page->used) {
            page->used = true;
            used_.emplace_back(number, page.get());
        }
        return &page->elements;
    }

    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::vector<std::pair<std::uint64_t, Page*>> used_;
    std::array<Recent, 512> recent_{};
};

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
    void take(std::vector<HistogramRow>& rows, std::uint32_t unit, std::uint32_t span, std::uint32_t phase);

private:
    std::map<std::uint32_t, PagedArray<std::uint64_t>> counts_;
    PagedArray<std::uint64_t>* current_ = nullptr;
};

}  // namespace cachetally
