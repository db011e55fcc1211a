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
        EXPECT_NEAR(found.latency, 12, 0.6) << second.policy << second.size;
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

}  // namespace
}  // namespace cachetally
