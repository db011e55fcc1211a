// SPDX-License-Identifier: BSD-3-Clause
// Tracker: what counts events per key in little hardware, in another way than the counter array; and what trackers are
// made of: the keys that have counters, by their counts, and intervals between events that are taken.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
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

/// Always n events from one to the next, or drawn from 1 to 2n - 1.
class Intervals {
public:
    Intervals(std::uint64_t mean, bool random, std::uint64_t seed) : mean_(mean), drawn_(random), random_(seed) {
        left_ = next();
    }

    /// How many of the next `events` are taken.
    std::uint64_t take(std::uint64_t events) {
        if (!drawn_) {
            const std::uint64_t passed = mean_ - left_ + events;
            left_ = mean_ - passed % mean_;
            return passed / mean_;
        }
        std::uint64_t taken = 0;
        for (; events >= left_; left_ = next()) {
            events -= left_;
            ++taken;
        }
        left_ -= events;
        return taken;
    }

private:
    std::uint64_t next() { return drawn_ ? 1 + random_.below(2 * mean_ - 1) : mean_; }

    std::uint64_t mean_;
    bool drawn_;
    Random random_;
    std::uint64_t left_;
};

class RankedKeys {
public:
    /// `time`: which of equal counts comes first.
    struct Entry {
        std::uint64_t count = 0, time = 0, key = 0;
        friend auto operator<=>(const Entry&, const Entry&) = default;
    };

    std::size_t size() const { return order_.size(); }
    const std::set<Entry>& ascending() const { return order_; }

    /// The entry of a key (nothing where it has none), or the first one: it is no longer here.
    std::optional<Entry> take(std::uint64_t key) {
        const auto place = places_.find(key);
        if (place == places_.end()) return std::nullopt;
        const Entry entry = *place->second;
        order_.erase(place->second);
        places_.erase(place);
        return entry;
    }
    Entry take_least() { return *take(order_.begin()->key); }

    /// Of a key that has none.
    void put(const Entry& entry) { places_[entry.key] = order_.insert(entry).first; }

    void clear() {
        order_.clear();
        places_.clear();
    }

    /// Appends all, and begins anew.
    void report(TrackerReports& reports) {
        for (const Entry& entry : order_) reports.push_back({entry.key, entry.count});
        clear();
    }

private:
    std::set<Entry> order_;
    std::unordered_map<std::uint64_t, std::set<Entry>::iterator> places_;
};

}  // namespace cachetally
