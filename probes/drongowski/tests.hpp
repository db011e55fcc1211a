// SPDX-License-Identifier: BSD-3-Clause
// chase and latency of Drongowski 2013.
#pragma once

#include "probes/meter.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// "Pointer chasing technique": arrays of 8 KiB to 4 MiB, ping-pong between halves, items of a line: cycles and events
/// per load by size, as curves. The fastest tier is L1; its last size is given as it is.
TestReport chase_published(Meter& meter, std::uint64_t line);

/// "Direct measurement technique": histograms of single loads over the same sizes, the cost of reading the clock
/// subtracted, and their peaks named: L1 hit, memory, and memory after a walk of the page table. The last is
/// distinguished from the others by a random chase, which misses TLBs far more often than a ping-pong does.
TestReport latency_published(Meter& meter, std::uint64_t line);

}  // namespace cachetally
