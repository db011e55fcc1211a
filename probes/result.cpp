// SPDX-License-Identifier: BSD-3-Clause
#include "probes/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

std::string amount(double number, const std::string& unit) {
    if (unit == "bytes" && number >= 0 && number == static_cast<double>(static_cast<std::uint64_t>(number)))
        return format_size(static_cast<std::uint64_t>(number));
    if (std::trunc(number) == number && std::abs(number) < 1e15) return fmt::format("{:.0f}", number);
    return fmt::format("{:.6g}", number);
}

}  // namespace

bool is_whole(const std::string& parameter) { return parameter != "latency"; }

std::string edge_in_words(std::uint64_t low, std::uint64_t high, const std::string& unit) {
    return low == high ? fmt::format("at {} {}", low, unit) : fmt::format("between {} and {} {}", low, high, unit);
}

std::string name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::right: return "right";
        case Verdict::wrong: return "wrong";
        case Verdict::not_identifiable: return "not_identifiable";
        case Verdict::unknown: break;
    }
    return "unknown";
}

void TestReport::answer(std::string level, std::string parameter, double value, double low, double high,
                        std::string unit, std::string method) {
    if (is_whole(parameter)) {  // the same whole numbers lie between
        value = std::round(value);
        low = std::min(value, std::ceil(low));
        high = std::max(value, std::floor(high));
    }
    Finding finding{test, variant, std::move(level), std::move(parameter), Value{value, ""},
                    low,  high,    std::move(unit),  std::move(method),    "",
                    {},   0,       Verdict::unknown};
    findings.push_back(std::move(finding));
}

void TestReport::answer(std::string level, std::string parameter, std::string word, std::string method) {
    const bool yes_or_no = word == "present" || word == "absent";
    Finding finding{test,
                    variant,
                    std::move(level),
                    std::move(parameter),
                    Value{0, std::move(word)},
                    0,
                    0,
                    yes_or_no ? "boolean" : "name",
                    std::move(method),
                    "",
                    {},
                    0,
                    Verdict::unknown};
    findings.push_back(std::move(finding));
}

void TestReport::refuse(std::string level, std::string parameter, std::string reason) {
    Finding finding{test, variant, std::move(level),         std::move(parameter), {}, 0, 0, "", "", std::move(reason),
                    {},   0,       Verdict::not_identifiable};
    findings.push_back(std::move(finding));
}

const Finding* TestReport::find(const std::string& level, const std::string& parameter) const {
    const auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
        return finding.level == level && finding.parameter == parameter && finding.value;
    });
    return found == findings.end() ? nullptr : &*found;
}

std::string found_in_words(const Finding& finding) {
    if (!finding.value) return "-";
    if (!finding.value->word.empty()) return finding.value->word;
    std::string value = amount(finding.value->number, finding.unit);
    if (finding.low == finding.high || finding.parameter == "latency") return value;
    return fmt::format("{} ({} .. {})", value, amount(finding.low, finding.unit), amount(finding.high, finding.unit));
}

std::string truth_in_words(const Finding& finding) {
    if (!finding.truth) return "-";
    if (!finding.truth->word.empty()) return finding.truth->word;
    const std::string unit = finding.parameter == "capacity" ? "bytes" : finding.unit;
    const std::string low = amount(finding.truth->number, unit);
    return finding.truth_high > finding.truth->number ? low + " .. " + amount(finding.truth_high, unit) : low;
}

}  // namespace cachetally
