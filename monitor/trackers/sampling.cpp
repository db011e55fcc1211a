// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/trackers/intervals.hpp"
#include "monitor/trackers/tracker.hpp"

namespace cachetally {
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
