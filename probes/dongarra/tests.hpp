// SPDX-License-Identifier: BSD-3-Clause
// papi_cacheSize and papi_cacheBlock of Dongarra et al. 2004: sizes, lines, pages and ways from event counts.
#pragma once

#include "probes/meter.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Both microbenchmarks as published (2): an array of growing size with stride one, refined to the size at which misses
/// begin; an array larger than that with strides that double, whose misses per access rise to one at the line (or page)
/// size and fall to nothing where the elements left fit into one set. Ordinary pages, ascending order, powers of two.
TestReport events_published(Meter& meter);

/// The same on the largest pages; ways searched for every number, and refused where they do not divide the capacity.
/// TLBs are asked on ordinary pages. (ours)
TestReport events_robust(Meter& meter);

}  // namespace cachetally
