// SPDX-License-Identifier: BSD-3-Clause
// Which tests of a processor are run, on what, and for how long.
#include "probes/cpu/suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/paper_bench.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using testing::finding_of;
using ::testing::HasSubstr;
using testing::message_of;
using testing::PaperBench;

CpuSuiteOptions suite_of(PaperBench& bench, std::vector<std::string> tests = {}, std::vector<std::string> types = {}) {
    CpuSuiteOptions options{.tests = std::move(tests), .types = std::move(types)};
    options.now = [&bench] { return bench.clock; };
    return options;
}

TEST(CpuSuite, RunsAllTestsOnAllTypes) {
    PaperBench bench;
    bench.lacking = "vector registers hold 0 bytes";
    const std::vector<TestReport> reports = run_cpu_suite(bench, suite_of(bench));
    ASSERT_EQ(reports.size(), cpu_tests().size());
    std::size_t all = 0;
    for (const TestReport& report : reports) {
        all += report.findings.size();
        for (const Finding& each : report.findings) {
            EXPECT_EQ(each.test, report.test);
            EXPECT_NE(each.value.has_value(), !each.reason.empty()) << each.level << " " << each.parameter;
            if (each.level.find('x') != std::string::npos) {
                EXPECT_EQ(each.reason, bench.lacking);
            }
        }
    }
    EXPECT_EQ(all, 1U + 10 * 8 + 10 + 10 + 1 + 2);
    EXPECT_EQ(finding_of(reports[2], "double", "fma")->value->word, "present");
}

TEST(CpuSuite, RefusesWhatTheBudgetDoesNotHold) {
    PaperBench bench;
    CpuSuiteOptions options = suite_of(bench);
    options.end_ns = 100;
    std::size_t found = 0, refused = 0;
    for (const TestReport& report : run_cpu_suite(bench, options))
        for (const Finding& each : report.findings)
            each.value ? ++found : refused += each.reason == "its share of the budget is spent";
    EXPECT_GT(found, 0U);
    EXPECT_GT(refused, 0U);
    EXPECT_LE(bench.clock, 100U);
    options.end_ns = 0;
    for (const TestReport& report : run_cpu_suite(bench, options))
        if (report.test != "smp" && report.test != "smt") {
            for (const Finding& each : report.findings) EXPECT_THAT(each.reason, HasSubstr("budget")) << each.level;
        }
}

/// Every type gets its part, whatever those before it take.
TEST(CpuSuite, DividesTheBudget) {
    PaperBench bench;
    CpuSuiteOptions options = suite_of(bench, {"registers"}, {"int32", "double"});
    options.end_ns = 14;  // a type takes more than ten timings: neither is done, and both are begun
    const std::vector<TestReport> reports = run_cpu_suite(bench, options);
    EXPECT_EQ(reports.at(0).findings.size(), 2U);
    EXPECT_EQ(bench.clock, 14U);
    EXPECT_THAT(reports.at(0).findings.at(0).reason, HasSubstr("budget"));
}

TEST(CpuSuite, RunsWhatIsAskedForInItsOwnOrder) {
    PaperBench bench;
    const auto reports = run_cpu_suite(bench, suite_of(bench, {"registers", "frequency"}, {"doublex4", "int32"}));
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[0].test, "frequency");
    EXPECT_EQ(reports[1].findings.at(0).level, "int32");
    EXPECT_EQ(reports[1].findings.at(1).level, "doublex4");
    EXPECT_GT(reports[1].cost.runs, 0U);
}

TEST(CpuSuite, RefusesNamesThatThereAreNot) {
    PaperBench bench;
    const auto message = [&](std::vector<std::string> tests, std::vector<std::string> types) {
        return message_of([&] { run_cpu_suite(bench, suite_of(bench, std::move(tests), std::move(types))); });
    };
    EXPECT_THAT(message({"register"}, {}), HasSubstr("no test of processors 'register'; did you mean 'registers'?"));
    EXPECT_THAT(message({}, {"doublex"}), HasSubstr("no type 'doublex'; did you mean 'double"));
    EXPECT_THAT(message({"smp"}, {"int32"}), HasSubstr("none of which is run"));
    EXPECT_EQ(bench.made, 0U);
}

}  // namespace
}  // namespace cachetally
