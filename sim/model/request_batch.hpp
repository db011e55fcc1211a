// SPDX-License-Identifier: BSD-3-Clause
// RequestBatch: requests on their way down a port that nobody waits for at the moment; handed over many at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/model/event.hpp"

namespace cachetally {

/// Where requests stand in program order, so that those of several ports can be brought together: those that a cache is
/// given, and of what it sends down, in the order of its batch.
struct BatchPositions {
    const std::uint16_t* given;
    std::vector<std::uint16_t>& sent;
};

/// A growing array of requests, each a line and its kind, whose end may be written without asking for room each time.
class RequestBatch {
public:
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    std::span<const BlockEvent> all() const { return {requests_.get(), size_}; }

    void push(BlockEvent request) {
        if (size_ == capacity_) [[unlikely]]
            grow(1);
        requests_[size_++] = request;
    }

    /// Where `count` more requests may be written; then tell up to where by set_end().
    BlockEvent* room(std::size_t count) {
        if (capacity_ - size_ < count) grow(count);
        return requests_.get() + size_;
    }
    void set_end(const BlockEvent* end) { size_ = static_cast<std::size_t>(end - requests_.get()); }
    void clear() { size_ = 0; }

private:
    [[gnu::noinline]] void grow(std::size_t count) {
        std::size_t capacity = capacity_ == 0 ? 1024 : 2 * capacity_;
        while (capacity < size_ + count) capacity *= 2;
        auto requests = std::make_unique<BlockEvent[]>(capacity);
        for (std::size_t i = 0; i < size_; ++i) requests[i] = requests_[i];
        requests_ = std::move(requests);
        capacity_ = capacity;
    }

    std::unique_ptr<BlockEvent[]> requests_;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace cachetally
