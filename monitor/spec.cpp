// SPDX-License-Identifier: BSD-3-Clause
// What follows from a monitor specification, and which ones contradict themselves.
#include "monitor/spec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cachetally {
namespace {

using Conflict = std::optional<SpecConflict>;

Conflict check_array(const MonitorSpec& spec) {
    if (spec.counters == 0) return SpecConflict{"counters", "a monitor needs at least 1 counter"};
    if (spec.counters > most_counters)
        return SpecConflict{"counters", fmt::format("{} counters; write at most {}", spec.counters, most_counters)};
    if (spec.ways > spec.counters || (spec.ways != 0 && spec.counters % spec.ways != 0))
        return SpecConflict{
            "ways", fmt::format("{} counters cannot be divided into sets of {}; write a divisor of {}, or 0 for fully "
                                "associative",
                                spec.counters, spec.ways, spec.counters)};
    if (spec.width < 1 || spec.width > 64)
        return SpecConflict{"width", fmt::format("a counter of {} bits; write 1 to 64", spec.width)};
    if (spec.kinds == 0) return SpecConflict{"kinds", "no kind of event is counted; name at least one"};
    return std::nullopt;
}

Conflict check_granularity(const MonitorSpec& spec) {
    if (spec.is_dynamic() && spec.ways != 0)
        return SpecConflict{"ways",
                            "windows of dynamic granularity belong to no set; leave 'ways' out (fully associative) or "
                            "use 'granularity: aligned:N'"};
    if (spec.granularity.mode != Granularity::Mode::mask && spec.granularity.amount == 0)
        return SpecConflict{"granularity", "a group of 0 lines; write at least 1"};
    if (spec.is_dynamic() && std::uint64_t{spec.counters} * spec.granularity.amount > most_window_lines)
        return SpecConflict{"granularity",
                            fmt::format("{} counters for windows of up to {} lines take too much memory; write at most "
                                        "dynamic:{}, or fewer counters",
                                        spec.counters, spec.granularity.amount, most_window_lines / spec.counters)};
    if (spec.granularity.mode == Granularity::Mode::mask && spec.granularity.amount > 30)
        return SpecConflict{"granularity", "at most 30 bits can be masked"};
    if (spec.line != 0 && (!is_power_of_two(spec.line) || spec.line > 1U << 20))
        return SpecConflict{"line", fmt::format("a line of {} bytes; write a power of two up to 1 MiB", spec.line)};
    return std::nullopt;
}

Conflict check_filter(const MonitorSpec& spec) {
    for (const AddressRange& range : spec.ranges)
        if (range.from >= range.to)
            return SpecConflict{"range", fmt::format("the range {:#x}-{:#x} is empty; the second address is the first "
                                                     "one that is no longer counted",
                                                     range.from, range.to)};
    return std::nullopt;
}

Conflict check_ring(const RingSpec& ring) {
    using Drain = RingSpec::Drain;
    if (ring.capacity == 0) return SpecConflict{"capacity", "a ring of 0 records; write at least 1"};
    if (ring.record == 0) return SpecConflict{"record", "a record of 0 bytes; write at least 1"};
    if (ring.capacity > (~std::uint64_t{0} - ring.base) / ring.record)
        return SpecConflict{"base", "the ring reaches past the last address; choose a lower base"};
    if (ring.drain == Drain::watermark && (ring.watermark == 0 || ring.watermark > ring.capacity))
        return SpecConflict{
            "watermark",
            fmt::format("'drain: watermark' needs a 'watermark' from 1 to the capacity ({})", ring.capacity)};
    if (ring.drain != Drain::watermark && ring.watermark != 0)
        return SpecConflict{"watermark",
                            "'watermark' means something with 'drain: watermark' only; add that or leave "
                            "it out"};
    if (ring.drain == Drain::periodic && ring.period == 0)
        return SpecConflict{"period", "'drain: periodic' needs a 'period' of at least 1 cycle, as in period=10000"};
    if (ring.drain != Drain::periodic && ring.period != 0)
        return SpecConflict{"period", "'period' means something with 'drain: periodic' only; add that or leave it out"};
    if (ring.period > longest_period)
        return SpecConflict{"period",
                            fmt::format("a period of {} cycles; write at most {}", ring.period, longest_period)};
    for (const auto& [key, cycles] : {std::pair{"drain_cost", ring.drain_cost}, {"write_cost", ring.write_cost}})
        if (cycles > most_cost)
            return SpecConflict{key, fmt::format("{} cycles per record; write at most {}", cycles, most_cost)};
    return std::nullopt;
}

}  // namespace

std::optional<SpecConflict> find_conflict(const MonitorSpec& spec) {
    if (auto conflict = check_array(spec)) return conflict;
    if (auto conflict = check_granularity(spec)) return conflict;
    if (auto conflict = check_filter(spec)) return conflict;
    return check_ring(spec.ring);
}

void validate(const MonitorSpec& spec) {
    if (const auto conflict = find_conflict(spec))
        throw SpecError(fmt::format("monitor '{}': ", spec.label()), conflict->message, {});
}

std::uint32_t MonitorSpec::unit() const {
    const std::uint32_t line_bytes = line == 0 ? 64 : line;
    if (granularity.mode != Granularity::Mode::mask) return line_bytes;
    return std::min(line_bytes, std::uint32_t{1} << granularity.amount);
}

std::uint32_t MonitorSpec::units_per_key() const {
    if (granularity.mode != Granularity::Mode::mask) return granularity.amount;
    return (std::uint32_t{1} << granularity.amount) / unit();
}

bool error_known_zero(const MonitorSpec& spec) {
    const bool loses_nothing = spec.ring.overflow == RingSpec::Overflow::stall ||
                               (spec.ring.drain != RingSpec::Drain::periodic && spec.ring.drain_cost == 0);
    return spec.units_per_key() == 1 && loses_nothing;
}

std::string to_string(const Granularity& granularity) {
    switch (granularity.mode) {
        case Granularity::Mode::mask: return fmt::format("mask:{}", granularity.amount);
        case Granularity::Mode::dynamic: return fmt::format("dynamic:{}", granularity.amount);
        case Granularity::Mode::aligned: break;
    }
    return std::to_string(granularity.amount);
}

}  // namespace cachetally
