// SPDX-License-Identifier: BSD-3-Clause
// TagStore: the memory of a tag array.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "cachetally/types.hpp"

namespace cachetally {

/// Zeroed tags, aligned for whole-vector access and, where there are many, on huge pages: sets are visited at random.
template <class Word>
class TagStore {
public:
    explicit TagStore(std::uint64_t count) : count_(count), is_far_(count * sizeof(Word) > second_cache) {
        const std::size_t alignment = count * sizeof(Word) >= huge / 8 ? huge : 64;
        const std::size_t bytes = divide_round_up(count * sizeof(Word), alignment) * alignment;
        tags_.reset(static_cast<Word*>(std::aligned_alloc(alignment, bytes)));
        if (!tags_) throw std::bad_alloc();
        if (alignment == huge) madvise(tags_.get(), bytes, MADV_HUGEPAGE);  // a hint: nothing depends on it
        std::memset(tags_.get(), 0, bytes);
    }
    TagStore(const TagStore&) = delete;
    /// Of as many tags.
    TagStore& operator=(const TagStore& other) {
        std::memcpy(tags_.get(), other.tags_.get(), count_ * sizeof(Word));
        return *this;
    }
    Word* operator+(std::uint64_t offset) const { return tags_.get() + offset; }

    /// Whether loops are faster that have tags fetched ahead into the host's nearest cache.
    bool is_far() const { return is_far_; }

private:
    /// Bytes of tags that a host's second cache is likely to hold beside all else.
    static constexpr std::uint64_t second_cache = 131072;
    static constexpr std::size_t huge = std::size_t{2} << 20;
    struct Free {
        void operator()(Word* tags) const { std::free(tags); }
    };
    std::uint64_t count_;
    std::unique_ptr<Word[], Free> tags_;
    bool is_far_;
};

}  // namespace cachetally
