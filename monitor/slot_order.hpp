// SPDX-License-Identifier: BSD-3-Clause
// Eviction policies over the numbered counters of a set: each is told of insertions and uses, and asked for victims.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/model/random.hpp"

namespace cachetally {

// All share one form: inserted(slot) for a counter that got a key, used(slot) for one whose key was met again,
// victim(counts) when all slots are taken, reset() when all are free again. Free slots are taken in ascending order.

class FifoOrder {
public:
    static constexpr bool clears_all = false;
    FifoOrder(std::uint32_t slots, Random*) : slots_(slots) {}
    void inserted(std::uint32_t) {}
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t*) {
        const std::uint32_t slot = next_;
        next_ = next_ + 1 == slots_ ? 0 : next_ + 1;
        return slot;
    }
    void reset() { next_ = 0; }

private:
    std::uint32_t slots_;
    std::uint32_t next_ = 0;
};

/// Keeps no list: uses are appended to a log, and the victim is the first entry that is still its slot's last use.
class LruOrder {
public:
    static constexpr bool clears_all = false;
    LruOrder(std::uint32_t slots, Random*)
        : log_(std::bit_ceil(std::uint64_t{slots} * 8)), mask_(log_.size() - 1), last_(slots) {}
    void inserted(std::uint32_t slot) { used(slot); }
    void used(std::uint32_t slot) {
        if (end_ - begin_ == log_.size()) [[unlikely]]
            compact();
        append(slot);
    }
    std::uint32_t victim(const std::uint64_t*) {
        while (last_[log_[begin_ & mask_]] != begin_) ++begin_;
        return log_[begin_++ & mask_];
    }
    void reset() { begin_ = end_; }

private:
    void append(std::uint32_t slot) {
        log_[end_ & mask_] = slot;
        last_[slot] = end_++;
    }
    /// Appends the entries that are still current once more; each is read before its place is written.
    void compact() {
        for (const std::uint64_t stop = end_; begin_ != stop; ++begin_)
            if (const std::uint32_t slot = log_[begin_ & mask_]; last_[slot] == begin_) append(slot);
    }

    std::vector<std::uint32_t> log_;
    std::uint64_t mask_;
    std::vector<std::uint64_t> last_;  ///< position of each slot's last use
    std::uint64_t begin_ = 0, end_ = 0;
};

class RandomOrder {
public:
    static constexpr bool clears_all = false;
    RandomOrder(std::uint32_t slots, Random* random) : slots_(slots), random_(random) {}
    void inserted(std::uint32_t) {}
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t*) { return static_cast<std::uint32_t>(random_->below(slots_)); }
    void reset() {}

private:
    std::uint32_t slots_;
    Random* random_;  ///< one for all sets
};

/// A reference bit per slot, set by the insertion and every use; the hand clears bits until it finds one cleared.
class ClockOrder {
public:
    static constexpr bool clears_all = false;
    ClockOrder(std::uint32_t slots, Random*) : referenced_(slots, 0) {}
    void inserted(std::uint32_t slot) { referenced_[slot] = 1; }
    void used(std::uint32_t slot) { referenced_[slot] = 1; }
    std::uint32_t victim(const std::uint64_t*) {
        while (referenced_[hand_] != 0) {
            referenced_[hand_] = 0;
            advance();
        }
        const std::uint32_t slot = hand_;
        advance();
        return slot;
    }
    void reset() { hand_ = 0; }

private:
    void advance() { hand_ = hand_ + 1 == referenced_.size() ? 0 : hand_ + 1; }

    std::vector<std::uint8_t> referenced_;
    std::uint32_t hand_ = 0;
};

/// The smallest count; of equal ones the one inserted first.
class LfuOrder {
public:
    static constexpr bool clears_all = false;
    LfuOrder(std::uint32_t slots, Random*) : inserted_(slots) {}
    void inserted(std::uint32_t slot) { inserted_[slot] = now_++; }
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t* counts) {
        std::uint64_t least = counts[0];
        for (std::size_t slot = 1; slot < inserted_.size(); ++slot) least = std::min(least, counts[slot]);
        std::uint64_t oldest = ~std::uint64_t{0};
        std::uint32_t victim = 0;
        for (std::uint32_t slot = 0; slot < inserted_.size(); ++slot) {
            if (counts[slot] != least || inserted_[slot] >= oldest) continue;
            oldest = inserted_[slot];
            victim = slot;
        }
        return victim;
    }
    void reset() {}

private:
    std::vector<std::uint64_t> inserted_;  ///< when
    std::uint64_t now_ = 0;
};

/// Never asked for a victim: a full set is swapped out whole.
class ClearOrder {
public:
    static constexpr bool clears_all = true;
    ClearOrder(std::uint32_t, Random*) {}
    void inserted(std::uint32_t) {}
    void used(std::uint32_t) {}
    std::uint32_t victim(const std::uint64_t*) { return 0; }
    void reset() {}
};

}  // namespace cachetally
