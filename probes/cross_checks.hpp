// SPDX-License-Identifier: BSD-3-Clause
// Answers of one test beside those of others: what is contradicted is refused.
#pragma once

#include <optional>

#include "probes/result.hpp"

namespace cachetally {

/// Answers that the test of levels contradicts are refused: one of the two is wrong. `needed`: and those of which it
/// says nothing. (ours)
TestReport confirmed(TestReport report, const std::optional<TestReport>& levels, bool needed);

/// Of event counts where lines are prefetched: those that miss are not those that a level lacks, so that only
/// capacities to the byte are kept. (ours)
TestReport without_prefetched(TestReport report);

/// Ways of L2 by eviction sets, only with a capacity that they explain. (ours)
TestReport with_capacity(TestReport report);

}  // namespace cachetally
