// SPDX-License-Identifier: BSD-3-Clause
// How long work takes on the machine that the program runs on.
#pragma once

#include <cstdint>

#include "probes/targets/core_clock.hpp"

namespace cachetally {

#if defined(__x86_64__)
inline std::uint64_t time_stamp() {
    std::uint32_t low = 0, high = 0, core = 0;
    asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(core)::"memory");
    return (std::uint64_t{high} << 32) | low;
}

/// Ticks of the time-stamp counter per nanosecond: the median of a few intervals, as the core may be lost in any.
double time_stamp_rate();
#endif

/// Nanoseconds that `work` takes. `ticks_per_ns`: 0 = no time-stamp counter; it is read without touching memory, which
/// the system's clock does.
template <class Work>
double timed(Work work, [[maybe_unused]] double ticks_per_ns) {
#if defined(__x86_64__)
    if (ticks_per_ns > 0) {
        const std::uint64_t begin = time_stamp();
        work();
        return static_cast<double>(time_stamp() - begin) / ticks_per_ns;
    }
#endif
    const std::uint64_t begin = now_ns();
    work();
    return static_cast<double>(now_ns() - begin);
}

}  // namespace cachetally
