// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "probes/tests.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t usual_line = 64, most_moved = 64;  ///< lines
constexpr double half = 0.5;                               ///< of what is left of the budget, for a pass over all pairs
constexpr double most_of_shared_l1 = 15;                   ///< loads of L1, for a line that stays in it
constexpr std::uint64_t part_moved = 4;                    ///< at most this part of L1: all stay in it

/// Levels of which anything was said, nearest first.
std::vector<LevelToFill> levels_to_fill(const std::optional<L1Geometry>& l1, const std::optional<TestReport>& levels) {
    std::vector<LevelToFill> found;
    for (unsigned number = 1;; ++number) {
        LevelToFill level{fmt::format("L{}", number)};
        bool any = number == 1;
        double most = 0;
        if (number == 1 && l1) level.capacity = most = static_cast<double>(l1->capacity);
        for (const Finding& finding : levels ? levels->findings : std::vector<Finding>{}) {
            if (finding.level != level.name) continue;
            any = true;
            if (finding.parameter != "capacity" || level.capacity > 0) continue;
            if (finding.value) level.capacity = finding.low, most = finding.high;
            if (!finding.value) level.reason = finding.reason;
        }
        if (!any) return found;
        if (!found.empty()) found.back().next_at_most = most;
        found.push_back(std::move(level));
    }
}

/// Processors that share L1 have its lines in the time of a few loads of it, store and all; if no pair does, they were
/// moved between the two measurements.
void refuse_moved(TestReport& report, const L1Geometry& l1) {
    const auto shared = std::ranges::find_if(report.findings, [](const Finding& finding) {
        return finding.level == "L1" && finding.parameter == "shared_by" && finding.value && finding.value->number > 1;
    });
    if (shared == report.findings.end() || report.matrices.empty()) return;
    const ProcessorMatrix& matrix = report.matrices.front();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < matrix.median.size(); ++i)
        if (i / matrix.processors.size() != i % matrix.processors.size() && matrix.median[i] < least)
            least = matrix.median[i];
    if (least <= most_of_shared_l1 * l1.latency) return;
    std::erase_if(report.findings, [](const Finding& finding) { return finding.level == "L1"; });
    report.refuse("L1", "shared_by",
                  "processors seem to share it, but no line goes from one to another in less than {:.0f} cycles, where "
                  "a load of L1 takes {:.1f}: the system moves the processors",
                  least, l1.latency);
}

/// On ordinary pages lines that move are near each other (Transfers).
void refuse_early(TestReport& report) {
    std::vector<std::string> levels;
    for (const Finding& finding : report.findings)
        if (finding.value && finding.level.starts_with("transfer")) levels.push_back(finding.level);
    std::erase_if(report.findings, [](const Finding& finding) { return finding.level.starts_with("transfer"); });
    for (const std::string& level : levels)
        report.refuse(level, "latency",
                      "there is a prefetcher, and lines on ordinary pages are so near that some come "
                      "early");
}

}  // namespace

TestReport cores_robust(Meter& meter, const std::optional<L1Geometry>& l1, const std::optional<TestReport>& levels,
                        bool prefetches) {
    const Capabilities& can = meter.capabilities();
    if (can.processors.size() < 2) throw ProbeError("{}", can.no_processors);
    TestReport report;
    const std::uint64_t line = l1 ? l1->line : usual_line;
    const std::uint64_t moved =
        l1 ? std::clamp<std::uint64_t>(l1->capacity / line / part_moved, 1, most_moved) : most_moved;
    // Before the levels and after them: what moves processors meanwhile is seen.
    std::optional<Transfers> transfers;
    if (can.no_transfers.empty())
        transfers.emplace(meter, line, moved).pass(half);
    else
        report.refuse("", "transfer_groups", can.no_transfers);
    if (levels && levels->find("", "levels") == nullptr) {
        const auto reason = std::ranges::find(levels->findings, "levels", &Finding::parameter);
        if (reason != levels->findings.end())
            report.refuse("", "shared_by", "how many levels there are was not found: {}", reason->reason);
    }
    for (const LevelToFill& level : levels_to_fill(l1, levels)) find_sharers(meter, report, level, line);
    if (!transfers) return report;
    if (meter.noise() > 0) transfers->pass(half);
    transfers->say(report);
    if (prefetches && meter.large_page() <= meter.page()) refuse_early(report);
    if (l1) refuse_moved(report, *l1);
    return report;
}

}  // namespace cachetally
