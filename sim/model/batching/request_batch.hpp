// SPDX-License-Identifier: BSD-3-Clause
// RequestBatch: requests on their way down a port that nobody waits for at the moment; handed over many at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cachetally/event.hpp"

namespace cachetally {

/// Where requests stand in program order, so that those of several ports can be brought together: those that a cache is
/// given, and of what it sends down, in the order of its batch.
class BatchPositions {
public:
    explicit BatchPositions(const std::uint16_t* of_given, std::vector<std::uint16_t>& sent)
        : given(of_given), sent_(sent) {
        sent_.clear();
    }

    const std::uint16_t* given;

    /// Where `count` more may be written; then add().
    std::uint16_t* room(std::size_t count) {
        if (sent_.size() < size_ + count) sent_.resize(size_ + count);
        return sent_.data() + size_;
    }
    void add(std::size_t count) { size_ += count; }
    std::size_t size() const { return size_; }

private:
    std::vector<std::uint16_t>& sent_;
    std::size_t size_ = 0;
};

/// Numbers of requests by kind, in the bytes of one register.
class KindLanes {
public:
    static constexpr unsigned kinds = BlockEvent::alignment;
    static constexpr std::size_t most = 248;  ///< of all kinds: what a byte holds, in whole vectors

    KindLanes() = default;
    explicit KindLanes(std::uint64_t lanes) : lanes_(lanes) {}

    void add(std::uint64_t kind, std::uint64_t one_or_zero) { lanes_ += one_or_zero << (kind * 8 & 63); }
    void add(KindLanes other) { lanes_ += other.lanes_; }
    std::uint64_t of(std::uint64_t kind) const { return lanes_ >> kind * 8 & 0xff; }

private:
    std::uint64_t lanes_ = 0;
};

/// What came of a batch in a cache.
struct BatchCounts {
    KindLanes requests, misses;
    std::uint64_t first_fills = 0;  ///< misses without a victim
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

    /// Where `count` more requests may be written; then give their end to set_end().
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
