// SPDX-License-Identifier: BSD-3-Clause
#include "probes/meter.hpp"

#include <algorithm>

namespace cachetally {
namespace {

constexpr unsigned first_trials = 16;
constexpr unsigned noisy_trials = 5;
constexpr std::size_t many_loads = 4096;
constexpr double translated = 0.02;  ///< share of the time of a load that hits, more than which is translation

}  // namespace

Meter::Meter(ProbeTarget& target, std::uint64_t seed, const Budget& budget) : target_(target), seed_(seed) {
    grant(budget);
    const Arena arena = target.make_arena(page(), page());
    std::vector<double> times;
    for (unsigned i = 0; i < first_trials; ++i) times.push_back(measure(arena, {0}, 4, 256).cycles);
    std::ranges::sort(times);
    const double median = times[first_trials / 2];
    if (times.front() <= 0)
        throw ProbeError(
            "loads that hit take no time: probes compare times; give the first level a latency of at least 1");
    noise_ = (median - times.front()) / times.front();
    trials_ = times.back() > times.front() ? noisy_trials : 1;
    if (trials_ > 1) noise_ = std::max(noise_, 5e-4);
    large_page_ = find_large_page();
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

Measurement Meter::run(const Arena& arena, const Chase& chase, const Effort& effort) {
    keep_budget();
    return target_.run(arena, chase, effort);
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

Measurement Meter::measure(const Arena& arena, const Offsets& offsets, unsigned warm_up, unsigned laps) {
    // A timer step is to be less than a thousandth of what is timed.
    return run(arena, {offsets}, {warm_up, laps, 1000 * capabilities().timer_quantum});
}

double Meter::time(const Arena& arena, const Offsets& offsets, unsigned warm_up, unsigned laps) {
    double least = measure(arena, offsets, warm_up, laps).cycles;
    const unsigned trials =
        offsets.size() > many_loads ? std::min(2U, trials_) : trials_;  // they average by themselves
    for (unsigned i = 1; i < trials; ++i) least = std::min(least, measure(arena, offsets, warm_up, laps).cycles);
    return least;
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

bool Meter::takes_longer(const Arena& arena, const Offsets& offsets, double cycles) {
    const unsigned laps = settling_laps(offsets);
    const unsigned needed = trials_ > 1 ? 3 : 1;
    for (unsigned i = 0; i < needed; ++i)
        if (measure(arena, offsets, laps, laps).cycles <= cycles + tolerance(cycles)) return false;
    return true;
}

}  // namespace cachetally
