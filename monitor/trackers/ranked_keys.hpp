// SPDX-License-Identifier: BSD-3-Clause
// RankedKeys: the keys that have counters, in the order of their counts.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <unordered_map>

#include "monitor/trackers/tracker.hpp"

namespace cachetally {

class RankedKeys {
public:
    /// `time`: which of equal counts comes first.
    struct Entry {
        std::uint64_t count = 0, time = 0, key = 0;
        friend auto operator<=>(const Entry&, const Entry&) = default;
    };

    std::size_t size() const { return order_.size(); }
    const std::set<Entry>& ascending() const { return order_; }

    /// The entry of a key (nothing where it has none), or the first one: it is no longer here.
    std::optional<Entry> take(std::uint64_t key) {
        const auto place = places_.find(key);
        if (place == places_.end()) return std::nullopt;
        const Entry entry = *place->second;
        order_.erase(place->second);
        places_.erase(place);
        return entry;
    }
    Entry take_least() { return *take(order_.begin()->key); }

    /// Of a key that has none.
    void put(const Entry& entry) { places_[entry.key] = order_.insert(entry).first; }

    void clear() {
        order_.clear();
        places_.clear();
    }

    /// Appends all, and begins anew.
    void report(TrackerReports& reports) {
        for (const Entry& entry : order_) reports.push_back({entry.key, entry.count});
        clear();
    }

private:
    std::set<Entry> order_;
    std::unordered_map<std::uint64_t, std::set<Entry>::iterator> places_;
};

}  // namespace cachetally
