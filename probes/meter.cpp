// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/probe_meter.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {
namespace {

constexpr unsigned first_trials = 16;
constexpr unsigned noisy_trials = 5;
constexpr unsigned most_rounds = 8;
constexpr double calm = 0.02;           ///< noise, more than which is that of who shares the machine for the moment
constexpr unsigned asked_again = 4;     ///< times as many trials, at most, where they do not agree
constexpr unsigned most_disturbed = 4;  ///< runs in a row, of which the last counts all the same
constexpr std::size_t many_loads = 4096;
constexpr unsigned clear_trials = 3, doubtful_trials = 12;
constexpr double no_rise = 0.2, doubtful_rise = 0.5;  ///< shares of the least rise
constexpr double translated = 0.02;  ///< share of the time of a load that hits, more than which is translation

}  // namespace

Meter::Meter(ProbeTarget& target, std::uint64_t seed, const Budget& budget) : target_(target), seed_(seed) {
    grant(budget);
    measure_noise();
    large_page_ = find_large_page();
}

void Meter::measure_noise() {
    const Arena arena = target_.make_arena(page(), page());
    for (unsigned round = 0; round < most_rounds && (round == 0 || noise_ > calm); ++round) {
        std::vector<double> times;
        for (unsigned i = 0; i < first_trials; ++i) times.push_back(measure(arena, {Offsets{0}}, 4, 256).cycles);
        std::ranges::sort(times);
        const double median = times[first_trials / 2];
        if (times.front() <= 0)
            throw ProbeError(
                "loads that hit take no time: probes compare times; give the first level a latency of at least 1");
        const double noise = (median - times.front()) / times.front();
        noise_ = round == 0 ? noise : std::min(noise_, noise);
        if (times.back() > times.front()) trials_ = noisy_trials;
    }
    if (trials_ > 1) noise_ = std::max(noise_, 5e-4);
}

std::uint64_t Meter::find_large_page() {
    const auto of_a_load = [&](std::uint64_t bytes) { return time(target_.make_arena(bytes, bytes), {0}, 4, 256); };
    const std::vector<std::uint64_t>& sizes = capabilities().page_sizes;
    if (sizes.size() == 1) return sizes.front();
    const double least = of_a_load(sizes.front());
    for (auto size = sizes.rbegin(); *size != sizes.front(); ++size)
        if (*size <= capabilities().largest_arena && of_a_load(*size) <= least * (1 + translated) + tolerance(least))
            return *size;
    return sizes.front();
}

void Meter::grant(const Budget& budget) {
    budget_ = budget;
    target_.keep_to(budget);
}

void Meter::keep_budget() const {
    if (budget_.go_on && !budget_.go_on()) throw ProbingEnded();
    const ProbeCost cost = target_.cost();
    if (cost.cycles > budget_.most_cycles || cost.references > budget_.most_references) throw BudgetSpent();
}

Measurement Meter::counted(Measurement found) {
    ++runs_.all;
    runs_.shared += found.conditions.core_shared ? 1 : 0;
    return found;
}

Measurement Meter::run(const Arena& arena, const Chase& chase, const Effort& effort) {
    keep_budget();
    return counted(target_.run(arena, chase, effort));
}

Measurement Meter::count(const Arena& arena, const Chase& chase, const Effort& effort) {
    Measurement least = run(arena, chase, effort);
    const auto take_less = [](std::vector<double>& misses, const std::vector<double>& others) {
        for (std::size_t i = 0; i < misses.size(); ++i) misses[i] = std::min(misses[i], others[i]);
    };
    for (unsigned i = 1; i < trials_; ++i) {
        const Measurement other = run(arena, chase, effort);
        least.cycles = std::min(least.cycles, other.cycles);
        take_less(least.cache_misses, other.cache_misses);
        take_less(least.tlb_misses, other.tlb_misses);
    }
    return least;
}

std::vector<double> Meter::latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) {
    keep_budget();
    return target_.latencies(arena, chase, warm_up, samples);
}

Measurement Meter::prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) {
    keep_budget();
    return counted(target_.prime_and_probe(arena, both, effort));
}

Measurement Meter::transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) {
    keep_budget();
    return target_.transfer(arena, from, to, rounds);
}

Measurement Meter::run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) {
    keep_budget();
    return target_.run_after(arena, one, other, rounds);
}

Measurement Meter::measure(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned laps) {
    // A timer step is to be less than a thousandth of what is timed.
    const Effort effort{warm_up, laps, 1000 * capabilities().timer_quantum};
    Measurement found = run(arena, chase, effort);
    if (warm_up == 0) return found;  // the first use is over
    for (unsigned i = 1; i < most_disturbed && found.conditions.disturbed; ++i) found = run(arena, chase, effort);
    return found;
}

unsigned Meter::trials_of(const Offsets& offsets) const {
    return offsets.size() > many_loads ? std::min(2U, trials_) : trials_;  // they average by themselves
}

/// The least time that a second one agrees with, as near to it as noise has them. A single one that is less by a
/// little is of a clock that was misjudged; one that is much less was the only one that nothing disturbed.
std::optional<double> Meter::agreed(std::vector<double> times) const {
    std::ranges::sort(times);
    for (std::size_t i = 0; i + 1 < times.size() && times[i] <= times.front() * (1 + misjudged); ++i)
        if (times[i + 1] <= times[i] + tolerance(times[i])) return times[i];
    return std::nullopt;
}

double Meter::time(const Arena& arena, const Offsets& offsets, unsigned warm_up, unsigned laps) {
    return time_of_chains(arena, offsets, 1, warm_up, laps);
}

double Meter::time_of_chains(const Arena& arena, const Offsets& offsets, unsigned chains, unsigned warm_up,
                             unsigned laps) {
    const Chase chase(offsets, false, chains);
    const unsigned trials = trials_of(offsets);
    std::vector<double> times;
    while (times.size() < trials || (trials > 1 && times.size() < asked_again * trials && !agreed(times)))
        times.push_back(measure(arena, chase, warm_up, laps).cycles);
    return agreed(times).value_or(std::ranges::min(times));
}

std::optional<double> Meter::time_of_stream(const Arena& arena, const Streaming& stream, unsigned laps) {
    const Effort effort{laps, laps, 1000 * capabilities().timer_quantum};
    const unsigned trials = stream.bytes / Streaming::block > many_loads ? std::min(2U, trials_) : trials_;
    std::vector<double> times;
    for (unsigned made = 0; made < asked_again * trials; ++made) {
        keep_budget();
        const Measurement found = counted(target_.stream(arena, stream, effort));
        if (!found.conditions.disturbed) times.push_back(found.cycles);
        if (trials == 1 && !times.empty()) return times.front();
        if (times.size() >= trials && agreed(times)) return agreed(times);
    }
    return times.empty() ? std::nullopt : std::optional(std::ranges::min(times));
}

std::pair<double, double> Meter::settled_in_turn(const Arena& arena, const Offsets& one, const Offsets& other) {
    const unsigned trials = std::min(trials_of(one), trials_of(other));
    std::vector<double> ones, others;
    while (ones.size() < trials ||
           (trials > 1 && ones.size() < asked_again * trials && !(agreed(ones) && agreed(others)))) {
        const unsigned laps = settling_laps(one), other_laps = settling_laps(other);
        ones.push_back(measure(arena, {one}, laps, laps).cycles);
        others.push_back(measure(arena, {other}, other_laps, other_laps).cycles);
    }
    return {agreed(ones).value_or(std::ranges::min(ones)), agreed(others).value_or(std::ranges::min(others))};
}

unsigned Meter::settling_laps(const Offsets& offsets) const {
    // Few loads: many laps cost nothing. Many loads: what is left of the first laps is little. Exact times need no more
    // laps than policies need to settle.
    const std::size_t laps = (noise_ > 0 ? 8192 : 3072) / offsets.size();
    return static_cast<unsigned>(std::clamp<std::size_t>(laps, 2, noise_ > 0 ? 256 : 96));
}

double Meter::settled(const Arena& arena, const Offsets& offsets) {
    const unsigned laps = settling_laps(offsets);
    return time(arena, offsets, laps, laps);
}

bool Meter::takes_longer(const Arena& arena, const Offsets& offsets, double cycles, double least_rise,
                         unsigned least_laps) {
    const unsigned laps = std::max(least_laps, settling_laps(offsets));
    unsigned needed = trials_ > 1 ? clear_trials : 1;
    if (noise_ == 0) least_rise = 0;
    for (unsigned made = 0; made < needed; ++made) {
        const double more = measure(arena, {offsets}, laps, laps).cycles - cycles;
        if (more <= std::max(tolerance(cycles), no_rise * least_rise)) return false;
        if (more <= doubtful_rise * least_rise) needed = doubtful_trials;
    }
    return true;
}

}  // namespace cachetally
