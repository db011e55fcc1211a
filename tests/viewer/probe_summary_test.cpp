// SPDX-License-Identifier: BSD-3-Clause
// What probes know in the end, by level.
#include "viewer/probe_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cachetally/topology.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TestReport report_of(const std::string& test, const std::string& variant) {
    TestReport report;
    report.test = test;
    report.variant = variant;
    return report;
}

void name_findings(TestReport& report) {
    for (Finding& finding : report.findings) {
        finding.test = report.test;
        finding.variant = report.variant;
    }
}

/// The lines of a text without blanks at their ends.
std::vector<std::string> rows_of(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char letter : text) {
        if (letter != '\n') {
            lines.back() += letter;
            continue;
        }
        lines.back().erase(lines.back().find_last_not_of(' ') + 1);
        lines.emplace_back();
    }
    lines.pop_back();
    return lines;
}

TEST(ProbeSummary, IsALinePerLevelInTheOrderOfTheHierarchy) {
    TestReport l1 = report_of("l1", "robust");
    l1.answer("L1", "latency", 3.998, 3.99, 4.01, "cycles", "");
    l1.answer("L1", "capacity", std::uint64_t{32768}, "bytes", "");
    l1.answer("L1", "ways", std::uint64_t{8}, "ways", "");
    l1.answer("L1", "line", std::uint64_t{64}, "bytes", "");
    TestReport tlb = report_of("tlb", "robust");
    tlb.answer("TLB1", "entries", std::uint64_t{72}, "entries", "");
    tlb.refuse("", "tlb_levels", "not clear");
    TestReport levels = report_of("levels", "robust");
    levels.answer("memory", "latency", 250, 240, 260, "cycles", "");
    levels.refuse("L2", "capacity", "in pieces");
    std::vector<TestReport> reports{tlb, l1, levels};
    for (TestReport& report : reports) name_findings(report);
    EXPECT_THAT(rows_of(probe_summary(reports, nullptr, 100)),
                ::testing::ElementsAre("level   found", "L1      32 KiB, 8 ways, lines of 64 B, 4.00 cycles",
                                       "L2      -", "memory  250.00 cycles", "TLB1    72 entries"));
}

TEST(ProbeSummary, WhatLevelsGiveAtATimeIsATableOfItsOwn) {
    TestReport report = report_of("bandwidth", "robust");
    report.answer("L1", "line", std::uint64_t{64}, "bytes", "");
    report.answer("L2", "read_bandwidth", 31.25, 31, 32, "bytes per cycle", "");
    report.answer("memory", "parallelism", 20.314, 19, 21, "loads", "");
    report.answer("memory", "copy_bandwidth", 7.96, 7.9, 8, "bytes per cycle", "");
    report.answer("transfer 1", "latency", 460, 455, 465, "cycles", "");
    name_findings(report);
    EXPECT_THAT(
        rows_of(probe_summary({&report, 1}, nullptr, 100)),
        ::testing::ElementsAre("level       found", "L1          lines of 64 B", "L2          -", "memory      -",
                               "transfer 1  460.00 cycles for a line from one processor to another", "",
                               "level   loads at a time  read B/cycle  write B/cycle  copy B/cycle",
                               "L2                    -          31.2              -             -",
                               "memory             20.3             -              -           8.0"));
}

TEST(ProbeSummary, SaysWhatLevelsDoInFewWords) {
    TestReport report = report_of("stores", "robust");
    report.answer("L1", "write", "write_through", "");
    report.answer("L1", "write_allocate", "false", "");
    report.answer("L1", "prefetch", "none", "");
    report.answer("L2", "write", "write_back", "");
    report.answer("L2", "write_allocate", "true", "");
    report.answer("L2", "prefetch", "stream", "");
    report.answer("L2", "prefetch_distance", std::uint64_t{4}, "lines", "");
    name_findings(report);
    EXPECT_THAT(rows_of(probe_summary({&report, 1}, nullptr, 100)),
                ::testing::ElementsAre("level  found", "L1     write-through, no write-allocate, no prefetcher",
                                       "L2     write-back, write-allocate, stream prefetcher"));
}

TEST(ProbeSummary, TakesTheNarrowestRobustAnswerAndNamesContradictions) {
    TestReport published = report_of("gap", "published"), wide = report_of("levels", "robust"),
               exact = report_of("l2", "robust"), other = report_of("events", "robust");
    published.answer("L2", "capacity", std::uint64_t{1 << 20}, "bytes", "");
    wide.answer("L2", "capacity", 520 << 10, 500 << 10, 540 << 10, "bytes", "");
    exact.answer("L2", "capacity", std::uint64_t{512 << 10}, "bytes", "");
    std::vector<TestReport> reports{published, wide, exact};
    for (TestReport& report : reports) name_findings(report);
    EXPECT_EQ(rows_of(probe_summary(reports, nullptr, 100)).back(), "L2     512 KiB");
    other.answer("L2", "capacity", std::uint64_t{768 << 10}, "bytes", "");
    name_findings(other);
    reports.push_back(other);
    EXPECT_EQ(rows_of(probe_summary(reports, nullptr, 200)).back(),
              "L2     512 KiB or 768 KiB (l2 and events contradict each other)");
    EXPECT_EQ(rows_of(probe_summary(std::vector{reports.front()}, nullptr, 100)).back(), "L2     1 MiB");
}

TEST(ProbeSummary, WhatIsStatedStandsBesideAndNothingThatIsAssumed) {
    const MachineDescription machine = load_machine("generic3");
    const std::string text = probe_summary(std::vector{report_of("l1", "robust")}, &machine, 200);
    EXPECT_THAT(text, HasSubstr("stated by the machine"));
    EXPECT_THAT(text, HasSubstr("L2     -      512 KiB, 8 ways, lines of 64 B\n"));
    EXPECT_THAT(text, Not(HasSubstr("cycles")));
    EXPECT_THAT(text, Not(HasSubstr("lru")));
    EXPECT_EQ(probe_summary({}, nullptr, 80), "");
}

}  // namespace
}  // namespace cachetally
