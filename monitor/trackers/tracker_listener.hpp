// SPDX-License-Identifier: BSD-3-Clause
// TrackerListener: a tracker on one copy of a link, with the software that adds up what it reports; how well the
// hottest lines are found; and the settings with which a tracker sends as many bytes per event as are asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "monitor/control.hpp"
#include "monitor/histogram.hpp"
#include "monitor/trackers/tracker.hpp"

namespace cachetally {

struct TrackerResult {
    std::uint64_t events = 0;   ///< seen, after filter and switch
    std::uint64_t reports = 0;  ///< sent to memory
    std::uint64_t lost = 0;     ///< that found the hot list full
    std::uint64_t bytes = 0;    ///< of reports
    Histogram histogram;        ///< counts as reported: estimates

    double bytes_per_event() const { return bytes_for_each(events, bytes); }
};

/// The results of the copies of a link as one.
TrackerResult merged(const std::vector<TrackerResult>& copies);

/// Reports cost no time and make no traffic in the hierarchy; they are counted.
class TrackerListener final : public PhasedListener {
public:
    /// `base`: kinds, ranges, cores, switch, barriers and groups of lines, as a monitor has them; its line must be
    /// filled in. Throws SpecError where it tells functions apart or has no fixed groups.
    TrackerListener(const MonitorSpec& base, const TrackerSpec& spec, unsigned copy = 0);

    /// The run is over: the software reads what there is. Call once.
    TrackerResult finish();

private:
    void count(const LinkEvent& event) override;
    void end_phase(std::uint32_t phase) override;
    void add(std::uint64_t key, std::uint64_t count);
    void sum_up();

    std::unique_ptr<Tracker> tracker_;
    std::uint32_t record_;
    std::uint64_t epoch_, left_;  ///< events of an epoch; until the end of this one. 0: no epochs
    TrackerReports reports_;
    std::map<std::uint64_t, std::uint64_t> sums_;  ///< key to events, of the phase
    TrackerResult result_;
};

/// Of one phase. A line that was reported is right where it has at least as many events as the K-th hottest has.
struct TopKeys {
    std::uint32_t phase = 0;
    std::uint64_t wanted = 0;    ///< K, or all lines that have events where these are fewer
    std::uint64_t reported = 0;  ///< the K with the largest counts that were measured, or fewer
    std::uint64_t right = 0;

    double recall() const { return static_cast<double>(right) / static_cast<double>(wanted); }
    /// Nothing where nothing was reported.
    std::optional<double> precision() const {
        if (reported == 0) return std::nullopt;
        return static_cast<double>(right) / static_cast<double>(reported);
    }
};

/// Per phase in which there were events. Counts for several lines are spread evenly over them; of equal counts the
/// lower addresses are reported. Both with the same unit, else std::invalid_argument. (Ours.)
std::vector<TopKeys> top_keys(const Histogram& exact, const Histogram& measured, std::size_t k);

struct TopSummary {
    double recall = 1, worst_recall = 1;  ///< mean and least over the phases; 1 where there are none
    std::optional<double>
        precision;  ///< mean over the phases in which lines were reported; nothing where there are none
};
TopSummary summary_of(std::span<const TopKeys> phases);

/// Off by at most a tenth of what is asked for.
bool is_near_traffic(double bytes_per_event, double asked);

/// The epoch with which a tracker sends the most that is not more than what is asked for. Ours: from long epochs to
/// short ones, since with short ones few units of a hotness unit reach the threshold and it tells little; then between
/// an epoch that sends too much and one that does not, by guess or bisection, at most twelve runs in all.
class EpochSearch {
public:
    EpochSearch(const TrackerSpec& first, double asked_bytes_per_event);

    bool is_done() const { return done_; }
    /// The settings to be run next, until it is done.
    const TrackerSpec& next() const { return next_; }
    /// What a run with next() gave.
    void record(TrackerResult result);

    /// The best of the runs, and its traffic as a share of what is asked for.
    const TrackerSpec& spec() const { return best_; }
    const TrackerResult& result() const { return result_; }
    double share() const { return share_; }

private:
    std::uint64_t epoch_after(double share) const;

    double asked_;
    TrackerSpec next_, best_;
    TrackerResult result_;
    double share_ = 0;
    std::uint64_t too_short_ = 0, long_enough_ = 0;  ///< epochs, 0: none yet
    int runs_ = 0;
    bool done_ = false;
};

/// A search for each choice that is free at equal bits: of a hotness unit, thresholds of powers of two up to that which
/// keeps to the traffic whatever the epoch; of others, none.
std::vector<EpochSearch> searches_of(const TrackerSpec& spec, double asked_bytes_per_event);

/// Which of the searches (at least one, all done) has the best settings, as the software can know without exact counts
/// (ours): of those near the traffic asked for, the one that reports the most events; if none is near, the nearest that
/// sends at most that, or else the nearest.
const EpochSearch& best_of(const std::vector<EpochSearch>& searches);

}  // namespace cachetally
