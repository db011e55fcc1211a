// SPDX-License-Identifier: BSD-3-Clause
// Ground truth of a machine, as far as a probe of data loads can know it, and the verdict on findings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/probe_test.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// How caches are counted as levels, where a victim cache is smaller than the level whose victims it takes.
enum class Reading : std::uint8_t {
    as_built,       ///< every cache is a level
    part_of_above,  ///< it is a part of that level, which holds so much more at most (Jouppi 1990, 3.2)
};

/// What a target gives. By times alone a TLB before one that costs nothing is not there: no time distinguishes a hit in
/// the one from a hit in the other.
enum class Evidence : std::uint8_t { counts, times_alone };

/// Whether misses of TLBs are counted.
Evidence evidence_of(const Capabilities& capabilities);

/// From the description alone.
/// * Capacity, ways: an exclusive level, or one of victims, holds its own size, and up to what those above it hold
///   besides: how much of that a program gets depends on the order of its accesses, so both ends are true of it. But it
///   gets no less than what those above it hold. Ways likewise: those of a set, and at most those of one set above it
///   more.
/// * Latency: of a load that waits for nobody and whose translation is in the first TLB: of that TLB, of all levels
/// down
///   to the one that has the line, and of the links between them: `latency`, and a whole line at `bytes_per_cycle`
///   (docs/timing.md). Banks that are busy, victims and walks are not in it. Where large pages pass the first TLB by
///   and the one that holds them is faster, both are true: that of large pages, and as `high` that of the machine's
///   own.
/// * Cores, of machines with several: how many share a copy of each level; transfer_facts().
/// * Parallelism: of loads that a level answers, the latency over the time per load that outstanding misses, buses and
///   one load per cycle allow; only where outstanding_misses bound it, and neither banks, prefetchers nor victims of
///   clean lines take part. Read bandwidth: bytes of a line over that time, where lines of all levels are equal.
/// * Page of a TLB: what one of its entries maps of a program's memory, so that entries x page is its reach: N of the
///   machine's own pages where it coalesces N and their frames follow one another (bytes_per_entry()).
/// * TLBs: by times alone those that no time distinguishes from the next one are left out, and the others numbered
/// anew.
std::vector<Fact> facts_of(const MachineDescription& machine, Reading reading = Reading::as_built,
                           Evidence evidence = Evidence::counts);

/// Whether the readings of this machine differ.
bool has_readings(const MachineDescription& machine);

/// What the test of this name states of a machine; nothing where it states nothing, or there is no such test.
std::vector<Fact> stated_by_test(const std::string& test, const MachineDescription& machine);

/// The facts of `first`, and those of `others` of which it says nothing.
std::vector<Fact> with_precedence(std::vector<Fact> first, std::span<const Fact> others);

/// Puts truth and verdict into findings. A number is right if it lies within the tolerance of its parameter (none for
/// counts and sizes, 5 % for latencies, parallelism and bandwidths), or, where an interval is given that is wider than
/// a point, if the interval holds the truth and is no wider than 10 % of it; a fact may have a tolerance of its own. Of
/// a level that there is not everything is wrong.
void judge(TestReport& report, const std::vector<Fact>& facts);

/// By the reading of the machine that makes fewer answers of this report wrong: all of them are numbered by one.
/// `more`: further ground truth; what the report's test states (ProbeTest::truth) goes before all.
void judge(TestReport& report, const MachineDescription& machine, const std::vector<Fact>& more = {},
           Evidence evidence = Evidence::counts);

}  // namespace cachetally
