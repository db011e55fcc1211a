// SPDX-License-Identifier: BSD-3-Clause
// Meter: times chases on a target well enough to compare them, whatever its noise.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cachetally/probe_strings.hpp"
#include "cachetally/probe_target.hpp"

namespace cachetally {

/// Laps through these offsets that make about so many loads, from `least` to `most`.
inline unsigned laps_of(std::size_t loads, const Offsets& offsets, std::size_t least, std::size_t most) {
    return static_cast<unsigned>(std::clamp(loads / offsets.size(), least, most));
}

/// How many runs were made, and of how many another hardware thread used the core (Conditions::core_shared).
struct RunCount {
    std::uint64_t all = 0, shared = 0;

    friend RunCount operator-(const RunCount& a, const RunCount& b) { return {a.all - b.all, a.shared - b.shared}; }
};

class Meter {
public:
    /// Measures how the target's times scatter, again where they scatter so much that something else was at work.
    Meter(ProbeTarget& target, std::uint64_t seed, const Budget& budget = {});

    /// From here on this is what may be spent, counted from the target's begin.
    void grant(const Budget& budget);

    ProbeTarget& target() const { return target_; }
    const Capabilities& capabilities() const { return target_.capabilities(); }
    std::uint64_t seed() const { return seed_; }

    /// Share by which the least time of a few trials may still be off; 0 = times are exact.
    double noise() const { return noise_; }

    /// Share by which a time may be too little, or too much, as the core's clock was misjudged.
    static constexpr double misjudged = 0.03;

    /// Cycles by which a time has to exceed `cycles` to be longer.
    double tolerance(double cycles) const { return cycles * (3 * noise_ + 1e-7); }

    /// What the target gives, as it is. Everything here throws BudgetSpent where the budget is spent.
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort);
    /// The least counts of misses of a few trials: interruptions only add.
    Measurement count(const Arena& arena, const Chase& chase, const Effort& effort);
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples);
    Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort);
    Measurement transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds);
    Measurement run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds);

    /// So far.
    RunCount runs() const { return runs_; }

    /// Cycles that may still be spent.
    double left() const { return budget_.most_cycles - target_.cost().cycles; }

    /// Cycles per load: the least of a few trials. (Cooper and Xu 2018, 3.1: interference only lengthens.) More are
    /// made where a second one does not agree with the least: that one may be of a clock that was misjudged.
    double time(const Arena& arena, const Offsets& offsets, unsigned warm_up, unsigned laps);

    /// The same for so many chains.
    double time_of_chains(const Arena& arena, const Offsets& offsets, unsigned chains, unsigned warm_up, unsigned laps);

    /// Cycles per block of a stream, as time(); empty where the last trials of all were disturbed.
    std::optional<double> time_of_stream(const Arena& arena, const Streaming& stream, unsigned laps);

    /// Times of two strings, trial by trial in turn, so that what changes with time changes both.
    std::pair<double, double> settled_in_turn(const Arena& arena, const Offsets& one, const Offsets& other);

    /// Cycles per load of a single trial.
    double once(const Arena& arena, const Offsets& offsets, unsigned warm_up, unsigned laps) {
        return measure(arena, {offsets}, warm_up, laps).cycles;
    }

    /// time() for strings of a few sets: laps enough for any replacement policy to settle.
    double settled(const Arena& arena, const Offsets& offsets);

    /// Whether a settled run takes more than `cycles` per load, beyond doubt. Fewer trials than a time needs.
    /// `least_rise`: cycles per load by which it takes more, if it does; with noise, trials that exceed by less than a
    /// fifth of that are no longer, and those that exceed by less than half of it are doubtful: more are made.
    bool takes_longer(const Arena& arena, const Offsets& offsets, double cycles, double least_rise = 0,
                      unsigned least_laps = 0);

    /// Of so many bytes, or as many as can be had.
    Arena arena_up_to(std::uint64_t bytes, std::uint64_t page) const {
        return target_.make_arena(std::min(bytes, capabilities().largest_arena), page);
    }

    std::uint64_t page() const { return capabilities().page_sizes.front(); }
    /// The largest on which a load takes no longer: of some sizes, no TLB holds pages.
    std::uint64_t large_page() const { return large_page_; }

private:
    void keep_budget() const;
    Measurement counted(Measurement found);
    std::uint64_t find_large_page();
    void measure_noise();
    unsigned settling_laps(const Offsets& offsets) const;
    Measurement measure(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned laps);
    unsigned trials_of(const Offsets& offsets) const;
    std::optional<double> agreed(std::vector<double> times) const;

    ProbeTarget& target_;
    std::uint64_t seed_;
    Budget budget_;
    RunCount runs_;
    double noise_ = 0;
    unsigned trials_ = 1;
    std::uint64_t large_page_ = 0;
};

}  // namespace cachetally
