// SPDX-License-Identifier: BSD-3-Clause
#include "probes/curve_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace cachetally {
namespace {

constexpr double steep = 0.05;  ///< share by which points of a plateau may differ from their neighbours

double median_of(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Differences differences_of(const CurveComparison& curve, std::size_t first, std::size_t last) {
    Differences found;
    std::vector<double> amounts;
    for (std::size_t i = first; i <= last; ++i) {
        const double relative = curve.after[i] / curve.before[i] - 1;
        amounts.push_back(std::abs(relative));
        if (amounts.size() > 1 && std::abs(relative) <= std::abs(found.worst)) continue;
        found.worst = relative;
        found.worst_at = curve.x[i];
    }
    found.points = amounts.size();
    found.median = median_of(std::move(amounts));
    return found;
}

/// Whether a point is part of an edge: it differs from a neighbour.
bool on_edge(const std::vector<double>& values, std::size_t i) {
    const auto differ = [&](std::size_t a, std::size_t b) { return std::abs(values[b] / values[a] - 1) > steep; };
    return (i > 0 && differ(i - 1, i)) || (i + 1 < values.size() && differ(i, i + 1));
}

CurveSegment segment_of(const CurveComparison& curve, std::size_t first, std::size_t last) {
    const auto median = [&](const std::vector<double>& values) {
        return median_of({values.begin() + static_cast<std::ptrdiff_t>(first),
                          values.begin() + static_cast<std::ptrdiff_t>(last) + 1});
    };
    return {on_edge(curve.before, first), curve.x[first],      curve.x[last],
            median(curve.before),         median(curve.after), differences_of(curve, first, last)};
}

std::string title_of(const Curve& curve) { return curve.test + ' ' + curve.variant + ", " + curve.name; }

std::vector<const Curve*> curves_of(std::span<const TestReport> reports) {
    std::vector<const Curve*> all;
    for (const TestReport& report : reports)
        for (const Curve& curve : report.curves) all.push_back(&curve);
    return all;
}

const Curve* twin_of(const Curve& curve, std::span<const TestReport> reports) {
    for (const Curve* other : curves_of(reports))
        if (title_of(*other) == title_of(curve) && other->x_unit == curve.x_unit && other->unit == curve.unit)
            return other;
    return nullptr;
}

bool agree(const Finding& a, const Finding& b) {
    if (!a.value->word.empty() || !b.value->word.empty()) return a.value == b.value;
    const auto within = [](double number, const Finding& of) { return of.low <= number && number <= of.high; };
    return a.value == b.value || within(a.value->number, b) || within(b.value->number, a);
}

std::vector<FindingComparison> compared_findings(std::span<const TestReport> before,
                                                 std::span<const TestReport> after) {
    std::vector<FindingComparison> all;
    for (const TestReport& report : before)
        for (const Finding& one : report.findings)
            for (const TestReport& other : after) {
                if (!one.value || other.test != report.test || other.variant != report.variant) continue;
                const Finding* found = other.find(one.level, one.parameter);
                if (found != nullptr) all.push_back({one, *found, agree(one, *found)});
            }
    return all;
}

}  // namespace

CurveComparison compared(const Curve& before, const Curve& after) {
    CurveComparison found;
    found.test = before.test;
    found.variant = before.variant;
    found.name = before.name;
    found.x_name = before.x_name;
    found.x_unit = before.x_unit;
    found.unit = before.unit;
    std::size_t j = 0, both = 0;
    for (std::size_t i = 0; i < before.x.size(); ++i) {
        while (j < after.x.size() && after.x[j] < before.x[i]) ++j;
        if (j == after.x.size() || after.x[j] != before.x[i]) continue;
        ++both;
        if (!(before.cycles[i] > 0) || !(after.cycles[j] > 0)) continue;
        found.x.push_back(before.x[i]);
        found.before.push_back(before.cycles[i]);
        found.after.push_back(after.cycles[j]);
    }
    found.only_before = before.x.size() - both;
    found.only_after = after.x.size() - both;
    if (found.x.empty()) return found;
    found.all = differences_of(found, 0, found.x.size() - 1);
    for (std::size_t first = 0, last = 0; first < found.x.size(); first = ++last) {
        while (last + 1 < found.x.size() && on_edge(found.before, last + 1) == on_edge(found.before, first)) ++last;
        found.segments.push_back(segment_of(found, first, last));
    }
    return found;
}

ProbeComparison compared(std::span<const TestReport> before, std::span<const TestReport> after) {
    ProbeComparison found;
    for (const Curve* curve : curves_of(before)) {
        if (const Curve* twin = twin_of(*curve, after))
            found.curves.push_back(compared(*curve, *twin));
        else
            found.only_before.push_back(title_of(*curve));
    }
    for (const Curve* curve : curves_of(after))
        if (twin_of(*curve, before) == nullptr) found.only_after.push_back(title_of(*curve));
    found.findings = compared_findings(before, after);
    if (found.curves.empty() && found.findings.empty())
        throw std::invalid_argument("the two results have no curve and no finding in common; run the same tests");
    return found;
}

}  // namespace cachetally
