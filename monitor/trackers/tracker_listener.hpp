// SPDX-License-Identifier: BSD-3-Clause
// TrackerListener: a tracker on one copy of a link, with the software that adds up what it reports.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "monitor/histogram.hpp"
#include "monitor/phased_listener.hpp"
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

}  // namespace cachetally
