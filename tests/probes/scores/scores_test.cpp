// SPDX-License-Identifier: BSD-3-Clause
// What the tests score on random machines, and on machines that are odd or take long. These are about answers, not
// memory, and are built without sanitizers only: Campaign.WalksThroughAllTests in test_probes takes the same ways under
// them.
#include <gtest/gtest.h>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/random_machine.hpp"
#include "probes/validation/truth.hpp"
#include "probes/validation/validation.hpp"
#include "sim/topology/names.hpp"
#include "tests/probes/score_of.hpp"

namespace cachetally {
namespace {

/// What the command would find: from the machine file, as probe reads it.
std::vector<std::string> wrong_again(const ValidationOptions& options, std::uint64_t number) {
    const MachineDescription machine = read_machine(write_machine(random_machine(options.seed, number)), "random.yaml");
    const MachineRun run = machine_run(options, number);
    SimulatedTarget target(machine, run.target);
    std::vector<std::string> wrong;
    for (TestReport& report : run_suite(target, run.suite)) {
        judge(report, facts_of(machine));
        for (const Finding& each : report.findings)
            if (each.verdict == Verdict::wrong) wrong.push_back(each.test + ' ' + in_words(each));
    }
    return wrong;
}

TEST(Replay, FindsTheSameFromTheMachineFile) {
    ValidationOptions options;
    options.machines = 4;
    options.seed = 5;
    options.noise = "mixed";
    options.suite.tests = {"latency"};  // wrong often enough, otherwise for other noise
    options.suite.robust = false;
    const ValidationResult result = run_validation(options);
    std::size_t compared = 0;
    for (const Failure& failure : result.failures) {
        EXPECT_EQ(wrong_again(options, failure.machine), failure.wrong_findings) << failure.replay;
        compared += failure.wrong_findings.size();
    }
    EXPECT_GT(compared, 1U);
}

TEST(Noise, RealisticNoiseMakesNoAnswerWrong) {
    ValidationOptions options;
    options.machines = 8;
    options.seed = 41;
    options.noise = "realistic";
    options.suite.tests = {"l1", "levels", "tlb"};
    options.suite.published = false;
    const ValidationResult result = run_validation(options);
    for (const Score& score : result.scores) EXPECT_EQ(score.wrong, 0U) << score.test << ' ' << score.parameter;
    EXPECT_EQ(score_of(result, "l1", "capacity")->right, 8U);
    EXPECT_GE(score_of(result, "levels", "levels")->right, 7U);
    EXPECT_LE(score_of(result, "tlb", "entries")->not_identifiable, 1U);
}

// An interrupt that takes a line of a full set costs a round of it: times of long laps rise before the last level ends.
TEST(Noise, InterruptsEndNoLevelEarly) {
    ValidationOptions options;
    options.seed = 918273;
    options.noise = "realistic";
    options.suite.tests = {"levels"};
    options.suite.published = false;
    for (const std::uint64_t number : {106U, 203U}) {  // a latency, a capacity
        const MachineDescription machine = validation_machine(options, number);
        const MachineRun run = machine_run(options, number);
        SimulatedTarget target(machine, run.target);
        TestReport report = run_suite(target, run.suite).back();
        judge(report, machine);
        for (const Finding& each : report.findings) EXPECT_NE(each.verdict, Verdict::wrong) << in_words(each);
        EXPECT_NE(report.find("L4", number == 106 ? "latency" : "capacity"), nullptr) << number;
    }
}

TEST(Events, WaysThatAreNotSureAreRefused) {
    ValidationOptions options;
    options.machines = 8;
    options.seed = 501;  // 2: pages fill L3 unevenly; 5: L1 of random replacement
    options.suite.tests = {"events"};
    options.suite.published = false;
    const ValidationResult result = run_validation(options);
    for (const Score& score : result.scores) EXPECT_EQ(score.wrong, 0U) << score.parameter;
    EXPECT_GE(score_of(result, "events", "ways")->right, 15U);
    EXPECT_LE(score_of(result, "events", "line")->not_identifiable, 1U);  // what is doubtful is refused
}

TEST(ChangePoints, WhatTheLevelsContradictIsRefused) {
    ValidationOptions options;
    options.machines = 7;
    options.seed = 501;  // 5, 6: too few plateaus, a plateau that ends early
    options.suite.tests = {"change_points"};
    options.suite.published = false;
    const ValidationResult result = run_validation(options);
    for (const Score& score : result.scores) EXPECT_EQ(score.wrong, 0U) << score.parameter;
    EXPECT_GE(score_of(result, "change_points", "capacity")->right, 6U);
}

TEST(Levels, HashedSetsAreSeenThrough) {
    SimulatedTarget target(load_machine("x86-server"));
    SuiteOptions options;
    options.tests = {"levels"};
    options.published = false;
    const TestReport report = run_suite(target, options).back();
    ASSERT_NE(report.find("", "levels"), nullptr);
    EXPECT_EQ(report.find("", "levels")->value->number, 3);
    ASSERT_NE(report.find("memory", "latency"), nullptr);
    EXPECT_NEAR(report.find("memory", "latency")->value->number, 300, 15);
}

TEST(Tlb, TimesAloneAreNotWrong) {
    ValidationOptions options;
    options.machines = 12;
    options.seed = 77;
    options.no_events = "hidden";
    options.suite.tests = {"tlb"};
    options.suite.published = false;
    for (const Score& score : run_validation(options).scores) EXPECT_EQ(score.wrong, 0U) << score.parameter;
}

}  // namespace
}  // namespace cachetally
