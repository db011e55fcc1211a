// SPDX-License-Identifier: BSD-3-Clause
// Laps: a chase run lap by lap on a hierarchy, until its state repeats; and what disturbs it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "probes/target.hpp"

namespace cachetally {

/// All zero: no noise.
struct NoiseModel {
    double timer_quantum = 0;        ///< cycles that the timer advances by
    double jitter = 0;               ///< mean share by which a run takes longer, drawn per run
    double interrupt_period = 0;     ///< cycles between interrupts on average; 0 = none
    double interrupt_cycles = 0;     ///< that one takes
    unsigned interrupt_lines = 0;    ///< lines that one brings into the caches
    unsigned interrupt_pages = 0;    ///< pages that these lie in
    unsigned hog_loads = 0;          ///< loads of a second core per 64 loads of the probe
    unsigned long long hog_bytes{};  ///< that the second core walks through

    bool any() const { return timer_quantum > 0 || jitter > 0 || interrupt_period > 0 || hog_loads > 0; }
    friend bool operator==(const NoiseModel&, const NoiseModel&) = default;
};

/// none; quiet: a timer of 20 cycles and 0.1 % jitter; realistic: 0.3 % jitter and a thousand interrupts a second on
/// top; heavy: 1 % jitter, coarser timer, more interrupts and a second core that walks through 1 MiB. Throws
/// std::invalid_argument for other names.
NoiseModel noise_named(const std::string& name);
std::vector<std::string> noise_names();

/// What one lap took and missed.
struct Lap {
    double cycles = 0;
    std::vector<double> cache_misses, tlb_misses;  ///< in the order of the machine description
    /// Likewise: stores and dirty lines that come to a cache, at the end to memory; that miss there; its dirty victims.
    std::vector<double> writes = {}, write_misses = {}, write_backs = {};

    Lap& operator+=(const Lap& other);
    Lap& operator*=(double times);
    void less(const Lap& other);  ///< no part below nothing
    bool hits_only() const;       ///< of all levels
    friend bool operator==(const Lap&, const Lap&) = default;
};

class Laps {
public:
    /// `repeats`: equal digests of the hierarchy mean equal laps. `chains`: equal parts of the references, each of
    /// which follow one another; a core begins one reference per cycle, of the chain that is ready first. Such laps are
    /// all simulated, as digests say nothing of what is under way.
    Laps(Hierarchy& hierarchy, std::span<const Reference> references, double period, bool repeats, unsigned chains = 1);

    /// References wait for each other no more: one begins per cycle, once the one that is so many before it is
    /// complete. Before the first lap.
    void overlap(std::size_t window);

    /// Adds loads of a second core between those of the chase; where that one is at first is drawn from `seed`.
    void disturb_by(const NoiseModel& noise, std::uint64_t seed);

    /// So many laps will be asked for; `digest_loads`: the loads that a digest of the hierarchy costs as much as.
    void expect(std::uint64_t laps, double digest_loads);

    /// All laps together may take so many cycles: lap() throws BudgetSpent beyond. `look` is called now and then, and
    /// may throw.
    void keep_to(double cycles, std::function<void()> look);

    /// Lap number `number` from 0. Simulates up to it, unless it is known to repeat an earlier one.
    const Lap& lap(std::size_t number);

    /// True once laps repeat: all laps are known.
    bool periodic() const { return period_ != 0; }
    std::size_t first_repeated() const { return first_; }
    std::size_t lap_period() const { return period_; }

    /// A lap made now, after other loads, or these loads, disturbed like laps. Call when the laps are not needed any
    /// more.
    Lap once_more() { return simulate(references_); }
    Lap once(std::span<const Reference> references) { return simulate(references); }

    std::uint64_t simulated() const { return simulated_; }  ///< loads

private:
    Lap simulate(std::span<const Reference> references);
    void load(std::span<const Reference> references);
    void load_disturbed(std::span<const Reference> references);
    void load_chains(std::span<const Reference> references);
    void load_independent(std::span<const Reference> references);
    void make(const Reference& reference, Tick& ready);
    void look_for_repetition();

    Hierarchy& hierarchy_;
    std::span<const Reference> references_;
    double tick_;
    bool repeats_;
    NoiseModel noise_;
    std::uint64_t hog_position_ = 0;
    std::size_t since_hog_ = 0, since_look_ = 0;  ///< loads
    Tick now_ = 0, until_ = ~Tick{0};
    std::vector<Tick> ready_;  ///< by chain, if there are several; or of the references in the window
    bool independent_ = false;
    Tick next_begin_ = 0;  ///< of a reference of any chain
    std::function<void()> look_;
    HierarchyCounts counts_;
    std::vector<Lap> laps_;
    std::unordered_map<std::uint64_t, std::size_t> seen_;  ///< digest after a lap to the number of the next
    std::size_t first_ = 0, period_ = 0;
    std::uint64_t simulated_ = 0;
    double expected_loads_ = 0, digest_loads_ = 0;
    std::size_t next_digest_ = 2;  ///< laps before the next digest
};

/// What laps add up to.
struct LapSum {
    Lap sum;
    std::uint64_t laps = 0;

    Lap mean() const;
};

/// The laps of an effort after its warm-up. Laps that only fill up least_cycles are taken to be like those before them
/// once `most_loads` were simulated.
LapSum sum_of(Laps& laps, const Effort& effort, std::uint64_t most_loads);

}  // namespace cachetally
