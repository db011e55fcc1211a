// SPDX-License-Identifier: BSD-3-Clause
// Packing a level with pieces of pages that lie anywhere, until none fits any more.
#pragma once

#include <optional>

#include "probes/ours/sweep.hpp"

namespace cachetally {

/// Bytes that a level holds where pages fill its sets unevenly, so that times begin to rise before it is full. Pieces
/// of pages, each of which lies in a way alone, are added one at a time to what fits, and kept where the lines added
/// take as long as those before: a line too many in a set misses at least once in a lap. What is reached when many
/// pieces in a row do not fit fills all sets. `quiet`: bytes from the begin of the arena of which most
/// fit; `inside`, `beyond`:
/// cycles of the level and of the next. Nothing where the arena has too few pieces to decide. (ours; after the
/// reduction of eviction sets by Vila, Koepf and Morales 2019, turned round)
std::optional<std::uint64_t> packed_capacity(SpanSweep& sweep, std::uint64_t quiet, double inside, double beyond);

}  // namespace cachetally
