// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/probe_comparison_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/text.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

std::string place_text(double x, const std::string& unit) {
    return unit == "bytes" ? bytes_text(static_cast<std::uint64_t>(std::llround(x))) : fmt::format("{:g} {}", x, unit);
}

std::string share_text(double share) { return fmt::format("{:+.1f} %", 100 * share); }

std::string text_of_curve(const CurveComparison& curve, unsigned width) {
    std::string text =
        wrapped(fmt::format("{} {}, {}: {} points, median difference {:.1f} %, worst {} at {}", curve.test,
                            curve.variant, curve.name, curve.x.size(), 100 * curve.all.median,
                            share_text(curve.all.worst), place_text(curve.all.worst_at, curve.x_unit)),
                width, 2);
    if (curve.only_before + curve.only_after > 0)
        text += wrapped(fmt::format("  not compared: {} points of the first alone, {} of the second", curve.only_before,
                                    curve.only_after),
                        width, 4);
    constexpr auto left = TextTable::Align::left;
    TextTable table(
        {{"", left}, {"from", left}, {"to", left}, {"points"}, {"before"}, {"after"}, {"median %"}, {"worst", left}},
        3);
    for (const CurveSegment& segment : curve.segments)
        table.add({segment.edge ? "edge" : "plateau", place_text(segment.first, curve.x_unit),
                   place_text(segment.last, curve.x_unit), count_cell(segment.differences.points),
                   fmt::format("{:.2f}", segment.before), fmt::format("{:.2f}", segment.after),
                   fmt::format("{:.1f}", 100 * segment.differences.median),
                   fmt::format("{} at {}", share_text(segment.differences.worst),
                               place_text(segment.differences.worst_at, curve.x_unit))});
    return text + table.text(width) + '\n';
}

nlohmann::ordered_json json_of(const CurveSegment& segment) {
    return {{"kind", segment.edge ? "edge" : "plateau"},
            {"first", segment.first},
            {"last", segment.last},
            {"before", segment.before},
            {"after", segment.after},
            {"points", segment.differences.points},
            {"median_difference", segment.differences.median},
            {"worst_difference", segment.differences.worst},
            {"worst_at", segment.differences.worst_at}};
}

nlohmann::ordered_json json_of(const CurveComparison& curve) {
    nlohmann::ordered_json segments = nlohmann::ordered_json::array();
    for (const CurveSegment& segment : curve.segments) segments.push_back(json_of(segment));
    return {{"test", curve.test},
            {"variant", curve.variant},
            {"name", curve.name},
            {"x_name", curve.x_name},
            {"x_unit", curve.x_unit},
            {"unit", curve.unit},
            {"x", curve.x},
            {"before", curve.before},
            {"after", curve.after},
            {"only_before", curve.only_before},
            {"only_after", curve.only_after},
            {"median_difference", curve.all.median},
            {"worst_difference", curve.all.worst},
            {"worst_at", curve.all.worst_at},
            {"segments", segments}};
}

}  // namespace

std::string to_text(const ProbeComparison& comparison, unsigned width) {
    std::string text;
    for (const CurveComparison& curve : comparison.curves)
        if (!curve.x.empty()) text += text_of_curve(curve, width);
    constexpr auto left = TextTable::Align::left;
    TextTable table({{"test", left},
                     {"variant", left},
                     {"level", left},
                     {"parameter", left},
                     {"before", left},
                     {"after", left},
                     {"", left}},
                    4);
    for (const FindingComparison& each : comparison.findings)
        table.add({each.before.test, each.before.variant, each.before.level, each.before.parameter,
                   found_in_words(each.before), found_in_words(each.after), each.same ? "" : "differs"});
    if (!comparison.findings.empty()) text += table.text(width);
    const auto alone = [&](const char* which, const std::vector<std::string>& curves) {
        if (!curves.empty())
            text += wrapped(fmt::format("curves of the {} alone: {}", which, fmt::join(curves, "; ")), width, 2);
    };
    alone("first", comparison.only_before);
    alone("second", comparison.only_after);
    return text;
}

nlohmann::ordered_json to_json(const ProbeComparison& comparison) {
    nlohmann::ordered_json curves = nlohmann::ordered_json::array(), findings = curves;
    for (const CurveComparison& curve : comparison.curves) curves.push_back(json_of(curve));
    const auto value = [](const Finding& finding) -> nlohmann::ordered_json {
        if (!finding.value->word.empty()) return finding.value->word;
        return finding.value->number;
    };
    for (const FindingComparison& each : comparison.findings)
        findings.push_back({{"test", each.before.test},
                            {"variant", each.before.variant},
                            {"level", each.before.level},
                            {"parameter", each.before.parameter},
                            {"before", value(each.before)},
                            {"after", value(each.after)},
                            {"same", each.same}});
    return {{"curves", curves},
            {"findings", findings},
            {"only_before", comparison.only_before},
            {"only_after", comparison.only_after}};
}

}  // namespace cachetally
