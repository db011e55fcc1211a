// SPDX-License-Identifier: BSD-3-Clause
// What the papers report of their machines, and what is found on the presets: the rows of docs/results/probes.md that
// are not in test_probes.
#include <gtest/gtest.h>

#include <algorithm>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {
namespace {

struct Row {
    std::string preset, test;
    bool published;
    std::string level, parameter;
    double found;
};

const std::vector<Row>& rows() {
    constexpr double kib = 1024;
    static const std::vector<Row> all{
        {"xray-itanium2", "l1", true, "L1", "capacity", 16 * kib},
        {"xray-itanium2", "l1", true, "L1", "ways", 4},
        {"xray-itanium2", "l1", true, "L1", "line", 64},
        {"xray-itanium2", "lower", true, "L2", "capacity", 256 * kib},
        {"xray-itanium2", "lower", true, "L2", "line", 128},
        {"xray-itanium2", "lower", true, "L2", "ways", 8},
        {"xray-itanium2", "lower", true, "L3", "capacity", 6144 * kib},
        {"xray-itanium2", "lower", true, "L3", "ways", 24},
        {"xray-itanium2", "levels", false, "L2", "latency", 6},
        {"xray-itanium2", "levels", false, "L3", "latency", 19},
        {"xray-itanium2", "levels", false, "memory", "latency", 298},
        {"xray-opteron240", "l1", true, "L1", "capacity", 64 * kib},
        {"xray-opteron240", "lower", true, "L2", "line", 64},
        {"xray-opteron240", "lower", true, "L2", "latency", 23},
        {"xray-ultrasparc3i", "l1", true, "L1", "capacity", 64 * kib},
        {"xray-ultrasparc3i", "l1", true, "L1", "line", 32},
        {"xray-ultrasparc3i", "l1", true, "L1", "ways", 4},
        {"xray-ultrasparc3i", "lower", true, "L2", "capacity", 1024 * kib},
        {"xray-ultrasparc3i", "lower", true, "L2", "latency", 13},
        {"xray-ultrasparc3i", "latency", true, "memory", "latency", 173},
        {"xray-pentium4xeon", "l1", true, "L1", "capacity", 8 * kib},
        {"xray-pentium4xeon", "l1", true, "L1", "latency", 2},
        {"xray-pentium4xeon", "lower", true, "L2", "latency", 20},
        {"xray-pentium4xeon", "latency", true, "memory", "latency", 372},
        {"xray-pentium4xeon", "lower", true, "L2", "capacity", 512 * kib},
        {"xray-pentium4xeon", "lower", true, "L2", "line", 128},
        {"xray-pentium4xeon", "lower", true, "L2", "ways", 8},
        {"xray-pentium4xeon", "tlb", false, "TLB1", "entries", 64},
        {"xray-athlonmp", "lower", true, "L2", "line", 64},
        {"xray-athlonmp", "lower", true, "L2", "latency", 36},
        {"xray-r12000", "l1", true, "L1", "capacity", 32 * kib},
        {"xray-r12000", "l1", true, "L1", "line", 16},
        {"xray-r12000", "l1", true, "L1", "ways", 2},
        {"xray-r12000", "lower", true, "L2", "capacity", 2048 * kib},
        {"xray-r12000", "lower", true, "L2", "latency", 14},
        {"xray-power3", "levels", false, "L2", "latency", 18},
        {"xray-power3", "levels", false, "memory", "latency", 136},
        {"xray-power3", "l1", true, "L1", "capacity", 64 * kib},
        {"xray-power3", "l1", true, "L1", "line", 128},
        {"xray-power3", "l1", true, "L1", "ways", 128},
        {"intel-t9600", "l1", true, "L1", "capacity", 32 * kib},
        {"intel-t9600", "levels", false, "L2", "capacity", 6144 * kib},
        {"intel-pentium4", "tlb", false, "TLB1", "entries", 64},
    };
    return all;
}

class Presets : public testing::TestWithParam<std::string> {};

TEST_P(Presets, AreFoundAsTheirPapersSay) {
    SimulatedTarget target(load_machine(GetParam()));
    for (const bool published : {true, false}) {
        SuiteOptions options;
        options.published = published;
        options.robust = !published;
        for (const Row& row : rows())
            if (row.preset == GetParam() && row.published == published) options.tests.push_back(row.test);
        if (options.tests.empty()) continue;
        const std::vector<TestReport> reports = run_suite(target, options);
        for (const Row& row : rows()) {
            if (row.preset != GetParam() || row.published != published) continue;
            const auto report = std::find_if(reports.begin(), reports.end(),
                                             [&](const TestReport& one) { return one.test == row.test; });
            ASSERT_NE(report, reports.end());
            const Finding* finding = report->find(row.level, row.parameter);
            ASSERT_NE(finding, nullptr) << row.test << ' ' << row.level << ' ' << row.parameter;
            EXPECT_NEAR(finding->value->number, row.found, row.parameter == "latency" ? 0.02 * row.found : 0)
                << row.test << ' ' << row.level << ' ' << row.parameter;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Papers, Presets,
                         testing::Values("xray-itanium2", "xray-opteron240", "xray-ultrasparc3i", "xray-pentium4xeon",
                                         "xray-athlonmp", "xray-r12000", "xray-power3", "intel-t9600",
                                         "intel-pentium4"),
                         [](const auto& preset) {
                             std::string name = preset.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace cachetally
