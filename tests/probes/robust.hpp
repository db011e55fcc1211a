// SPDX-License-Identifier: BSD-3-Clause
// The robust variant of a test on a machine, judged.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {

/// So many seeds, or one where sanitizers look for bad memory: all seeds walk through the same code.
constexpr std::uint64_t seeds(std::uint64_t many) {
#ifdef CACHETALLY_SANITIZED
    return std::min<std::uint64_t>(many, 1);
#else
    return many;
#endif
}

inline SimulatedOptions small_pages(std::uint64_t seed = 1) {
    SimulatedOptions options;
    options.seed = seed;
    options.large_pages.clear();
    return options;
}

/// The seed of the options is that of the machine and of what the test draws.
inline TestReport robust(const MachineDescription& machine, const std::string& test, SimulatedOptions options = {}) {
    SuiteOptions suite;
    suite.seed = options.seed;
    SimulatedTarget target(machine, std::move(options));
    suite.tests = {test};
    suite.published = false;
    TestReport report = run_suite(target, suite).back();
    judge(report, facts_of(machine, Reading::as_built, evidence_of(target.capabilities())));
    return report;
}

/// What a report says of a parameter; a failure where it says nothing.
inline const Finding& finding(const TestReport& report, const std::string& level, const std::string& parameter) {
    for (const Finding& each : report.findings)
        if (each.level == level && each.parameter == parameter) return each;
    static const Finding nothing{};
    ADD_FAILURE() << "nothing was said of " << parameter << " of " << level;
    return nothing;
}

inline void expect_none_wrong(const TestReport& report) {
    for (const Finding& each : report.findings)
        EXPECT_NE(each.verdict, Verdict::wrong)
            << report.test << ' ' << each.level << ' ' << each.parameter << ": " << each.low << " to " << each.high;
}

}  // namespace cachetally
