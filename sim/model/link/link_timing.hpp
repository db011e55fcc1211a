// SPDX-License-Identifier: BSD-3-Clause
// LinkTiming: what a way down costs in time, where a machine file says so. docs/timing.md is its specification.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/machine.hpp"
#include "cachetally/types.hpp"

namespace cachetally {

/// The first time that is not before `free` and whole cycles after `time`: the clocks of cores differ by a picosecond
/// each, so that no two of them ever do something at the same time.
inline Tick wait_until(Tick free, Tick time, Tick period) {
    return free <= time ? time : time + divide_round_up(free - time, period) * period;
}

/// Serves one after the other. Cores may be ahead of each other by a quantum: whoever comes for an earlier time than
/// the last one waits for it all the same.
class BusyUntil {
public:
    explicit BusyUntil(Tick period) : period_(period) {}

    /// Takes it for `duration` from `time` on, or from when it is free; returns when that begins.
    Tick take(Tick time, Tick duration) {
        const Tick begin = wait_until(free_, time, period_);
        free_ = time_sum(begin, duration);  // also of those for whom nobody waits
        return begin;
    }

private:
    Tick period_, free_ = 0;
};

/// Carries data in both directions, one transfer at a time.
class Bus {
public:
    Bus(const BusConfig& config, Tick period)
        : latency_(config.latency * period), bytes_per_cycle_(config.bytes_per_cycle), period_(period), busy_(period) {}

    /// Of a request or a victim on its way down; an answer has its own in it.
    Tick latency() const { return latency_; }

    struct Transfer {
        Tick begin = 0, end = 0;
    };
    Transfer transfer(Tick time, std::uint64_t bytes) {
        ++counts_.transfers;
        counts_.bytes += bytes;
        if (bytes_per_cycle_ == 0) return {time, time};
        const Tick duration = divide_round_up(bytes, bytes_per_cycle_) * period_;
        const Tick begin = busy_.take(time, duration);
        counts_.busy += duration;
        counts_.waited += begin - time;
        return {begin, begin + duration};
    }

    const BusCounts& counts() const { return counts_; }

private:
    Tick latency_;
    std::uint64_t bytes_per_cycle_;
    Tick period_;
    BusyUntil busy_;
    BusCounts counts_;
};

/// Places that are taken for a while, each by one: outstanding misses, a write buffer. None: there is no limit.
class Places {
public:
    Places(unsigned number, Tick period) : period_(period), free_(number, 0) {}

    struct Place {
        std::size_t number = 0;
        Tick time = 0;  ///< when it is entered
    };

    /// Somebody who comes at `time` enters the place that is free first, and is in it until he leaves.
    Place enter(Tick time) const {
        if (free_.empty()) return {0, time};
        const auto first = std::ranges::min_element(free_);
        return {static_cast<std::size_t>(first - free_.begin()), wait_until(*first, time, period_)};
    }
    void leave(Place place, Tick time) {
        if (!free_.empty()) free_[place.number] = time;
    }

private:
    Tick period_;
    std::vector<Tick> free_;  ///< by place: since when
};

/// Of one copy of a link below a cache; the bus may be that of all copies.
struct LinkTiming {
    LinkTiming(const CacheConfig& above, std::shared_ptr<Bus> shared, Tick period)
        : bus(std::move(shared)),
          misses(above.outstanding_misses, period),
          write_buffer(above.write_buffer, period),
          line(above.transfer()) {}

    static constexpr std::uint64_t store_bytes = 8;  ///< of a store that is passed on

    std::shared_ptr<Bus> bus;
    Places misses, write_buffer;
    std::uint64_t line;  ///< bytes of an answer or a victim
};

}  // namespace cachetally
