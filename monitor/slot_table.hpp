// SlotTable: a small hash from keys to the numbers of the counters that hold them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace cachetally {

/// Open addressing with linear probing, at most 1/8 full where that stays small: nearly every search ends at its first
/// probe. Removal shifts back, so that no tombstones gather.
class SlotTable {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit SlotTable(std::uint64_t most_keys) {
        const std::uint64_t places = std::bit_ceil(std::max<std::uint64_t>(most_keys, 2) * (most_keys <= 1024 ? 8 : 4));
        places_.resize(places);
        mask_ = places - 1;
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(places));
    }

    std::uint32_t find(std::uint64_t key) const {
        for (std::uint64_t i = home(key);; i = (i + 1) & mask_) {
            if (places_[i].key == key && places_[i].slot != none) return places_[i].slot;
            if (places_[i].slot == none) return none;
        }
    }

    /// The key is not there.
    void insert(std::uint64_t key, std::uint32_t slot) {
        std::uint64_t i = home(key);
        while (places_[i].slot != none) i = (i + 1) & mask_;
        places_[i] = {key, slot};
    }

    /// The key is there.
    void remove(std::uint64_t key) {
        std::uint64_t hole = home(key);
        while (places_[hole].key != key || places_[hole].slot == none) hole = (hole + 1) & mask_;
        for (std::uint64_t i = (hole + 1) & mask_; places_[i].slot != none; i = (i + 1) & mask_) {
            const std::uint64_t wish = home(places_[i].key);
            if (((i - wish) & mask_) < ((i - hole) & mask_)) continue;  // may not stand before its home
            places_[hole] = places_[i];
            hole = i;
        }
        places_[hole].slot = none;
    }

    void clear() { std::ranges::fill(places_, Place{}); }

private:
    struct Place {
        std::uint64_t key = 0;
        std::uint32_t slot = none;
    };

    std::uint64_t home(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15U) >> shift_; }

    std::vector<Place> places_;
    std::uint64_t mask_ = 0;
    unsigned shift_ = 0;
};

}  // namespace cachetally
