// SPDX-License-Identifier: BSD-3-Clause
// Findings in words, and what one test's findings mean for those of another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cachetally/probe_meter.hpp"
#include "cachetally/probe_result.hpp"

namespace cachetally {

/// Whether numbers of this parameter are counts (bytes, ways, entries, levels) and so whole; times, frequencies and
/// means are not.
bool is_whole(const std::string& parameter);

/// "at 64 pages", "between 64 and 66 pages".
std::string edge_in_words(std::uint64_t low, std::uint64_t high, const std::string& unit);

/// What was found: "-", a word, "12 KiB", "12 KiB (11 KiB .. 13 KiB)".
std::string found_in_words(const Finding& finding);
/// The ground truth: "-", a word, "12 KiB", "12 KiB .. 14 KiB".
std::string truth_in_words(const Finding& finding);

/// Answers that the test of levels contradicts are refused: one of the two is wrong. `needed`: and those of which it
/// says nothing. (ours)
TestReport confirmed(TestReport report, const std::optional<TestReport>& levels, bool needed);

/// Of event counts where lines are prefetched: those that miss are not those that a level lacks, so that only
/// capacities to the byte are kept. (ours)
TestReport without_prefetched(TestReport report);

/// Whether another hardware thread used the core in more than a twentieth of the runs. (ours)
bool often_shared(const RunCount& runs);

/// All answers are refused, as such a thread takes part of caches and TLBs. (ours)
TestReport refused_as_shared(TestReport report, const RunCount& runs);

/// Ways of L2 by eviction sets, only with a capacity that they explain. (ours)
TestReport with_capacity(TestReport report);

}  // namespace cachetally
