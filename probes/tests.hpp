// SPDX-License-Identifier: BSD-3-Clause
// The tests, by where they were published; those that are robust are ours.
#pragma once

#include <functional>

#include "cachetally/probe_meter.hpp"
#include "cachetally/probe_test.hpp"
#include "probes/result.hpp"

namespace cachetally {

// X-Ray 2004: L1 by compact sets, as published and robust; lower levels as published.

/// Capacity, ways, line, latency of L1 as in (X-Ray, 4.4, Figures 8 and 10): ordinary pages, addresses in prime steps,
/// powers of two. Whatever rises first is taken for L1.
TestReport xray_l1_published(Meter& meter);

/// The same on the largest pages that there are, in random order; where addresses lie in several pages, compared with
/// lines of the same pages that do not conflict, so that a TLB is not taken for a cache; and every answer is checked by
/// sets that must be compact and sets that must not. (ours)
TestReport xray_l1_robust(Meter& meter);

/// Empty where a part is missing.
std::optional<L1Geometry> l1_geometry(const TestReport& report);

/// Capacity, ways and line of L2, L3, ... (X-Ray, 4.5): Figures 8 and 10 on sets <S,n,S_old,r> on the largest pages;
/// levels above are one of capacity C_up and C_up / min(C_i / A_i) ways. A level is as large as at least twice that
/// above. Where the paper leaves open what happens if S_old is a multiple of the size of a way, the decomposed set is
/// the plain one with S_old, and counts as such.
TestReport xray_lower_published(Meter& meter, const L1Geometry& l1);

/// Entries, ways and page of the first TLB (X-Ray, 4.6): Figures 8 and 10 on sets that stay in L1, as each group of
/// locations that fill a set of it begins a line further. Ordinary pages. The paper names no first stride, and shorter
/// ones use up the lines of L1 before those of a TLB; here it is a page. A TLB of one set, which no shift leaves, has
/// pages of the size of a way.
TestReport xray_tlb_published(Meter& meter, const L1Geometry& l1);

// Cooper and Xu 2018, as published: repeated sweeps until every time is stable, and three tests.

/// (Cooper and Xu 2018, 3.3, "Knocking Out and Reviving Neighbors")
struct SweepOptions {
    unsigned stability = 25;  ///< runs without a new minimum after which a size is done
    bool knock_out = true;    ///< sizes whose rounded time equals that of both neighbours are left out
    bool revive = true;       ///< and come back when a neighbour has a new minimum
    unsigned most_sweeps = 400;
};

/// What sweeps gave, by size.
struct SweepResult {
    std::vector<std::uint64_t> sizes;
    std::vector<double> cycles;              ///< the least of all trials, rounded to whole cycles
    std::vector<std::uint32_t> trials;       ///< runs made
    std::vector<std::uint8_t> knocked_out;   ///< at the end
    std::vector<std::uint32_t> left_out;     ///< runs that knock-out saved
    std::uint64_t runs = 0, runs_saved = 0;  ///< saved: runs of the same sweeps that were left out
    unsigned sweeps = 0;
};

/// Cycles per load for a size; `trial` numbers the trials of a size, so that each gets a new string and new pages.
using TimeOfSize = std::function<double(std::uint64_t size, unsigned trial)>;

SweepResult stable_sweep(std::vector<std::uint64_t> sizes, const TimeOfSize& time, const SweepOptions& options);

/// 1, 2, 3, 4 units, then every power of two with three sizes between, up to `most`. (ibid., "Range(LB,UB)")
std::vector<std::uint64_t> sample_sizes(std::uint64_t unit, std::uint64_t most);

/// L1 by G(n,k,o) (3.2, Figure 3): the first gap at which 17 locations miss, then fewer locations at wider gaps by
/// halves, then the offset at which the last location leaves the set. All in powers of two, as published.
TestReport gap_published(Meter& meter);

/// C(k) up to 32 MiB in stable sweeps (3.3). The authors' analysis (4) is not described; in its place any rise of the
/// rounded times ends a level; rises at neighbouring sizes are one.
TestReport levels_published(Meter& meter, const L1Geometry& l1, const SweepOptions& options = {});

struct TlbOptions {
    SweepOptions sweep;
    bool on_demand = true;  ///< T(2..4) at suspect sizes and their neighbours only; false: at every size
};

/// T(1,k) up to 8 MiB in stable sweeps; a rise at x pages is a TLB's if T(2,k), T(3,k) and T(4,k) rise there, too (3.4,
/// Figure 9).
TestReport tlb_published(Meter& meter, const L1Geometry& l1, const TlbOptions& options = {});

// Dongarra et al. 2004: papi_cacheSize and papi_cacheBlock: sizes, lines, pages and ways from event counts.

/// Both microbenchmarks as published (2): an array of growing size with stride one, refined to the size at which misses
/// begin; an array larger than that with strides that double, whose misses per access rise to one at the line (or page)
/// size and fall to nothing where the elements left fit into one set. Ordinary pages, ascending order, powers of two.
/// With the curves of Figures 1 to 6 (dongarra/curves.hpp).
TestReport events_published(Meter& meter);

/// The same on the largest pages; ways searched for every number, and refused where they do not divide the capacity.
/// TLBs are asked on ordinary pages. (ours)
TestReport events_robust(Meter& meter);

// Drongowski 2013: chase and latency.

/// "Pointer chasing technique": arrays of 8 KiB to 4 MiB, ping-pong between halves, items of a line: cycles and events
/// per load by size, as curves. The fastest tier is L1; its last size is given as it is.
TestReport chase_published(Meter& meter, std::uint64_t line);

/// "Direct measurement technique": histograms of single loads over the same sizes, the cost of reading the clock
/// subtracted, and their peaks named: L1 hit, memory, and memory after a walk of the page table. The last is
/// distinguished from the others by a random chase, which misses TLBs far more often than a ping-pong does.
TestReport latency_published(Meter& meter, std::uint64_t line);

// Ours.

/// Chases of lines far apart (as far as the ways of L1 allow, so that they are few), page by page on the largest pages,
/// in random order within each. A level ends where times rise above what the last quiet points foretell: these lie on a
/// line or on a curve that bends down, as caches with random replacement make. Each end is bisected, with the least
/// rise that can be seen and with a clear one: the interval between them holds the capacity. (ours; after Cooper and Xu
/// 2018, 3.3)
TestReport levels_robust(Meter& meter, const L1Geometry& l1);

/// The same times, cut by change points: isotonic log times, PELT. A capacity lies between two points of the sweep, as
/// nothing is bisected. (ours) Kept to be compared with levels_robust().
TestReport change_points_robust(Meter& meter, const L1Geometry& l1);

/// T(1,P) minus a chase of as many lines that are packed into few pages: what is left is what translation costs, flat
/// until the first TLB is full, so that no level of the caches can be taken for one. Ends of levels are found as in
/// levels_robust(); ways by compact sets of pages (X-Ray, 4.6), paired in the same way. (ours)
TestReport tlb_robust(Meter& meter, const L1Geometry& l1);

/// Response curves at fixed sizes, so that those of two machines can be laid over one another: cycles per load of
/// lines in random order over 1 KiB to 64 MiB on the largest pages (`latency`) and on ordinary ones (`latency on
/// ordinary pages`: the median of several placements, with the least and the most), and of one line in each of 1 to
/// 8192 ordinary pages (`translation`). Nothing is searched for, and nothing found. (ours)
TestReport response_robust(Meter& meter);

/// Which processors share which level, by lines that one takes out of it while they are the other's; and what a line
/// that one has written costs the other (ours/cores.hpp). Throws ProbeError where one processor alone makes loads.
/// `prefetches`: something does, so that lines near each other, as on ordinary pages, come early. (ours)
TestReport cores_robust(Meter& meter, const std::optional<L1Geometry>& l1, const std::optional<TestReport>& levels,
                        bool prefetches);

/// How many loads of each level below L1 are under way at a time: the time per load of one chain over the least of 2 to
/// 32 chains of random lines (Little's law). What bounds it (misses that a level may have outstanding, a bus, banks) is
/// not asked. Loads of memory are those of lines that nobody has used. Refused where the largest number of chains still
/// gains 5 %. (ours)
TestReport parallelism_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels);

/// Bytes per cycle of each level that are read, written and copied in order, and by span as curves. Counted is what the
/// program loads and stores: a copy of n bytes has 2 n, and lines that a level fetches for stores are not in it. L1 is
/// asked for half of it; memory for the largest span, and refused where its loads take less than those of lines that
/// nobody has used. (ours; after McCalpin's STREAM, which counts the same bytes)
TestReport bandwidth_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels);

/// Of each level, whether a store that misses fetches its line (`write_allocate`), and whether what is stored stays in
/// it (`write`: `write_back`) or goes on (`write_through`). Lines that are in no cache are stored to once: the level
/// that answers a load of them has fetched them, those above it have not. With counts of writes, lines of growing spans
/// are loaded and stored to: a level that gives up dirty lines writes back, one that hands on nearly all that is
/// written to lines that it has writes through. Without counts L1 writes back where loads that take the places of lines
/// that were stored to take longer; else that is refused, as write-backs may take no time. (ours)
TestReport stores_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels);

/// Which level prefetches what (`prefetch`: `none`, `next_line`, `adjacent_line`, `stride`, `stream`;
/// `prefetch_degree`, `prefetch_distance`). Blocks of 4 KiB of which no cache has a line get a few loads: one,
/// ascending lines, descending ones, every third; then each other line is loaded once, and the time says which level
/// had it. That has to be, line by line, what one prefetcher of one level would bring (ours/prefetch_model.hpp); else
/// it is refused. Levels below one that prefetches are refused. (ours)
TestReport prefetch_kinds_robust(Meter& meter, const L1Geometry& l1, const std::optional<TestReport>& levels);

/// LRU, tree-PLRU, FIFO, random or SRRIP: lines of one set are visited several times each in random orders, and the
/// share of misses, counted or seen in the times, is compared with what each policy would miss. (ours) Refused where
/// two policies would miss alike or none would miss as was measured.
TestReport replacement_robust(Meter& meter, const L1Geometry& l1);

/// Present or absent: lines in ascending order against blocks of lines in random order, in the second level and beyond.
/// (ours)
TestReport prefetcher_robust(Meter& meter, const L1Geometry& l1);

/// Ways and capacity of L2 from the numbers n(s) of lines s bytes apart that stay in it: n halves as s doubles, until s
/// is as long as a way. (After X-Ray, 4.5) An exclusive level keeps as many lines more as L1 has ways, however long s
/// is, so that 2 n(2s) - n(s) is 0 or the ways of L1: this shows exclusive levels, where s is no shorter than a way of
/// L1. Inclusive or neither: whether L1 misses more if lines beside those that it keeps meet in L2 than if they do not;
/// this needs event counts. Replacement: as replacement_robust(), with L1's `l1_policy` ("" = not known) before it.
/// `levels` is what levels_robust() found. (ours)
TestReport second_level_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy,
                               const TestReport& levels);

/// On ordinary pages, which may lie anywhere, lines at the same offset of their pages meet in one set of L1 and in any
/// of the sets of L2 that the rest of the address chooses. A set of lines that does not fit is reduced by group testing
/// to one from which no line can be spared: one more than a set has ways. (Vila, Koepf, Morales 2019, "Theory and
/// Practice of Finding Eviction Sets") If no line beside them stays when one is left out, lines of L1 are counted, too:
/// the level is exclusive. The capacity follows from how many pages fit, trial by trial (estimate_colours()). Misses
/// are counted; without event counts, refused.
/// Refused, too, where L1 keeps some of many lines for good, as pseudo-LRU and random ones do.
TestReport physical_robust(Meter& meter, const L1Geometry& l1, const std::string& l1_policy);

}  // namespace cachetally
