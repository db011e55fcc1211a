// SPDX-License-Identifier: BSD-3-Clause
// Groups of counters: of a kernel that is made up, and of this one, whose software events need no hardware.
#include "probes/targets/counter_group.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "probes/target.hpp"
#include "tests/probes/fake_perf.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr CounterEvent first{1, 10}, second{1, 20};

void no_work() {}

/// Counts 1000 of `first` and 1 of `second` in run 0, twice as many in run 1, ...
void count_runs(FakePerf& kernel) {
    kernel.counts = [](const CounterEvent& event, unsigned run) -> std::uint64_t {
        return (event == first ? 1000 : 1) * (run + 1);
    };
}

std::string error_of(CounterGroup& group) {
    try {
        group.count(no_work, no_work);
    } catch (const ProbeError& error) {
        return error.what();
    }
    return "";
}

TEST(CounterGroup, CountsWhatEachRunAdds) {
    FakePerf kernel;
    count_runs(kernel);
    CounterGroup group(kernel.calls());
    EXPECT_EQ(group.add(first), 0);
    EXPECT_EQ(group.add(second), 0);
    EXPECT_THAT(group.count(no_work, no_work), ElementsAre(1000, 1));
    EXPECT_THAT(group.count(no_work, no_work), ElementsAre(2000, 2));
}

TEST(CounterGroup, CountsNothingBeforeAndAfterARun) {
    FakePerf kernel;
    CounterGroup group(kernel.calls());
    group.add(first);
    group.count([&] { EXPECT_FALSE(kernel.enabled); }, [&] { EXPECT_TRUE(kernel.enabled); });
    EXPECT_FALSE(kernel.enabled);
    const auto give_up = [] { throw std::runtime_error("given up"); };
    EXPECT_THROW(group.count(no_work, give_up), std::runtime_error);
    EXPECT_FALSE(kernel.enabled) << "also where a run ends early";
}

TEST(CounterGroup, MakesDisturbedRunsAgainThreeTimes) {
    FakePerf kernel;
    count_runs(kernel);
    CounterGroup group(kernel.calls());
    group.add(first);
    unsigned prepared = 0, run = 0;
    const auto count = [&] { return group.count([&] { ++prepared; }, [&] { ++run; }); };
    kernel.disturbed = [](unsigned number) { return number < 3; };
    EXPECT_THAT(count(), ElementsAre(4000)) << "the counts of the fourth run alone";
    EXPECT_EQ(prepared, 4U);
    EXPECT_EQ(run, 4U);
    kernel.disturbed = [](unsigned number) { return number < 8; };
    EXPECT_THROW(count(), ProbeError);
    EXPECT_EQ(prepared, 8U);
    EXPECT_EQ(run, 8U);
    EXPECT_THAT(count(), ElementsAre(9000)) << "it may be used again";
}

TEST(CounterGroup, SaysHowLongItCounted) {
    FakePerf kernel;
    kernel.disturbed = [](unsigned) { return true; };
    CounterGroup group(kernel.calls());
    group.add(first);
    EXPECT_THAT(error_of(group), HasSubstr("counted for 499 of 500 ns of a run that was made 4 times"));
}

TEST(CounterGroup, RefusalsOfTheKernelAreErrors) {
    FakePerf kernel;
    CounterGroup group(kernel.calls());
    group.add(first);
    EXPECT_EQ(error_of(group), "");
    kernel.short_by = 8;
    EXPECT_THAT(error_of(group), HasSubstr("24 bytes instead of 32"));
    kernel.short_by = 0;
    kernel.read_error = EINTR;
    EXPECT_THAT(error_of(group), HasSubstr("cannot be read: Interrupted system call"));
    kernel.read_error = 0;
    kernel.control_error = EIO;
    EXPECT_THAT(error_of(group), HasSubstr("does not begin counting: Input/output error"));
}

TEST(CounterGroup, GivesFilesBack) {
    FakePerf kernel;
    {
        CounterGroup group(kernel.calls());
        group.add(first);
        group.add(second);
        EXPECT_EQ(kernel.files.size(), 2U);
        group.keep(1);
        EXPECT_THAT(kernel.files, ElementsAre(FakePerf::first_file));
        kernel.refuses = [](const CounterEvent&) { return EINVAL; };
        EXPECT_EQ(group.add(second), EINVAL);
        EXPECT_EQ(group.size(), 1U);
    }
    EXPECT_TRUE(kernel.files.empty());
}

/// Events of this kernel.
class SoftwareEvents : public ::testing::Test {
protected:
    static constexpr std::uint64_t pages = 200;

    void add(std::uint64_t config) {
        if (const int error = group.add({PERF_TYPE_SOFTWARE, config}); error != 0)
            GTEST_SKIP() << "this system does not permit perf_event_open: " << std::strerror(error);
    }
    void TearDown() override { unmap(); }

    void unmap() {
        if (memory != nullptr) munmap(memory, bytes);
        memory = nullptr;
    }

    /// Ordinary pages that nobody has touched.
    void map() {
        unmap();
        void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(mapped, MAP_FAILED);
        madvise(mapped, bytes, MADV_NOHUGEPAGE);  // fails where there are none
        memory = static_cast<char*>(mapped);
    }

    // Sanitizers would touch pages of their own.
    __attribute__((no_sanitize("address", "thread", "undefined"))) void touch(std::uint64_t count) const {
        volatile char* const begin = memory;
        for (std::uint64_t i = 0; i < count; ++i) begin[i * page] = 1;
    }

    /// The least of several runs: the first brings the code itself in, and sanitizers touch pages now and then.
    std::vector<std::uint64_t> counts_of(const std::function<void()>& run) {
        std::vector<std::uint64_t> least = group.count([this] { map(); }, run);
        for (unsigned i = 0; i < 8; ++i) {
            const std::vector<std::uint64_t> counts = group.count([this] { map(); }, run);
            for (std::size_t event = 0; event < counts.size(); ++event)
                least[event] = std::min(least[event], counts[event]);
        }
        return least;
    }

    const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), bytes = page * pages;
    CounterGroup group;
    char* memory = nullptr;
};

TEST_F(SoftwareEvents, EachFreshPageIsOneFault) {
    add(PERF_COUNT_SW_PAGE_FAULTS);
    if (IsSkipped()) return;
    for (const std::uint64_t touched : {std::uint64_t{0}, std::uint64_t{1}, pages / 2, pages})
        EXPECT_THAT(counts_of([&] { touch(touched); }), ElementsAre(touched));
}

TEST_F(SoftwareEvents, PagesThatWereTouchedAreNone) {
    add(PERF_COUNT_SW_PAGE_FAULTS);
    if (IsSkipped()) return;
    map();
    touch(pages);
    std::uint64_t least = pages;
    for (unsigned i = 0; i < 8; ++i) least = std::min(least, group.count(no_work, [&] { touch(pages); }).front());
    EXPECT_EQ(least, 0U);
}

TEST_F(SoftwareEvents, WhatTheKernelDoesIsNotCounted) {
    add(PERF_COUNT_SW_PAGE_FAULTS);
    if (IsSkipped()) return;
    const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(zeros, 0);
    long written = 0;  // not by read(), of which sanitizers have one of their own
    EXPECT_THAT(counts_of([&] { written = syscall(SYS_read, zeros, memory, bytes); }), ElementsAre(0));
    EXPECT_EQ(written, static_cast<long>(bytes)) << "into pages that nobody had touched";
    ::close(zeros);
}

TEST_F(SoftwareEvents, ThoseOfOtherThreadsAreNotCounted) {
    add(PERF_COUNT_SW_PAGE_FAULTS);
    if (IsSkipped()) return;
    std::uint64_t alone = counts_of([&] { std::thread([] {}).join(); }).front();
    std::uint64_t with_touches = counts_of([&] { std::thread([&] { touch(pages); }).join(); }).front();
    EXPECT_LT(with_touches, alone + pages / 2) << "what makes a thread may fault, the thread's own do not count";
}

TEST_F(SoftwareEvents, EventsOfAGroupAreCountedTogether) {
    add(PERF_COUNT_SW_TASK_CLOCK);  // nanoseconds
    if (IsSkipped()) return;
    add(PERF_COUNT_SW_PAGE_FAULTS);
    add(PERF_COUNT_SW_CONTEXT_SWITCHES);
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto begin = now();
    std::chrono::nanoseconds within{};
    const std::vector<std::uint64_t> counts = counts_of([&] {
        const auto run_begin = now();
        touch(pages);
        const timespec nap{0, 5'000'000};
        nanosleep(&nap, nullptr);
        within = now() - run_begin;
    });
    const auto around = now() - begin;
    ASSERT_EQ(counts.size(), 3U);
    EXPECT_GT(counts[0], 0U);
    EXPECT_LE(counts[0], static_cast<std::uint64_t>(std::chrono::nanoseconds(around).count()));
    EXPECT_LT(counts[0] + 2'500'000, static_cast<std::uint64_t>(within.count()))
        << "a task that sleeps has no time of its own";
    EXPECT_EQ(counts[1], pages);
    EXPECT_EQ(counts[2], 0U) << "switches are made in the kernel";
}

}  // namespace
}  // namespace cachetally
