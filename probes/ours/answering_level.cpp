// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/answering_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cachetally {
namespace {

constexpr unsigned rounds_at_a_time = 8, most_rounds = 32;  ///< where times scatter
constexpr double enough = 0.02;                             ///< share of a time that it may be off by
constexpr double small_step = 0.1;  ///< of the timer, beside a time: no mean is needed to see through it
constexpr double errors = 3;        ///< standard errors that a mean may be off by
constexpr std::uint64_t pages_if_noisy = 32;
constexpr std::uint64_t entries_of_any_tlb = 8;  ///< less two, for what else is loaded
constexpr std::uint64_t share_of_l1 = 4;         ///< that may be used, so that nothing is lost

}  // namespace

KnownLatencies::KnownLatencies(const L1Geometry& l1, const std::optional<TestReport>& levels) : cycles{l1.latency} {
    if (!levels) return;
    const Finding* count = levels->find("", "levels");
    while (count == nullptr || static_cast<double>(cycles.size()) < count->value->number) {
        const Finding* next = levels->find(fmt::format("L{}", cycles.size() + 1), "latency");
        if (next == nullptr) break;
        cycles.push_back(next->value->number);
    }
    all = count != nullptr && static_cast<double>(cycles.size()) == count->value->number;
}

namespace {

/// Of some rounds of so many loads.
MeanTime mean_of(const Meter& meter, std::vector<double> times, std::size_t loads) {
    const double step = meter.capabilities().timer_quantum / static_cast<double>(loads);
    const Quantiles spread = quantiles_of(times);
    if (step < small_step * spread.median)  // what disturbs only lengthens
        return {spread.lower_quartile, spread.lower_quartile - spread.least + step + meter.tolerance(spread.least)};
    std::erase_if(times, [&](double each) { return each > 2 * (spread.median + step); });
    const auto count = static_cast<double>(times.size());
    const double mean = std::accumulate(times.begin(), times.end(), 0.0) / count;
    double squares = step * step / 4;  // what a step of the timer may hide
    for (const double each : times) squares += (each - mean) * (each - mean) / count;
    return {mean, errors * std::sqrt(squares / count) + meter.tolerance(mean)};
}

}  // namespace

MeanTime mean_time(Meter& meter, const Arena& arena, const PrimeProbe& question, const Effort& effort) {
    std::vector<double> times{meter.prime_and_probe(arena, question, effort).cycles};
    if (meter.noise() == 0) return {times.front(), 0};
    for (;;) {
        while (times.size() % rounds_at_a_time != 0)
            times.push_back(meter.prime_and_probe(arena, question, effort).cycles);
        const MeanTime found = mean_of(meter, times, question.probe.offsets.size());
        if (times.size() >= most_rounds || found.error < enough * found.cycles) return found;
        times.push_back(meter.prime_and_probe(arena, question, effort).cycles);
    }
}

SparseLines::SparseLines(const Meter& meter, const L1Geometry& l1, std::uint64_t most, std::uint64_t room)
    : page(meter.large_page()) {
    // Many loads where a step of the timer hides a few; then a TLB may lose some of their pages.
    const std::uint64_t pages = meter.noise() > 0 ? pages_if_noisy : entries_of_any_tlb - 2;
    const std::uint64_t of_tlb = page > meter.page() ? most : pages * page / block;
    const std::uint64_t positions = (std::min(l1.way(), block) - std::min(room, l1.way() / 2)) / l1.line;
    const std::uint64_t count =
        std::clamp<std::uint64_t>(l1.capacity / l1.line / share_of_l1, 1, std::min(most, of_tlb));
    // A little apart, so that lines of neighbouring blocks are not in neighbouring sets.
    for (std::uint64_t i = 0; i < count; ++i) lines.push_back((i + 1) * block + (2 + 5 * i) % positions * l1.line);
}

}  // namespace cachetally
