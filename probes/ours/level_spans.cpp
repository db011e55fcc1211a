// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/level_spans.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t pair_of_lines = 128;
constexpr std::uint64_t largest_cold_span = std::uint64_t{4} << 20;
constexpr std::uint64_t loads_in_all_chains = 480;     ///< of a part of a string that all numbers of chains divide
constexpr std::uint64_t fixed_spans[] = {4, 16, 256};  ///< times L1

/// Ends of what a level holds; `levels` has no answer for all of them.
struct Held {
    double low = 0, high = 0;
};

std::optional<Held> held_by(const L1Geometry& l1, const TestReport& levels, unsigned level) {
    if (level == 1) return Held{static_cast<double>(l1.capacity), static_cast<double>(l1.capacity)};
    const Finding* found = levels.find(fmt::format("L{}", level), "capacity");
    return found == nullptr ? std::nullopt : std::optional(Held{found->low, found->high});
}

template <class Time>
double timed(Meter& meter, const L1Geometry& l1, const LevelSpan& span, Time time) {
    const std::uint64_t step = apart(l1), part = step * loads_in_all_chains;
    const std::uint64_t bytes = std::max(part, span.bytes / part * part);
    const Offsets string = random_string(bytes, step, meter.seed());
    const Arena arena = meter.arena_up_to(bytes, meter.large_page());
    const unsigned laps = span.cold ? 1 : laps_of(4096, string, 1, 16);
    const double cycles = time(arena, string, span.cold ? 0 : laps, laps);
    meter.target().release(arena);
    return cycles;
}

}  // namespace

std::string LevelSpan::in_words() const {
    const std::string size = format_size(bytes);
    if (cold) return "unused lines of " + size;
    return level.empty() ? size : fmt::format("{} ({})", level, size);
}

std::uint64_t apart(const L1Geometry& l1) { return std::max(pair_of_lines, 2 * l1.line); }

LevelSpan cold_span(const Meter& meter) {
    return {"memory", std::min(largest_cold_span, meter.capabilities().largest_arena), true};
}

std::vector<LevelSpan> spans_below_l1(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels,
                                      const char* parameter, TestReport& report) {
    std::vector<LevelSpan> spans;
    const std::uint64_t most = meter.capabilities().largest_arena;
    const Finding* count = levels ? levels->find("", "levels") : nullptr;
    if (count == nullptr) {
        report.refuse("", parameter, "the test of levels does not say which levels there are: curves alone");
        for (const std::uint64_t times : fixed_spans)
            if (times * l1.capacity <= most) spans.push_back({"", times * l1.capacity});
        return spans;
    }
    for (unsigned level = 2; level <= static_cast<unsigned>(count->value->number); ++level) {
        const std::string name = fmt::format("L{}", level);
        const auto above = held_by(l1, *levels, level - 1), own = held_by(l1, *levels, level);
        if (!above || !own)
            report.refuse(name, parameter, "the test of levels does not say what it and the level above it hold");
        else if (own->low * 0.8 < 2 * above->high)
            report.refuse(name, parameter, "it holds little more than the level above it, which answers some loads");
        else if (own->low * 0.8 > static_cast<double>(most))
            report.refuse(name, parameter, "it holds more than the largest arena, {}", format_size(most));
        else
            spans.push_back({name, static_cast<std::uint64_t>(std::min(own->low * 0.8, 4 * above->high))});
    }
    return spans;
}

double time_of_span(Meter& meter, const L1Geometry& l1, const LevelSpan& span, unsigned chains) {
    return timed(meter, l1, span, [&](const Arena& arena, const Offsets& string, unsigned warm_up, unsigned laps) {
        return meter.time_of_chains(arena, string, chains, warm_up, laps);
    });
}

double time_once(Meter& meter, const L1Geometry& l1, const LevelSpan& span) {
    return timed(meter, l1, span, [&](const Arena& arena, const Offsets& string, unsigned warm_up, unsigned laps) {
        return meter.once(arena, string, warm_up, laps);
    });
}

}  // namespace cachetally
