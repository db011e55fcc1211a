// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include "monitor/trackers/tracker.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t block_bytes = std::uint64_t{1} << 28;

/// The ring of entries in the device that the software reads when it is signalled that the watermark is reached.
class HotList {
public:
    explicit HotList(const TrackerSpec& spec)
        : most_(spec.list),
          watermark_(spec.watermark == 0 ? (spec.list + 1) / 2 : spec.watermark),
          delay_(spec.delay) {}

    void add(const TrackerReport& entry, TrackerReports& reports) {
        if (entries_.size() == most_) {
            ++lost_;
            return;
        }
        entries_.push_back(entry);
        if (entries_.size() < watermark_ || signalled_) return;
        signalled_ = true;
        left_ = delay_;
        if (delay_ == 0) read(reports);
    }

    void pass_event(TrackerReports& reports) {
        if (signalled_ && --left_ == 0) read(reports);
    }

    void read(TrackerReports& reports) {
        reports.insert(reports.end(), entries_.begin(), entries_.end());
        entries_.clear();
        signalled_ = false;
    }
    std::uint64_t lost() const { return lost_; }

private:
    std::size_t most_, watermark_;
    std::uint64_t delay_, left_ = 0, lost_ = 0;
    bool signalled_ = false;
    TrackerReports entries_;
};

class HotnessUnit final : public Tracker {
public:
    HotnessUnit(const TrackerSpec& spec, std::uint64_t key_bytes, unsigned copy)
        : spec_(spec),
          key_bytes_(key_bytes),
          full_(~std::uint64_t{0} >> (64 - spec.width)),
          intervals_(spec.down_sampling, spec.random, spec.seed + copy),
          list_(spec) {}

    void add(std::uint64_t key, std::uint64_t count, TrackerReports& reports) override {
        if (spec_.delay == 0) return count_tracked(key, count, reports);
        for (; count != 0; --count) {  // the software may read after each
            list_.pass_event(reports);
            count_tracked(key, 1, reports);
        }
    }

    void end_epoch(TrackerReports& reports) override {
        std::map<std::uint64_t, TrackerReport> by_age;
        for (const auto& [sum, age, key] : counters_.ascending())
            if (sum >= spec_.threshold) by_age[age] = {key, sum * spec_.down_sampling};
        for (const auto& [age, report] : by_age) list_.add(report, reports);
        counters_.clear();
    }

    void end_phase(TrackerReports& reports) override {
        end_epoch(reports);  // always on, no counter has reached the threshold
        list_.read(reports);
    }

    std::uint64_t lost() const override { return list_.lost(); }

private:
    void count_tracked(std::uint64_t key, std::uint64_t count, TrackerReports& reports) {
        if (is_tracked(key)) count_units(key, intervals_.take(count), reports);
    }

    bool is_tracked(std::uint64_t key) const {
        return spec_.blocks.empty() ||
               std::ranges::find(spec_.blocks, key * key_bytes_ / block_bytes) != spec_.blocks.end();
    }

    void count_units(std::uint64_t key, std::uint64_t taken, TrackerReports& reports) {
        while (taken != 0) {
            auto [sum, age, owner] = counter_of(key);
            const std::uint64_t most = spec_.always_on ? spec_.threshold - sum : full_ - sum;
            const std::uint64_t part = std::min(taken, most);
            sum += part;
            if (spec_.always_on && sum == spec_.threshold) {
                list_.add({key, spec_.threshold * std::uint64_t{spec_.down_sampling}}, reports);
            } else {
                counters_.put({sum, age, key});
            }
            taken = spec_.always_on ? taken - part : 0;  // a full counter stays as it is
        }
    }

    /// The counter of a unit, taken out of the order.
    RankedKeys::Entry counter_of(std::uint64_t key) {
        if (const auto own = counters_.take(key)) return *own;
        if (counters_.size() == spec_.counters) counters_.take_least();
        return {0, ++now_, key};
    }

    TrackerSpec spec_;
    std::uint64_t key_bytes_, full_;
    Intervals intervals_;
    HotList list_;
    RankedKeys counters_;  ///< by age
    std::uint64_t now_ = 0;
};

}  // namespace

std::unique_ptr<Tracker> make_hotness_unit(const TrackerSpec& spec, std::uint64_t key_bytes, unsigned copy) {
    return std::make_unique<HotnessUnit>(spec, key_bytes, copy);
}

std::unique_ptr<Tracker> make_tracker(const TrackerSpec& spec, std::uint64_t key_bytes, unsigned copy) {
    switch (spec.kind) {
        case TrackerKind::space_saving: return make_space_saving(spec);
        case TrackerKind::count_min: return make_count_min(spec, copy);
        case TrackerKind::sampling: return make_sampling(spec, copy);
        case TrackerKind::hotness: break;
    }
    return make_hotness_unit(spec, key_bytes, copy);
}

}  // namespace cachetally
