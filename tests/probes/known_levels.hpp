// SPDX-License-Identifier: BSD-3-Clause
// Tests that go by l1 and levels, run by what a machine of three levels is known to have: those need not find it first.
#pragma once

#include <utility>

#include "probes/targets/simulated.hpp"
#include "probes/tests.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {

/// L1: 16 KiB, 4 ways, 3 cycles; L2: 128 KiB, 15 cycles; L3: 45 cycles.
template <class Test>
TestReport by_known_levels(const MachineDescription& machine, Test test, SimulatedOptions options = {}) {
    SimulatedTarget target(machine, std::move(options));
    Meter meter(target, 1);
    L1Geometry l1;
    l1.capacity = std::uint64_t{16} << 10;
    l1.line = 64;
    l1.ways = 4;
    l1.latency = 3;
    TestReport levels;
    levels.answer("", "levels", 3, "levels", "known");
    levels.answer("L2", "capacity", std::uint64_t{128} << 10, "bytes", "known");
    levels.answer("L2", "latency", 15, 15, 15, "cycles", "known");
    levels.answer("L3", "latency", 45, 45, 45, "cycles", "known");
    TestReport report = test(meter, l1, std::optional(levels));
    judge(report, facts_of(machine, Reading::as_built, evidence_of(target.capabilities())));
    return report;
}

}  // namespace cachetally
