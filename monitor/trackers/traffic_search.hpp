// SPDX-License-Identifier: BSD-3-Clause
// The settings with which a tracker sends as many bytes per event as are asked for.
#pragma once

#include <vector>

#include "monitor/trackers/tracker_listener.hpp"

namespace cachetally {

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

    /// The best of the runs that were told, and its traffic as a share of what is asked for.
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
/// (ours): of those near the traffic asked for, that which told of the most events; if none is near, the nearest that
/// sends at most that, or else the nearest.
const EpochSearch& best_of(const std::vector<EpochSearch>& searches);

}  // namespace cachetally
