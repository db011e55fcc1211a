// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/waiting.hpp"

#include <algorithm>

namespace cachetally {
namespace {

constexpr std::uint64_t word = 8;
constexpr std::uint64_t most_loads = 1 << 20;
constexpr unsigned more_trials = 4;   ///< with noise
constexpr double clear_loss = 0.05;   ///< likewise
constexpr double clear_wait = 0.025;  ///< share of the time of a load

/// Each line followed by other words of it: from both ends in turn, so that no two of them are as far apart as the two
/// before, which a prefetcher would follow.
Offsets with_other_words(const Offsets& lines, std::uint64_t line, std::uint64_t others) {
    Offsets loads;
    loads.reserve(lines.size() * (others + 1));
    for (const std::uint64_t offset : lines) {
        loads.push_back(offset);
        for (std::uint64_t i = 0; i < others; ++i) {
            const std::uint64_t number = i % 2 == 0 ? line / word - 1 - i / 2 : 1 + i / 2;
            loads.push_back(offset / line * line + (offset + number * word) % line);
        }
    }
    return loads;
}

/// What is looked for is less than interrupts of a lap take: the trial with the fewest of them.
double least_time(Meter& meter, const Arena& arena, const Offsets& offsets) {
    double least = meter.time(arena, offsets, 2, 1);
    for (unsigned i = 0; i < more_trials && meter.noise() > 0; ++i)
        least = std::min(least, meter.time(arena, offsets, 2, 1));
    return least;
}

/// Lines alone, and with hits of L1 between them.
struct SlowedDown {
    double alone = 0, hits = 0, together = 0;  ///< cycles per line; 0 = a line has no other words

    SlowedDown(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1) {
        const std::uint64_t others = std::min(l1.line / word - 1, most_loads / lines.size());
        if (others == 0) return;
        const Offsets loads = with_other_words(lines, l1.line, others);
        alone = least_time(meter, arena, lines);
        hits = l1.latency * static_cast<double>(others);
        together = least_time(meter, arena, loads) * static_cast<double>(others + 1);
    }
};

}  // namespace

bool lines_are_taken(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1) {
    const SlowedDown times(meter, arena, lines, l1);
    return times.together - times.alone - times.hits >
           clear_loss * times.alone + meter.tolerance(times.alone + times.together);
}

bool loads_wait(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1) {
    const SlowedDown times(meter, arena, lines, l1);
    // Where hits take little they hide little of the wait; without noise that shows it as well.
    const double clear =
        std::min(clear_wait * times.alone, times.hits / 2) + meter.tolerance(times.alone + times.together);
    return times.alone + times.hits - times.together > clear;
}

}  // namespace cachetally
