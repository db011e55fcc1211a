// SPDX-License-Identifier: BSD-3-Clause
// What is true of a machine, by hand; how answers are judged; how a budget is shared; what the suite leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/savings.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

std::pair<double, double> fact(const std::vector<Fact>& facts, const std::string& level, const std::string& parameter) {
    for (const Fact& one : facts)
        if (one.level == level && one.parameter == parameter)
            return {one.value.number, std::max(one.high, one.value.number)};
    return {-1, -1};
}

using Between = std::pair<double, double>;

// 4 + 14 + 200 in the node of the first core; where pages lie in all nodes in turn no one latency is true.
TEST(Truth, MemoryOfTheFirstNode) {
    MachineDescription machine = load_machine("numa4");
    EXPECT_EQ(fact(facts_of(machine), "memory", "latency").first, 218);
    machine.numa.policy = HomePolicy::interleaved;
    EXPECT_EQ(fact(facts_of(machine), "memory", "latency").first, -1);
}

// Four pages of 8 KiB where frames follow one another; else one. Parts of pages are what they are.
TEST(Truth, APageOfATlbIsWhatAnEntryMaps) {
    MachineDescription machine = load_machine("bench3tlb");
    machine.pages.size = 8192;
    TlbConfig& tlb = machine.tlbs.front();
    const auto page = [&] { return fact(facts_of(machine), "TLB1", "page").first; };
    for (const Mapping mapping : {Mapping::identity, Mapping::contiguous, Mapping::random, Mapping::coloured}) {
        machine.pages.mapping = mapping;
        tlb.granule = 0;
        EXPECT_EQ(page(), 8192);
        tlb.coalesces = 4;
        EXPECT_EQ(page(), mapping == Mapping::identity || mapping == Mapping::contiguous ? 32768 : 8192);
        EXPECT_EQ(fact(facts_of(machine), "TLB1", "entries").first, tlb.entries);
        tlb.coalesces = 1;
        tlb.granule = 4096;
        EXPECT_EQ(page(), 4096);
    }
}

// By hand from the file: 4; + a line at 64 bytes per cycle 1 + 9; + 8 + 64/32 + 20; + 20 + 64/16 + 176.
TEST(Truth, LatenciesHaveTheTimeOnLinksInThem) {
    const std::vector<Fact> facts = facts_of(load_machine("generic3-timed"));
    EXPECT_EQ(fact(facts, "L1", "latency").first, 4);
    EXPECT_EQ(fact(facts, "L2", "latency").first, 14);
    EXPECT_EQ(fact(facts, "L3", "latency").first, 44);
    EXPECT_EQ(fact(facts, "memory", "latency").first, 244);
}

TEST(Truth, LatenciesOfATimedMachineAreFound) {
    const MachineDescription machine = load_machine("generic3-timed");
    SimulatedTarget target(machine);
    SuiteOptions options;
    options.tests = {"levels"};
    options.published = false;
    TestReport report = run_suite(target, options).back();
    judge(report, machine);
    for (const char* level : {"L2", "L3", "memory"}) EXPECT_NE(report.find(level, "latency"), nullptr) << level;
    for (const Finding& finding : report.findings) EXPECT_NE(finding.verdict, Verdict::wrong) << finding.level;
}

// Every load asks the first TLB, and a walk the others, too.
TEST(Truth, LatenciesHaveTheFirstTlbInThem) {
    const MachineDescription machine = read_machine(
        "name: m\ncaches:\n  - {name: L1, next: memory, size: 4 KiB, ways: 4, latency: 4}\n"
        "tlbs:\n  - {name: A, next: B, entries: 32, ways: 4, latency: 1}\n  - {name: B, entries: 64, ways: 4, latency: "
        "7}\n"
        "pages: {walk: {latency: 40, references: false}}\nmemory: {latency: 180}\n",
        "m");
    const std::vector<Fact> facts = facts_of(machine);
    EXPECT_EQ(fact(facts, "L1", "latency").first, 5);
    EXPECT_EQ(fact(facts, "memory", "latency").first, 185);
    EXPECT_EQ(fact(facts, "walk", "latency").first, 232);
    SimulatedTarget target(machine);
    SuiteOptions options;
    options.tests = {"l1"};
    TestReport report = run_suite(target, options).back();
    ASSERT_NE(report.find("L1", "latency"), nullptr);
    EXPECT_EQ(report.find("L1", "latency")->value->number, 5);
}

MachineDescription with_victim_cache() {
    return read_machine(
        "name: victim\ncaches:\n"
        "  - {name: L1, next: V, size: 48 KiB, ways: 12, latency: 5, virtually_indexed: true}\n"
        "  - {name: V, next: L2, size: 2 KiB, ways: full, latency: 2, inclusion: victim}\n"
        "  - {name: L2, next: memory, size: 1 MiB, ways: 16, latency: 12}\nmemory: {latency: 180}\n",
        "victim");
}

TEST(Truth, AVictimCacheHoldsWhatTheLevelAboveDoesNot) {
    constexpr double kib = 1024;
    const std::vector<Fact> built = facts_of(with_victim_cache());
    EXPECT_EQ(fact(built, "", "levels").first, 3);
    EXPECT_EQ(fact(built, "L2", "capacity"), Between(48 * kib, 50 * kib));
    EXPECT_EQ(fact(built, "L2", "ways"), Between(32, 44));
    EXPECT_EQ(fact(built, "L3", "capacity"), Between(1024 * kib, 1024 * kib));
    const std::vector<Fact> part = facts_of(with_victim_cache(), Reading::part_of_above);
    EXPECT_EQ(fact(part, "", "levels").first, 2);
    EXPECT_EQ(fact(part, "L1", "capacity"), Between(48 * kib, 50 * kib));
    EXPECT_EQ(fact(part, "L1", "ways"), Between(12, 44));
    EXPECT_EQ(fact(part, "L2", "capacity"), Between(1024 * kib, 1024 * kib));
    EXPECT_EQ(fact(part, "L2", "latency").first, 19);
    EXPECT_EQ(fact(part, "memory", "latency").first, 199);
}

TEST(Truth, AReportIsJudgedByOneReading) {
    TestReport report;
    report.answer("", "levels", 2, 2, 2, "levels", "");
    report.answer("L2", "capacity", 1 << 20, 1 << 20, 1 << 20, "bytes", "");
    judge(report, with_victim_cache());
    for (const Finding& finding : report.findings) EXPECT_EQ(finding.verdict, Verdict::right) << finding.parameter;
    report.findings.clear();
    report.answer("", "levels", 2, 2, 2, "levels", "");
    report.answer("L2", "capacity", 48 << 10, 48 << 10, 48 << 10, "bytes", "");  // 2 levels and this do not go together
    judge(report, with_victim_cache());
    EXPECT_EQ(report.findings[0].verdict == Verdict::wrong, report.findings[1].verdict == Verdict::right);
}

// Opteron: 64 KiB in 2 ways above 1 MiB in 16; X-Ray found 1088 KB in 17 ways. (Yotov et al. 2004, 5.2.2)
TEST(Truth, AnExclusiveLevelIsBetweenItsSizeAndTheSum) {
    const std::vector<Fact> facts = facts_of(load_machine("xray-opteron240"));
    EXPECT_EQ(fact(facts, "L2", "capacity"), Between(1024 << 10, 1088 << 10));
    EXPECT_EQ(fact(facts, "L2", "ways"), Between(16, 17));
}

TEST(Findings, CountsAreWholeAndTimesAreNot) {
    TestReport report;
    report.answer("L2", "capacity", 262144, 260833.28, 275251.2, "bytes", "");
    EXPECT_EQ(report.findings[0].low, 260834);
    EXPECT_EQ(report.findings[0].high, 275251);
    report.answer("TLB1", "entries", 64, 64.4, 63.9, "entries", "");  // the value lies in its interval
    EXPECT_EQ(report.findings[1].low, 64);
    EXPECT_EQ(report.findings[1].high, 64);
    report.answer("L1", "latency", 2.5, 2.4, 2.6, "cycles", "");
    EXPECT_EQ(report.findings[2].value->number, 2.5);
    report.answer("L1", "fp_bypass", "present", "");
    EXPECT_EQ(report.findings[3].unit, "boolean");
    EXPECT_EQ(edge_in_words(64, 64, "pages"), "at 64 pages");
    EXPECT_EQ(edge_in_words(64, 66, "pages"), "between 64 and 66 pages");
}

// The published levels alone take 19e9 cycles on this machine.
TEST(Suite, OneTestDoesNotEatTheBudgetOfOthers) {
    SimulatedTarget target(load_machine("intel-t9600"));
    SuiteOptions options;
    options.tests = {"l1", "levels", "tlb"};
    options.budget.most_cycles = 1e9;
    const std::vector<TestReport> reports = run_suite(target, options);
    ASSERT_EQ(reports.size(), 6U);
    EXPECT_LT(target.cost().cycles, 1.1e9);
    for (const TestReport& report : reports) {
        const bool spent = report.test == "levels" && report.variant == "published";
        EXPECT_EQ(report.findings.front().reason == "its share of the budget is spent", spent)
            << report.test << ' ' << report.variant;
    }
    EXPECT_NE(reports[5].find("TLB1", "entries"), nullptr);
}

TEST(Suite, VariantsThatThereAreNotAreToldOf) {
    SuiteOptions options;
    EXPECT_TRUE(left_out_of(options).empty());
    options.published = false;
    EXPECT_THAT(left_out_in_words(options),
                HasSubstr("gap (l1 answers the same), lower (levels and l2 answer the same)"));
    options.tests = {"chase"};
    EXPECT_THROW(left_out_of(options), std::invalid_argument);
    options.tests = {"chase", "l1"};
    EXPECT_EQ(left_out_of(options).size(), 1U);
    for (const ProbeTest& test : probe_tests()) {
        EXPECT_EQ(note_of(test.name).empty(), test.published && test.robust) << test.name;
        for (const std::string& other : test.counterparts) {
            const auto found = std::ranges::find(probe_tests(), other, &ProbeTest::name);
            ASSERT_NE(found, probe_tests().end()) << other;
            EXPECT_TRUE(found->has(test.published ? "robust" : "published")) << other;
        }
    }
}

// Lines of L2 are eight of L1's: one load in eight goes to memory, and is a peak all the same.
TEST(Latency, MemoryIsFoundBehindLongerLines) {
    const MachineDescription machine = load_machine("xray-r12000");
    SimulatedOptions small;
    small.largest_arena = 8 << 20;  // L2 has 2 MiB
    SimulatedTarget target(machine, small);
    SuiteOptions options;
    options.tests = {"latency"};
    TestReport report = run_suite(target, options).back();
    judge(report, machine);
    ASSERT_NE(report.find("memory", "latency"), nullptr);
    EXPECT_EQ(report.find("memory", "latency")->value->number, 111);
    for (const Finding& finding : report.findings) EXPECT_NE(finding.verdict, Verdict::wrong) << finding.level;
}

// What sweeps say they saved is what exhaustive ones cost besides: knock-out saves runs of the same sweeps.
TEST(MeasuredSavings, StandBesideExhaustiveRuns) {
    SuiteOptions options;
    options.tests = {"levels", "tlb"};
    options.sweep.sweep.stability = 4;
    const auto target = [] {
        SimulatedOptions small;
        small.largest_arena = 1 << 20;
        return std::make_unique<SimulatedTarget>(load_machine("bcm2835"), small);
    };
    const std::vector<Saving> savings = measure_savings(target, options, 2);
    ASSERT_EQ(savings.size(), 4U);
    EXPECT_EQ(savings[0].test + savings[0].without, "levelsknock-out");
    EXPECT_EQ(savings[3].without, "both");
    for (const Saving& one : savings) {
        EXPECT_GT(one.references_ratio(), 1) << one.test << one.without;
        EXPECT_GT(one.exhaustive.host_seconds, 0);
    }
    EXPECT_GT(savings[3].exhaustive.cost.references, savings[2].exhaustive.cost.references);
    options.tests = {"l1"};
    EXPECT_THROW(measure_savings(target, options, 1), std::invalid_argument);
}

}  // namespace
}  // namespace cachetally
