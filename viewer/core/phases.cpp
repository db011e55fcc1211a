// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/core/phases.hpp"

#include <algorithm>
#include <map>

namespace cachetally {
namespace {

using Phases = std::vector<std::uint32_t>;

constexpr std::size_t most_peaks = 8;  ///< more are no exceptions

double sum_in(std::span<const double> counts, std::span<const std::uint32_t> phases) {
    double sum = 0;
    for (const std::uint32_t phase : phases) sum += counts[phase];
    return sum;
}

double most_of(const std::vector<double>& counts) { return *std::max_element(counts.begin(), counts.end()); }

std::vector<Phases> steps_of(std::span<const std::uint32_t> among, std::span<const std::uint32_t> name) {
    std::vector<Phases> steps, alone;
    std::map<std::uint32_t, std::size_t> numbers;
    for (const std::uint32_t phase : among) {
        alone.push_back({phase});
        const auto [step, is_new] = numbers.try_emplace(name[phase], steps.size());
        if (is_new) steps.emplace_back();
        steps[step->second].push_back(phase);
    }
    return steps.size() > 1 ? steps : alone;
}

/// Phases without accesses are none to compare with, where accesses are known; nor are phases without counts.
Phases accessed_in(std::span<const std::uint32_t> chosen, const PhaseCounts& counts) {
    Phases phases;
    for (const std::uint32_t phase : chosen)
        if (phase < counts.misses.size() && phase < counts.accesses.size() && phase < counts.name.size())
            phases.push_back(phase);
    if (sum_in(counts.accesses, phases) == 0) return phases;
    const auto is_idle = [&](std::uint32_t phase) { return counts.accesses[phase] == 0 && counts.misses[phase] == 0; };
    phases.erase(std::remove_if(phases.begin(), phases.end(), is_idle), phases.end());
    return phases;
}

/// The phases of steps whose counts are about the largest, without those with less than the mean.
Phases largest_of(const std::vector<Phases>& steps, const std::vector<double>& by_step, double alike,
                  std::span<const double> misses, double mean) {
    const double least = alike * most_of(by_step);
    Phases phases, large;
    for (std::size_t step = 0; step < steps.size(); ++step)
        if (by_step[step] >= least) phases.insert(phases.end(), steps[step].begin(), steps[step].end());
    std::sort(phases.begin(), phases.end());
    for (const std::uint32_t phase : phases)
        if (misses[phase] >= mean) large.push_back(phase);
    return large.empty() ? phases : large;
}

Phases peaks_of(const Phases& phases, std::span<const double> misses, const PhaseBounds& bounds) {
    if (phases.size() < 2) return {};
    double most = 0;
    for (const std::uint32_t phase : phases) most = std::max(most, misses[phase]);
    if (most * static_cast<double>(phases.size()) < bounds.stands_out * sum_in(misses, phases)) return {};
    Phases peaks;
    for (const std::uint32_t phase : phases)
        if (misses[phase] >= bounds.alike * most) peaks.push_back(phase);
    return peaks.size() <= most_peaks ? peaks : Phases();
}

}  // namespace

WorstPhases worst_phases(std::span<const std::uint32_t> chosen, const PhaseCounts& counts, const PhaseBounds& bounds) {
    const Phases among = accessed_in(chosen, counts);
    const std::vector<Phases> steps = steps_of(among, counts.name);
    const double misses = sum_in(counts.misses, among), accesses = sum_in(counts.accesses, among);
    WorstPhases found;
    found.several = chosen.size() > 1;
    if (misses == 0 || !found.several) return found;
    std::vector<double> all, dense;  // dense: that miss about as often as all, or oftener
    for (const Phases& step : steps) {
        all.push_back(sum_in(counts.misses, step));
        const bool is_dense = all.back() * accesses >= bounds.alike * misses * sum_in(counts.accesses, step);
        dense.push_back(is_dense ? all.back() : 0);
    }
    const auto stands_out = [&](const std::vector<double>& by_step) {
        return most_of(by_step) * static_cast<double>(steps.size()) >= bounds.stands_out * misses;
    };
    const bool in_dense = stands_out(dense), both = in_dense && most_of(dense) < most_of(all);
    if (!in_dense && !stands_out(all)) {
        if (2 * among.size() <= chosen.size()) found.phases = among;
        return found;
    }
    const double mean = misses / static_cast<double>(among.size());
    const auto largest = [&](const std::vector<double>& by_step) {
        return largest_of(steps, by_step, bounds.alike, counts.misses, mean);
    };
    found.others_higher = both && most_of(all) > bounds.majority * misses;
    found.phases = largest(in_dense && !found.others_higher ? dense : all);
    if (both) found.others = largest(found.others_higher ? dense : all);
    found.peaks = peaks_of(found.phases, counts.misses, bounds);
    return found;
}

}  // namespace cachetally
