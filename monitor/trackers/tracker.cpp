// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/trackers/tracker.hpp"

#include <algorithm>
#include <bit>

#include "base/random.hpp"

namespace cachetally {
namespace {

class SpaceSaving final : public Tracker {
public:
    explicit SpaceSaving(const TrackerSpec& spec)
        : counters_(spec.counters), full_(~std::uint64_t{0} >> (64 - spec.width)) {}

    void add(std::uint64_t key, std::uint64_t count, TrackerReports&) override {
        std::uint64_t sum = 0;
        if (const auto own = keys_.take(key)) {
            sum = own->count;
        } else if (keys_.size() == counters_) {
            sum = keys_.take_least().count;
        }
        sum += std::min(count, full_ - sum);
        keys_.put({sum, ++now_, key});
    }

    void end_epoch(TrackerReports& reports) override { keys_.report(reports); }

private:
    std::size_t counters_;
    std::uint64_t full_;
    std::uint64_t now_ = 0;
    RankedKeys keys_;
};

}  // namespace

std::unique_ptr<Tracker> make_space_saving(const TrackerSpec& spec) { return std::make_unique<SpaceSaving>(spec); }

namespace {

class CountMin final : public Tracker {
public:
    CountMin(const TrackerSpec& spec, unsigned copy)
        : rows_(spec.rows),
          columns_(spec.columns),
          shift_(64 - static_cast<unsigned>(std::countr_zero(spec.columns))),
          full_(~std::uint64_t{0} >> (64 - spec.width)),
          counts_(std::size_t{spec.rows} * spec.columns),
          most_(spec.counters) {
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
        ++now_;
        if (!candidates_.take(key) && candidates_.size() == most_) {
            if (estimate <= candidates_.ascending().begin()->count) return;
            candidates_.take_least();
        }
        candidates_.put({estimate, now_, key});
    }

    void end_epoch(TrackerReports& reports) override {
        candidates_.report(reports);
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
    std::size_t most_;
    RankedKeys candidates_;  ///< with the largest estimates
    std::uint64_t now_ = 0;
};

}  // namespace

std::unique_ptr<Tracker> make_count_min(const TrackerSpec& spec, unsigned copy) {
    return std::make_unique<CountMin>(spec, copy);
}

namespace {

class Sampling final : public Tracker {
public:
    Sampling(const TrackerSpec& spec, unsigned copy)
        : period_(spec.period), intervals_(spec.period, spec.random, spec.seed + copy) {}

    void add(std::uint64_t key, std::uint64_t count, TrackerReports& reports) override {
        reports.insert(reports.end(), intervals_.take(count), TrackerReport{key, period_});
    }

    void end_epoch(TrackerReports&) override {}  // samples are sent when they are taken

private:
    std::uint64_t period_;
    Intervals intervals_;
};

}  // namespace

std::unique_ptr<Tracker> make_sampling(const TrackerSpec& spec, unsigned copy) {
    return std::make_unique<Sampling>(spec, copy);
}

}  // namespace cachetally
