// SPDX-License-Identifier: BSD-3-Clause
// The runs of one check of a budget file, in layouts of memory.
#pragma once

#include <vector>

#include "campaign/budget.hpp"
#include "campaign/budget_verdict.hpp"

namespace cachetally::app {

/// Runs a check, which is interrupted by catch_interrupts(), and judges its budgets; what goes wrong is in their words.
/// `program_output`: a descriptor for what its program prints. `compare`: with the stored result, where it names one.
std::vector<JudgedBudget> run_check(const BudgetCheck& check, int program_output, bool compare);

}  // namespace cachetally::app
