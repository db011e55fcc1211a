// SPDX-License-Identifier: BSD-3-Clause
#include "probes/tests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "probes/ours/sets.hpp"
#include "probes/ours/sweep.hpp"

namespace cachetally {
namespace {

/// Share of misses of a set with a policy in the long run. Of many lines fewer laps are as good.
double expected_misses(const std::vector<std::uint64_t>& order, unsigned ways, Replacement replacement) {
    const unsigned share = std::max(1U, ways / 64), warm_up = std::max(8U, 64 / share),
                   laps = std::max(16U, 256 / share);
    const auto set = make_cache_array({1, ways, replacement, 1});
    std::uint64_t misses = 0;
    for (unsigned lap = 0; lap < warm_up + laps; ++lap)
        for (const std::uint64_t line : order) {
            const bool missed = set->replace(0, (line + 1) * 64, {}, 0).miss != 0;
            if (lap >= warm_up) misses += missed;
        }
    return static_cast<double>(misses) / static_cast<double>(laps * order.size());
}

}  // namespace

TestReport replacement_robust(Meter& meter, const L1Geometry& l1) {
    TestReport report;
    if (l1.ways < 2) return refused(std::move(report), "L1", {"replacement"}, "a set of one way leaves no choice");
    const std::uint64_t span = l1.way() * 4 * l1.ways + policy_margin;
    if (span > meter.capabilities().largest_arena)
        return refused(std::move(report), "L1", {"replacement"}, "the arena is too small");
    const Arena arena = meter.target().make_arena(span, meter.large_page());
    // Four times as many lines as ways in order miss always, or nearly so.
    const bool events = meter.capabilities().cache_events > 0;
    const double all_miss = meter.settled(arena, compact_string(l1.way(), 4 * l1.ways));
    const auto measured = [&](const Offsets& loads) {
        return events ? meter.count(arena, {loads}, {64, 128}).cache_misses.front()
                      : (meter.settled(arena, loads) - l1.latency) / (all_miss - l1.latency);
    };
    find_policy(report, {.level = "L1",
                         .ways = l1.ways,
                         .way = l1.way(),
                         .line = l1.line,
                         .seed = meter.seed(),
                         .expected = [&](const auto& order,
                                         Replacement policy) { return expected_misses(order, l1.ways, policy); },
                         .measured = measured,
                         .best_error = 0.025,
                         .unlike = "no policy that is known would miss as often as was measured",
                         .alike = "two policies would miss alike with so many ways",
                         .method = "shares of misses in random orders of the lines of a set"});
    return report;
}

namespace {

constexpr std::uint64_t block = 512;      ///< bytes whose lines are in random order
constexpr std::uint64_t far_ends = 3072;  ///< bytes at both ends of 4 KiB, at most

/// Pieces of an array: each is visited whole, and lies so far from the next.
struct Pieces {
    std::uint64_t bytes = 0, count = 1, apart = 0;
};

/// What of a span is loaded: places `unit` bytes apart, of pieces.
struct Walk {
    Pieces pieces;
    std::uint64_t unit = 0;
    Offsets ascending, blocks;  ///< in order, and blocks of them in random order

    Walk(const Pieces& of, std::uint64_t apart, std::uint64_t seed) : pieces(of), unit(apart) {
        const std::uint64_t span = pieces.bytes * pieces.count;
        ascending = strided_string(span, unit);
        // Lines of lower levels that are longer than those of L1 are used alike in both orders.
        blocks = page_local_string(span, block, unit, seed);
        for (Offsets* offsets : {&ascending, &blocks})
            for (std::uint64_t& offset : offsets->change())
                offset = offset / pieces.bytes * pieces.apart + offset % pieces.bytes;
    }
};

/// Whether loads in order take less time than blocks of them in random order.
bool quicker_in_order(Meter& meter, const Arena& arena, const Walk& walk, std::vector<std::string>& decisions) {
    constexpr double quicker = 0.85;
    const double a = meter.time(arena, walk.ascending, 2, 1), b = meter.time(arena, walk.blocks, 2, 1);
    decisions.push_back(fmt::format("{}, loads {} bytes apart: {:.2f} cycles in order, {:.2f} in random order",
                                    format_size(walk.pieces.bytes * walk.pieces.count), walk.unit, a, b));
    return a < quicker * b;
}

/// Whether loads of the first lines of 4 KiB, which no prefetcher goes beyond, make those of the last ones quicker: of
/// so many of each, in blocks so far apart.
bool quickens_last_lines(Meter& meter, const Arena& arena, std::uint64_t line, std::uint64_t lines, std::uint64_t apart,
                         std::vector<std::string>& decisions) {
    constexpr double quicker = 0.9;
    constexpr std::uint64_t bounds = 4096;
    std::vector<std::uint64_t> before, after;  // the last lines, then the first ones; and the other way round
    for (std::uint64_t at = 0; at < arena.bytes; at += apart)
        for (std::uint64_t i = 0; i < 2 * lines; ++i) {
            const std::uint64_t first = at + i % lines * line, last = first + bounds - lines * line;
            before.push_back(i < lines ? last : first);
            after.push_back(i < lines ? first : last);
        }
    const double a = meter.time(arena, after, 2, 1), b = meter.time(arena, before, 2, 1);
    decisions.push_back(
        fmt::format("the last {} lines of 4 KiB after the first: {:.2f} cycles; before them: {:.2f}", lines, a, b));
    return a < quicker * b;
}

}  // namespace

TestReport prefetcher_robust(Meter& meter, const L1Geometry& l1) {
    TestReport report;
    constexpr std::uint64_t piece = 16 << 10, apart = 256 << 10;
    const std::uint64_t largest = std::min<std::uint64_t>(meter.capabilities().largest_arena, std::uint64_t{24} << 20);
    const Arena arena = meter.target().make_arena(largest, meter.large_page());
    const std::uint64_t span = 5 * l1.capacity / 2 / block * block, fewer = largest / 3 * 2;
    bool waits = false;
    // Where a level is just full, what stays depends on the order: then not where there is half as much again.
    const auto quicker = [&](const Pieces& some, const Pieces& more, std::uint64_t unit) {
        if (some.count == 0 || more.bytes * more.count > largest) return false;
        if (!quicker_in_order(meter, arena, {some, unit, meter.seed()}, report.decisions)) return false;
        if (!quicker_in_order(meter, arena, {more, unit, meter.seed()}, report.decisions)) return false;
        const Walk walk(more, l1.line, meter.seed());
        for (const Offsets* order : {&walk.ascending, &walk.blocks})
            waits = waits || loads_wait(meter, arena, *order, l1);
        return true;
    };
    // Of the larger spans some pieces only: they meet in few sets, so that they do not stay in lower levels either.
    const auto quicker_anywhere = [&](std::uint64_t unit) {
        return quicker({span}, {span / 2 * 3 / block * block}, unit) ||
               quicker({piece, fewer / apart, apart}, {piece, largest / apart, apart}, unit);
    };
    const auto looks_far = [&](std::uint64_t lines) {
        return 2 * lines * l1.line <= far_ends && arena.bytes >= 64 * apart &&
               quickens_last_lines(meter, arena, l1.line, lines, apart, report.decisions);
    };
    // A prefetcher may look so many lines ahead that few of them are in 4 KiB, or none, but not so many halves of
    // lines.
    const bool found = quicker_anywhere(l1.line) || quicker_anywhere(l1.line / 2) || looks_far(4) || looks_far(12);
    if (report.decisions.empty())
        report.refuse("", "prefetcher", "the arena is no larger than L1");
    else if (waits)
        report.refuse("", "prefetcher",
                      "loads wait for memory that is still busy with those before them: the longer, the worse their "
                      "order spreads them");
    else
        report.answer("", "prefetcher", found ? "present" : "absent", "loads in order against blocks in random order");
    return report;
}

}  // namespace cachetally
