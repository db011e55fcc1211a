// Entries of TLBs from counts of their misses.
#pragma once

#include "probes/meter.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Where the target counts the misses of TLBs nothing is left unclear: what times did not tell of entries and levels,
/// or told otherwise, is replaced in the report. A TLB's entries are the most pages of which it misses none once it has
/// seen them. (ours; after Dongarra et al. 2004)
void decide_tlbs_by_events(TestReport& report, Meter& meter);

/// Whether a TLB that holds so many pages, with one load in each, holds them with loads in several 4 KiB of each, too,
/// and no more of them with one: else its entries hold parts of pages. True where the arena is too small to tell.
bool holds_whole_pages(Meter& meter, unsigned level, std::uint64_t pages, std::uint64_t page);

}  // namespace cachetally
