// SPDX-License-Identifier: BSD-3-Clause
// The test `cores`: machines whose files say what is right, and a target of our own that is disturbed as real ones are.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "cachetally/topology.hpp"
#include "probes/ours/cores.hpp"
#include "probes/recording/recorded_target.hpp"
#include "probes/recording/recorder.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"
#include "storage/file.hpp"

namespace cachetally {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Cores with private caches of 4 KiB or caches of some of them, below which all share 64 KiB and 256 KiB.
std::string smp(unsigned cores, unsigned node, const std::string& coherence) {
    return fmt::format(
        "name: smp\ncores: {}\ncaches:\n  - {{name: L1, next: L2, size: 4 KiB, ways: 4, latency: 3, shared_by: {}}}\n"
        "  - {{name: L2, next: L3, size: 32 KiB, ways: 8, latency: 10, shared_by: {}}}\n"
        "  - {{name: L3, next: memory, size: 256 KiB, ways: 16, latency: 30, shared_by: all}}\n{}"
        "pages: {{size: 4 KiB}}\nmemory: {{latency: 150}}\n",
        cores, node, node, coherence);
}
const char mesi[] = "coherence: {protocol: mesi, by: directory, latency: 2, forward: 15, supply: 20}\n";
const char moesi[] = "coherence: {protocol: moesi, by: snooping, latency: 6, supply: 25}\n";

SuiteOptions cores_alone() {
    SuiteOptions suite;
    suite.tests = {"cores"};
    suite.published = false;
    return suite;
}

TestReport cores_of(ProbeTarget& target) { return run_suite(target, cores_alone()).front(); }

std::string word(const TestReport& report, const std::string& level, const std::string& parameter) {
    const Finding* found = report.find(level, parameter);
    return found == nullptr ? "-" : found_in_words(*found);
}

struct Machine {
    const char* name;
    std::string text;
    std::vector<std::string> found;  ///< shared_by of levels, then groups
};

class CoresOfMachines : public ::testing::TestWithParam<Machine> {};

TEST_P(CoresOfMachines, AreThoseOfItsFile) {
    const MachineDescription machine = read_machine(GetParam().text, "machine.yaml");
    for (const char* noise : {"none", "quiet", "realistic"}) {
        SimulatedOptions options;
        options.noise = noise_named(noise);
        SimulatedTarget target(machine, options);
        TestReport report = cores_of(target);
        judge(report, machine);
        std::vector<std::string> found;
        for (const char* level : {"L1", "L2", "L3"})
            if (report.find(level, "shared_by") != nullptr) found.push_back(word(report, level, "shared_by"));
        found.push_back(word(report, "", "transfer_groups"));
        EXPECT_EQ(found, GetParam().found) << noise;
        for (const Finding& finding : report.findings)
            EXPECT_TRUE(finding.verdict == Verdict::right || finding.parameter == "shared_among" ||
                        (target.capabilities().timer_quantum > 0 && finding.reason.find("goes in steps of") < 20))
                << noise << ' ' << finding.level << ' ' << finding.parameter << ' ' << finding.reason;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, CoresOfMachines,
    ::testing::Values(Machine{"TwoAlone", smp(2, 1, mesi), {"1", "1", "2", "0+1"}},
                      Machine{"TwoTogether", smp(2, 2, ""), {"2", "2", "2", "0+1"}},
                      Machine{"FourInPairs", smp(4, 2, moesi), {"2", "2", "4", "0+1 2+3"}},
                      Machine{"EightInFours", smp(8, 4, mesi), {"4", "4", "8", "0-3 4-7"}},
                      Machine{"FourInNodesOfMemory",
                              "name: numa\ncores: 4\ncaches:\n  - {name: L1, next: L2, size: 4 KiB, ways: 4, latency: "
                              "3, shared_by: 1}\n  - {name: L2, next: numa, size: 32 KiB, ways: 8, latency: 10, "
                              "shared_by: 1}\n" +
                                  std::string(mesi) +
                                  "numa: {nodes: 2, policy: first_touch, interconnect: {latency: 60}}\nmemories:\n  - "
                                  "{name: M0, node: 0, latency: 150}\n  - {name: M1, node: 1, latency: 150}\n",
                              {"1", "1", "0+1 2+3"}}),
    [](const auto& machine) { return machine.param.name; });

// The exclusive or of 16 sets puts multiples of 17 lines into one, of which all would leave the shared L1.
TEST(Cores, LinesThatMoveAreSpreadByHashes) {
    SimulatedTarget target(
        read_machine("name: hashed\ncores: 4\ncaches:\n"
                     "  - {name: L1, next: L2, size: 16 KiB, ways: 8, line: 128, latency: 5, "
                     "indexing: xor_hash, virtually_indexed: true, shared_by: 2}\n"
                     "  - {name: L2, next: memory, size: 128 KiB, ways: 8, line: 128, latency: 20, "
                     "shared_by: 2}\n" +
                         std::string(mesi) + "memory: {latency: 150}\n",
                     "machine.yaml"));
    EXPECT_EQ(word(cores_of(target), "transfer 1", "latency"), "5");
}

TEST(Cores, LinesThatDoNotMoveLeaveWhoSharesWhat) {
    SimulatedTarget target(read_machine(smp(4, 2, ""), "machine.yaml"));
    const TestReport report = cores_of(target);
    EXPECT_EQ(word(report, "L1", "shared_among"), "0+1 2+3");
    EXPECT_EQ(word(report, "L3", "shared_among"), "0-3");
    EXPECT_TRUE(report.matrices.empty());
    EXPECT_THAT(report.findings.front().reason, HasSubstr("not kept coherent"));
}

TEST(Cores, OneProcessorIsRefusedWithItsReason) {
    SimulatedTarget target(load_machine("generic3"));
    const TestReport report = cores_of(target);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().reason, "the machine has one core");
}

/// Lines of six processors take as long as `cycles` says; nothing is shared.
class ManyProcessors : public ProbeTarget {
public:
    std::function<double(unsigned from, unsigned to, unsigned question)> cycles = [](auto...) { return 100; };
    std::function<double(unsigned one, unsigned other, unsigned question)> after =
        [](unsigned one, unsigned other, auto) { return one == other ? 20 : 4; };
    double spread = 0.001;        ///< of the rounds, as a share
    double cost_of_question = 1;  ///< cycles

    explicit ManyProcessors(unsigned count) {
        can_.page_sizes = {4096};
        can_.largest_arena = 1 << 20;
        for (unsigned i = 0; i < count; ++i) can_.processors.push_back(2 * (i + 1));  // as a mask may leave them
        can_.processors.erase(can_.processors.begin());
        can_.no_processors.clear();
    }

    void keep_to(const Budget& budget) override { budget_ = budget; }
    const Capabilities& capabilities() const override { return can_; }
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override { return {0, bytes, page, true}; }
    Measurement run(const Arena&, const Chase&, const Effort&) override { return answer(4 + 0.01 * (runs_++ % 3)); }
    std::vector<double> latencies(const Arena&, const Chase&, unsigned, unsigned) override { return {}; }
    Measurement transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned) override {
        check_transfer(can_, arena, from, to);
        return answer(cycles(from, to.processor, questions_++));
    }
    Measurement run_after(const Arena&, const ChaseOn& one, const ChaseOn& other, unsigned) override {
        const bool nothing = other.chase.offsets.size() == 1;
        return answer(nothing ? 4 : after(one.processor, other.processor, questions_++));
    }
    void release(const Arena&) override {}
    ProbeCost cost() const override { return cost_; }

private:
    Measurement answer(double time) {
        cost_.cycles += cost_of_question;
        if (cost_.cycles > budget_.most_cycles) throw BudgetSpent();
        Measurement found;
        found.cycles = time;
        found.quantiles = {time, time * (1 - spread), time, time * (1 + spread), time};
        return found;
    }

    Capabilities can_;
    Budget budget_;
    ProbeCost cost_;
    unsigned questions_ = 0, runs_ = 0;
};

TestReport found_on(ManyProcessors& target, double most_cycles = 1e9, bool prefetches = false) {
    Meter meter(target, 1, {.most_cycles = most_cycles});
    L1Geometry l1;
    l1.capacity = 4096;
    l1.line = 64;
    l1.latency = 4;
    return cores_robust(meter, l1, std::nullopt, prefetches);
}

std::string reason(const TestReport& report, const std::string& level, const std::string& parameter) {
    for (const Finding& finding : report.findings)
        if (finding.level == level && finding.parameter == parameter && !finding.value) return finding.reason;
    return "";
}

// Processors 2 4 6 | 8 10 12, within 100 cycles, else 124 or 126: a rise of less than a quarter is none.
TEST(CoresOfATarget, AreGroupedWhereAQuarterLies) {
    for (const double far : {124.0, 126.0}) {
        ManyProcessors target(6);
        target.cycles = [&](unsigned from, unsigned to, auto) { return (from < 7) == (to < 7) ? 100 : far; };
        const TestReport report = found_on(target);
        EXPECT_EQ(word(report, "", "transfer_groups"), far < 125 ? "2+4+6+8+10+12" : "2+4+6 8+10+12");
        EXPECT_EQ(report.find("transfer 2", "latency") != nullptr, far > 125);
        EXPECT_EQ(report.find("transfer 1", "latency")->value->number, far < 125 ? 124 : 100) << "the middle one";
    }
}

// It has ordinary pages alone.
TEST(CoresOfATarget, LinesThatAPrefetcherMayBringEarlyHaveNoLatency) {
    ManyProcessors target(4);
    const TestReport report = found_on(target, 1e9, true);
    EXPECT_EQ(report.find("transfer 1", "latency"), nullptr);
    EXPECT_THAT(reason(report, "transfer 1", "latency"), HasSubstr("prefetcher"));
    EXPECT_EQ(word(report, "", "transfer_groups"), "2+4+6+8");
}

TEST(CoresOfATarget, WideIntervalsAreNoGroups) {
    ManyProcessors target(4);
    target.cycles = [&](unsigned from, unsigned to, auto) { return (from < 5) == (to < 5) ? 100 : 150; };
    target.spread = 0.3;
    EXPECT_EQ(word(found_on(target), "", "transfer_groups"), "2+4+6+8");
}

TEST(CoresOfATarget, AChainOfNearOnesIsNoGroup) {
    ManyProcessors target(3);
    target.cycles = [&](unsigned from, unsigned to, auto) { return from + to == 8 ? 200 : 100; };  // 2 and 6
    const TestReport report = found_on(target);
    EXPECT_THAT(reason(report, "", "transfer_groups"), HasSubstr("not to each other"));
    EXPECT_EQ(report.find("transfer 2", "latency")->value->number, 200);
}

TEST(CoresOfATarget, ProcessorsThatMoveAreRefused) {
    ManyProcessors target(2);
    target.cycles = [&](auto, auto, unsigned question) { return question < 2 ? 100 : 450; };
    const TestReport report = found_on(target);
    EXPECT_THAT(reason(report, "", "transfer_groups"),
                HasSubstr("between 2 and 4 a line took 100.0 cycles, and 450.0 at another time"));
    EXPECT_EQ(report.find("transfer 1", "latency"), nullptr);
}

TEST(CoresOfATarget, OneWayMayTakeLonger) {
    ManyProcessors target(2);
    target.cycles = [&](unsigned from, auto, auto) { return from == 2 ? 100 : 120; };
    const TestReport report = found_on(target);
    EXPECT_THAT(report.decisions, ElementsAre("between 2 and 4 a line takes 100.0 cycles one way, 120.0 the other"));
    ASSERT_EQ(report.matrices.size(), 1U);
    const ProcessorMatrix& matrix = report.matrices.front();
    EXPECT_EQ(matrix.median[1], 100) << "from 2 to 4";
    EXPECT_EQ(matrix.median[2], 120) << "from 4 to 2";
    EXPECT_TRUE(std::isnan(matrix.median[0]));
}

TEST(CoresOfATarget, APairThatRefusesIsSaid) {
    ManyProcessors target(3);
    target.cycles = [&](unsigned from, unsigned to, auto) -> double {
        if (from + to == 6) throw ProbeError("others use processor 4");
        return 100;
    };
    const TestReport report = found_on(target);
    EXPECT_THAT(reason(report, "", "transfer_groups"), HasSubstr("1 of 3 pairs of processors were not measured"));
    EXPECT_THAT(report.decisions, ::testing::Contains(HasSubstr("from 2 to 4: others use processor 4")));
    EXPECT_EQ(report.find("transfer 1", "latency")->value->number, 100);
}

TEST(CoresOfATarget, ABudgetLeavesPairsOut) {
    ManyProcessors target(6);
    target.cost_of_question = 1000;
    const TestReport report = found_on(target, 40e3);  // 16 of them go to the noise
    EXPECT_THAT(reason(report, "", "transfer_groups"), HasSubstr("of 15 pairs of processors were not measured"));
    EXPECT_THAT(report.decisions.front(), HasSubstr("of 15 pairs of processors were measured"));
    EXPECT_THAT(reason(report, "L1", "shared_by"), HasSubstr("of 6 processors were compared"));
}

// What disturbs only lengthens: one calm trial shows lines that stayed, three disturbed ones in a row do not.
TEST(CoresOfATarget, OneCalmTrialShowsThatNothingWasTaken) {
    ManyProcessors target(2);
    unsigned asked = 0;
    target.after = [&](unsigned one, unsigned other, auto) { return one == other || ++asked % 3 != 0 ? 20 : 4; };
    EXPECT_EQ(word(found_on(target), "L1", "shared_by"), "1");
}

TEST(CoresOfATarget, ARiseInBetweenIsRefused) {
    for (const double share : {0.2, 0.3, 0.45, 0.55}) {
        ManyProcessors target(2);
        target.cycles = [](auto...) { return 20; };
        target.after = [&](unsigned one, unsigned other, auto) { return one == other ? 20 : 4 + 16 * share; };
        const TestReport report = found_on(target);
        EXPECT_EQ(word(report, "L1", "shared_by"), share < 0.25 ? "1" : share > 0.5 ? "2" : "-") << share;
    }
}

TEST(CoresOfATarget, LinesThatAreGoneMustBeSeen) {
    ManyProcessors target(2);
    target.after = [](auto...) { return 4.1; };
    EXPECT_THAT(reason(found_on(target), "L1", "shared_by"), HasSubstr("would not be seen"));
}

TEST(CoresOfATarget, GroupsOfDifferentSizeHaveNoNumber) {
    ManyProcessors target(3);
    target.cycles = [](auto...) { return 20; };
    target.after = [](unsigned one, unsigned other, auto) { return one == other || one + other == 6 ? 20 : 4; };
    const TestReport report = found_on(target);
    EXPECT_THAT(reason(report, "L1", "shared_by"), HasSubstr("from 1 to 2"));
    EXPECT_EQ(word(report, "L1", "shared_among"), "2+4 6");
}

// Who shares L1 does not wait for its lines.
TEST(CoresOfATarget, ASharedL1HasItsLinesSoon) {
    for (const double transfer : {60.0, 61.0}) {
        ManyProcessors target(2);
        target.cycles = [&](auto...) { return transfer; };
        target.after = [](auto...) { return 20; };
        const TestReport report = found_on(target);
        EXPECT_EQ(word(report, "L1", "shared_by"), transfer > 60 ? "-" : "2");
        EXPECT_NE(report.find("transfer 1", "latency"), nullptr);
    }
}

TEST(CoresOfATarget, ALevelBelowWithoutRoomIsRefused) {
    ManyProcessors target(2);
    Meter meter(target, 1);
    TestReport report;
    find_sharers(meter, report, {"L2", 4096, 8191}, 64);
    EXPECT_THAT(reason(report, "L2", "shared_by"), HasSubstr("less than twice as large"));
    find_sharers(meter, report, {"L2", 4096, 8192}, 64);
    EXPECT_EQ(word(report, "L2", "shared_by"), "1");
}

TEST(ProcessorGroups, InWords) {
    EXPECT_EQ(in_words(ProcessorGroups{{0}, {1}}), "0 1");
    EXPECT_EQ(in_words(ProcessorGroups{{0, 1}, {2, 3}}), "0+1 2+3");
    EXPECT_EQ(in_words(ProcessorGroups{{0, 1, 2, 8, 9, 11}, {3, 4, 5, 6}}), "0-2+8+9+11 3-6");
}

TEST(Cores, ARecordingAnswersTheSame) {
    SimulatedOptions options;
    options.noise = noise_named("realistic");
    SimulatedTarget target(read_machine(smp(4, 2, moesi), "machine.yaml"), options);
    Recorder recorder(target, "smp");
    const TestReport asked = cores_of(recorder);
    const std::string path = ::testing::TempDir() + "cores_a_recording_answers.h5";
    std::filesystem::remove(path);
    {
        ResultFile file(path);
        write_recording(file.root(), recorder.recording());
        file.finish();
    }
    const InputFile file(path);
    RecordedTarget recorded(read_recording(file.root()));
    std::filesystem::remove(path);
    const TestReport again = cores_of(recorded);
    ASSERT_EQ(again.findings.size(), asked.findings.size());
    for (std::size_t i = 0; i < asked.findings.size(); ++i) EXPECT_EQ(again.findings[i].value, asked.findings[i].value);
    ASSERT_EQ(again.matrices.size(), 1U);
    EXPECT_EQ(again.matrices.front().median[1], asked.matrices.front().median[1]);
    // Another machine is asked the same; one without a second core refuses.
    SimulatedTarget same(read_machine(smp(4, 2, moesi), "machine.yaml"), options), one(load_machine("generic3"));
    const Recording on_same = rerun(recorded.recording(), same, "same"),
                    on_one = rerun(recorded.recording(), one, "one");
    ASSERT_EQ(on_same.runs.size(), recorded.recording().runs.size());
    EXPECT_EQ(on_same.runs.back().processor, recorded.recording().runs.back().processor);
    EXPECT_EQ(on_same.runs.back().end, RecordedRun::End::complete);
    EXPECT_EQ(on_one.runs.back().end, RecordedRun::End::refused);
}

}  // namespace
}  // namespace cachetally
