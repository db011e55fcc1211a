// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/cores.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probes/tests.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t usual_line = 64, most_moved = 64;  ///< lines
constexpr double half = 0.5;                               ///< of what is left of the budget, for a pass over all pairs
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

}  // namespace

TestReport cores_robust(Meter& meter, const std::optional<L1Geometry>& l1, const std::optional<TestReport>& levels) {
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
    return report;
}

}  // namespace cachetally
