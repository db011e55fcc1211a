// SPDX-License-Identifier: BSD-3-Clause
// Real hardware as it was recorded: what tests find in it, and the machine fitted to one recording beside another.
// tests/probes/recordings/README.md says what the files are of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "probes/curve_comparison.hpp"
#include "probes/probe_file.hpp"
#include "probes/recording/recorded_target.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"
#include "sim/topology/host_machine.hpp"
#include "storage/file.hpp"

namespace cachetally {
namespace {

const std::string recordings = std::string(CACHETALLY_SOURCE_DIR) + "/tests/probes/recordings/";

class RecordedHost : public ::testing::TestWithParam<const char*> {
protected:
    const InputFile file{recordings + GetParam()};
};

/// sysfs and CPUID state sizes of caches and TLBs, and how many there are.
bool stated_of_a_host(const Finding& finding) {
    constexpr std::string_view parameters[] = {"capacity", "ways", "line", "levels", "entries", "page", "tlb_levels"};
    return std::ranges::find(parameters, finding.parameter) != std::end(parameters);
}

/// All that the machine states of itself is true of what is found; latencies it does not state. (A virtual machine may
/// state more of lower levels than it has: then these are to be refused.)
TEST_P(RecordedHost, NothingThatIsFoundIsWrong) {
    const Recording recording = read_recording(file.root());
    RecordedTarget target(recording);
    const MachineDescription stated = read_machine(recording.machine_text, GetParam());
    unsigned right = 0;
    for (TestReport& report : run_suite(target, recording.suite)) {
        judge(report, stated, {}, evidence_of(target.capabilities()));
        for (const Finding& finding : report.findings) {
            if (!stated_of_a_host(finding) || is_assumed(stated, finding.level)) continue;
            if (finding.parameter == "tlb_levels" && is_assumed(stated, "TLB2")) continue;
            EXPECT_NE(finding.verdict, Verdict::wrong)
                << finding.test << ' ' << finding.level << ' ' << finding.parameter << ": " << found_in_words(finding);
            if (finding.verdict == Verdict::right) ++right;
        }
    }
    RecordProperty("right", static_cast<int>(right));
}

TEST_P(RecordedHost, ResponseCurvesAreThoseOfTheFile) {
    const Recording recording = read_recording(file.root());
    RecordedTarget target(recording);
    SuiteOptions suite = recording.suite;
    suite.tests = {"response"};
    suite.budget = {};
    // The noise of a whole run, l1 first, is that of the recording: asked alone, response is asked the same.
    const ProbeComparison same = compared(read_probe(file.root()), run_suite(target, suite));
    ASSERT_EQ(same.curves.size(), 3U);
    for (const CurveComparison& curve : same.curves) {
        EXPECT_EQ(curve.only_before, 0U);
        EXPECT_EQ(curve.all.worst, 0) << curve.name << " at " << curve.all.worst_at;
    }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedHost,
                         ::testing::Values("zen4-vm-1.h5", "zen4-vm-2.h5", "zen5-vm-1.h5", "zen5-vm-2.h5",
                                           "emerald-vm-1.h5", "emerald-vm-2.h5", "zen3-vm-1.h5", "zen3-vm-2.h5"));

TEST(RecordedHosts, WhatAnOldRecordingWasNotAskedIsRefused) {
    const InputFile file{recordings + "zen4-vm-1.h5"};
    const Recording recording = read_recording(file.root());
    EXPECT_EQ(recording.capabilities.most_chains, 1U);
    EXPECT_FALSE(recording.capabilities.streams);
    RecordedTarget target(recording);
    SuiteOptions suite = recording.suite;
    suite.tests = {"parallelism", "bandwidth"};
    for (const TestReport& report : run_suite(target, suite)) {
        ASSERT_EQ(report.findings.size(), 1U);
        EXPECT_EQ(report.findings.front().reason, recording.capabilities.no_chains);
    }
}

/// The median difference of a curve up to some x.
double median_up_to(const CurveComparison& curve, double most) {
    std::vector<double> amounts;
    for (std::size_t i = 0; i < curve.x.size(); ++i)
        if (curve.x[i] <= most) amounts.push_back(std::abs(curve.after[i] / curve.before[i] - 1));
    std::ranges::sort(amounts);
    return amounts.at(amounts.size() / 2);
}

/// Fitted to the first recording (cachetally fit), laid over the second: other orders, another time.
class FittedHost : public ::testing::TestWithParam<std::string> {};

TEST_P(FittedHost, ForetellsAnotherRecording) {
    SimulatedTarget target(load_machine(recordings + GetParam() + ".yaml"));
    SuiteOptions suite;
    suite.tests = {"response"};
    const InputFile measured(recordings + GetParam() + "-2.h5");
    const ProbeComparison found = compared(read_probe(measured.root()), run_suite(target, suite));
    ASSERT_EQ(found.curves.size(), 3U);
    constexpr double four_times_l2 = 4 << 20;
    EXPECT_LT(median_up_to(found.curves[0], four_times_l2), 0.10);
    EXPECT_LT(median_up_to(found.curves[1], four_times_l2), 0.10);
    EXPECT_LT(median_up_to(found.curves[2], 1e9), 0.15);
}

INSTANTIATE_TEST_SUITE_P(All, FittedHost, ::testing::Values("zen4-vm", "zen5-vm", "emerald-vm", "zen3-vm"));

}  // namespace
}  // namespace cachetally
