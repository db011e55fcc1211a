// SPDX-License-Identifier: BSD-3-Clause
// Loads that wait for memory, which is busy with those before them.
#pragma once

#include "probes/xray/l1.hpp"

namespace cachetally {

/// Whether loads of this chain, one of each line, wait for memory to be done with those before them: then they take
/// less where others, of words of the same lines and so answered by L1, lie between. (ours)
bool loads_wait(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1);

/// Whether others take lines that a level holds: with hits of L1 between them, so that a lap takes longer, more are
/// lost.
bool lines_are_taken(Meter& meter, const Arena& arena, const Offsets& lines, const L1Geometry& l1);

}  // namespace cachetally
