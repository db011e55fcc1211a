// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/random.hpp"
#include "probes/tests.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

class Sweeper {
public:
    Sweeper(std::vector<std::uint64_t> sizes, const TimeOfSize& time, const SweepOptions& options)
        : time_(time), options_(options), unchanged_(sizes.size(), 0) {
        result_.cycles.assign(sizes.size(), std::numeric_limits<double>::infinity());
        result_.trials.assign(sizes.size(), 0);
        result_.knocked_out.assign(sizes.size(), 0);
        result_.left_out.assign(sizes.size(), 0);
        result_.sizes = std::move(sizes);
    }

    SweepResult run() {
        while (result_.sweeps < options_.most_sweeps && sweep()) {
            ++result_.sweeps;
            if (options_.knock_out) knock_out();
        }
        return std::move(result_);
    }

private:
    /// False when every size is done or knocked out.
    bool sweep() {
        bool any = false;
        for (std::size_t i = 0; i < unchanged_.size(); ++i) {
            if (unchanged_[i] >= options_.stability) continue;
            if (result_.knocked_out[i] != 0) {
                ++result_.runs_saved;
                ++result_.left_out[i];
                continue;
            }
            any = true;
            ++result_.runs;
            const double cycles = std::round(time_(result_.sizes[i], result_.trials[i]++));
            if (cycles >= result_.cycles[i]) {
                ++unchanged_[i];
                continue;
            }
            result_.cycles[i] = cycles;
            unchanged_[i] = 0;
            if (!options_.revive) continue;
            if (i > 0) result_.knocked_out[i - 1] = 0;
            if (i + 1 < unchanged_.size()) result_.knocked_out[i + 1] = 0;
        }
        return any;
    }

    void knock_out() {
        for (std::size_t i = 1; i + 1 < unchanged_.size(); ++i) {
            if (result_.cycles[i] != result_.cycles[i - 1] || result_.cycles[i] != result_.cycles[i + 1]) continue;
            if (result_.knocked_out[i] == 0) unchanged_[i] = 0;
            result_.knocked_out[i] = 1;
        }
    }

    const TimeOfSize& time_;
    const SweepOptions& options_;
    std::vector<unsigned> unchanged_;  ///< runs since the last minimum
    SweepResult result_;
};

}  // namespace

SweepResult stable_sweep(std::vector<std::uint64_t> sizes, const TimeOfSize& time, const SweepOptions& options) {
    return Sweeper(std::move(sizes), time, options).run();
}

std::vector<std::uint64_t> sample_sizes(std::uint64_t unit, std::uint64_t most) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t count = 1; count < 4 && count * unit <= most; ++count) sizes.push_back(count * unit);
    for (std::uint64_t octave = 4 * unit; octave <= most; octave *= 2)
        for (std::uint64_t quarter = 0; quarter < 4; ++quarter)
            if (octave + octave / 4 * quarter <= most) sizes.push_back(octave + octave / 4 * quarter);
    return sizes;
}

namespace {

constexpr std::uint64_t kib = 1024, word = 8;
constexpr std::uint64_t gap_least = kib, gap_most = 4 * kib * kib;  ///< bytes: LB and UB of the L1 test
constexpr std::uint64_t most_ways = 16;                             ///< MaxAssoc
constexpr unsigned laps_of_run = 3;                                 ///< two to warm up
/// Section 4 names a conservative analysis of several steps and does not describe it.
constexpr const char stand_in[] =
    "a stand-in for the analysis that section 4 names: any rise of rounded times ends a level";
constexpr std::uint64_t largest_span = 32 * kib * kib, largest_tlb_span = 8 * kib * kib;

/// A rise of rounded times between two sizes that are neighbours in the sample, or over several: a ramp.
struct Rise {
    std::size_t last = 0;   ///< the last size before it
    std::size_t first = 0;  ///< the first size after it, where times stand still again
};

std::vector<Rise> rises(const std::vector<double>& cycles) {
    std::vector<Rise> found;
    for (std::size_t i = 1; i < cycles.size(); ++i) {
        if (cycles[i] <= cycles[i - 1]) continue;
        Rise rise{i - 1, i};
        while (rise.first + 1 < cycles.size() && cycles[rise.first + 1] > cycles[rise.first]) ++rise.first;
        found.push_back(rise);
        i = rise.first;
    }
    return found;
}

/// So many runs of a size were saved, each of so many loads a lap.
void add_saved(TestReport& report, double runs, double loads, double cycles) {
    const auto add = [](std::uint64_t& sum, double more) {
        sum = static_cast<std::uint64_t>(std::max(0.0, static_cast<double>(sum) + more));
    };
    add(report.saved.runs, runs);
    add(report.saved.references, runs * loads * laps_of_run);
    report.saved.cycles += runs * loads * laps_of_run * cycles;
}

void add_curve(TestReport& report, const SweepResult& sweep, const std::string& name) {
    report.curves.push_back({.name = name,
                             .x_name = "span",
                             .x_unit = "bytes",
                             .x = {sweep.sizes.begin(), sweep.sizes.end()},
                             .cycles = sweep.cycles,
                             .trials = sweep.trials,
                             .knocked_out = sweep.knocked_out});
    report.decisions.push_back(fmt::format("{}: {} sweeps, {} runs, {} runs saved by knock-out", name, sweep.sweeps,
                                           sweep.runs, sweep.runs_saved));
}

/// Times of strings that are built anew, on new pages, for each trial.
class FreshStrings {
public:
    FreshStrings(Meter& meter, std::uint64_t line) : meter_(meter), line_(line) {}

    double cache(std::uint64_t bytes, unsigned trial) {
        return time(bytes, page_local_string(bytes, meter_.page(), line_, seed(bytes, trial)));
    }
    double tlb(unsigned n, std::uint64_t bytes, unsigned trial) {
        return time(bytes, tlb_string(n, bytes, meter_.page(), line_, seed(bytes, trial)));
    }

private:
    std::uint64_t seed(std::uint64_t bytes, unsigned trial) const { return splitmix64(meter_.seed() + bytes) + trial; }
    double time(std::uint64_t bytes, const Offsets& offsets) {
        const Arena arena = meter_.target().make_arena(bytes, meter_.page());
        const double cycles = meter_.once(arena, offsets, laps_of_run - 1, 1);
        meter_.target().release(arena);
        return cycles;
    }

    Meter& meter_;
    std::uint64_t line_;
};

}  // namespace

TestReport gap_published(Meter& meter) {
    TestReport report;
    const Arena arena = meter.arena_up_to(2 * gap_most, meter.page());
    const double hit = meter.settled(arena, {0});
    const auto misses = [&](std::uint64_t n, std::uint64_t gap, std::uint64_t offset) {
        return meter.takes_longer(arena, gap_string(n, gap, offset), hit);
    };
    report.answer("L1", "latency", hit, hit - meter.tolerance(hit), hit, "cycles", "the time of strings that hit");
    std::uint64_t gap = gap_least / most_ways;
    while (gap <= gap_most / most_ways && (most_ways + 1) * gap <= arena.bytes && !misses(most_ways + 1, gap, 0))
        gap *= 2;
    if (gap > gap_most / most_ways || (most_ways + 1) * gap > arena.bytes) {
        report.findings.clear();  // nothing misses, so that the time is not known to be that of a hit
        report.refuse("L1", {"latency", "capacity", "ways", "line"}, "no gap made 17 locations miss");
        return report;
    }
    const std::uint64_t size = gap * most_ways;
    std::uint64_t ways = most_ways;
    while (ways > 1 && misses(ways / 2 + 1, size / (ways / 2), 0)) ways /= 2;
    report.answer("L1", "capacity", size, "bytes", "the first gap k at which G(17,k,0) misses");
    report.answer("L1", "ways", ways, "ways", "G(n,size/(n-1),0), n halved");
    for (std::uint64_t offset = word; offset <= meter.page(); offset += word) {
        if (misses(ways + 1, size / ways, offset)) continue;
        report.answer("L1", "line", offset, "bytes", "the offset o at which G(ways+1,size/ways,o) hits");
        return report;
    }
    report.refuse("L1", "line", "no offset up to a page made the last location hit");
    return report;
}

TestReport levels_published(Meter& meter, const L1Geometry& l1, const SweepOptions& options) {
    TestReport report;
    FreshStrings strings(meter, l1.line);
    const std::uint64_t most = std::min(largest_span, meter.capabilities().largest_arena);
    const SweepResult sweep = stable_sweep(
        sample_sizes(kib, most), [&](std::uint64_t size, unsigned trial) { return strings.cache(size, trial); },
        options);
    add_curve(report, sweep, "times");
    for (std::size_t i = 0; i < sweep.sizes.size(); ++i)
        add_saved(report, sweep.left_out[i], static_cast<double>(sweep.sizes[i] / l1.line), sweep.cycles[i]);
    const std::vector<Rise> found = rises(sweep.cycles);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::string level = fmt::format("L{}", i + 1);
        const double latency = sweep.cycles[found[i].last];
        report.answer(level, "capacity", sweep.sizes[found[i].last], "bytes",
                      "the last size before a rise of the rounded time (a stand-in)");
        // What it is of the machine's own capacity, the paper leaves open: the rise is between two sizes of the sample.
        const auto last = static_cast<double>(sweep.sizes[found[i].last]);
        report.answer(level, "effective_capacity", last, last, static_cast<double>(sweep.sizes[found[i].last + 1]) - 1,
                      "bytes", "from the last size before a rise to the next one of the sample (a stand-in)");
        report.answer(level, "latency", latency, latency - 0.5, latency + 0.5, "cycles", "the rounded time there");
    }
    report.answer("", "levels", found.size(), "levels", "rises of the rounded time (a stand-in)");
    report.decisions.emplace_back(stand_in);
    report.answer("memory", "latency", sweep.cycles.back(), sweep.cycles.back() - 0.5, sweep.cycles.back() + 0.5,
                  "cycles", "the rounded time of the largest size");
    return report;
}

TestReport tlb_published(Meter& meter, const L1Geometry& l1, const TlbOptions& options) {
    TestReport report;
    FreshStrings strings(meter, l1.line);
    const std::uint64_t page = meter.page();
    const std::uint64_t most = std::min(largest_tlb_span, meter.capabilities().largest_arena);
    const std::vector<std::uint64_t> sizes = sample_sizes(page, most);
    const auto sweep_of = [&](unsigned n, std::vector<std::uint64_t> some) {
        return stable_sweep(
            std::move(some), [&, n](std::uint64_t size, unsigned trial) { return strings.tlb(n, size, trial); },
            options.sweep);
    };
    const SweepResult first = sweep_of(1, sizes);
    add_curve(report, first, "T1");
    const auto pages_of = [&](std::uint64_t size) { return static_cast<double>(size / page); };
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        add_saved(report, first.left_out[i], pages_of(sizes[i]), first.cycles[i]);
        // T(2..4) at all sizes would take as many runs as T(1) does.
        for (unsigned n = 2; n <= 4 && options.on_demand; ++n)
            add_saved(report, first.trials[i], n * pages_of(sizes[i]), first.cycles[i]);
    }
    std::map<unsigned, SweepResult> all;
    if (!options.on_demand)
        for (unsigned n = 2; n <= 4; ++n) add_curve(report, all[n] = sweep_of(n, sizes), fmt::format("T{}", n));
    unsigned level = 0;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        if (first.cycles[i + 1] <= first.cycles[i] || (i > 0 && first.cycles[i] > first.cycles[i - 1])) continue;
        bool confirmed = true;
        for (unsigned n = 2; n <= 4 && confirmed; ++n) {
            if (options.on_demand) {
                const SweepResult there = sweep_of(n, {sizes[i], sizes[i + 1]});
                for (std::size_t j = 0; j < 2; ++j)  // these were made
                    add_saved(report, -static_cast<double>(there.trials[j]), n * pages_of(sizes[i + j]),
                              there.cycles[j]);
                confirmed = there.cycles[1] > there.cycles[0];
            } else {
                confirmed = all[n].cycles[i + 1] > all[n].cycles[i];
            }
        }
        report.decisions.push_back(fmt::format("T(1) rises after {} pages: {}", sizes[i] / page,
                                               confirmed ? "confirmed" : "a false positive"));
        if (!confirmed) continue;
        report.answer(fmt::format("TLB{}", ++level), "entries", sizes[i] / page, "entries",
                      "the last size before a rise of T(1) that T(2..4) confirm (a stand-in)");
    }
    report.answer("", "tlb_levels", level, "levels", "rises of T(1) that T(2..4) confirm (a stand-in)");
    report.decisions.emplace_back(stand_in);
    return report;
}

}  // namespace cachetally
