// Counts per key in pages: as fast as an array, as small as what is touched.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "monitor/histogram.hpp"

namespace cachetally {

/// A sparse array of T, indexed by any 64-bit number; elements begin as T{} and never move.
template <class T>
class PagedArray {
public:
    static constexpr unsigned page_bits = 9;
    static constexpr std::uint64_t page_size = std::uint64_t{1} << page_bits;
    struct Page {
        std::array<T, page_size> elements{};
    };

    T& operator[](std::uint64_t index) {
        const std::uint64_t number = index >> page_bits;
        Recent& recent = recent_[number % recent_.size()];
        if (recent.number != number || recent.page == nullptr) [[unlikely]]
            recent = {number, find(number)};
        return recent.page->elements[index & (page_size - 1)];
    }

    /// Visits the pages in ascending order: visit(index of the first element, page).
    template <class Visit>
    void each_page(Visit visit) {
        for (auto& [number, page] : pages_) visit(number << page_bits, *page);
    }

private:
    struct Recent {
        std::uint64_t number = 0;
        Page* page = nullptr;
    };

    Page* find(std::uint64_t number) {
        std::unique_ptr<Page>& page = pages_[number];
        if (!page) page = std::make_unique<Page>();
        return page.get();
    }

    std::map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::array<Recent, 512> recent_{};
};

/// Counts per key of one phase.
class PagedCounts {
public:
    void add(std::uint64_t key, std::uint64_t count) { counts_[key] += count; }

    /// Appends one row per key counted, ascending, and begins again at 0. A key covers `span` units of `unit` bytes.
    void take(std::vector<HistogramRow>& rows, std::uint32_t unit, std::uint32_t span, std::uint32_t phase,
              std::uint32_t function);

private:
    PagedArray<std::uint64_t> counts_;
};

/// Counts of one phase, per function.
class FunctionCounts {
public:
    void select(std::uint32_t function) { current_ = &counts_[function]; }
    void add(std::uint64_t key, std::uint64_t count) { current_->add(key, count); }
    void take(std::vector<HistogramRow>& rows, std::uint32_t unit, std::uint32_t span, std::uint32_t phase);

private:
    std::map<std::uint32_t, PagedCounts> counts_;
    PagedCounts* current_ = nullptr;
};

}  // namespace cachetally
