// SPDX-License-Identifier: BSD-3-Clause
// SlotTable: a small hash from keys to the numbers of the counters that hold them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace cachetally {

/// Buckets of eight keys that are compared at once; a quarter full on average, so that what a search does depends
/// little on the keys and is predicted well. Keys that find their bucket full (rarely) are kept in a list.
class SlotTable {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit SlotTable(std::uint64_t most_keys) {
        const std::uint64_t buckets = std::max<std::uint64_t>(std::bit_ceil(most_keys) / 2, 2);
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(buckets));
        buckets_.resize(buckets);
        clear();
    }

    std::uint32_t find(std::uint64_t key) const {
        const Bucket& bucket = buckets_[home(key)];
        if (const unsigned lanes = matches(bucket, key); lanes != 0) return bucket.slots[std::countr_zero(lanes)];
        return bucket.spilled == 0 ? none : find_spilled(key);
    }

    /// The key is not there.
    void insert(std::uint64_t key, std::uint32_t slot) {
        Bucket& bucket = buckets_[home(key)];
        const unsigned lanes = matches(bucket, bucket.empty);
        if (lanes == 0) [[unlikely]] {
            ++bucket.spilled;
            spilled_.push_back({key, slot});
            return;
        }
        const int lane = std::countr_zero(lanes);
        bucket.keys[lane] = key;
        bucket.slots[lane] = slot;
    }

    /// The key is there.
    void remove(std::uint64_t key) {
        Bucket& bucket = buckets_[home(key)];
        if (const unsigned lanes = matches(bucket, key); lanes != 0) {
            bucket.keys[std::countr_zero(lanes)] = bucket.empty;
            return;
        }
        --bucket.spilled;
        std::erase_if(spilled_, [&](const auto& spilled) { return spilled.first == key; });
    }

    void clear() {
        // An empty lane holds a key that belongs to another bucket, so that all 2^64 keys can be told from it.
        const std::uint64_t one_home = home(1);
        std::uint64_t other = 2;
        while (home(other) == one_home) ++other;
        for (std::uint64_t number = 0; number < buckets_.size(); ++number) {
            Bucket& bucket = buckets_[number];
            bucket.empty = number == one_home ? other : 1;
            bucket.spilled = 0;
            std::ranges::fill(bucket.keys, bucket.empty);
        }
        spilled_.clear();
    }

private:
    static constexpr unsigned lanes_per_bucket = 8;
    struct alignas(64) Bucket {
        std::uint64_t keys[lanes_per_bucket];
        std::uint32_t slots[lanes_per_bucket];
        std::uint64_t empty = 0;
        std::uint32_t spilled = 0;  ///< keys of this bucket in the list
    };

    std::uint64_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15U) >> shift_; }

    static unsigned matches(const Bucket& bucket, std::uint64_t key) {
        unsigned lanes = 0;
        for (unsigned lane = 0; lane < lanes_per_bucket; ++lane) lanes |= (bucket.keys[lane] == key ? 1U : 0U) << lane;
        return lanes;
    }

    std::uint32_t find_spilled(std::uint64_t key) const {
        for (const auto& [spilled, slot] : spilled_)
            if (spilled == key) return slot;
        return none;
    }

    std::vector<Bucket> buckets_;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> spilled_;
    unsigned shift_ = 0;
};

}  // namespace cachetally
