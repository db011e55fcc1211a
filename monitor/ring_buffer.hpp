// SPDX-License-Identifier: BSD-3-Clause
// RingBuffer: the ring in simulated memory that swapped-out counters go to, and the software that empties it.
#pragma once

#include <cstdint>

#include "cachetally/listener.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// Only numbers: what a record says is kept by the monitor. docs/monitors.md defines the order of things in time.
class RingBuffer {
public:
    /// `cycle`: picoseconds.
    RingBuffer(const RingSpec& spec, Tick cycle);

    /// Writes one record at `time`; false: it was lost. Writes and lost time go to `injector`: longest_time
    /// where the core would wait beyond it, which ends the run.
    bool write(Tick time, Injector& injector);

    /// So many records at once, where timeless(): none is lost. The caller sends the writes.
    void write_all(std::uint64_t records);

    std::uint64_t fill() const { return fill_; }  ///< records, at the time of the last write
    std::uint64_t high_water() const { return high_water_; }
    std::uint64_t written() const { return written_; }  ///< records
    std::uint64_t lost() const { return lost_; }        ///< records
    Tick stall() const { return stall_; }               ///< picoseconds that cores lost

    /// True where nothing depends on time: no cost, and whenever the ring is full it is emptied at once.
    static bool timeless(const RingSpec& spec);

private:
    void catch_up(Tick now);
    void begin_drain(Tick time);
    void take_records();
    void wait_for_place(Injector& injector);
    void lose(Tick duration, Injector& injector);

    RingSpec spec_;
    Tick cycle_, drain_ticks_, write_ticks_, period_ticks_;
    Tick now_ = 0;         ///< the latest time seen, with what cores have lost since
    Tick next_taken_ = 0;  ///< when the drain under way has taken its next record
    Tick next_period_;     ///< when the next periodic drain begins; later than now_ between calls
    bool draining_ = false;
    std::uint64_t place_ = 0;  ///< of the next record
    std::uint64_t fill_ = 0, high_water_ = 0, written_ = 0, lost_ = 0;
    Tick stall_ = 0;
};

}  // namespace cachetally
