// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/native_counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cachetally/topology.hpp"
#include "probes/target.hpp"
#include "probes/targets/data_path.hpp"

namespace cachetally {
namespace {

constexpr unsigned empty_runs = 64, trusted_runs = 16;
constexpr double trusted_share = 0.05;  ///< by which cycles may be off: the run is called, and its clock read

// DTLB read misses are page walks on Intel (DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK) and AMD processors (Linux,
// arch/x86/events: "L2 DTLB misses (PT walks)"), but refills of the first TLB on arm64 (L1D_TLB_REFILL).
#if defined(__x86_64__)
constexpr bool walks_are_counted = true;
#else
constexpr bool walks_are_counted = false;
#endif

std::string level_in_words(bool tlb, unsigned level) { return fmt::format("{}{}", tlb ? "TLB" : "L", level); }

constexpr CounterEvent read_misses_of(std::uint64_t cache) {
    return {PERF_TYPE_HW_CACHE,
            cache | (PERF_COUNT_HW_CACHE_OP_READ << 8) | (std::uint64_t{PERF_COUNT_HW_CACHE_RESULT_MISS} << 16)};
}

/// The kernel's own event for a level; nothing where it has none.
std::optional<CounterEvent> generic_event(bool tlb, unsigned level, unsigned levels) {
    if (tlb)
        return level == (walks_are_counted ? levels : 1) ? std::optional(read_misses_of(PERF_COUNT_HW_CACHE_DTLB))
                                                         : std::nullopt;
    if (level == 1) return read_misses_of(PERF_COUNT_HW_CACHE_L1D);
    return level == levels ? std::optional(read_misses_of(PERF_COUNT_HW_CACHE_LL)) : std::nullopt;
}

std::optional<CounterEvent> raw_event_of(bool tlb, unsigned level, std::span<const RawEvent> raw) {
    for (const RawEvent& event : raw)
        if (event.tlb == tlb && event.level == level) return CounterEvent{PERF_TYPE_RAW, event.config};
    return std::nullopt;
}

bool is_forbidden(int error) { return error == EACCES || error == EPERM; }

/// Where not even cycles are counted, nothing is.
std::string why_no_cycles(int error) {
    if (is_forbidden(error))
        return "the system does not permit to count events: write 2 or less to the sysctl kernel.perf_event_paranoid, "
               "or give the program CAP_PERFMON (a container may forbid it by a filter of system calls, too)";
    if (error == ENOSYS) return "the kernel has no perf_event_open: it is built without CONFIG_PERF_EVENTS";
    if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV)
        return "a virtual machine hides the processor's counters, or the kernel has no driver for them";
    return fmt::format("cycles cannot be counted: {}", std::strerror(error));
}

std::string why_no_level(const std::string& level, const RawEvent* raw, int error) {
    const std::string given = raw == nullptr ? "" : "--raw-event " + in_words(*raw);
    if (is_forbidden(error))
        return fmt::format("misses of {}: the system does not permit this event{}{}; CAP_PERFMON would", level,
                           raw == nullptr ? "" : ", ", given);
    if (raw != nullptr)
        return fmt::format(
            "misses of {}: the kernel refuses {} ({}): no such event, or more events than the processor counts at once",
            level, given, std::strerror(error));
    return fmt::format(
        "misses of {}: the kernel's event for them is not supported on this processor, or is one too many ({}); name "
        "another by --raw-event {}=HEX",
        level, std::strerror(error), level);
}

void check_raw(const CountedLevels& levels, std::span<const RawEvent> raw) {
    for (const RawEvent& event : raw) {
        const auto same = [&](const RawEvent& other) { return other.tlb == event.tlb && other.level == event.level; };
        const unsigned most = event.tlb ? levels.tlbs : levels.caches;
        const std::string level = level_in_words(event.tlb, event.level);
        if (std::ranges::count_if(raw, same) > 1)
            throw std::invalid_argument(
                fmt::format("--raw-event {}: {} has another event, too; give one of them", in_words(event), level));
        if (most > 0 && event.level > most)
            throw std::invalid_argument(
                fmt::format("--raw-event {}: there is no {} on this machine; the last one is {}", in_words(event),
                            level, level_in_words(event.tlb, most)));
    }
}

}  // namespace

RawEvent raw_event_named(const std::string& text) {
    const auto wrong = [&] {
        return std::invalid_argument(
            fmt::format("'{}' is not possible; write LEVEL=HEX, the event that counts the misses of a level: L1 to L9 "
                        "or TLB1 to TLB9, and the code of the processor's manual with 0x before it, e.g. L2=0x0864",
                        shown(text)));
    };
    const std::vector<std::string_view> parts = split(text, '=');
    if (parts.size() != 2) throw wrong();
    RawEvent event;
    event.tlb = parts[0].starts_with("TLB");
    const std::string_view level = parts[0].substr(std::min<std::size_t>(parts[0].size(), event.tlb ? 3 : 1));
    if (!parts[0].starts_with(event.tlb ? "TLB" : "L") || level.size() != 1 || level[0] < '1' || level[0] > '9')
        throw wrong();
    event.level = static_cast<unsigned>(level[0] - '0');
    const auto config = parts[1].starts_with("0x") ? parse_number(parts[1]) : std::nullopt;
    if (!config) throw wrong();
    event.config = *config;
    return event;
}

std::string in_words(const RawEvent& event) {
    return fmt::format("{}=0x{:x}", level_in_words(event.tlb, event.level), event.config);
}

CountedLevels levels_of_this_machine() {
    try {
        const MachineDescription host = load_machine("host");
        return {static_cast<unsigned>(data_caches(host).size()), static_cast<unsigned>(data_tlbs(host).size())};
    } catch (const MachineError&) {  // it states no caches
        return {};
    }
}

NativeCounters::NativeCounters(const CountedLevels& levels, std::span<const RawEvent> raw, PerfCalls calls)
    : group_(std::move(calls)) {
    check_raw(levels, raw);
    try {
        open(levels, raw);
        if (group_.size() > 0) measure_empty_runs();
    } catch (const ProbeError& error) {
        give_up(error.what());
    }
}

void NativeCounters::open(const CountedLevels& levels, std::span<const RawEvent> raw) {
    if (levels.caches == 0) return give_up("the system states no caches: whose misses are counted is not known");
    if (const int error = group_.add({PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}); error != 0)
        return give_up(why_no_cycles(error));
    if (add_all(false, levels.caches, raw)) counted_.caches = levels.caches;
    if (add_all(true, levels.tlbs, raw)) counted_.tlbs = levels.tlbs;
    if (counted_.caches == 0 && counted_.tlbs == 0) group_.keep(0);
}

bool NativeCounters::add_all(bool tlbs, unsigned levels, std::span<const RawEvent> raw) {
    const std::size_t before = group_.size();
    for (unsigned level = 1; level <= levels; ++level) {
        const std::string name = level_in_words(tlbs, level);
        const std::optional<CounterEvent> own = raw_event_of(tlbs, level, raw);
        const std::optional<CounterEvent> event = own ? own : generic_event(tlbs, level, levels);
        const int error = event ? group_.add(*event) : 0;
        if (event && error == 0) continue;
        const RawEvent given{tlbs, level, own ? own->config : 0};
        add_reason(event ? why_no_level(name, own ? &given : nullptr, error)
                         : fmt::format("misses of {}: the kernel has no event for them; name one by --raw-event {}=HEX",
                                       name, name));
        group_.keep(before);
        return false;
    }
    return levels > 0;
}

void NativeCounters::add_reason(const std::string& reason) { missing_ += (missing_.empty() ? "" : "; ") + reason; }

void NativeCounters::give_up(const std::string& reason) {
    group_.keep(0);
    counted_ = {};
    missing_ = reason;
}

void NativeCounters::measure_empty_runs() {
    const auto nothing = [] {};
    empty_ = group_.count(nothing, nothing);
    for (unsigned i = 1; i < empty_runs; ++i) {
        const std::vector<std::uint64_t> again = group_.count(nothing, nothing);
        for (std::size_t event = 0; event < empty_.size(); ++event)
            empty_[event] = std::min(empty_[event], again[event]);
    }
}

void NativeCounters::trust_if(const std::function<void()>& run, double cycles) {
    if (group_.size() == 0) return;
    try {
        double least = count([] {}, run).cycles;
        for (unsigned i = 1; i < trusted_runs; ++i) least = std::min(least, count([] {}, run).cycles);
        if (std::abs(least - cycles) > trusted_share * cycles)
            give_up(fmt::format("the processor's counters are not trusted: they count {:.0f} cycles where {:.0f} pass",
                                least, cycles));
    } catch (const ProbeError& error) {
        give_up(error.what());
    }
}

EventCounts NativeCounters::count(const std::function<void()>& prepare, const std::function<void()>& run) {
    if (group_.size() == 0) throw ProbeError("events are not counted: {}", missing_);
    const std::vector<std::uint64_t> counts = group_.count(prepare, run);
    const auto less_empty = [&](std::size_t event) {
        return static_cast<double>(counts[event] - std::min(counts[event], empty_[event]));
    };
    EventCounts found;
    found.cycles = less_empty(0);
    std::size_t event = 1;
    for (unsigned level = 0; level < counted_.caches; ++level) found.cache_misses.push_back(less_empty(event++));
    for (unsigned level = 0; level < counted_.tlbs; ++level) found.tlb_misses.push_back(less_empty(event++));
    return found;
}

}  // namespace cachetally
