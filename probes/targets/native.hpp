// SPDX-License-Identifier: BSD-3-Clause
// NativeTarget: the machine that this program runs on as a probe's target, by times and by its event counters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "probes/target.hpp"
#include "probes/targets/native_counters.hpp"

namespace cachetally {

struct NativeOptions {
    std::uint64_t largest_arena = std::uint64_t{256} << 20;
    bool large_pages = true;                ///< offer them where the system has them
    std::string no_events = {};             ///< a reason hides the event counts
    std::vector<RawEvent> raw_events = {};  ///< for levels whose misses the kernel has no event for, or a wrong one
    PerfCalls perf = system_perf_calls();
};

/// Loads are made on one core, to which the thread is pinned until the target is gone. It is exchanged for another one
/// while another hardware thread uses it (QuietCore): what was asked meanwhile is asked again there. Where all are
/// used, Conditions::core_shared says so.
class NativeTarget final : public ProbeTarget {
public:
    /// Throws ProbeError where the processor is neither x86-64 nor arm64, or its clock frequency cannot be determined;
    /// std::invalid_argument where raw_events are of levels that there are not. Where events cannot be counted,
    /// Capabilities::no_events says why.
    explicit NativeTarget(const NativeOptions& options = {});
    ~NativeTarget() override;

    const Capabilities& capabilities() const override;

    /// Cycles of a budget are those of real time, also between runs.
    void keep_to(const Budget& budget) override;

    /// Small pages are never made large by the system; large ones are verified to be so, else ProbeError. Of arenas
    /// that together exceed twice the largest, those unused for longest are given back: used again, they are placed
    /// anew.
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override;

    /// Cycles per load: the lower quartile of at least three samples of some 30 microseconds (of laps that are longer,
    /// of as many as the effort asks for), each with the core's clock as measured before and after it, and after three
    /// laps that bring back what this has displaced. Samples in which the thread lost its core, or the clock changed by
    /// more than 2 % (from one sample to the next by 5 %, unless multiplications agree), are made again, at most three
    /// times as many. Before a run without warm-up the chase's lines are flushed from all caches. Events are those of
    /// the laps asked for, made once more without a clock (NativeCounters). Throws ProbeError where loads of the chase
    /// overlap, or others keep using the counters.
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override;

    /// By samples as run() has them. Loops of the widest vectors (native_stream.hpp).
    Measurement stream(const Arena& arena, const Streaming& stream, const Effort& effort) override;

    /// By samples as run() has them, one of each round: those that were disturbed are made again, at most three times.
    /// Throws ProbeError where both chases use the same words.
    Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) override;

    /// By the time-stamp counter (x86-64): one load of each lap, between fences.
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) override;

    /// By a thread on each of two of the processors on which the program may run (native_cores.hpp).
    Measurement transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) override;
    Measurement run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) override;

    std::vector<std::uint64_t> physical_pages(const Arena& arena) const override;
    void release(const Arena& arena) override;
    ProbeCost cost() const override;

    /// Cycles of the core in a second.
    double frequency() const;

    /// Samples dropped so far.
    std::uint64_t dropped() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally
