// SPDX-License-Identifier: BSD-3-Clause
// What follows from times: every rule on figures that were written down, without any hardware.
#include "probes/cpu/features.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/paper_bench.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using testing::finding_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::PaperBench;

constexpr CpuType int32{}, float64{CpuElement::float64, 1};

template <class Test>
TestReport report_of(PaperBench& bench, const Test& test) {
    CpuTests tests(bench);
    TestReport report;
    test(tests, report);
    return report;
}

TestReport instructions_of(PaperBench& bench, CpuType type) {
    return report_of(bench, [&](CpuTests& tests, TestReport& report) { tests.instructions(report, type); });
}
TestReport frequency_of(PaperBench& bench) {
    return report_of(bench, [](CpuTests& tests, TestReport& report) { tests.frequency(report); });
}
TestReport registers_of(PaperBench& bench) {
    return report_of(bench, [](CpuTests& tests, TestReport& report) { tests.registers(report, int32); });
}
TestReport smt_of(PaperBench& bench) {
    return report_of(bench, [](CpuTests& tests, TestReport& report) { tests.smp(report), tests.smt(report); });
}

TEST(CpuFrequency, IsOneOverAnAdditionIfTheChainsAgree) {
    PaperBench bench;
    bench.chain_ns = 0.505;
    const TestReport report = frequency_of(bench);
    const Finding& found = report.findings.at(0);
    EXPECT_DOUBLE_EQ(found.value->number, 2000);
    EXPECT_EQ(found.unit, "MHz");
    EXPECT_NEAR(found.low, 1980.2, 0.1);  // of the chains
    EXPECT_NEAR(found.high, 2002, 0.1);   // of the spread
}

TEST(CpuFrequency, IsRefusedWhereTheyDoNot) {
    PaperBench bench;
    bench.chain_ns = 1;  // an addition takes half a cycle
    EXPECT_THAT(frequency_of(bench).findings.at(0).reason, HasSubstr("an addition takes 0.5000 ns as compiled"));
    bench.chain_ns = 0.5;
    bench.spread = 0.03;
    EXPECT_THAT(frequency_of(bench).findings.at(0).reason, HasSubstr("differ by 3.0 %, more than 2 %"));
}

TEST(CpuInstructions, LatencyByOneChainAndIntervalByMany) {
    PaperBench bench;
    bench.multiply = {4, 0.5};
    const TestReport report = instructions_of(bench, float64);
    ASSERT_EQ(report.findings.size(), 8U);
    EXPECT_DOUBLE_EQ(finding_of(report, "double mul", "latency")->value->number, 4);
    const Finding& interval = *finding_of(report, "double mul", "initiation_interval");
    EXPECT_DOUBLE_EQ(interval.value->number, 0.5);
    EXPECT_THAT(interval.method, HasSubstr("reached with 8"));
    EXPECT_LT(interval.low, 0.5);
    EXPECT_GE(interval.high, 0.5);
    EXPECT_DOUBLE_EQ(finding_of(report, "double div", "initiation_interval")->value->number, 6);
    EXPECT_DOUBLE_EQ(finding_of(report, "double add", "initiation_interval")->value->number, 0.25);
}

TEST(CpuInstructions, IntervalsThatStillFallAreNone) {
    PaperBench bench;
    bench.fused = {40, 0.1};
    const TestReport report = instructions_of(bench, float64);
    EXPECT_THAT(finding_of(report, "double fma", "initiation_interval")->reason, HasSubstr("with 20 chains"));
    EXPECT_DOUBLE_EQ(finding_of(report, "double fma", "latency")->value->number, 40);
}

/// Units that are chosen badly for one number of chains.
class UnevenBench : public PaperBench {
public:
    Timing time(const Configuration& configuration) override {
        Timing timing = PaperBench::time(configuration);
        if (configuration.statements.size() == 4) timing.ns *= 2.2;
        return timing;
    }
};

TEST(CpuInstructions, OneNumberOfChainsThatDoesNotHelpIsNoEnd) {
    UnevenBench bench;
    bench.multiply = {4, 0.5};
    const TestReport report = instructions_of(bench, float64);
    EXPECT_DOUBLE_EQ(finding_of(report, "double mul", "initiation_interval")->value->number, 0.5);
}

TEST(CpuInstructions, TrialsThatDisagreeAreRefused) {
    PaperBench bench;
    bench.disturbed = {1};
    const TestReport alone = instructions_of(bench, float64);
    EXPECT_THAT(finding_of(alone, "double add", "latency")->reason, HasSubstr("differ by 10.0 %"));
    bench.disturbed = {2};
    const TestReport two = instructions_of(bench, float64);
    EXPECT_TRUE(finding_of(two, "double add", "latency")->value);
    EXPECT_FALSE(finding_of(two, "double add", "initiation_interval")->value);
}

/// The first timing of so many statements is disturbed from beginning to end.
class OnceOtherBench : public PaperBench {
public:
    OnceOtherBench(std::size_t number, double share) : statements(number), factor(share) {}
    Timing time(const Configuration& configuration) override {
        Timing timing = PaperBench::time(configuration);
        if (configuration.statements.size() == statements && ++seen == 1) timing.ns *= factor;
        return timing;
    }
    std::size_t statements;
    double factor;
    int seen = 0;
};

TEST(CpuInstructions, AreMeasuredTwice) {
    OnceOtherBench one(1, 1.04), four(4, 0.96);
    const TestReport slow = instructions_of(one, float64), quick = instructions_of(four, float64);
    EXPECT_THAT(finding_of(slow, "double add", "latency")->reason, HasSubstr("1.04 cycles, and measured again 1;"));
    EXPECT_TRUE(finding_of(slow, "double mul", "latency")->value);
    EXPECT_THAT(finding_of(quick, "double add", "initiation_interval")->reason, HasSubstr("measured again 0.25"));
    EXPECT_TRUE(finding_of(quick, "double add", "latency")->value);
}

TEST(CpuInstructions, VectorsOfWholeNumbersHaveNoDivision) {
    PaperBench bench;
    const TestReport report = instructions_of(bench, {CpuElement::int32, 4});
    EXPECT_THAT(finding_of(report, "int32x4 div", "latency")->reason, HasSubstr("no instruction"));
    EXPECT_TRUE(finding_of(report, "int32x4 mul", "latency")->value);
}

/// The times of a multiplication and of a multiply-add: present, absent, or nothing.
std::string answer(InstructionTimes multiply, InstructionTimes fused, std::optional<bool> once) {
    return fma_answer(multiply, fused, once, 0.05).word;
}

TEST(CpuFma, IsPresentWhereItIsNotSlowerAndRoundsOnce) {
    EXPECT_EQ(answer({3, 0.5}, {4, 0.5}, true), "present");
    EXPECT_EQ(answer({3, 0.5}, {4, 0.52}, true), "present");
    EXPECT_EQ(answer({3, 0.5}, {4, 0.5}, false), "absent") << "an addition beside it";
    EXPECT_EQ(answer({3, 0.5}, {6, 1}, false), "absent");
    EXPECT_EQ(answer({3, 0.5}, {4, 1}, true), "") << "one instruction, but a slow one";
}

TEST(CpuFma, OfWholeNumbersByLatencies) {
    EXPECT_EQ(answer({3, 1}, {3, 1}, std::nullopt), "present");
    EXPECT_EQ(answer({3, 1}, {4, 1}, std::nullopt), "") << "an addition may run beside it";
    EXPECT_EQ(answer({3, 0.5}, {4, 0.75}, std::nullopt), "absent");
}

TEST(CpuFma, SaysWhatIsMissing) {
    InstructionTimes none;
    none.no_interval = "of noise";
    EXPECT_EQ(fma_answer(none, {4, 1}, true, 0.05).why, "mul: of noise");
    EXPECT_EQ(fma_answer({4, 1}, none, true, 0.05).why, "fma: of noise");
    InstructionTimes no_latency{std::nullopt, 1};
    no_latency.no_latency = "of noise";
    EXPECT_EQ(fma_answer({3, 1}, no_latency, std::nullopt, 0.05).why, "latency: of noise");
}

TEST(CpuRegisters, AreThoseBeforeTheFirstSlowRing) {
    for (unsigned registers = 2; registers <= 127; ++registers) {
        PaperBench bench;
        bench.registers = registers;
        bench.spill = 16;  // one of 128 in memory is 1/8 cycle
        const TestReport report = registers_of(bench);
        ASSERT_TRUE(report.findings.at(0).value) << report.findings.at(0).reason;
        EXPECT_EQ(report.findings.at(0).value->number, registers);
        EXPECT_EQ(report.findings.at(0).low, registers);
        EXPECT_EQ(report.findings.at(0).high, registers);
    }
}

TEST(CpuRegisters, AreRefusedWhereMemoryIsAsQuick) {
    PaperBench bench;
    bench.spill = 0.02;
    const TestReport report = report_of(bench, [&](CpuTests& tests, TestReport& out) {
        EXPECT_THAT(message_of([&] { tests.registers(out, int32); }), HasSubstr("memory may be as quick"));
    });
    EXPECT_THAT(report.findings, IsEmpty());
}

TEST(CpuRegisters, NeedTrialsThatAgreeMoreCloselyThanASpillCosts) {
    PaperBench bench;
    bench.spread = 0.016;
    EXPECT_THAT(message_of([&] { registers_of(bench); }), HasSubstr("differ by 1.6 %, more than 1.5 %"));
    bench.spread = 0.014;
    EXPECT_EQ(registers_of(bench).findings.at(0).value->number, 13);
}

/// A ring that was slow once and not again.
class MoodyBench : public PaperBench {
public:
    Timing time(const Configuration& configuration) override {
        Timing timing = PaperBench::time(configuration);
        if (configuration.statements.size() == 8 && ++eights == 1) timing.ns *= 2;
        return timing;
    }
    int eights = 0;
};

TEST(CpuRegisters, AreAskedTwice) {
    MoodyBench bench;
    EXPECT_THAT(message_of([&] { registers_of(bench); }), HasSubstr("was not found again"));
}

TEST(CpuProcessors, ThatDoNotShareCoresAreTheirNumber) {
    PaperBench bench;
    bench.cores = {{0}, {1}, {2}, {5}};
    const TestReport report = smt_of(bench);
    EXPECT_EQ(finding_of(report, "", "processors")->value->number, 4);
    EXPECT_EQ(finding_of(report, "", "threads_per_core")->value->number, 1);
    EXPECT_EQ(finding_of(report, "", "cores")->value->word, "0 1 2 5");
    EXPECT_EQ(bench.asked_together, 5U) << "each alone, then all together";
}

TEST(CpuProcessors, OfACoreAreFound) {
    PaperBench bench;
    bench.cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    const TestReport report = smt_of(bench);
    EXPECT_EQ(finding_of(report, "", "processors")->value->number, 4);
    EXPECT_EQ(finding_of(report, "", "threads_per_core")->value->number, 2);
    EXPECT_EQ(finding_of(report, "", "cores")->value->word, "0+4 1+5 2+6 3+7");
}

TEST(CpuProcessors, OfUnequalCoresHaveNoCommonNumber) {
    PaperBench bench;
    bench.cores = {{0, 1}, {2, 3}, {4}, {5}};
    const TestReport report = smt_of(bench);
    EXPECT_THAT(finding_of(report, "", "threads_per_core")->reason, HasSubstr("cores differ: from 1 to 2"));
    EXPECT_EQ(finding_of(report, "", "cores")->value->word, "0+1 2+3 4 5");
}

TEST(CpuProcessors, OfManyThreadsPerCoreAreFoundInAnyOrder) {
    PaperBench bench;
    bench.cores = {{0, 3, 6, 9}, {1, 2, 10, 11}, {4, 5, 7, 8}};
    EXPECT_EQ(finding_of(smt_of(bench), "", "cores")->value->word, "0+3+6+9 1+2+10+11 4+5+7+8");
}

/// The first copies that run side by side are disturbed.
class OnceBesideBench : public PaperBench {
public:
    std::optional<std::vector<double>> side_by_side(const Configuration& configuration,
                                                    std::span<const unsigned> running) override {
        auto cycles = PaperBench::side_by_side(configuration, running);
        if (running.size() > 1 && ++seen <= 2) cycles->back() *= 1.7;
        return cycles;
    }
    int seen = 0;
};

TEST(CpuProcessors, ThatAreSlowedDownForAWhileAreAskedAgain) {
    OnceBesideBench bench;
    EXPECT_EQ(finding_of(smt_of(bench), "", "cores")->value->word, "0 1");
}

TEST(CpuProcessors, ThatAreBusyOrHalfSlowedDownAreRefused) {
    PaperBench bench;
    bench.busy = true;
    EXPECT_THAT(message_of([&] { smt_of(bench); }), HasSubstr("others use the processors"));
    bench.busy = false;
    bench.cores = {{0, 1}};
    bench.beside = 1.3;
    EXPECT_THAT(message_of([&] { smt_of(bench); }), HasSubstr("1.30 times as long as alone"));
    bench.beside = 1.19;
    EXPECT_EQ(finding_of(smt_of(bench), "", "cores")->value->word, "0 1");
}

}  // namespace
}  // namespace cachetally
