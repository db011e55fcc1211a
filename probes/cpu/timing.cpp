// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/timing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cachetally {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double covered_share = 0.9;
constexpr double longest_share = 3;  ///< threads that share a core take twice as long; with more, somebody else ran

/// As a share; 1 where there is nothing to compare.
double difference(double a, double b) { return std::isinf(a) || std::isinf(b) ? 1 : std::abs(a - b) / std::min(a, b); }

double length_of(const Window& window) { return window.end - window.begin; }

/// In order of time, as they were made.
std::vector<Window> undisturbed(const std::vector<Window>& windows) {
    double shortest = infinite;
    for (const Window& window : windows)
        if (window.kept_core) shortest = std::min(shortest, length_of(window));
    std::vector<Window> kept;
    for (const Window& window : windows)
        if (window.kept_core && length_of(window) <= longest_share * shortest) kept.push_back(window);
    return kept;
}

bool is_covered(const Window& window, const std::vector<Window>& by) {
    double covered = 0;
    auto each = std::ranges::partition_point(by, [&](const Window& other) { return other.end <= window.begin; });
    for (; each != by.end() && each->begin < window.end; ++each)
        covered += std::min(each->end, window.end) - std::max(each->begin, window.begin);
    return covered >= covered_share * length_of(window);
}

}  // namespace

std::uint64_t rounds_for(const RoundsTime& time, double least_ns) {
    std::uint64_t rounds = 1;
    while ((time(rounds) < least_ns || time(rounds) < least_ns) && rounds < (std::uint64_t{1} << 40)) rounds *= 2;
    return rounds;
}

Timing least_time(const RoundsTime& time, const std::function<double()>& clock, std::uint64_t statements,
                  const TrialOptions& options) {
    const std::uint64_t rounds = rounds_for(time, options.least_ns);
    const double all = static_cast<double>(rounds) * static_cast<double>(statements);
    Timing half[2] = {{infinite}, {infinite}}, found;
    for (unsigned trial = 0; trial < options.most_trials; ++trial) {
        const double before = clock(), ns = time(rounds) / all, after = clock();
        Timing& own = half[trial % 2];
        if (std::abs(before - after) <= options.tolerance * before && ns < own.ns) own = {ns, std::min(before, after)};
        if ((trial + 1) % std::max(2U, options.trials) != 0 && trial + 1 != options.most_trials) continue;
        found = half[0].ns <= half[1].ns ? half[0] : half[1];
        found.spread = std::max(difference(half[0].ns, half[1].ns), difference(half[0].cycles(), half[1].cycles()));
        if (found.spread <= options.tolerance) break;
    }
    return found;
}

std::optional<std::vector<double>> least_side_by_side(std::span<const std::vector<Window>> copies,
                                                      std::size_t least_windows) {
    std::vector<std::vector<Window>> kept;
    for (const std::vector<Window>& windows : copies) kept.push_back(undisturbed(windows));
    std::vector<double> least(copies.size(), infinite);
    for (std::size_t copy = 0; copy < kept.size(); ++copy) {
        std::size_t windows = 0;
        double cycle = infinite;
        for (const Window& window : kept[copy]) {
            const auto beside = [&](const std::vector<Window>& other) {
                return &other == &kept[copy] || is_covered(window, other);
            };
            if (!std::ranges::all_of(kept, beside)) continue;
            least[copy] = std::min(least[copy], window.ns);
            cycle = std::min(cycle, window.cycle_ns);
            ++windows;
        }
        if (windows < least_windows) return std::nullopt;
        least[copy] /= cycle;
    }
    return least;
}

}  // namespace cachetally
