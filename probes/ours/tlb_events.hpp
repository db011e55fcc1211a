// SPDX-License-Identifier: BSD-3-Clause
// Entries of TLBs from counts of their misses.
#pragma once

#include "cachetally/probe_meter.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// Where the target counts the misses of TLBs nothing is left unclear: what times did not show of entries and levels,
/// or showed otherwise, is replaced in the report. A TLB's entries are the most pages of which it misses none once it
/// has seen them. (ours; after Dongarra et al. 2004)
void decide_tlbs_by_events(TestReport& report, Meter& meter);

/// Whether a TLB that holds so many pages, with one load in each, holds them with loads in several 4 KiB of each, too,
/// and no more of them with one: else its entries hold parts of pages. True where the arena is too small to decide.
bool holds_whole_pages(Meter& meter, unsigned level, std::uint64_t pages, std::uint64_t page);

/// Whether pages of which a TLB holds so many in a row, `page` bytes each, share its entries or sets in groups.
bool pages_come_in_groups(Meter& meter, unsigned level, std::uint64_t pages, std::uint64_t page);

/// Pages that a TLB, and the one above it, seem to hold.
struct PagesHeld {
    std::uint64_t pages = 0, above = 0;
    std::uint64_t page = 0;  ///< bytes
};

/// Whether some of so many pages never leave the TLB above, so that they need no entry of this one: those that meet
/// with no others in its sets, as there are where this one is less than twice as large. Not asked of one of four times
/// as many: what replaces at random keeps a few pages for a lap, but none for good.
bool tlb_above_keeps_some(Meter& meter, unsigned level, const PagesHeld& held);

inline constexpr char tlb_above_keeps[] =
    "the TLB above keeps some of the pages that seem to fit, so that this one may hold fewer";

}  // namespace cachetally
