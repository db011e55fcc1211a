// SPDX-License-Identifier: BSD-3-Clause
// Event counters of a kernel that is made up, of which every count and every refusal is known.
#include "probes/targets/native_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "cachetally/probe_strings.hpp"
#include "probes/target.hpp"
#include "probes/targets/native.hpp"
#include "tests/probes/fake_perf.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// linux/perf_event.h: cache | operation << 8 | result << 16, with read = 0 and miss = 1.
constexpr CounterEvent cycles{0, 0}, l1{3, 0x10000}, last{3, 0x10002}, dtlb{3, 0x10003};
constexpr CounterEvent raw(std::uint64_t config) { return {4, config}; }

#if defined(__x86_64__)
const RawEvent other_tlb{true, 1, 0xff45};
const std::vector<CounterEvent> tlb_events{raw(0xff45), dtlb};
#else
const RawEvent other_tlb{true, 2, 0x2d};
const std::vector<CounterEvent> tlb_events{dtlb, raw(0x2d)};
#endif

std::vector<CounterEvent> with_tlbs(std::vector<CounterEvent> events) {
    events.insert(events.end(), tlb_events.begin(), tlb_events.end());
    return events;
}

void nothing() {}

TEST(NativeCounters, EachLevelHasItsEvent) {
    FakePerf kernel;
    const std::vector<RawEvent> given{other_tlb, {false, 2, 0x0864}};
    const NativeCounters counters({3, 2}, given, kernel.calls());
    EXPECT_EQ(counters.missing(), "");
    EXPECT_EQ(counters.counted().caches, 3U);
    EXPECT_EQ(counters.counted().tlbs, 2U);
    EXPECT_EQ(kernel.events(), with_tlbs({cycles, l1, raw(0x0864), last}));
}

TEST(NativeCounters, RawEventsComeBeforeTheKernelsOwn) {
    FakePerf kernel;
    const std::vector<RawEvent> given{{false, 1, 0x01}, {false, 2, 0x02}, {true, 1, 0x03}, {true, 2, 0x04}};
    const NativeCounters counters({2, 2}, given, kernel.calls());
    EXPECT_THAT(kernel.events(), ElementsAre(cycles, raw(1), raw(2), raw(3), raw(4)));
}

TEST(NativeCounters, TheOnlyLevelIsTheFirstAndTheLast) {
    FakePerf kernel;
    const NativeCounters counters({1, 1}, {}, kernel.calls());
    EXPECT_THAT(kernel.events(), ElementsAre(cycles, l1, dtlb));
}

TEST(NativeCounters, CountThisThreadInUserModeInOneGroup) {
    FakePerf kernel;
    const NativeCounters counters({2, 1}, {}, kernel.calls());
    ASSERT_EQ(kernel.opened.size(), 4U);
    for (const FakePerf::Opened& one : kernel.opened) {
        const bool leads = &one == &kernel.opened.front();
        EXPECT_EQ(one.attributes.size, sizeof(perf_event_attr));
        EXPECT_EQ(one.attributes.exclude_kernel, 1U);
        EXPECT_EQ(one.attributes.exclude_hv, 1U);
        EXPECT_EQ(one.attributes.exclude_user, 0U);
        EXPECT_EQ(one.attributes.inherit, 0U);
        EXPECT_EQ(one.attributes.disabled, leads ? 1U : 0U);
        EXPECT_EQ(one.process, 0);
        EXPECT_EQ(one.core, -1);
        EXPECT_EQ(one.group, leads ? -1 : FakePerf::first_file);
        EXPECT_EQ(one.flags, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
    }
}

struct Refusal {
    int error;
    const char* says;
};

TEST(NativeCounters, WithoutCyclesTheReasonIsAnAnswer) {
    for (const Refusal& one :
         {Refusal{ENOENT, "a virtual machine hides"}, Refusal{EOPNOTSUPP, "a virtual machine hides"},
          Refusal{ENODEV, "a virtual machine hides"}, Refusal{EACCES, "kernel.perf_event_paranoid"},
          Refusal{EPERM, "2 or less"}, Refusal{EACCES, "CAP_PERFMON"}, Refusal{ENOSYS, "CONFIG_PERF_EVENTS"},
          Refusal{EMFILE, "Too many open files"}}) {
        FakePerf kernel;
        kernel.refuses = [&](const CounterEvent& event) { return event == cycles ? one.error : 0; };
        NativeCounters counters({2, 2}, std::vector{other_tlb}, kernel.calls());
        EXPECT_EQ(counters.counted().caches + counters.counted().tlbs, 0U);
        EXPECT_THAT(counters.missing(), HasSubstr(one.says)) << one.error;
        EXPECT_TRUE(kernel.opened.empty());
        EXPECT_THROW(counters.count(nothing, nothing), ProbeError);
    }
}

TEST(NativeCounters, CachesAreCountedAllOrNotAtAll) {
    for (const Refusal& one :
         {Refusal{ENOENT, "misses of L3: the kernel's event for them is not supported"},
          Refusal{EINVAL, "name another by --raw-event L3=HEX"}, Refusal{EACCES, "CAP_PERFMON would"}}) {
        FakePerf kernel;
        kernel.refuses = [&](const CounterEvent& event) { return event == last ? one.error : 0; };
        const NativeCounters counters({3, 2}, std::vector{other_tlb, {false, 2, 1}}, kernel.calls());
        EXPECT_EQ(counters.counted().caches, 0U);
        EXPECT_EQ(counters.counted().tlbs, 2U);
        EXPECT_THAT(counters.missing(), HasSubstr(one.says));
        EXPECT_EQ(kernel.events(), with_tlbs({cycles, l1, raw(1)}));
        EXPECT_EQ(kernel.files.size(), 3U) << "those of L1 and L2 take no counters";
    }
}

TEST(NativeCounters, WhatTheKernelDoesNotNameIsAskedFor) {
    FakePerf kernel;
    const NativeCounters counters({3, 2}, {}, kernel.calls());
    EXPECT_EQ(counters.counted().caches + counters.counted().tlbs, 0U);
    EXPECT_THAT(counters.missing(), HasSubstr("name one by --raw-event L2=HEX; misses of TLB"));
    EXPECT_TRUE(kernel.files.empty()) << "nothing but cycles would be counted";
}

TEST(NativeCounters, RawEventsThatAreRefusedAreNamed) {
    FakePerf kernel;
    kernel.refuses = [&](const CounterEvent& event) { return event == raw(0xbad) ? EINVAL : 0; };
    const NativeCounters counters({2, 1}, std::vector{RawEvent{false, 2, 0xbad}}, kernel.calls());
    EXPECT_EQ(counters.counted().caches, 0U);
    EXPECT_EQ(counters.counted().tlbs, 1U);
    EXPECT_THAT(counters.missing(), HasSubstr("refuses --raw-event L2=0xbad (Invalid argument)"));
}

TEST(NativeCounters, MachinesThatStateNoCachesHaveNoEvents) {
    FakePerf kernel;
    const NativeCounters counters({0, 0}, std::vector{RawEvent{false, 2, 1}}, kernel.calls());
    EXPECT_THAT(counters.missing(), HasSubstr("states no caches"));
    EXPECT_TRUE(kernel.opened.empty());
}

std::string refusal_of(std::vector<RawEvent> raw_events) {
    FakePerf kernel;
    try {
        const NativeCounters counters({3, 2}, raw_events, kernel.calls());
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(NativeCounters, RawEventsOfLevelsThatThereAreNotAreErrors) {
    EXPECT_THAT(refusal_of({{false, 4, 0x1}}),
                HasSubstr("--raw-event L4=0x1: there is no L4 on this machine; the last one is L3"));
    EXPECT_THAT(refusal_of({{true, 3, 0x1}}), HasSubstr("the last one is TLB2"));
    EXPECT_THAT(refusal_of({{false, 1, 0x1}, {false, 1, 0x2}}), HasSubstr("L1 has another event, too"));
    EXPECT_EQ(refusal_of({{false, 1, 0x1}, {true, 1, 0x1}}), "");
}

TEST(NativeCounters, WhatEmptyRunsCountIsTakenOff) {
    FakePerf kernel;
    bool empty = true;
    // Empty: 205, 206, ..., of which 203 in run 5 is the least.
    kernel.counts = [&](const CounterEvent& event, unsigned run) -> std::uint64_t {
        if (event == dtlb) return empty ? 4 : 3;
        const std::uint64_t count = event == cycles ? 10'000 : event == l1 ? 500 : 60;
        return (empty ? 0 : count) + (run == 5 ? 203 : 205 + run % 4);
    };
    NativeCounters counters({2, 1}, {}, kernel.calls());
    EXPECT_GE(kernel.runs, 16U);
    empty = false;
    kernel.runs = 8;
    const EventCounts counts = counters.count(nothing, nothing);  // with 205
    EXPECT_EQ(counts.cycles, 10'002);
    EXPECT_THAT(counts.cache_misses, ElementsAre(502, 62));
    EXPECT_THAT(counts.tlb_misses, ElementsAre(0)) << "not below nothing";
}

TEST(NativeCounters, CyclesThatAreNotTrueLeaveNothing) {
    for (const unsigned counted : {0U, 9'400U, 10'600U, 20'000U, 9'600U, 10'000U, 10'400U}) {
        FakePerf kernel;
        bool empty = true;
        kernel.counts = [&](const CounterEvent& event, unsigned run) -> std::uint64_t {
            return event == cycles && !empty ? counted + (run % 4 == 1 ? 0 : 5'000) : 0;  // interrupts only add
        };
        NativeCounters counters({2, 1}, {}, kernel.calls());
        empty = false;
        unsigned runs = 0;
        counters.trust_if([&] { ++runs; }, 10'000);
        EXPECT_GT(runs, 4U);
        const bool true_enough = counted >= 9'500 && counted <= 10'500;
        EXPECT_EQ(counters.counted().caches, true_enough ? 2U : 0U) << counted;
        EXPECT_EQ(counters.missing().empty(), true_enough);
        EXPECT_EQ(kernel.files.size(), true_enough ? 4U : 0U);
    }
}

TEST(NativeCounters, CountersThatOthersKeepUsingLeaveNothing) {
    FakePerf kernel;
    kernel.disturbed = [](unsigned) { return true; };
    const NativeCounters counters({2, 1}, {}, kernel.calls());
    EXPECT_EQ(counters.counted().caches + counters.counted().tlbs, 0U);
    EXPECT_THAT(counters.missing(), HasSubstr("499 of 500 ns"));
    EXPECT_THAT(counters.missing(), HasSubstr("kernel.nmi_watchdog"));
    EXPECT_TRUE(kernel.files.empty());
}

/// This machine with counters that are made up: in each run 100 misses of L1, 10 of L2, and of TLBs
/// 1000 more.
class NativeTargetCounts : public ::testing::Test {
protected:
    void SetUp() override {
        const CountedLevels levels = levels_of_this_machine();
        if (levels.caches == 0) GTEST_SKIP() << "this machine states no caches";
        for (unsigned i = 1; i <= levels.caches; ++i) options.raw_events.push_back({false, i, 1000 / tenfold(i)});
        for (unsigned i = 1; i <= levels.tlbs; ++i) options.raw_events.push_back({true, i, 1000 + 1000 / tenfold(i)});
        FakePerf idle;
        const NativeCounters counters(levels, options.raw_events, idle.calls());
        kernel.counts = [empty = idle.runs](const CounterEvent& event, unsigned run) -> std::uint64_t {
            const std::uint64_t misses = event == cycles ? additions : event.config;
            return run < empty ? 0 : misses;
        };
        options.perf = kernel.calls();
        // with one processor there is no quieter core to begin anew on
        ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &here);
        ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
        pinned = true;
    }
    void TearDown() override {
        target.reset();
        if (pinned) sched_setaffinity(0, sizeof allowed, &allowed);
    }

    /// False where the machine's clock cannot be measured just now.
    bool make_target() {
        try {
            target.emplace(options);
        } catch (const ProbeError& error) {
            EXPECT_THAT(error.what(), HasSubstr("frequency"));
            return false;
        }
        return true;
    }
    Measurement run(const Effort& effort) {
        return target->run(target->make_arena(4096, target->capabilities().page_sizes.front()),
                           {Offsets{0, 64, 128, 192}}, effort);
    }

    static std::uint64_t tenfold(unsigned level) { return level == 1 ? 10 : level == 2 ? 100 : 1000; }

    static constexpr std::uint64_t additions = 16'384;  ///< whose cycles are compared
    FakePerf kernel;
    NativeOptions options{1 << 20, false};
    std::optional<NativeTarget> target;
    cpu_set_t allowed{};
    bool pinned = false;
};

TEST_F(NativeTargetCounts, MissesArePerLoadOfTheLapsAskedFor) {
    if (!make_target()) GTEST_SKIP() << "the clock of this machine cannot be measured";
    const Capabilities& can = target->capabilities();
    EXPECT_EQ(can.no_events, "");
    ASSERT_GE(can.cache_events, 1U);
    ASSERT_EQ(can.tlb_events, 2U);
    for (const unsigned warm_up : {1U, 0U}) {
        const unsigned runs = kernel.runs;
        const Measurement found = run({warm_up, 25});  // 100 loads
        EXPECT_EQ(kernel.runs, runs + 1);
        ASSERT_EQ(found.cache_misses.size(), can.cache_events);
        static constexpr double expected[] = {1, 0.1, 0.01, 0.01};
        for (unsigned i = 0; i < can.cache_events; ++i) EXPECT_EQ(found.cache_misses[i], expected[i]);
        EXPECT_THAT(found.tlb_misses, ElementsAre(11, 10.1));
    }
    kernel.disturbed = [](unsigned) { return true; };
    EXPECT_THROW(run({1, 25}), ProbeError);
}

TEST_F(NativeTargetCounts, MayBeHidden) {
    options.no_events = "hidden here";
    if (!make_target()) GTEST_SKIP() << "the clock of this machine cannot be measured";
    EXPECT_EQ(target->capabilities().no_events, "hidden here");
    EXPECT_EQ(target->capabilities().cache_events + target->capabilities().tlb_events, 0U);
    EXPECT_TRUE(kernel.opened.empty());
    EXPECT_TRUE(run({1, 1}).cache_misses.empty());
}

TEST_F(NativeTargetCounts, CountersThatStandStillAreNotTrusted) {
    kernel.counts = [](const CounterEvent&, unsigned) { return 0; };
    if (!make_target()) GTEST_SKIP() << "the clock of this machine cannot be measured";
    EXPECT_EQ(target->capabilities().cache_events, 0U);
    EXPECT_THAT(target->capabilities().no_events, HasSubstr("0 cycles where 16384 pass"));
}

/// On real hardware alone: more lines than the first level holds miss there, few do not.
TEST(NativeCounters, OfThisProcessorSeeWhatFitsIntoTheFirstLevel) {
    std::optional<NativeTarget> target;
    try {
        target.emplace(NativeOptions{64 << 20, false});
    } catch (const ProbeError& error) {
        GTEST_SKIP() << error.what();
    }
    const Capabilities& can = target->capabilities();
    if (can.cache_events == 0) {
        EXPECT_NE(can.no_events, "");
        GTEST_SKIP() << can.no_events;
    }
    const auto misses = [&](std::uint64_t bytes) {
        double least = 1e9;
        for (unsigned i = 0; i < 5; ++i)
            least = std::min(
                least,
                target->run(target->make_arena(bytes, can.page_sizes.front()), {random_string(bytes, 64, 1)}, {2, 4})
                    .cache_misses.front());
        return least;
    };
    EXPECT_LT(misses(4096), 0.2);
    EXPECT_GT(misses(16 << 20), 0.5);
}

TEST(RawEvents, AreLevelsAndHexadecimalCodes) {
    EXPECT_EQ(raw_event_named("L2=0x0864"), (RawEvent{false, 2, 0x0864}));
    EXPECT_EQ(raw_event_named("TLB1=0xff45"), (RawEvent{true, 1, 0xff45}));
    EXPECT_EQ(raw_event_named("L9=0xffffffffffffffff"), (RawEvent{false, 9, ~0ULL}));
    EXPECT_EQ(in_words(raw_event_named("L2=0x0864")), "L2=0x864");
    for (const char* text :
         {"", "L2", "L2=", "L2=864", "L2=0x", "L2=0xg", "L0=0x1", "L10=0x1", "2=0x1", "TLB=0x1", "M2=0x1", "l2=0x1",
          "L2:0x1", "L2=0x1=0x2", "L2=0x10000000000000000", "L2= 0x1", "TLB0=0x1", "T", "="}) {
        try {
            raw_event_named(text);
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& error) {
            EXPECT_THAT(error.what(), HasSubstr("write LEVEL=HEX")) << text;
        }
    }
}

}  // namespace
}  // namespace cachetally
