// SPDX-License-Identifier: BSD-3-Clause
// CounterBank: what a monitor does with the events that it counts: counters, ring and the software's sums as one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cachetally/listener.hpp"
#include "monitor/histogram.hpp"
#include "monitor/ring_buffer.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

class CounterBank {
public:
    virtual ~CounterBank() = default;

    virtual void add(Address address, std::uint64_t count, Tick time, Injector& injector) = 0;

    /// One event each, in order, where the ring is timeless and its path is past all caches.
    virtual void add_all(std::span<const BlockEvent> events, Injector& injector) = 0;

    /// Whether it takes add_filtered() and follow_filtered(), where add_all() may be used.
    virtual bool takes_filtered() const { return false; }

    /// The same for filtered events; see BatchListener::on_filtered().
    virtual void add_filtered(const FilteredEvents&, Injector&) {}

    /// Filtered events that do not count; those that come after them may be redundant by them.
    virtual void follow_filtered(std::span<const BlockEvent>) {}

    /// Swaps all counters out.
    virtual void flush(Tick time, Injector& injector) = 0;

    /// As flush(), by the software that reads the counters at the end: no traffic, and nothing is lost.
    virtual void read_out() = 0;

    /// The function that events count for from now on, after a flush.
    virtual void select(std::uint32_t function) = 0;

    /// Appends the sums of a phase, after a flush, in order; begins again at 0.
    virtual void take(std::vector<HistogramRow>& rows, std::uint32_t phase) = 0;

    /// Sum of the counts in the counters; number of counters that hold one.
    virtual std::uint64_t resident_events() const = 0;
    virtual std::uint32_t resident_counters() const = 0;

    std::uint64_t swapouts() const { return swapouts_; }  ///< records, with those lost
    std::uint64_t lost() const { return lost_; }          ///< events whose record found the ring full
    const RingBuffer& ring() const { return ring_; }

protected:
    CounterBank(const RingSpec& ring, Tick cycle) : ring_(ring, cycle) {}

    RingBuffer ring_;
    std::uint64_t swapouts_ = 0, lost_ = 0;
};

/// The bank of a spec; `copy` and `cycle` as Monitor has them.
std::unique_ptr<CounterBank> make_counter_bank(const MonitorSpec& spec, unsigned copy, Tick cycle);

/// For LRU and FIFO counters of fixed keys, fully associative, with a ring that loses nothing and costs no time: then
/// the sum of a key's records is the number of its events, and records need only be counted (ours). Null for others.
std::unique_ptr<CounterBank> make_summed_bank(const MonitorSpec& spec, Tick cycle);

}  // namespace cachetally
