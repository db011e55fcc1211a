// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "monitor/trackers/ranked_keys.hpp"

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

}  // namespace cachetally
