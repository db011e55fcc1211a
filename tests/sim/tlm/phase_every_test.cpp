// SPDX-License-Identifier: BSD-3-Clause
// Phases that end after so many references: as if the program had barriers there.
#include <gtest/gtest.h>

#include <utility>

#include "tests/sim/tlm/random_case.hpp"

namespace cachetally::testing {
namespace {

/// A barrier before each reference that `every` others of its phase precede.
Program with_barriers(const Program& program, std::uint64_t every) {
    Program made;
    std::uint64_t in_phase = 0;
    std::uint32_t name = 0;
    for (Part part : program) {
        const std::vector<Reference> references =
            part.fails ? std::vector<Reference>{} : std::exchange(part.references, {});
        for (const Reference& reference : references) {
            if (in_phase == every) {
                made.push_back({std::exchange(part.references, {}), {Control::Kind::barrier, name}});
                in_phase = 0;
            }
            part.references.push_back(reference);
            ++in_phase;
        }
        const Control& control = part.control;
        if (control.kind == Control::Kind::barrier) in_phase = 0;
        if (control.kind == Control::Kind::barrier || (control.kind == Control::Kind::meet && control.argument != 0))
            name = control.argument;
        made.push_back(std::move(part));
    }
    return made;
}

TEST(PhaseEvery, IsAsBarriersOfAProgramOfOneCore) {
    std::size_t phases = 0, monitors = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Case made = random_case(seed, 1);
        made.options.warmup = 0;
        Case barriers = made;
        made.options.phase_every = 1 + seed % 50;
        barriers.options.phase_every = 0;
        barriers.programs[0] = with_barriers(made.programs[0], made.options.phase_every);
        testing::Run ended(made), met(barriers);
        ended.by_engine();
        met.by_engine();
        ASSERT_EQ(difference(ended, met), "") << seed;
        phases += ended.result().phases.size();
        monitors += made.monitors.size();
    }
    EXPECT_GT(phases, 1000U);
    EXPECT_GT(monitors, 100U);
}

/// Where nothing is sent, phases that end change nothing else.
TEST(PhaseEvery, SharesTheCountsOfSeveralCores) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Case made = random_case(seed, 4);
        made.monitors.clear();
        made.options.phase_every = 0;
        testing::Run whole(made);
        made.options.phase_every = 1 + seed % 60;
        testing::Run ended(made);
        whole.by_engine();
        ended.by_engine();
        const RunResult& result = ended.result();
        EXPECT_EQ(result.counts, whole.result().counts) << seed;
        EXPECT_EQ(result.core_ends, whole.result().core_ends) << seed;
        // Each phase of the program in parts of so many references, the last with the rest.
        std::vector<std::uint64_t> expected, found;
        for (const PhaseResult& phase : whole.result().phases) {
            std::uint64_t left = phase.counts.references;
            for (; left > made.options.phase_every; left -= made.options.phase_every)
                expected.push_back(made.options.phase_every);
            expected.push_back(left);
        }
        for (const PhaseResult& phase : result.phases) found.push_back(phase.counts.references);
        EXPECT_EQ(found, expected) << seed;
    }
}

}  // namespace
}  // namespace cachetally::testing
