// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "monitor/trackers/tracker.hpp"

namespace cachetally {
namespace {

class SpaceSaving final : public Tracker {
public:
    explicit SpaceSaving(const TrackerSpec& spec)
        : counters_(spec.counters), full_(~std::uint64_t{0} >> (64 - spec.width)) {}

    void add(std::uint64_t key, std::uint64_t count, TrackerReports&) override {
        ++now_;
        const auto found = places_.find(key);
        if (found == places_.end() && places_.size() < counters_) {
            places_[key] = order_.insert({std::min(count, full_), now_, key}).first;
            return;
        }
        auto node = order_.extract(found == places_.end() ? order_.begin() : found->second);
        auto& [sum, changed, owner] = node.value();
        if (found == places_.end()) places_.erase(owner);
        sum += std::min(count, full_ - sum);
        changed = now_;
        owner = key;
        places_[key] = order_.insert(std::move(node)).position;
    }

    void end_epoch(TrackerReports& reports) override {
        for (const auto& [count, changed, key] : order_) reports.push_back({key, count});
        order_.clear();
        places_.clear();
    }

private:
    using Order = std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;  ///< count, last change, key

    std::size_t counters_;
    std::uint64_t full_;
    std::uint64_t now_ = 0;
    Order order_;
    std::unordered_map<std::uint64_t, Order::iterator> places_;
};

}  // namespace

std::unique_ptr<Tracker> make_space_saving(const TrackerSpec& spec) { return std::make_unique<SpaceSaving>(spec); }

}  // namespace cachetally
