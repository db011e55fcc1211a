// SPDX-License-Identifier: BSD-3-Clause
// Levels of caches on pages that may lie anywhere.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "probes/ours/page_classes.hpp"
#include "probes/ours/retention.hpp"

namespace cachetally {
namespace {

constexpr double latency_off = 0.05;  ///< of a few pages, which are translated, too

/// What other means found of a second level of so many bytes.
std::optional<Finding> latency_of(const TestReport& report, double bytes) {
    const Finding *capacity = report.find("L2", "capacity"), *latency = report.find("L2", "latency");
    if (capacity == nullptr || latency == nullptr || bytes < capacity->low || bytes > capacity->high) return {};
    return *latency;
}

/// The second level by page classes, into a report of levels by other means, which `reason` stands for where there is
/// none.
void add_second_level(Meter& meter, const PageClasses& classes, TestReport& report) {
    if (!classes.why_not.empty()) {
        const auto of_l2 = [](const Finding& finding) { return finding.level == "L2"; };
        if (std::ranges::none_of(report.findings, of_l2)) report.refuse("L2", {"capacity", "latency"}, classes.why_not);
        return;
    }
    const auto bytes = static_cast<double>(classes.pages() * meter.page());
    const std::optional<Finding> other = classes.latency ? std::nullopt : latency_of(report, bytes);
    std::erase_if(report.findings, [](const Finding& finding) { return finding.level == "L2"; });
    report.answer("L2", "capacity", bytes, bytes, bytes, "bytes",
                  "classes of pages that evict each other, by prime and probe");
    report.answer("L2", "ways", classes.ways, "ways", "as many pages of a class stay together");
    if (classes.latency)
        report.answer("L2", "latency", *classes.latency, *classes.latency * (1 - latency_off), *classes.latency,
                      "cycles", "times of pages that stay together");
    else if (other)
        report.findings.push_back(*other);
    else
        report.refuse("L2", "latency", "times of pages that stay depend on their number, or on translation");
}

/// Targets that cannot be asked say so.
PageClasses classes_or_reason(Meter& meter, const L1Geometry& l1, std::vector<std::string>& decisions) {
    try {
        return find_page_classes(meter, l1, decisions);
    } catch (const BudgetSpent&) {
        throw;
    } catch (const ProbeError& error) {
        return {.why_not = error.what()};
    }
}

}  // namespace

TestReport levels_on_small_pages(Meter& meter, const L1Geometry& l1, const std::string& reason) {
    std::vector<std::string> decisions;
    const PageClasses classes = classes_or_reason(meter, l1, decisions);
    TestReport report;
    if (meter.noise() == 0)
        report = levels_by_retention(meter, l1);
    else
        report.refuse("", {"levels", "capacity"}, reason);
    report.decisions.insert(report.decisions.begin(), decisions.begin(), decisions.end());
    add_second_level(meter, classes, report);
    return report;
}

}  // namespace cachetally
