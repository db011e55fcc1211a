// SPDX-License-Identifier: BSD-3-Clause
// ProbeTarget: all that a probe sees of a machine, simulated or real.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/error.hpp"
#include "cachetally/probe_strings.hpp"

namespace cachetally {

/// What a target refuses: an arena that is too large, a page size or a measurement that it does not have.
class ProbeError : public Formatted<std::runtime_error> {
public:
    using Formatted::Formatted;
};

/// What a target can give, and why it cannot give the rest.
struct Capabilities {
    std::vector<std::uint64_t> page_sizes;  ///< bytes, ascending; the first is the ordinary one
    std::uint64_t largest_arena = 0;        ///< bytes
    unsigned cache_events = 0;              ///< levels whose misses can be counted; 0 = none
    unsigned tlb_events = 0;                ///< TLBs whose misses can be counted
    unsigned write_events = 0;              ///< levels whose writes and write-backs can be counted; 0 = none
    bool exact_events = true;               ///< counts are those of the loads alone: nobody and nothing else is in them
    std::string no_events;                  ///< the reason where there are none
    bool latencies = false;                 ///< single loads can be timed
    bool floating_point = false;            ///< floating-point loads can be made, and may go another way
    double timer_quantum = 0;               ///< cycles that the timer advances by; 0 = every cycle is seen
    unsigned most_chains = 1;               ///< that a chase may have, of which loads are under way at a time
    std::string no_chains = {};             ///< the reason where there is only one
    bool streams = false;                   ///< spans can be read, written and copied
    std::string no_streams = {};            ///< the reason where they cannot

    std::vector<unsigned> processors = {0};  ///< that can make loads, as the system numbers them, ascending
    std::string no_processors = "one processor alone can make loads";  ///< why there are no two
    std::string no_transfers = {};                                     ///< why lines do not go from one to another

    /// Levels of which every miss is known.
    unsigned exact_cache_events() const { return exact_events ? cache_events : 0; }
};

/// A contiguous piece of virtual memory. Pages are placed anew for every arena.
struct Arena {
    std::uint32_t id = 0;
    std::uint64_t bytes = 0;
    std::uint64_t page = 0;  ///< bytes
    /// Set by who wants pages to be placed before the first run, by writing the arena; else small pages may be placed
    /// by the loads of a run, in their order.
    bool written = false;

    friend bool operator==(const Arena&, const Arena&) = default;
};

/// A circular chain of loads, each of which gives the address of the next: offsets into an arena, in the order of
/// visit. With several chains each of as many equal parts of the string is a circle of its own; one load of each is
/// made in turn, and does not wait for those of the others. With stores each load is followed by a store to the same
/// place.
struct Chase {
    Chase(const Offsets& string, bool of_floating_point = false, unsigned parts = 1, bool with_stores = false)
        : offsets(string.begin(), string.end()),
          recipe(string.recipe()),
          floating_point(of_floating_point),
          chains(parts),
          stores(with_stores) {}

    std::span<const std::uint64_t> offsets;  ///< of a string that has to outlive it
    Recipe recipe;
    bool floating_point;  ///< loads of this kind pass by the first level of some machines
    unsigned chains;      ///< a divisor of the number of offsets; 1 with stores
    bool stores;          ///< of integers alone
};

/// Loads and stores of a contiguous span, in order, that do not wait for each other.
struct Streaming {
    enum class Kind : std::uint8_t { read, write, copy };

    /// What a time is of: so many bytes that the program loads or stores. Lines that a level fetches for stores, and
    /// writes back, are not counted.
    static constexpr std::uint64_t block = 64;

    Kind kind = Kind::read;
    std::uint64_t bytes = 0;  ///< from the begin of the arena, a multiple of 2048; copy: the first half to the second

    friend bool operator==(const Streaming&, const Streaming&) = default;
};
std::string_view name_of(Streaming::Kind kind);

/// How long a chase is run: after `warm_up` laps at least `laps`, and until `least_cycles` have passed.
struct Effort {
    unsigned warm_up = 1;
    unsigned laps = 1;
    double least_cycles = 0;

    friend bool operator==(const Effort&, const Effort&) = default;
};

/// What is done before each round of a probe, so that rounds say nothing of each other.
enum class Renewal : std::uint8_t {
    none,
    loaded,     ///< a part's lines are taken out of all caches, and loaded once
    stored,     ///< they are taken out, and stored to once, by stores that load nothing
    taken_out,  ///< they are taken out, and so are those of the prime
};

/// Prime and probe: a chase that fills a hierarchy, and another that shows what stayed. The prime may have several
/// chains, which take less time, and are simulated as one: only what stays is asked. The string of `probe` is cut
/// into `parts` of equal length (the last may be shorter), each a circle of its own; the first `used` of them are run.
struct PrimeProbe {
    Chase prime, probe;
    unsigned parts = 1, used = 1;
    Renewal renewed = Renewal::none;
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
    std::uint64_t touched = nowhere;  ///< loaded between prime and probe: brings a translation back
};

/// How the samples of a run scatter, cycles per load.
struct Quantiles {
    double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, most = 0;

    Quantiles times(double factor) const {
        return {least * factor, lower_quartile * factor, median * factor, upper_quartile * factor, most * factor};
    }
    friend bool operator==(const Quantiles&, const Quantiles&) = default;
};

/// Of values in any order; all of none are 0.
Quantiles quantiles_of(std::vector<double> values);

/// What a run was made under.
struct Conditions {
    std::uint64_t samples = 1;           ///< that its figures stand for
    std::uint64_t dropped = 0;           ///< samples that were disturbed, and made again
    std::uint64_t context_switches = 0;  ///< during the run
    double clock_ratio = 1;              ///< the core's clock over that at the target's begin
    bool disturbed = false;              ///< none was left undisturbed: the figures are those of disturbed ones
    bool core_shared = false;            ///< another hardware thread used the core, and part of its caches and TLBs

    friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// What a run gave, per load, or per Streaming::block.
struct Measurement {
    double cycles = 0;
    Quantiles quantiles;
    Conditions conditions;
    std::vector<double> cache_misses;  ///< by level, nearest first; as many as Capabilities::cache_events
    std::vector<double> tlb_misses;    ///< as many as Capabilities::tlb_events
    /// Of chases that store, by level, nearest first: stores and dirty lines that come to it (at the end those that
    /// come to memory), how many of them miss there, and dirty lines of its own that it gives up. As many as
    /// Capabilities::write_events, of writes one more, or none.
    std::vector<double> writes = {}, write_misses = {}, write_backs = {};
    std::uint64_t laps = 0;     ///< that the figures stand for
    std::vector<double> parts;  ///< of prime_and_probe: cycles per load, by part
};

/// A chase on a processor, in memory of its own that is like an arena and placed by this processor.
struct ChaseOn {
    unsigned processor = 0;  ///< of Capabilities::processors
    Chase chase;
};

/// What probing has cost so far.
struct ProbeCost {
    std::uint64_t runs = 0;
    std::uint64_t references = 0;  ///< loads that runs stand for: what real hardware would have made
    std::uint64_t simulated = 0;   ///< loads that were simulated, where steady laps are not made again
    double cycles = 0;             ///< time on the target

    friend ProbeCost operator-(ProbeCost a, const ProbeCost& b) {
        a.runs -= b.runs;
        a.references -= b.references;
        a.simulated -= b.simulated;
        a.cycles -= b.cycles;
        return a;
    }
};

/// What a probe may spend; exceeded, tests end with "not identifiable".
struct Budget {
    double most_cycles = 1e12;              ///< on the target
    std::uint64_t most_references = ~0ULL;  ///< as ProbeCost::references
    std::function<bool()> go_on = {};       ///< asked before runs and within them; where it says no, probing ends
};

/// Thrown when a budget is spent.
class BudgetSpent : public ProbeError {
public:
    BudgetSpent() : ProbeError("its share of the budget is spent") {}
};

/// Thrown when Budget::go_on says no: no answer of the target, and so no ProbeError.
class ProbingEnded : public std::runtime_error {
public:
    ProbingEnded() : std::runtime_error("an end was asked for") {}
};

class ProbeTarget {
public:
    virtual ~ProbeTarget() = default;

    /// From here on runs are given up, wherever they are, as soon as they take more than this, counted from the
    /// target's begin: by BudgetSpent, or ProbingEnded. What was spent till then is in cost().
    virtual void keep_to(const Budget& budget) = 0;

    virtual const Capabilities& capabilities() const = 0;

    /// Throws ProbeError where it is larger than largest_arena, or has pages of a size that is not offered.
    virtual Arena make_arena(std::uint64_t bytes, std::uint64_t page) = 0;

    /// Throws ProbeError where an offset lies outside of the arena.
    virtual Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) = 0;

    /// Cycles of single loads: after `warm_up` laps, one load in each of `samples` laps, at positions that move on.
    /// They hold what reading the clock costs. Throws ProbeError where single loads cannot be timed, and for several
    /// chains.
    virtual std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up,
                                          unsigned samples) = 0;

    /// Cycles per block, after at least one lap that warms up; no events are counted. Throws ProbeError where nothing
    /// can be streamed.
    virtual Measurement stream(const Arena& arena, const Streaming& stream, const Effort& effort);

    /// What it costs to move a line from processor to processor: `from` writes the lines of the chase, then processor
    /// `to.processor` makes the loads, once each. Cycles per load, over so many rounds after one that does not count:
    /// their median. What hands over is not in the time. The memory is that of `from`, like `arena`. Throws ProbeError
    /// where there is one processor only, or lines do not move. (the usual exchange of two threads)
    virtual Measurement transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds);

    /// What a chase takes after another one: `one` makes its loads twice, then `other`, then `one` once more.
    /// Cycles per load of these last loads of `one`, over so many rounds after one that does not count: their median.
    /// Both may be on the same processor; their memory, of each like `arena`, is never the same. Throws ProbeError
    /// where a processor is not offered.
    virtual Measurement run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds);

    /// Cycles per load of the probe alone, after `effort.warm_up` laps of the prime: each part is run once after a lap
    /// of the prime, `effort.laps` times over. Of each part the median, and of these the mean; `laps` are those of the
    /// prime. (The question of Osvik, Shamir, Tromer 2006, "Cache Attacks and Countermeasures".) Throws ProbeError
    /// where the target cannot.
    virtual Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort);

    /// Physical addresses of the pages of an arena, in order; empty where they cannot be known.
    virtual std::vector<std::uint64_t> physical_pages(const Arena&) const { return {}; }

    /// The arena is used no more: its memory may be given back. Unknown ones, and those released, are passed over.
    virtual void release(const Arena& arena) = 0;

    virtual ProbeCost cost() const = 0;
};

}  // namespace cachetally
