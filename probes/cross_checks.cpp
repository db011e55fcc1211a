// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cross_checks.hpp"

namespace cachetally {
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

TestReport with_capacity(TestReport report) {
    if (report.find("L2", "capacity") != nullptr) return report;
    for (Finding& finding : report.findings)
        if (finding.value) refuse(finding, "sets of so many ways explain no capacity that was found");
    return report;
}

}  // namespace cachetally
