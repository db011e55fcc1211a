// SPDX-License-Identifier: BSD-3-Clause
// Random cases for rapidcheck: a machine, programs for its cores, a quantum. Shrinks to simple machines, few bursts.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iosfwd>

#include "tests/differential/random_machine.hpp"
#include "tests/differential/random_program.hpp"

namespace cachetally::differential {

struct Case {
    MachineDescription machine;
    std::vector<std::vector<Burst>> bursts;  ///< by core
    std::vector<CoreProgram> programs;
    Tick quantum = 0;
};

/// Draws of random_machine by rapidcheck; to be called within a generator or property.
Chooser rapidcheck_chooser();

/// The length of a program in references is at most bursts * 60.
rc::Gen<Case> arbitrary_case(MachineLimits limits = {}, unsigned most_bursts = 10);

/// The machine file and the bursts; rapidcheck prints it for the smallest case that fails.
std::ostream& operator<<(std::ostream& out, const Case& test_case);

/// Checks a property with `cases` random cases times CACHETALLY_CASES (default 1), a tenth
/// of them with sanitizers; fails the test with seed and
/// smallest case.
void check_cases(unsigned cases, const std::function<void()>& property);

}  // namespace cachetally::differential
