// SPDX-License-Identifier: BSD-3-Clause
// Posts: requests on their way down that nobody waits for at the moment; they are delivered many at once.
#pragma once

#include <memory>
#include <span>

#include "sim/model/types.hpp"

namespace cachetally {

/// A request, or a dirty victim: entry_bit::dirty in its address tells which. With where it comes from (a Cause).
struct Posted {
    Address address;
    std::uint64_t cause;
};

/// A growing array of posts whose end may be written without asking for room each time.
class Posts {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    std::span<const Posted> all() const { return {posts_.get(), size_}; }

    /// So many entries behind the last can be read, though they mean nothing: for loops that look ahead.
    static constexpr std::size_t slack = 12;

    void push(Posted post) {
        if (size_ == capacity_) [[unlikely]]
            grow(1);
        posts_[size_++] = post;
    }

    /// Where `count` more posts may be written; then tell up to where by set_end().
    Posted* room(std::size_t count) {
        if (capacity_ - size_ < count) grow(count);
        return posts_.get() + size_;
    }
    void set_end(const Posted* end) { size_ = static_cast<std::size_t>(end - posts_.get()); }
    void clear() { size_ = 0; }

private:
    [[gnu::noinline]] void grow(std::size_t count) {
        std::size_t capacity = capacity_ == 0 ? 1024 : 2 * capacity_;
        while (capacity < size_ + count) capacity *= 2;
        auto posts = std::make_unique<Posted[]>(capacity + slack);
        for (std::size_t i = 0; i < size_; ++i) posts[i] = posts_[i];
        posts_ = std::move(posts);
        capacity_ = capacity;
    }

    std::unique_ptr<Posted[]> posts_;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace cachetally
