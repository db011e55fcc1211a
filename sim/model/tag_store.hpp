// SPDX-License-Identifier: BSD-3-Clause
// TagStore: the memory of a tag array.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "sim/model/cache_array.hpp"
#include "sim/model/set_scan.hpp"

namespace cachetally {

/// Zeroed tags, aligned for whole-vector access and, where there are many, on huge pages: sets are visited at random.
class TagStore {
public:
    explicit TagStore(std::uint64_t count) {
        const std::size_t alignment = count * sizeof(Entry) >= huge ? huge : 64;
        const std::size_t bytes = divide_round_up(count * sizeof(Entry), alignment) * alignment;
        tags_.reset(static_cast<Entry*>(std::aligned_alloc(alignment, bytes)));
        if (!tags_) throw std::bad_alloc();
        if (alignment == huge) madvise(tags_.get(), bytes, MADV_HUGEPAGE);  // a hint: nothing depends on it
        std::memset(tags_.get(), 0, bytes);
    }
    Entry* operator+(std::uint64_t offset) const { return tags_.get() + offset; }

private:
    static constexpr std::size_t huge = std::size_t{2} << 20;
    struct Free {
        void operator()(Entry* tags) const { std::free(tags); }
    };
    std::unique_ptr<Entry[], Free> tags_;
};

/// Groups of tags that a set of so many ways is scanned in.
constexpr unsigned groups_of(unsigned ways) { return (ways + scan_width - 1) / scan_width; }

}  // namespace cachetally
