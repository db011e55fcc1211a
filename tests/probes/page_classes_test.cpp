// SPDX-License-Identifier: BSD-3-Clause
// The second level by classes of pages: capacities, ways and latencies as machine files state them.
#include "probes/ours/page_classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cachetally/machine.hpp"
#include "probes/targets/simulated.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

struct Second {
    std::string size = "128 KiB", policy = "lru", inclusion = "nine", page = "4 KiB", mapping = "random";
    unsigned ways = 4;
};

MachineDescription machine_with(const Second& second) {
    return read_machine(
        fmt::format("name: any\ncaches:\n  - {{name: L1, size: 16 KiB, ways: 4, latency: 3, next: L2}}\n"
                    "  - {{name: L2, size: {}, ways: {}, latency: 9, replacement: {}, inclusion: {}, next: memory}}\n"
                    "pages: {{size: {}, mapping: {}}}\ntlbs:\n  - {{name: T, entries: 64, ways: full}}\n"
                    "memory: {{latency: 100}}\n",
                    second.size, second.ways, second.policy, second.inclusion, second.page, second.mapping),
        "any.yaml");
}

PageClasses classes_of(const Second& second) {
    SimulatedOptions options;
    options.large_pages.clear();
    SimulatedTarget target(machine_with(second), options);
    Meter meter(target, 1);
    std::vector<std::string> decisions;
    return find_page_classes(meter, {.capacity = 16 << 10, .line = 64, .ways = 4, .latency = 3}, decisions);
}

// Classes are pages of a way, by hand: 128 KiB in 4 ways of 8 pages each, ...
TEST(PageClasses, AreThePagesOfAWay) {
    for (const auto& [second, classes] :
         std::vector<std::pair<Second, std::uint64_t>>{{{}, 8},
                                                       {{.policy = "fifo"}, 8},
                                                       {{.size = "96 KiB", .ways = 6}, 4},
                                                       {{.size = "160 KiB", .ways = 5}, 8},
                                                       {{.inclusion = "inclusive", .ways = 8}, 4},
                                                       {{.mapping = "contiguous"}, 8}}) {
        const PageClasses found = classes_of(second);
        EXPECT_EQ(found.why_not, "") << second.policy << second.size;
        EXPECT_EQ(found.classes, classes) << second.policy << second.size;
        EXPECT_EQ(found.ways, second.ways) << second.policy << second.size;
        EXPECT_NEAR(found.latency.value_or(0), 12, 0.6) << second.policy << second.size;
    }
}

TEST(PageClasses, AreRefusedWhereAllPagesMeet) {
    EXPECT_THAT(classes_of({.size = "32 KiB", .ways = 8}).why_not, ::testing::Not(::testing::IsEmpty()));
}

TEST(PageClasses, AreRefusedWithoutASecondLevel) {
    const MachineDescription machine = read_machine(
        "name: one\ncaches:\n  - {name: L1, size: 16 KiB, ways: 4, latency: 3, next: memory}\n"
        "pages: {size: 4 KiB, mapping: random}\nmemory: {latency: 100}\n",
        "one.yaml");
    SimulatedOptions options;
    options.large_pages.clear();
    SimulatedTarget target(machine, options);
    Meter meter(target, 1);
    std::vector<std::string> decisions;
    const L1Geometry l1{.capacity = 16 << 10, .line = 64, .ways = 4, .latency = 3};
    EXPECT_THAT(find_page_classes(meter, l1, decisions).why_not, HasSubstr("do not evict each other"));
}

// The same, as a user asks for it.
TEST(PageClasses, TellCapacityAndWaysToLevels) {
    SimulatedOptions options;
    options.large_pages.clear();
    const TestReport report = robust(machine_with({}), "levels", options);
    for (const Finding& each : report.findings) EXPECT_NE(each.verdict, Verdict::wrong) << each.parameter;
    const Finding* capacity = report.find("L2", "capacity");
    ASSERT_NE(capacity, nullptr);
    EXPECT_EQ(capacity->low, 128 << 10);
    EXPECT_EQ(capacity->high, 128 << 10);
    ASSERT_NE(report.find("L2", "ways"), nullptr);
    EXPECT_EQ(report.find("L2", "ways")->value->number, 4);
}

// A third level that is left with the second one is not taken for it, and half of the classes are no capacity: pages
// in a row, of which every other one meets in L1.
TEST(PageClasses, SmallSecondLevelsAreNotTakenForTheThird) {
    SimulatedOptions options;
    options.large_pages.clear();
    options.no_events = "lines that L2 holds would be counted";
    for (const char* mapping : {"contiguous", "random"}) {
        const TestReport report =
            robust(read_machine(fmt::format("name: any\ncaches:\n  - {{name: L1, size: 8 KiB, ways: 1, latency: 4, "
                                            "virtually_indexed: true, next: L2}}\n"
                                            "  - {{name: L2, size: 64 KiB, ways: 4, latency: 12, replacement: random, "
                                            "next: L3}}\n  - {{name: L3, size: 256 KiB, ways: 8, latency: 32, "
                                            "inclusion: inclusive, next: memory}}\n"
                                            "pages: {{mapping: {}}}\nmemory: {{latency: 192}}\n",
                                            mapping),
                                "any.yaml"),
                   "levels", options);
        expect_none_wrong(report);
        EXPECT_EQ(std::ranges::count_if(
                      report.findings,
                      [](const Finding& each) { return each.level == "L2" && each.parameter == "capacity"; }),
                  1)
            << mapping;
        const bool anywhere = mapping == std::string("random");
        EXPECT_EQ(finding(report, "L2", "capacity").verdict == Verdict::right, anywhere) << mapping;
    }
}

// Four pages fill the second level, of whichever class of the third they are.
TEST(PageClasses, OfTheThirdLevelAreNotTakenForThoseOfTheSecond) {
    SimulatedOptions options;
    options.large_pages.clear();
    SimulatedTarget target(
        read_machine("name: any\ncaches:\n  - {name: L1, size: 8 KiB, ways: 2, latency: 3, next: L2}\n"
                     "  - {name: L2, size: 64 KiB, ways: 16, latency: 9, next: L3}\n"
                     "  - {name: L3, size: 512 KiB, ways: 4, latency: 24, next: memory}\n"
                     "pages: {size: 16 KiB, mapping: random}\nmemory: {latency: 180}\n",
                     "any.yaml"),
        options);
    Meter meter(target, 1);
    std::vector<std::string> decisions;
    const L1Geometry l1{.capacity = 8 << 10, .line = 64, .ways = 2, .latency = 3};
    EXPECT_THAT(find_page_classes(meter, l1, decisions).why_not, HasSubstr("smaller level"));
}

// Of few classes those that take L1 from a page are often of one, and evict pages of that one as well.
TEST(PageClasses, TwoAreNotTakenForOne) {
    for (std::uint64_t seed = 1; seed <= seeds(12); ++seed) {
        SimulatedOptions options;
        options.large_pages.clear();
        options.seed = seed;
        SimulatedTarget target(
            read_machine("name: any\ncaches:\n  - {name: L1, size: 16 KiB, ways: 4, latency: 1, replacement: fifo, "
                         "virtually_indexed: true, next: L2}\n  - {name: L2, size: 96 KiB, ways: 4, latency: 7, "
                         "inclusion: exclusive, replacement: random, next: memory}\n"
                         "pages: {mapping: random}\nmemory: {latency: 29}\n",
                         "any.yaml"),
            options);
        Meter meter(target, seed);
        std::vector<std::string> decisions;
        const L1Geometry l1{.capacity = 16 << 10, .line = 64, .ways = 4, .latency = 1};
        const PageClasses found = find_page_classes(meter, l1, decisions);
        EXPECT_TRUE(!found.why_not.empty() || found.classes == 6) << seed << ": " << found.classes;
    }
}

// Random replacement keeps some of few pages in L1, and a small TLB loses them.
TEST(PageClasses, LatenciesThatDependOnWhatElseIsInThemAreRefused) {
    SimulatedOptions options;
    options.large_pages.clear();
    const TestReport report =
        robust(read_machine("name: any\ncaches:\n"
                            "  - {name: L1, size: 64 KiB, ways: 16, latency: 2, replacement: random, next: L2}\n"
                            "  - {name: L2, size: 192 KiB, ways: 12, latency: 8, inclusion: inclusive, next: memory}\n"
                            "pages: {mapping: random}\ntlbs:\n  - {name: T, entries: 8, ways: full, next: U}\n"
                            "  - {name: U, entries: 512, ways: 4, latency: 6}\nmemory: {latency: 100}\n",
                            "any.yaml"),
               "levels", options);
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L2", "capacity").verdict, Verdict::right);
}

}  // namespace
}  // namespace cachetally
