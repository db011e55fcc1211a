// SPDX-License-Identifier: BSD-3-Clause
// WalkCaches: what a page walker remembers of the upper levels of the page table.
#pragma once

#include <algorithm>
#include <vector>

#include "cachetally/types.hpp"

namespace cachetally {

/// Page-walk caches: per level of the page table above the last, the entries used latest (Barr, Cox and Rixner 2010,
/// "Translation Caching: Skip, Don't Walk (the Page Table)"; Intel's paging-structure caches).
class WalkCaches {
public:
    /// `entries` by level, from the root down; 0 = none.
    explicit WalkCaches(const std::vector<unsigned>& entries) : entries_(entries), held_(entries.size()) {}

    /// At which depth a walk of `depth` levels begins to read: below the deepest entry that is held. The walk's entry
    /// of a depth lies at entry_at(depth); those that it reads are held from now on.
    template <class EntryAt>
    unsigned begin(unsigned depth, EntryAt entry_at) {
        const auto levels = std::min<unsigned>(static_cast<unsigned>(held_.size()), depth - 1);
        unsigned first = levels;
        while (first > 0 && !use(held_[first - 1], entry_at(first - 1))) --first;
        for (unsigned level = first; level < levels; ++level) insert(level, entry_at(level));
        return first;
    }

private:
    using Held = std::vector<Address>;  ///< used latest first

    static bool use(Held& held, Address entry) {
        const auto place = std::ranges::find(held, entry);
        if (place == held.end()) return false;
        std::rotate(held.begin(), place, place + 1);
        return true;
    }
    void insert(unsigned level, Address entry) {
        if (entries_[level] == 0) return;
        Held& held = held_[level];
        if (held.size() == entries_[level]) held.pop_back();
        held.insert(held.begin(), entry);
    }

    std::vector<unsigned> entries_;
    std::vector<Held> held_;
};

}  // namespace cachetally
