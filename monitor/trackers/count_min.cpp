// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/random.hpp"
#include "monitor/trackers/tracker.hpp"

namespace cachetally {
namespace {

/// The keys with the largest estimates.
class Candidates {
public:
    explicit Candidates(std::size_t most) : most_(most) {}

    void update(std::uint64_t key, std::uint64_t estimate, std::uint64_t now) {
        const auto found = places_.find(key);
        if (found != places_.end()) {
            order_.erase(found->second);
            found->second = order_.insert({estimate, now, key}).first;
            return;
        }
        if (places_.size() == most_) {
            if (estimate <= std::get<0>(*order_.begin())) return;
            places_.erase(std::get<2>(*order_.begin()));
            order_.erase(order_.begin());
        }
        places_[key] = order_.insert({estimate, now, key}).first;
    }

    void take(TrackerReports& reports) {
        for (const auto& [estimate, changed, key] : order_) reports.push_back({key, estimate});
        order_.clear();
        places_.clear();
    }

private:
    using Order = std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;  ///< estimate, last change, key

    std::size_t most_;
    Order order_;
    std::unordered_map<std::uint64_t, Order::iterator> places_;
};

class CountMin final : public Tracker {
public:
    CountMin(const TrackerSpec& spec, unsigned copy)
        : rows_(spec.rows),
          columns_(spec.columns),
          shift_(64 - static_cast<unsigned>(std::countr_zero(spec.columns))),
          full_(~std::uint64_t{0} >> (64 - spec.width)),
          counts_(std::size_t{spec.rows} * spec.columns),
          candidates_(spec.counters) {
        for (std::uint32_t row = 0; row < rows_; ++row)
            multipliers_.push_back(splitmix64(splitmix64(spec.seed + copy) + row) | 1U);
    }

    void add(std::uint64_t key, std::uint64_t count, TrackerReports&) override {
        std::uint64_t estimate = full_;
        for (std::uint32_t row = 0; row < rows_; ++row) {
            std::uint64_t& sum = counts_[std::size_t{row} * columns_ + column(key, row)];
            sum += std::min(count, full_ - sum);
            estimate = std::min(estimate, sum);
        }
        candidates_.update(key, estimate, ++now_);
    }

    void end_epoch(TrackerReports& reports) override {
        candidates_.take(reports);
        std::ranges::fill(counts_, 0);
    }

private:
    std::size_t column(std::uint64_t key, std::uint32_t row) const {
        return columns_ == 1 ? 0 : key * multipliers_[row] >> shift_;
    }

    std::uint32_t rows_, columns_;
    unsigned shift_;
    std::uint64_t full_;
    std::vector<std::uint64_t> multipliers_, counts_;
    Candidates candidates_;
    std::uint64_t now_ = 0;
};

}  // namespace

std::unique_ptr<Tracker> make_count_min(const TrackerSpec& spec, unsigned copy) {
    return std::make_unique<CountMin>(spec, copy);
}

}  // namespace cachetally
