// SPDX-License-Identifier: BSD-3-Clause
// The curves of both microbenchmarks, as Dongarra et al. draw them.
#pragma once

#include "cachetally/probe_meter.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Misses and cycles per load, by integer loads and, where there are any, floating-point loads, of
/// * papi_cacheSize: arrays of 1 KiB to 8 MiB with stride one, in powers of two ("size int L1_misses", ...);
/// * papi_cacheBlock: for L1 with the first TLB and L2 with the second, an array larger than what both hold, with
///   strides that double up to its size ("block L1 int L1_misses", ...).
/// Events that loads of a kind never make have no curve, and a level that they pass by has none by stride. The array is
/// taken from what `report` has found; a level of which it found no capacity has no curves by stride. (Dongarra et al.
/// 2004, 3, Figures 1 to 6)
void add_event_curves(Meter& meter, TestReport& report);

}  // namespace cachetally
