// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/congruent_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/analysis/bisect.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t largest = std::uint64_t{64} << 20;
constexpr std::uint64_t moved_by = 21 * 128;
constexpr unsigned redundant_at_random = 256;  ///< laps
constexpr double some_misses = 0.02;           ///< of a lap
/// Interrupts take lines of sets that are full, each of which costs a round of them: long laps seem to miss before a
/// level ends.
constexpr double beyond_with_noise = 1.3;
/// Of pages that are compared: where sets are an odd multiple of a power of two, few fill them evenly.
constexpr unsigned other_placements = 24;

std::uint64_t bytes_for(const KnownLevel& known) {
    return std::max(largest, 2 * std::bit_ceil(static_cast<std::uint64_t>(known.high)));
}

}  // namespace

CongruentLines::CongruentLines(Meter& meter, const KnownLevel& known, std::vector<std::string>& decisions)
    : meter_(meter),
      known_(known),
      decisions_(decisions),
      events_(meter.capabilities().cache_events >= known.level),
      arena_(meter.arena_up_to(bytes_for(known), meter.large_page())) {}

std::uint64_t CongruentLines::most_that_stay(std::uint64_t stride) {
    std::uint64_t low = 1, high = 8;
    while (stay(stride, high)) {
        low = high;
        high *= 2;
        if (high * stride + 2 * moved_by > 2 * arena_.bytes) return 0;
        high = std::min(high, (arena_.bytes - 2 * moved_by) / stride);
        if (high <= low) return 0;
    }
    low = bisect(low, high, [&](std::uint64_t count) { return stay(stride, count); }).low;
    decisions_.push_back(fmt::format("{} lines {} bytes apart stay in L{}", low, stride, known_.level));
    return low;
}

std::optional<std::uint64_t> CongruentLines::capacity() {
    if (!events_ && known_.latency == 0) return {};
    // Distances have to divide a way, which may be an odd multiple of a power of two.
    for (const std::uint64_t parts : {64, 256})
        if (const auto found = capacity_by(std::bit_floor(static_cast<std::uint64_t>(known_.low) / parts))) {
            beyond_ = false;
            return found;
        }
    return {};
}

/// By lines so far apart, and by lines half as far.
std::optional<std::uint64_t> CongruentLines::capacity_by(std::uint64_t stride) {
    const auto least = static_cast<std::uint64_t>(known_.low),
               most = static_cast<std::uint64_t>(known_.high * (meter_.noise() > 0 ? beyond_with_noise : 1));
    if (stride < 2) return {};
    std::uint64_t count = (least + stride - 1) / stride;
    if (!stay(stride, count)) return {};
    while ((count + 1) * stride <= most && stay(stride, count + 1)) ++count;
    beyond_ = beyond_ || static_cast<double>(count * stride) > known_.high;
    if ((count + 1) * stride > most && stay(stride, count + 1)) return {};
    decisions_.push_back(fmt::format("{} lines {} bytes apart stay in L{}", count, stride, known_.level));
    const auto exactly = [&](std::uint64_t apart, std::uint64_t lines) {
        return stay(apart, lines) && !stay(apart, lines + 1);
    };
    if (!exactly(stride / 2, 2 * count)) return {};
    const Arena here = arena_;
    bool agree = true;  // several pages may fill sets unevenly, and otherwise elsewhere
    for (unsigned i = 0; i < other_placements && agree && most > arena_.page; ++i) {
        arena_ = meter_.target().make_arena(here.bytes, here.page);
        agree = stay(stride, count) && misses(lines_apart(stride, count + 1));
    }
    arena_ = here;
    uneven_ = !agree;
    return agree ? std::optional(count * stride) : std::nullopt;
}

Offsets CongruentLines::lines_apart(std::uint64_t stride, std::uint64_t count) const {
    Offsets offsets = strided_string(count * stride, stride);
    shuffle(offsets, meter_.seed());
    return offsets;
}

/// Lines of others may stay in some sets; but no set anywhere holds more than its ways.
bool CongruentLines::stay(std::uint64_t stride, std::uint64_t count) {
    if (count * stride + 2 * moved_by > arena_.bytes) return false;
    Offsets offsets = lines_apart(stride, count);
    for (unsigned move = 0; move < 3; ++move) {
        if (!misses(offsets)) return true;
        for (std::uint64_t& offset : offsets) offset += moved_by;
    }
    return false;
}

bool CongruentLines::misses(const Offsets& offsets) {
    if (!events_) return meter_.settled(arena_, offsets) > known_.latency * 1.003 + meter_.tolerance(known_.latency);
    const auto laps = laps_of(4096, offsets, 3, 64);
    const auto misses_of = [&](unsigned warm_up) {
        const Measurement run = meter_.count(arena_, {offsets}, {warm_up, laps});
        return run.cache_misses[known_.level - 1] * static_cast<double>(offsets.size());
    };
    const double first = misses_of(laps);
    if (first <= some_misses) return false;
    // What is replaced at random takes long to find its places: about as many laps as there are ways, for each of them.
    if (misses_of(laps + 1) == first) return true;
    return misses_of(redundant_at_random) > some_misses;
}

}  // namespace cachetally
