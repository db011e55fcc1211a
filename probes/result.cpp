// SPDX-License-Identifier: BSD-3-Clause
#include "probes/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

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

bool is_whole(const std::string& parameter) {
    constexpr std::string_view others[] = {"latency", "initiation_interval", "frequency", "parallelism"};
    if (parameter.ends_with("bandwidth")) return false;
    return std::ranges::find(others, parameter) == std::end(others);
}

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
    findings.push_back({.test = test,
                        .variant = variant,
                        .level = std::move(level),
                        .parameter = std::move(parameter),
                        .value = Value{value, ""},
                        .low = low,
                        .high = high,
                        .unit = std::move(unit),
                        .method = std::move(method)});
}

void TestReport::answer(std::string level, std::string parameter, std::uint64_t number, std::string unit,
                        std::string method) {
    const auto value = static_cast<double>(number);
    answer(std::move(level), std::move(parameter), value, value, value, std::move(unit), std::move(method));
}

void TestReport::answer(std::string level, std::string parameter, std::string word, std::string method) {
    const bool yes_or_no = word == "present" || word == "absent" || word == "true" || word == "false";
    findings.push_back({.test = test,
                        .variant = variant,
                        .level = std::move(level),
                        .parameter = std::move(parameter),
                        .value = Value{0, std::move(word)},
                        .unit = yes_or_no ? "boolean" : "name",
                        .method = std::move(method)});
}

void TestReport::refuse(std::string level, std::string parameter, std::string reason) {
    findings.push_back({.test = test,
                        .variant = variant,
                        .level = std::move(level),
                        .parameter = std::move(parameter),
                        .reason = std::move(reason),
                        .verdict = Verdict::not_identifiable});
}

void TestReport::refuse(const std::string& level, std::initializer_list<const char*> parameters,
                        const std::string& reason) {
    for (const char* parameter : parameters) refuse(level, parameter, reason);
}

TestReport refused(TestReport report, const std::string& level, std::initializer_list<const char*> parameters,
                   const std::string& reason) {
    report.refuse(level, parameters, reason);
    return report;
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

namespace {

void refuse(Finding& finding, const std::string& reason) {
    finding.value.reset();
    finding.method.clear();
    finding.reason = reason;
}

/// Two answers to the same question agree where one holds what the other says.
bool contradict(const Finding& a, const Finding& b) {
    const auto holds = [](const Finding& finding, const Finding& other) {
        const double share = finding.parameter == "latency" ? 0.05 : 0;
        const double number = other.value->number;
        return finding.low * (1 - share) <= number && number <= finding.high * (1 + share);
    };
    return !holds(a, b) && !holds(b, a);
}

}  // namespace

TestReport confirmed(TestReport report, const std::optional<TestReport>& levels, bool needed) {
    const auto other = [&](const Finding& finding) {
        return levels ? levels->find(finding.level, finding.parameter) : nullptr;
    };
    const Finding* count = report.find("", "levels");
    const bool otherwise = count != nullptr && other(*count) != nullptr && contradict(*count, *other(*count));
    for (Finding& finding : report.findings) {
        if (otherwise) {
            refuse(finding, "the test of levels finds another number of levels");
        } else if (!finding.value) {
            continue;
        } else if (const Finding* said = other(finding); said == nullptr) {
            if (needed) refuse(finding, "the test of levels does not find it");
        } else if (contradict(finding, *said)) {
            refuse(finding, "the test of levels finds something else");
        }
    }
    return report;
}

TestReport without_prefetched(TestReport report) {
    for (Finding& finding : report.findings) {
        const bool exact = finding.parameter == "capacity" && finding.low == finding.high;
        if (finding.value && finding.level.starts_with("L") && finding.parameter != "fp_bypass" && !exact)
            refuse(finding, "there is a prefetcher, so that other lines come than those that are loaded");
    }
    return report;
}

bool often_shared(const RunCount& runs) { return 20 * runs.shared > runs.all; }

TestReport refused_as_shared(TestReport report, const RunCount& runs) {
    for (Finding& finding : report.findings) {
        if (!finding.value) continue;
        TestReport refusal;
        refusal.refuse(finding.level, finding.parameter,
                       "in {} of {} runs another hardware thread used the core, and part of its caches and TLBs; try "
                       "again when the machine is quieter",
                       runs.shared, runs.all);
        finding = std::move(refusal.findings.front());
    }
    return report;
}

TestReport with_capacity(TestReport report) {
    if (report.find("L2", "capacity") != nullptr) return report;
    for (Finding& finding : report.findings)
        if (finding.value) refuse(finding, "sets of so many ways explain no capacity that was found");
    return report;
}

}  // namespace cachetally
