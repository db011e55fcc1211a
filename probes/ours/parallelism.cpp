// SPDX-License-Identifier: BSD-3-Clause
// Memory-level parallelism: how many loads of a level are under way at a time.
#include <fmt/format.h>

#include <algorithm>

#include "probes/ours/level_spans.hpp"

namespace cachetally {
namespace {

constexpr unsigned numbers_of_chains[] = {1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32};
constexpr double no_gain = 0.05;       ///< share of a time, less than which more chains do not shorten it
constexpr double impossible = 0.1;     ///< by which n chains may seem more than n times as quick as one
constexpr unsigned most_again = 3;     ///< rounds after the first
constexpr double slower_again = 0.15;  ///< by which more chains may seem to take longer

/// Times by number of chains, and what is to be said of them.
struct Overlap {
    std::vector<double> chains, cycles;

    double least() const { return std::ranges::min(cycles); }
    /// Loads under way at a time, by Little's law.
    double loads() const { return cycles.front() / least(); }
    /// The number of chains from which more of them gain nothing.
    double enough() const {
        const auto first = std::ranges::find_if(cycles, [&](double each) { return each <= least() * (1 + no_gain); });
        return chains[static_cast<std::size_t>(first - cycles.begin())];
    }
    /// Why these cannot be the times of an undisturbed machine; empty = they can.
    std::string disturbed(double tolerance) const;
    /// Why nothing can be said; empty = it can.
    std::string why_not(double tolerance) const;
};

std::string Overlap::disturbed(double tolerance) const {
    double quickest = cycles.front();
    for (std::size_t i = 1; i < cycles.size(); ++i) {
        if (cycles[i] * chains[i] < cycles.front() * (1 - impossible - tolerance))
            return fmt::format("{} chains seem more than {} times as quick as one: times were disturbed", chains[i],
                               chains[i]);
        if (cycles[i] > quickest * (1 + slower_again + tolerance))
            return fmt::format("{} chains take longer than fewer: times were disturbed", chains[i]);
        quickest = std::min(quickest, cycles[i]);
    }
    return "";
}

std::string Overlap::why_not(double tolerance) const {
    if (const std::string reason = disturbed(tolerance); !reason.empty()) return reason;
    if (enough() == chains.back())
        return fmt::format("{} chains, the most there are here, still take less than {}: at least {:.1f} loads",
                           chains.back(), chains[chains.size() - 2], loads());
    return "";
}

/// Others that use memory for a while only lengthen times: where these cannot be, the least of several rounds counts.
Overlap overlap_of(Meter& meter, const L1Geometry& l1, const LevelSpan& span) {
    Overlap found;
    for (const unsigned chains : numbers_of_chains) {
        if (chains > meter.capabilities().most_chains) break;
        found.chains.push_back(chains);
        found.cycles.push_back(time_of_span(meter, l1, span, chains));
    }
    for (unsigned again = 0; again < most_again && !found.disturbed(meter.tolerance(1)).empty(); ++again)
        for (std::size_t i = 0; i < found.chains.size(); ++i) {
            const double cycles = time_of_span(meter, l1, span, static_cast<unsigned>(found.chains[i]));
            found.cycles[i] = std::min(found.cycles[i], cycles);
        }
    return found;
}

void report_overlap(Meter& meter, const LevelSpan& span, const Overlap& found, double l1_latency, TestReport& report) {
    const double tolerance = meter.tolerance(1), loads = found.loads();
    report.curves.push_back({.name = "cycles per load of " + span.in_words(),
                             .x_name = "chains",
                             .x_unit = "chains",
                             .x = found.chains,
                             .cycles = found.cycles});
    report.decisions.push_back(
        fmt::format("{}: {:.2f} cycles per load of one chain, {:.2f} of {} chains: {:.1f} loads, and {:.1f} misses of "
                    "L1, are under way at a time",
                    span.in_words(), found.cycles.front(), found.least(), found.enough(), loads,
                    std::max(0.0, found.cycles.front() - l1_latency) / found.least()));
    if (span.level.empty()) return;
    if (const std::string reason = found.why_not(tolerance); !reason.empty())
        report.refuse(span.level, "parallelism", reason);
    else
        report.answer(span.level, "parallelism", loads, loads * (1 - no_gain - tolerance), loads * (1 + tolerance),
                      "loads", fmt::format("time of one chain over the least, of {} chains", found.enough()));
}

}  // namespace

TestReport parallelism_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels) {
    TestReport report;
    if (meter.capabilities().most_chains == 1)
        return refused(std::move(report), "", {"parallelism"}, meter.capabilities().no_chains);
    if (!has_large_pages(meter)) return refused(std::move(report), "", {"parallelism"}, translation_overlaps);
    std::vector<LevelSpan> spans = spans_below_l1(meter, l1, levels, "parallelism", report);
    spans.push_back(cold_span(meter));
    for (const LevelSpan& span : spans) report_overlap(meter, span, overlap_of(meter, l1, span), l1.latency, report);
    return report;
}

}  // namespace cachetally
