// SPDX-License-Identifier: BSD-3-Clause
// The processor that runs the tests, which may be shared and slow: only what holds on any is asserted, of what was not
// refused.
#include <gtest/gtest.h>
#include <sched.h>

#include <optional>

#include "probes/cpu/compiler.hpp"
#include "probes/cpu/native_bench.hpp"
#include "probes/cpu/suite.hpp"
#include "probes/targets/core_clock.hpp"

namespace cachetally {
namespace {

constexpr CpuType native_int32{}, native_double{CpuElement::float64, 1};
constexpr double wide = 1.25;  ///< beyond what any noise that was not noticed makes

class CpuNative : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            bench.emplace(NativeCpuOptions{.end_ns = now_ns() + 60'000'000'000});
        } catch (const ProbeError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    std::optional<NativeCpuBench> bench;
};

TEST_F(CpuNative, LawsOfInstructions) {
    CpuTests tests(*bench);
    for (const CpuType type : {native_int32, native_double}) {
        const InstructionTimes add = tests.times(Operation::add, type), divide = tests.times(Operation::divide, type);
        for (const Operation operation : cpu_operations) {
            const InstructionTimes& found = tests.times(operation, type);
            EXPECT_NE(found.latency.has_value(), !found.no_latency.empty());
            if (found.latency && found.interval) {
                EXPECT_LE(*found.interval, *found.latency * wide);
            }
        }
        if (add.latency && divide.latency) {
            EXPECT_GE(*divide.latency * wide, *add.latency);
        }
        if (add.interval && divide.interval) {
            EXPECT_GE(*divide.interval * wide, *add.interval);
        }
    }
}

TEST_F(CpuNative, MoreStatementsTakeLonger) {
    // Eight chains of four-cycle work cannot be quicker in sum than one of them.
    const Timing one = bench->time(chains_of(Operation::divide, native_double, 1)),
                 eight = bench->time(chains_of(Operation::divide, native_double, 8));
    EXPECT_GT(one.ns, 0);
    if (one.spread < 0.02 && eight.spread < 0.02) {
        EXPECT_GE(8 * eight.cycles() * wide, one.cycles());
        EXPECT_LE(eight.cycles(), one.cycles() * wide);
    }
}

TEST_F(CpuNative, ARingOfManyVariablesIsNotQuicker) {
    const Timing few = bench->time(ring_of(native_int32, 4)), many = bench->time(ring_of(native_int32, 64));
    if (few.spread < 0.02 && many.spread < 0.02) {
        EXPECT_GE(many.cycles() * wide, few.cycles());
    }
}

TEST_F(CpuNative, VectorsThatAreLackingSaySo) {
    for (const CpuType type : cpu_types()) {
        if (type.elements == 1) {
            EXPECT_EQ(bench->lacks(type), "");
        }
        CpuType wider = type;
        wider.elements *= 2;
        if (type.elements > 1 && !bench->lacks(type).empty()) {
            EXPECT_NE(bench->lacks(wider), "") << type.name();
        }
    }
    EXPECT_NE(bench->lacks({CpuElement::float64, 1024}), "");
}

TEST_F(CpuNative, CopiesRunOnTheProcessorsThatMayBeUsed) {
    const std::vector<unsigned> processors = bench->processors();
    ASSERT_FALSE(processors.empty());
    const unsigned one[] = {processors.front()};
    const auto cycles = bench->side_by_side(chains_of(Operation::add, native_int32, 4), one);
    if (cycles) {
        ASSERT_EQ(cycles->size(), 1U);
        EXPECT_GT(cycles->front(), 0);
    }
    const unsigned missing[] = {CPU_SETSIZE - 1};
    if (processors.back() != missing[0]) {
        EXPECT_THROW((void)bench->side_by_side(chains_of(Operation::add, native_int32, 4), missing), ProbeError);
    }
}

/// Two threads of one processor run in turn, each as quick as alone: that is not side by side.
TEST_F(CpuNative, CopiesThatRunInTurnAreNoAnswer) {
    const unsigned same[] = {bench->processors().front(), bench->processors().front()};
    EXPECT_FALSE(bench->side_by_side(chains_of(Operation::add, native_int32, 4), same));
}

TEST_F(CpuNative, EndsWhenItsTimeIsOver) {
    bench->keep_until(now_ns());
    EXPECT_THROW((void)bench->time(ring_of(native_int32, 3)), BudgetSpent);
    EXPECT_THROW((void)bench->cycle_ns(), BudgetSpent);
    EXPECT_THROW((void)bench->side_by_side(ring_of(native_int32, 3), bench->processors()), BudgetSpent);
    CpuSuiteOptions options;
    options.end_ns = now_ns();
    for (const TestReport& report : run_cpu_suite(*bench, options))
        for (const Finding& each : report.findings) EXPECT_FALSE(each.value) << each.level << each.parameter;
}

TEST(CpuNativeBench, EndsWhenItIsAskedTo) {
    EXPECT_THROW(NativeCpuBench({.go_on = [] { return false; }}), std::runtime_error);
}

TEST(CpuNativeBench, LeavesTheThreadWhereItMayBe) {
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    try {
        const NativeCpuBench bench;
    } catch (const ProbeError&) {
    }
    EXPECT_THROW(NativeCpuBench({.compiler = "no-such-compiler"}), std::runtime_error);
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace cachetally
