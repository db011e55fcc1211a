// SPDX-License-Identifier: BSD-3-Clause
// Tracker: what counts events per key in little hardware, in another way than the counter array.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "monitor/trackers/tracker_spec.hpp"

namespace cachetally {

/// What the software is told: so many events, more or less, of a key.
struct TrackerReport {
    std::uint64_t key = 0;
    std::uint64_t count = 0;

    friend bool operator==(const TrackerReport&, const TrackerReport&) = default;
};
using TrackerReports = std::vector<TrackerReport>;

class Tracker {
public:
    virtual ~Tracker() = default;

    /// `count` events (at least 1) of a key, the same as that many single ones. What it sends by itself is appended.
    virtual void add(std::uint64_t key, std::uint64_t count, TrackerReports& reports) = 0;

    /// An epoch is over: what it holds is reported (by a hotness unit: entered into its hot list), and it begins anew.
    virtual void end_epoch(TrackerReports& reports) = 0;
    /// A phase is over, and with it the epoch: the software reads all that there is.
    virtual void end_phase(TrackerReports& reports) { end_epoch(reports); }

    /// Reports that found no place.
    virtual std::uint64_t lost() const { return 0; }
};

/// `key_bytes`: of the addresses that share a key; `copy` distinguishes the random draws of the copies of a link.
std::unique_ptr<Tracker> make_tracker(const TrackerSpec& spec, std::uint64_t key_bytes, unsigned copy = 0);

/// Space-Saving (Metwally, Agrawal and El Abbadi 2005, "Efficient Computation of Frequent and Top-k Elements in Data
/// Streams", section 3): a key without a counter takes over that with the smallest count (of these the one that
/// changed longest ago) and adds to it. All counts together are the events; no count is too small.
std::unique_ptr<Tracker> make_space_saving(const TrackerSpec& spec);

/// Count-Min (Cormode and Muthukrishnan 2005, "An Improved Data Stream Summary: the Count-Min Sketch and its
/// Applications", section 3) with a table of the keys whose estimates were largest. Rows are hashed by multiplication
/// (Dietzfelbinger et al. 1997).
std::unique_ptr<Tracker> make_count_min(const TrackerSpec& spec, unsigned copy);

/// Every n-th event is reported and stands for n, as processors sample addresses (Intel's PEBS); with `random`, after
/// 1 to 2n - 1 events, each equally likely.
std::unique_ptr<Tracker> make_sampling(const TrackerSpec& spec, unsigned copy);

/// A hotness monitoring unit with the interface of CXL 3.2 (as Linux documents it: Documentation/trace/cxl-hmu.rst,
/// Cameron 2024). How units get counters is left to the implementation there; ours: a unit without a counter takes that
/// with the smallest count (of these the oldest), whose count is forgotten.
std::unique_ptr<Tracker> make_hotness_unit(const TrackerSpec& spec, std::uint64_t key_bytes, unsigned copy);

}  // namespace cachetally
