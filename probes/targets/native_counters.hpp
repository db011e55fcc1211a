// SPDX-License-Identifier: BSD-3-Clause
// NativeCounters: misses of the caches and TLBs of the machine that the program runs on, by its event counters.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "probes/targets/counter_group.hpp"

namespace cachetally {

/// An event that counts the misses of a level, as the processor's manual encodes it.
struct RawEvent {
    bool tlb = false;
    unsigned level = 1;        ///< nearest first
    std::uint64_t config = 0;  ///< of PERF_TYPE_RAW; on x86-64 the event, and its unit mask times 256

    friend bool operator==(const RawEvent&, const RawEvent&) = default;
};

/// "L2=0x0864", "TLB1=0xff45". Throws std::invalid_argument, which says what would be right.
RawEvent raw_event_named(const std::string& text);
std::string in_words(const RawEvent& event);

/// Levels that a load passes.
struct CountedLevels {
    unsigned caches = 0, tlbs = 0;
};

/// As the machine says of itself (`machine show host`); no caches where it states none.
CountedLevels levels_of_this_machine();

/// Of one run.
struct EventCounts {
    double cycles = 0;  ///< of the core, in user mode
    std::vector<double> cache_misses, tlb_misses;
};

class NativeCounters {
public:
    /// Each level is counted by its raw event, or else by one that the kernel names for all processors
    /// (perf_event_open(2), PERF_TYPE_HW_CACHE): read misses of L1D; of LL, for the last cache; of DTLB, for the last
    /// TLB on x86-64, where they are page walks, and for the first one elsewhere. Caches are counted all or not at
    /// all, and so are TLBs: which level a count is of would not be known. What is missing is no error: missing().
    /// Throws std::invalid_argument where a raw event is of a level that there is not, or of one that has another.
    NativeCounters(const CountedLevels& levels, std::span<const RawEvent> raw, PerfCalls calls = system_perf_calls());

    CountedLevels counted() const { return counted_; }  ///< all levels of a kind, or none

    /// Why something is not counted, and what would help; empty = all is.
    const std::string& missing() const { return missing_; }

    /// Gives up all events, with a reason, where `run` does not take about so many cycles: counters of a virtual
    /// machine may stand still, or count what others do.
    void trust_if(const std::function<void()>& run, double cycles);

    /// As CounterGroup::count, less what an empty run counts (the least of many).
    EventCounts count(const std::function<void()>& prepare, const std::function<void()>& run);

private:
    void open(const CountedLevels& levels, std::span<const RawEvent> raw);
    bool add_all(bool tlbs, unsigned levels, std::span<const RawEvent> raw);
    void add_reason(const std::string& reason);
    void give_up(const std::string& reason);
    void measure_empty_runs();

    CounterGroup group_;  ///< cycles, caches, TLBs
    CountedLevels counted_;
    std::string missing_;
    std::vector<std::uint64_t> empty_;
};

}  // namespace cachetally
