// SPDX-License-Identifier: BSD-3-Clause
// Spans whose loads one level answers: where its bandwidth and its parallelism are measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/tests.hpp"

namespace cachetally {

struct LevelSpan {
    std::string level;        ///< that answers; empty = not known
    std::uint64_t bytes = 0;  ///< of the arena, from its begin
    bool cold = false;        ///< lines that nobody has used: each is loaded once

    std::string in_words() const;
};

/// Loads of these lie in different pairs of lines, which some processors fetch together.
std::uint64_t apart(const L1Geometry& l1);

/// One for each level below L1 that `levels` knows the capacity of: larger than twice the level above it, smaller than
/// itself. Where it knows none, spans of fixed sizes whose levels are not known. Levels that are left out are refused.
std::vector<LevelSpan> spans_below_l1(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels,
                                      const char* parameter, TestReport& report);

/// Lines of memory, whatever caches there are.
LevelSpan cold_span(const Meter& meter);

/// Cycles per load of a span in random order, in so many chains.
double time_of_span(Meter& meter, const L1Geometry& l1, const LevelSpan& span, unsigned chains);

/// The same of one chain, by a single trial.
double time_once(Meter& meter, const L1Geometry& l1, const LevelSpan& span);

/// Whether spans can lie on pages so large that a TLB holds them. Else page walks are in the times, which loads of one
/// chain wait for, and those of several do not.
inline bool has_large_pages(const Meter& meter) { return meter.large_page() >= std::uint64_t{1} << 20; }
inline constexpr char translation_overlaps[] =
    "there are no large pages that a TLB holds: page walks overlap with loads, and would be taken for them";

}  // namespace cachetally
