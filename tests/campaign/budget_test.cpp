// SPDX-License-Identifier: BSD-3-Clause
// Budget files: what is read and refused; values of runs; verdicts and reports.
#include "campaign/budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/budget_report.hpp"
#include "campaign/budget_verdict.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;

std::string refusal(const std::string& text) {
    return message_of([&] { read_budgets(text, "b.yaml"); });
}
std::string refusal_of_check(const std::string& text) { return refusal("checks:\n- " + text + "\n"); }

TEST(BudgetFiles, SayWhatIsRunAndWhatItMayCost) {
    const BudgetFile file = read_budgets(R"(
layouts: 5
stored: main.json
checks:
  - run: lu n=16 block=4
    warmup: 1K
    count: 2M
    monitors: ["link=core-L1D,counters=64"]
    within: 2 %
    budgets:
      - {misses: 120K, level: L1D, structure: A, phase: 4}
      - {miss_rate: 1.5%, level: DTLB, within: 0.5 %}
      - {swapouts: stored, monitor: core-L1D}
  - {name: t, trace: t.lackey, layouts: 1, machine: schulz2002, cores: 2, budgets: [{mpki: 3.25, level: L1}]}
  - {program: [./a.out, "1 2"], fetches: instructions, budgets: [{cycles: 1G}]}
)",
                                         "folder/b.yaml");
    ASSERT_EQ(file.checks.size(), 3U);
    const BudgetCheck& lu = file.checks[0];
    EXPECT_EQ(lu.name, "lu n=16 block=4");
    EXPECT_EQ(lu.workload, "lu");
    EXPECT_THAT(lu.settings, ElementsAre("n=16", "block=4"));
    EXPECT_EQ(lu.layouts, 5U);
    EXPECT_EQ(lu.warmup, 1024U);
    EXPECT_EQ(lu.count, 2U << 20);
    EXPECT_EQ(lu.stored, "folder/main.json");
    ASSERT_EQ(lu.budgets.size(), 3U);
    EXPECT_EQ(lu.budgets[0].text(), "L1D misses of A in phase 4");
    EXPECT_EQ(lu.budgets[0].limit, 120 * 1024);
    EXPECT_EQ(lu.budgets[0].within, 2);
    EXPECT_EQ(lu.budgets[1].limit, 1.5);
    EXPECT_EQ(lu.budgets[1].within, 0.5);
    EXPECT_EQ(lu.budgets[2].limit, std::nullopt);
    EXPECT_EQ(lu.budgets[2].text(), "swap-outs of core-L1D");
    EXPECT_EQ(file.checks[1].trace, "folder/t.lackey");
    EXPECT_EQ(file.checks[1].cores, 2U);
    EXPECT_EQ(file.checks[1].layouts, 1U);
    EXPECT_EQ(file.checks[2].name, "./a.out 1 2");
    EXPECT_EQ(file.checks[2].fetches, ProgramFetches::instructions);
}

TEST(BudgetFiles, AreRefusedWithTheirPlace) {
    EXPECT_EQ(refusal("chekcs: []"),
              "b.yaml:1:1: error: unknown key 'chekcs' in a budget file; did you mean 'checks'? known are: machine, "
              "layouts, stored, within, checks\n"
              "b.yaml:1:1: error: a budget file needs 'checks', as in 'checks: [{run: lu n=64, budgets: [{misses: 20K, "
              "level: L1D}]}]'");
    EXPECT_EQ(refusal("checks: []"),
              "b.yaml:1:9: error: 'checks' is empty; write at least one check, as in '- run: lu n=64'");
    EXPECT_EQ(refusal_of_check("{run: lu n=64, budgets: [{misses: 1, level: L9}]}"),
              "b.yaml:2:28: error: the machine 'generic3' has no level 'L9'; did you mean 'L2'? known are: L1D, L1I, "
              "L2, L3, DTLB, ITLB, STLB");
    EXPECT_EQ(refusal_of_check("{run: lu n=64, budgets: [{misses: many, level: L1D}]}"),
              "b.yaml:2:37: error: 'many' is not a value of 'misses'; write the most that it may be, as in 20K, or "
              "stored");
    EXPECT_EQ(refusal_of_check("{run: lu n=64, budgets: [{mpki: 3, level: L1D}]}"),
              "b.yaml:2:28: error: mpki: a kernel makes references to data and no instructions; write mpkr, misses per "
              "thousand references, instead");
}

TEST(BudgetFiles, SayWhatWouldBeRight) {
    const std::pair<const char*, const char*> wrong[] = {
        {"{budgets: [{cycles: 1}]}", "one of 'run' (a kernel), 'trace' (a file) and 'program'"},
        {"{run: lu, trace: t, budgets: [{cycles: 1}]}", "one of 'run'"},
        {"{run: lo, budgets: [{cycles: 1}]}", "lu"},
        {"{run: lu m=3, budgets: [{cycles: 1}]}", "'m'"},
        {"{run: lu, budgets: []}", "'budgets' is empty"},
        {"{run: lu, budgets: [{cycles: 1, misses: 2, level: L1D}]}", "a budget is of one of misses, miss_rate"},
        {"{run: lu, budgets: [{misses: 1}]}", "misses needs the level"},
        {"{run: lu, budgets: [{cycles: 1, level: L1D}]}", "not of a level or structure"},
        {"{run: lu, budgets: [{cycles: 1}, {cycles: 2}]}", "cycles has a budget twice"},
        {"{run: lu, budgets: [{miss_rate: 5, level: L1D}]}", "as in 5 %"},
        {"{run: lu, budgets: [{cycles: stored}]}", "name it, as in 'stored: main.json'"},
        {"{run: lu, stored: a.json, budgets: [{cycles: stored}]}", "needs 'within'"},
        {"{run: lu, stored: a.h5, budgets: [{cycles: 1}]}", "write 'layouts: 1', or store one"},
        {"{run: lu, within: 5, budgets: [{cycles: 1}]}", "write a number with %, as in 1.5 %"},
        {"{run: lu, budgets: [{swapouts: 5}]}", "swapouts are of a monitor; add one"},
        {"{run: lu, monitors: [link=L7], budgets: [{swapouts: 5}]}", "L7"},
        {"{run: lu, monitors: [\"link=core-L1D,range=0x0-0x100\"], budgets: [{swapouts: 5}]}", "range"},
        {"{run: lu, fetches: none, budgets: [{cycles: 1}]}", "'fetches' is for programs"},
        {"{program: [a], budgets: [{mpki: 1, level: L1D}]}", "'fetches: instructions'"},
        {"{trace: t, count: 5, budgets: [{mpki: 1, level: L1D}]}", "leave 'warmup' and 'count' out"},
        {"{trace: t, budgets: [{mpki: 1, level: L1D, phase: 1}]}", "not counted by phase"},
        {"{run: lu, budgets: [{cycles: 1, phase: -1}]}", "-1"},
        {"{run: lu, budgets: [{cycles: 1, phase: 1.5}]}", "1.5"},
        {"{run: lu, budgets: [{cycles: 1, phase: \"\"}]}", "phase"},
        {"{trace: t, machine: generic4, budgets: [{cycles: 1}]}", "no built-in machine"},
        {"{trace: \"-\", budgets: [{cycles: 1}]}", "each layout reads it anew"},
        {"{trace: t, layouts: 0, budgets: [{cycles: 1}]}", "from 1 to 10000"},
    };
    for (const auto& [text, expected] : wrong) {
        const std::string message = refusal_of_check(text);
        EXPECT_THAT(message, HasSubstr(expected)) << text;
        EXPECT_THAT(message, HasSubstr("b.yaml:2:")) << text;
    }
    EXPECT_THAT(refusal("checks: [{run: lu n=16, budgets: [{cycles: 1}]}, {run: lu n=16, budgets: [{cycles: 1}]}]"),
                HasSubstr("two checks 'lu n=16'; give them names"));
}

/// Two phases; L1 with the misses 30 of 100 and 5 of 50; a TLB.
StoredRun two_phases() {
    StoredRun run;
    run.names.levels = {"L1"};
    run.names.tlbs = {"DTLB"};
    run.period = 500;
    CacheCounts first, second;
    first.loads = 60, first.stores = 30, first.fetches = 10;
    first.load_misses = 10, first.store_misses = 15, first.fetch_misses = 5;
    second.loads = 50, second.load_misses = 5;
    run.run.phases.resize(2);
    run.run.phases[0].counts.caches = {first};
    run.run.phases[0].counts.tlbs = {{100, 4}};
    run.run.phases[0].counts.references = 90;
    run.run.phases[0].end = 2'000'000;
    run.run.phases[1].counts.caches = {second};
    run.run.phases[1].counts.tlbs = {{50, 0}};
    run.run.phases[1].counts.references = 50;
    run.run.phases[1].begin = 2'000'000, run.run.phases[1].end = 2'500'000;
    run.run.counts.caches = {first + second};
    run.run.counts.tlbs = {{150, 4}};
    run.run.counts.references = 140;
    run.run.core_ends = {2'500'000};
    return run;
}

TEST(BudgetValues, OfANameAreTheSumOfItsPhases) {
    StoredRun counts = two_phases();
    counts.run.phases.push_back(counts.run.phases[1]);
    counts.run.phases[0].name = "build";
    counts.run.phases[1].name = counts.run.phases[2].name = "solve";
    MonitorSummary monitor;
    monitor.swapouts_per_phase = {9, 3, 4};
    StructureTable table;
    table.regions = {{"A", 0, 64, 8}};
    table.levels = {{"L1", true, {{0, 0, {70, 20}}, {0, 1, {20, 1}}, {0, 2, {30, 9}}}}};
    const std::vector<MonitorSummary> monitors = {monitor};
    Attribution attribution;
    const auto value = [&](CostBudget budget) {
        budget.phase = "solve";
        return value_of(budget, {counts, monitors, table, attribution, {}});
    };
    EXPECT_EQ(value({.level = "L1"}), 10);
    EXPECT_EQ(value({.level = "L1", .structure = "A"}), 10);
    EXPECT_DOUBLE_EQ(value({.quantity = Quantity::miss_rate, .level = "L1", .structure = "A"}), 20);
    EXPECT_DOUBLE_EQ(value({.quantity = Quantity::mpkr, .level = "L1"}), 100);
    EXPECT_EQ(value({.quantity = Quantity::cycles}), 2000);
    EXPECT_EQ(value({.quantity = Quantity::swapouts}), 7);
    EXPECT_EQ(message_of([&] {
                  value_of({.level = "L1", .phase = "sovle"}, {counts, monitors, table, attribution, {}});
              }),
              "there is no phase 'sovle'; did you mean 'solve'? known are: build, solve");
}

TEST(BudgetValues, AreThoseOfTheRun) {
    const StoredRun counts = two_phases();
    MonitorSummary monitor;
    monitor.name = "core-L1";
    monitor.swapouts = 12;
    monitor.swapouts_per_phase = {9, 3};
    StructureTable table;
    table.regions = {{"A", 0, 64, 8}, {"B", 64, 64, 8}};
    table.levels = {{"L1", true, {{0, 0, {70, 20}}, {0, 1, {20, 1}}, {1, 0, {30, 10}}, {1, 1, {30, 4}}}}};
    const std::vector<MonitorSummary> monitors = {monitor};
    const Attribution none;
    const MeasuredRun run{counts, monitors, table, none, 2000};
    const auto value = [&](CostBudget budget) { return value_of(budget, run); };
    EXPECT_EQ(value({.level = "L1"}), 35);
    EXPECT_EQ(value({.level = "L1", .phase = "1"}), 5);
    EXPECT_EQ(value({.level = "DTLB"}), 4);
    EXPECT_EQ(value({.level = "L1", .structure = "A"}), 21);
    EXPECT_EQ(value({.level = "L1", .structure = "B", .phase = "1"}), 4);
    EXPECT_DOUBLE_EQ(value({.quantity = Quantity::miss_rate, .level = "L1", .phase = "0"}), 30);
    EXPECT_DOUBLE_EQ(value({.quantity = Quantity::miss_rate, .level = "L1", .structure = "A", .phase = "1"}), 5);
    EXPECT_DOUBLE_EQ(value({.quantity = Quantity::mpkr, .level = "L1"}), 250);
    EXPECT_DOUBLE_EQ(value({.quantity = Quantity::mpkr, .level = "L1", .phase = "1"}), 100);
    EXPECT_DOUBLE_EQ(value({.quantity = Quantity::mpki, .level = "L1"}), 17.5);
    EXPECT_EQ(value({.quantity = Quantity::cycles}), 5000);
    EXPECT_EQ(value({.quantity = Quantity::cycles, .phase = "1"}), 1000);
    EXPECT_EQ(value({.quantity = Quantity::swapouts}), 12);
    EXPECT_EQ(value({.quantity = Quantity::swapouts, .monitor = "core-L1", .phase = "1"}), 3);
    const auto refused = [&](const CostBudget& budget) { return message_of([&] { value(budget); }); };
    EXPECT_EQ(refused({.level = "L1", .phase = "2"}), "there is no phase 2: the run has 0 to 1");
    EXPECT_EQ(refused({.level = "L1", .phase = "solve"}),
              "there is no phase 'solve'; phases have no names here, only numbers");
    EXPECT_EQ(refused({.level = "L1", .structure = "C"}),
              "there is no data structure 'C'; did you mean 'A'? known are: A, B");
    EXPECT_EQ(refused({.quantity = Quantity::swapouts, .monitor = "1"}), "there is no monitor '1'; known are: core-L1");
    const MeasuredRun unknown{counts, monitors, table, none, {}};
    EXPECT_THAT(message_of([&] { value_of({.quantity = Quantity::mpki, .level = "L1"}, unknown); }),
                HasSubstr("the number of instructions is not known"));
}

TEST(BudgetValues, OfLayoutsAreTheMeanOfTheMiddleHalf) {
    EXPECT_EQ(sample_of({7}).value, 7);
    EXPECT_EQ(sample_of({7}).spread, 0);
    EXPECT_EQ(sample_of({1, 3}).value, 2);
    EXPECT_EQ(sample_of({900, 2, 4, 0}).value, 3);           // 0 and 900 are cut
    EXPECT_EQ(sample_of({5, 1, 2, 3, 100}).value, 10. / 3);  // 1 and 100
    EXPECT_EQ(sample_of({0, 4}).spread, 200);
    EXPECT_EQ(sample_of({0, 0, 0, 4}).spread, std::nullopt);
    EXPECT_THAT(sample_of({3, 1}).values, ElementsAre(3, 1));
    EXPECT_THROW(sample_of({}), std::invalid_argument);
}

JudgedBudget judge_one(double value, std::optional<double> limit, std::optional<double> within = {},
                       std::optional<double> stored = {}) {
    BudgetCheck check;
    check.name = "c";
    check.layouts = 1;
    check.budgets = {{.limit = limit, .level = "L1", .within = within}};
    const std::map<std::string, double> values = {{"L1 misses", stored.value_or(0)}};
    return judged(check, {{{value}, ""}}, stored ? &values : nullptr).at(0);
}

TEST(BudgetVerdicts, AValueMayBeAsLargeAsItsLimit) {
    for (const double value : {1., 35., 1e9}) {
        EXPECT_EQ(judge_one(value, value).verdict, BudgetVerdict::kept);
        EXPECT_EQ(judge_one(value, value - 1).verdict, BudgetVerdict::exceeded);
    }
    EXPECT_EQ(judge_one(0, 0).verdict, BudgetVerdict::kept);
    EXPECT_EQ(judge_one(131072, 120000).complaint(), "c: L1 misses: 131,072 exceeds the limit of 120,000 by 9.23 %");
    EXPECT_EQ(judge_one(3, 0).complaint(), "c: L1 misses: 3 exceeds the limit of 0");
}

TEST(BudgetVerdicts, DifferencesCountInBothDirections) {
    EXPECT_EQ(judge_one(101, {}, 1, 100).verdict, BudgetVerdict::kept);
    EXPECT_EQ(judge_one(99, {}, 1, 100).verdict, BudgetVerdict::kept);
    EXPECT_EQ(judge_one(102, {}, 1, 100).verdict, BudgetVerdict::differs);
    EXPECT_EQ(judge_one(98, {}, 1, 100).complaint(),
              "c: L1 misses: 98 differs from the stored 100 by -2.00 %; 1 % is allowed");
    EXPECT_EQ(judge_one(102, 90, 1, 100).complaint(),
              "c: L1 misses: 102 exceeds the limit of 90 by 13.33 %; differs from the stored 100 by +2.00 %; 1 % is "
              "allowed");
    EXPECT_EQ(judge_one(5, 10, {}, 2).verdict, BudgetVerdict::kept) << "shown, and not judged";
    EXPECT_EQ(judge_one(5, 10, {}, 2).change(), 150);
    EXPECT_EQ(judge_one(5, {}, 50, 0).verdict, BudgetVerdict::differs);
    BudgetCheck check;
    check.budgets = {{.level = "L2", .within = 1}};
    const std::map<std::string, double> other = {{"L1 misses", 3}};
    EXPECT_EQ(judged(check, {{{3}, ""}}, &other).at(0).failure, "the stored result has no such budget; store one anew");
}

BudgetReport report_of_three() {
    BudgetReport report{"b.yaml", {judge_one(5, 10), judge_one(30, 10), judge_one(12, 10)}};
    report.budgets[1].check = "a <b> & \"c\" | \x01";
    report.budgets[0].budget.level = "L0";
    BudgetCheck gone;
    gone.name = "gone";
    gone.budgets = {{.quantity = Quantity::cycles, .limit = 10}};
    for (const JudgedBudget& each : failed_budgets(gone, "no such file")) report.budgets.push_back(each);
    return report;
}

TEST(BudgetReports, TheWorstComesFirst) {
    const BudgetReport report = report_of_three();
    std::vector<std::string> order;
    for (const auto& row : budget_rows(report)) order.push_back(row[1] + " " + row[3] + " " + row.back());
    EXPECT_THAT(order,
                ElementsAre("cycles  failed", "L1 misses 30 exceeded", "L1 misses 12 exceeded", "L0 misses 5 kept"));
    EXPECT_EQ(report.summary(), "3 of 4 budgets not kept");
    EXPECT_EQ(report.complaints().size(), 3U);
    EXPECT_EQ(report.complaints()[0], "gone: cycles: no such file");
}

TEST(BudgetReports, MarkdownKeepsItsTable) {
    const std::string text = to_markdown(report_of_three());
    EXPECT_THAT(text, HasSubstr("### Budgets: 3 of 4 budgets not kept\n\n| check | budget |"));
    EXPECT_THAT(text, HasSubstr("| a \\<b\\> \\& \"c\" \\| ? | L1 misses | 10 | 30 |  |  | exceeded |\n"));
    EXPECT_THAT(text, HasSubstr("\n* gone: cycles: no such file\n"));
}

TEST(BudgetReports, StoredValuesComeBack) {
    BudgetReport report = report_of_three();
    BudgetCheck check;
    check.name = "c";
    check.layouts = 1;
    const std::string text = to_stored(report, {check});
    report.budgets[2].budget.level = "L2";
    EXPECT_EQ(stored_values(to_stored(report, {check}), "s.json", check),
              (std::map<std::string, double>{{"L0 misses", 5}, {"L2 misses", 12}}));
    check.layouts = 3;
    EXPECT_EQ(message_of([&] { stored_values(text, "s.json", check); }),
              "s.json: its check 'c' is not of 3 layouts; store one anew");
    check.name = "gone";
    EXPECT_EQ(message_of([&] { stored_values(text, "s.json", check); }),
              "s.json: it has no check 'gone'; store one anew");
    for (const char* const wrong : {"", "[]", "{}", "{\"format\": \"cachetally budgets\", \"version\": 1}"})
        EXPECT_THAT(message_of([&] { stored_values(wrong, "s.json", check); }), HasSubstr("check --store")) << wrong;
}

}  // namespace
}  // namespace cachetally
