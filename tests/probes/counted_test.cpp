// SPDX-License-Identifier: BSD-3-Clause
// What counts of misses tell where pages, page tables, short lines or a TLB above stand in the way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

MachineDescription on_random_pages(const std::string& more) {
    return read_machine(
        "name: anywhere\ncaches:\n"
        "  - {name: L1, size: 32 KiB, ways: 8, line: 64, latency: 2, virtually_indexed: true, next: L2}\n"
        "  - {name: L2, size: 256 KiB, ways: 8, line: 64, latency: 10, next: memory}\n" +
            more + "pages: {mapping: random}\nmemory: {latency: 200}\n",
        "anywhere.yaml");
}

TEST(Counted, WaysOfALevelThatPagesFillUnevenly) {
    const TestReport report = robust(on_random_pages(""), "events", small_pages());
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L1", "ways").verdict, Verdict::right);
    EXPECT_FALSE(finding(report, "L2", "capacity").value);
    EXPECT_NE(finding(report, "L2", "ways").reason.find("unevenly"), std::string::npos);
    EXPECT_EQ(finding(report, "L2", "line").verdict, Verdict::right);
}

TEST(Counted, WaysWhereNoTlbHoldsLargePages) {
    const TestReport report = robust(on_random_pages("tlbs:\n"
                                                     "  - {name: T1, entries: 64, ways: 4, page_sizes: [4 KiB], next: "
                                                     "T2}\n"
                                                     "  - {name: T2, entries: 512, ways: 8, latency: 5, page_sizes: "
                                                     "[4 KiB]}\n"),
                                     "events");
    expect_none_wrong(report);
    EXPECT_FALSE(finding(report, "L2", "ways").value);
    EXPECT_EQ(finding(report, "TLB2", "entries").verdict, Verdict::right);
}

// L2 ends within the reach of the TLBs, L3 beyond it: then page tables take lines of it.
TEST(Counted, CapacitiesBesideLinesOfPageTables) {
    const TestReport report = robust(load_machine("generic3"), "events", small_pages());
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L2", "capacity").low, 512 << 10);
    EXPECT_EQ(finding(report, "L2", "capacity").high, 512 << 10);
    EXPECT_NE(finding(report, "L3", "capacity").reason.find("page tables"), std::string::npos);
}

TEST(Counted, LinesThatCannotBeToldFromThoseFetchedWithThem) {
    const TestReport report =
        robust(read_machine("name: next\ncaches:\n"
                            "  - {name: L1, size: 32 KiB, ways: 8, latency: 4, next: L2}\n"
                            "  - {name: L2, size: 256 KiB, ways: 8, latency: 12, prefetch: next_line, next: memory}\n"
                            "memory: {latency: 100}\n",
                            "next.yaml"),
               "events");
    expect_none_wrong(report);
    EXPECT_EQ(finding(report, "L2", "capacity").verdict, Verdict::right);
    EXPECT_EQ(finding(report, "L2", "line").reason, "blocks of 128 bytes come with those before them");
    EXPECT_EQ(finding(report, "L2", "ways").reason, "other lines are fetched besides those that are loaded");
}

TEST(Counted, LinesShorterThanTheFirstStep) {
    for (const char* indexing : {"xor_hash", "modulo"})
        for (const unsigned line : {8U, 16U}) {
            const TestReport report = robust(
                read_machine(fmt::format("name: short\ncaches:\n"
                                         "  - {{name: L1, size: 8 KiB, ways: 8, line: {}, latency: 4, next: memory, "
                                         "indexing: {}}}\nmemory: {{latency: 100}}\n",
                                         line, indexing),
                             "short.yaml"),
                "events");
            expect_none_wrong(report);
            EXPECT_EQ(finding(report, "L1", "line").verdict, Verdict::right) << indexing << line;
            EXPECT_EQ(finding(report, "L1", "capacity").verdict, Verdict::right) << indexing << line;
        }
}

MachineDescription with_second(const std::string& second, const std::string& third = "") {
    return read_machine(
        "name: small\ncaches:\n  - {name: L1, size: 32 KiB, ways: 8, latency: 4, next: L2}\n  - {name: L2, " + second +
            ", latency: 10, next: " + (third.empty() ? "memory" : "L3") + "}\n" +
            (third.empty() ? "" : "  - {name: L3, " + third + ", latency: 20, next: memory}\n") +
            "memory: {latency: 200}\n",
        "small.yaml");
}

// Misses fetch sectors; what has a tag of its own are lines.
TEST(Counted, LinesThatAreFetchedInSectors) {
    for (const char* policy : {"lru", "tree_plru", "random"}) {
        const TestReport report = robust(
            read_machine(fmt::format("name: sectors\ncaches:\n"
                                     "  - {{name: L1, size: 32 KiB, ways: 8, line: 128, sector: 32, replacement: "
                                     "{0}, latency: 2, next: L2}}\n"
                                     "  - {{name: L2, size: 256 KiB, ways: 4, line: 128, sector: 64, replacement: "
                                     "{0}, latency: 10, next: memory}}\n"
                                     "memory: {{latency: 200}}\n",
                                     policy),
                         "sectors.yaml"),
            "events");
        expect_none_wrong(report);
        EXPECT_EQ(finding(report, "L1", "line").verdict, Verdict::right) << policy;
        if (std::string_view(policy) == "random") continue;  // it takes long to fill a set
        EXPECT_EQ(finding(report, "L2", "line").verdict, Verdict::right) << policy;
    }
}

// A policy that no use changes loses both lines of a pair at once.
TEST(Counted, PairsOfLinesAreNoLines) {
    for (const auto& [policy, more, line] : {std::tuple{"lru", ", prefetch: adjacent_line", 64},
                                             {"tree_plru", ", prefetch: adjacent_line", 64},
                                             {"fifo", ", prefetch: adjacent_line", 0},
                                             {"lru", ", line: 128", 128},
                                             {"tree_plru", ", line: 128", 128}}) {
        const TestReport report =
            robust(with_second(fmt::format("size: 512 KiB, ways: 8, replacement: {}{}", policy, more)), "events");
        expect_none_wrong(report);
        const Finding& found = finding(report, "L2", "line");
        EXPECT_EQ(found.value ? found.value->number : 0, line) << policy << more;
    }
}

// Its misses begin with those of the level above, which has room for more.
TEST(Counted, ALevelNoLargerThanTheOneAboveIsRefused) {
    for (const auto& [second, third, level] :
         {std::tuple{"size: 16 KiB, ways: 4", "", "L2"},
          {"size: 24 KiB, ways: 6, replacement: tree_plru", "size: 1 MiB, ways: 16", "L2"},
          {"size: 32 KiB, ways: 4", "", "L2"},
          {"size: 256 KiB, ways: 8", "size: 128 KiB, ways: 16", "L3"}}) {
        const TestReport report = robust(with_second(second, third), "events");
        expect_none_wrong(report);
        EXPECT_NE(finding(report, level, "capacity").reason.find("it may hold less"), std::string::npos) << second;
        EXPECT_FALSE(finding(report, level, "ways").value) << second;
        EXPECT_EQ(finding(report, "L1", "capacity").verdict, Verdict::right) << second;
    }
}

// LRU keeps no line of so many: all of them come to the second level.
TEST(Counted, ALevelLittleLargerThanTheOneAboveIsFound) {
    const TestReport report = robust(with_second("size: 48 KiB, ways: 6"), "events");
    EXPECT_EQ(finding(report, "L2", "capacity").low, 48 << 10);
    EXPECT_EQ(finding(report, "L2", "capacity").verdict, Verdict::right);
}

/// A direct-mapped TLB before another.
MachineDescription two_tlbs(unsigned first, unsigned second, unsigned ways) {
    return read_machine(
        fmt::format("name: two\ncaches:\n  - {{name: L1, size: 32 KiB, ways: 8, latency: 2, next: memory}}\n"
                    "tlbs:\n  - {{name: T1, entries: {}, ways: 1, latency: 2, next: T2}}\n"
                    "  - {{name: T2, entries: {}, ways: {}, latency: 3}}\nmemory: {{latency: 100}}\n",
                    first, second, ways),
        "two.yaml");
}

// 64 + 96 / 2 = 112 pages: 16 of them meet with none in the first TLB and stay there. Of 126 entries only one does.
TEST(Counted, ATlbLittleLargerThanADirectMappedOne) {
    for (const auto& [first, second, ways] :
         {std::tuple{64U, 96U, 2U}, std::tuple{8U, 12U, 2U}, std::tuple{64U, 126U, 126U}})
        for (const char* test : {"tlb", "events"}) {
            const TestReport report = robust(two_tlbs(first, second, ways), test);
            expect_none_wrong(report);
            EXPECT_EQ(finding(report, "TLB1", "entries").verdict, Verdict::right) << test << second;
            EXPECT_NE(finding(report, "TLB2", "entries").reason.find("TLB above keeps"), std::string::npos)
                << test << second;
        }
}

TEST(Counted, ATlbTwiceAsLargeAsADirectMappedOne) {
    for (const char* test : {"tlb", "events"}) {
        const TestReport report = robust(two_tlbs(64, 128, 2), test);
        expect_none_wrong(report);
        EXPECT_EQ(finding(report, "TLB2", "entries").verdict, Verdict::right) << test;
    }
}

/// A target whose counts others may be in.
class SharedCounts final : public ProbeTarget {
public:
    explicit SharedCounts(ProbeTarget& target) : target_(target), can_(target.capabilities()) {
        can_.exact_events = false;
    }
    const Capabilities& capabilities() const override { return can_; }
    void keep_to(const Budget& budget) override { target_.keep_to(budget); }
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override { return target_.make_arena(bytes, page); }
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override {
        return target_.run(arena, chase, effort);
    }
    Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) override {
        return target_.prime_and_probe(arena, both, effort);
    }
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) override {
        return target_.latencies(arena, chase, warm_up, samples);
    }
    void release(const Arena& arena) override { target_.release(arena); }
    ProbeCost cost() const override { return target_.cost(); }

private:
    ProbeTarget& target_;
    Capabilities can_;
};

/// Then levels are found by times, as where nothing is counted.
TEST(Counted, CountsThatOthersAreInDecideNoLevels) {
    SimulatedOptions none;
    none.no_events = "none";
    SuiteOptions suite;
    suite.tests = {"levels"};
    suite.published = false;
    const MachineDescription machine = read_machine(
        "name: close\ncaches:\n  - {name: L1, size: 32 KiB, ways: 8, latency: 2, next: L2}\n"
        "  - {name: L2, size: 48 KiB, ways: 12, latency: 10, next: memory}\nmemory: {latency: 200}\n",
        "close.yaml");
    SimulatedTarget counted(machine), uncounted(machine, none);
    SharedCounts shared(counted);
    const TestReport with = run_suite(shared, suite).front(), without = run_suite(uncounted, suite).front();
    ASSERT_EQ(with.findings.size(), without.findings.size());
    for (std::size_t i = 0; i < with.findings.size(); ++i) {
        EXPECT_EQ(with.findings[i].value, without.findings[i].value) << with.findings[i].parameter;
        EXPECT_EQ(with.findings[i].reason, without.findings[i].reason);
    }
    SimulatedTarget exact(machine);
    EXPECT_NE(run_suite(exact, suite).front().find("", "levels"), nullptr);
    EXPECT_EQ(with.find("", "levels"), nullptr) << "L2 is too close to L1 for times to tell";
}

}  // namespace
}  // namespace cachetally
