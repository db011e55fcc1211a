// SPDX-License-Identifier: BSD-3-Clause
#include "probes/fit/measured.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "cachetally/probe_meter.hpp"
#include "probes/ours/response.hpp"
#include "probes/recording/recorded_target.hpp"

namespace cachetally {
namespace {

std::string size_in_words(const ResponseKind& kind, double x) {
    const auto whole = static_cast<std::uint64_t>(x);
    return kind.x_unit == "bytes" ? format_size(whole) : fmt::format("{} {}", whole, kind.x_unit);
}

/// Of a report that says that the test ended early. Where its last curve ends below the largest size, it is taken to
/// be the one that was cut.
std::vector<std::string> cut_curves(const TestReport& report) {
    std::vector<std::string> cut;
    for (const ResponseKind& kind : response_kinds()) {
        const auto curve = std::ranges::find(report.curves, kind.name, &Curve::name);
        if (curve == report.curves.end() || curve->x.empty())
            cut.push_back(fmt::format("'{}' is missing", kind.name));
        else if (curve + 1 == report.curves.end() && curve->x.back() < static_cast<double>(kind.most))
            cut.push_back(fmt::format("'{}' ends at {}", kind.name, size_in_words(kind, curve->x.back())));
    }
    return cut;
}

}  // namespace

std::string missing_curves(std::span<const TestReport> measured) {
    for (const TestReport& report : measured) {
        if (report.test != "response") continue;
        const auto refusal = std::ranges::find_if(report.findings, [](const Finding& each) { return !each.value; });
        if (refusal == report.findings.end()) continue;
        return fmt::format("{} ({})", fmt::join(cut_curves(report), ", "), refusal->reason);
    }
    return "";
}

std::uint64_t largest_arena_of(std::span<const TestReport> measured, std::uint64_t page) {
    std::uint64_t largest = page;
    for (const TestReport& report : measured)
        for (const Curve& curve : report.curves)
            for (const ResponseKind& kind : response_kinds())
                if (report.test == "response" && curve.name == kind.name && !curve.x.empty())
                    largest = std::max(largest, kind.arena_bytes(static_cast<std::uint64_t>(curve.x.back()), page));
    return largest;
}

std::uint64_t large_page_of(const Recording& recording) {
    RecordedTarget target(recording);
    const std::uint64_t ordinary = target.capabilities().page_sizes.front();
    try {
        return Meter(target, recording.suite.seed).large_page();  // as the suite began
    } catch (const ProbeError&) {
        return ordinary;
    }
}

std::uint64_t period_of(double frequency) {
    constexpr double step = 1e7, picoseconds = 1e12;
    const double rounded = step * std::max(1.0, std::round(frequency / step));
    return static_cast<std::uint64_t>(std::clamp(std::round(picoseconds / rounded), 1.0, 1e6));
}

}  // namespace cachetally
