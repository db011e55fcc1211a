// SPDX-License-Identifier: BSD-3-Clause
#include "probes/dongarra/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "base/random.hpp"
#include "base/units.hpp"
#include "cachetally/types.hpp"
#include "probes/analysis.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t least_array = 1024;
constexpr double clear_misses = 0.01;      ///< of loads
constexpr std::uint64_t few_loads = 8192;  ///< so few that a lap may be free of interrupts
constexpr double clear_with_noise = 0.02;  ///< interrupts make loads miss, the more the longer these take
constexpr double some_misses = 0.5;        ///< of a lap: one that comes now and then is of others
constexpr double nearly_all = 0.7;         ///< of the misses that there can be; at half a block it is half of them
constexpr double about_half = 0.6;         ///< of the loads that miss: at half a block, with room for noise
constexpr double enough_to_tell = 0.25;    ///< of the loads of an array that is too large by half, at some stride
constexpr double nearly_each = 0.98;       ///< of loads
constexpr double of_others = 1.0 / 64;     ///< share of a level that lines of others (of page tables, say) may take
constexpr int other_placements = 8;        ///< of few pages most are alike
constexpr double unlike_elsewhere = 0.02;  ///< share of misses by which placements of pages may differ

/// Misses of one cache or TLB.
class Events {
public:
    Events(Meter& meter, bool robust, bool tlb, unsigned level)
        : meter_(meter), robust_(robust), tlb_(tlb), level_(level), arena_(new_arena()) {}

    std::uint64_t most() const { return arena_.bytes; }

    /// Of one lap.
    double per_lap(const Offsets& offsets) { return share(offsets, level_) * static_cast<double>(offsets.size()); }
    double per_load(const Offsets& offsets) { return share(offsets, level_); }

    /// Whether the level above keeps none of these lines.
    bool all_arrive(const Offsets& offsets) { return level_ == 0 || share(offsets, level_ - 1) > nearly_each; }

    /// Whether as many loads miss wherever the pages of an array lie.
    bool same_elsewhere(const Offsets& offsets) {
        if (offsets.size() * array_element > arena_.bytes || offsets.back() < arena_.page) return true;
        const Arena here = arena_;
        double least = per_load(offsets), most = least;
        for (int i = 0; i < other_placements; ++i) {
            arena_ = new_arena();
            const double share = per_load(offsets);
            least = std::min(least, share);
            most = std::max(most, share);
        }
        arena_ = here;
        return most - least <= unlike_elsewhere;
    }

    /// The elements of an array, those of a page after each other: lines in ascending order may be prefetched.
    Offsets out_of_order(std::uint64_t array, std::uint64_t stride) const {
        if (tlb_) return strided_string(array, stride);
        return page_local_string(array, std::max<std::uint64_t>(4096, stride), stride, meter_.seed());
    }

    /// Whether so many bytes have small pages that are too many for all TLBs.
    bool walks(std::uint64_t bytes) {
        if (meter_.capabilities().tlb_events == 0 || arena_.page >= few_translations) return false;
        const Measurement found = meter_.count(arena_, {strided_string(bytes, arena_.page)}, {2, 1});
        return found.tlb_misses.back() > (noisy() ? clear_misses : 0);
    }

    bool noisy() const { return meter_.noise() > 0; }

private:
    /// Of loads that miss.
    double share(const Offsets& offsets, unsigned level) {
        // A run that is short may be free of interrupts.
        const auto few = laps_of(2048, offsets, 1, 64);
        const bool many = offsets.size() >= 1024;
        // A TLB above may by chance keep a page for a lap, and then the others fit.
        const unsigned laps = noisy() ? few : !many ? 64 : tlb_ ? 8 : 1;
        const Measurement found = meter_.count(arena_, {offsets}, {many ? 2 : laps, laps});
        return (tlb_ ? found.tlb_misses : found.cache_misses)[level];
    }

    Arena new_arena() const {
        return meter_.arena_up_to(std::uint64_t{64} << 20, robust_ && !tlb_ ? meter_.large_page() : meter_.page());
    }

    Meter& meter_;
    bool robust_, tlb_;
    unsigned level_;
    Arena arena_;
};

/// papi_cacheBlock, case 1 and 2: misses per access double with the stride until there is one per access.
std::uint64_t block_size(Events& events, std::uint64_t array, std::uint64_t least) {
    double before = events.per_load(strided_string(array, least));
    if (before <= 0) return 0;
    for (std::uint64_t stride = 2 * least; stride <= array / 2; stride *= 2) {
        const double misses = events.per_load(strided_string(array, stride));
        if (misses < 1.5 * before) return stride / 2;
        before = misses;
    }
    return 0;
}

/// The least stride at which nearly as many loads miss as at any: what interrupts add counts for little there. At half
/// a block half as many do, else levels above keep lines, and the stride says nothing (0).
std::uint64_t block_by_most(Events& events, std::uint64_t array, std::uint64_t least) {
    std::vector<double> misses;
    for (std::uint64_t stride = least; stride <= array / 2; stride *= 2)
        misses.push_back(events.per_load(events.out_of_order(array, stride)));
    const double most = misses.empty() ? 0 : *std::ranges::max_element(misses);
    if (most < enough_to_tell) return 0;
    const auto enough = std::ranges::find_if(misses, [&](double share) { return share >= nearly_all * most; });
    if (enough != misses.begin() && *std::prev(enough) > about_half * *enough) return 0;
    return least << (enough - misses.begin());
}

/// block_by_most(), where misses grow slowly only if two arrays agree: the smaller one may be missed in part.
std::uint64_t sure_block(Events& events, const CountedGeometry& found, std::uint64_t least) {
    const std::uint64_t block = block_by_most(events, found.capacity / 2 * 3, least);
    if (found.high <= 1.1 * found.low) return block;
    const std::uint64_t larger = static_cast<std::uint64_t>(found.high) / 2 * 3 / least * least;
    return larger <= events.most() && block_by_most(events, larger, least) == block ? block : 0;
}

/// Whether the block after the one that a load is in comes with it: then blocks are not what they seem. Loads are of
/// the last element of a block and the first of the next, in every fourth block.
bool fetches_next(Events& events, std::uint64_t array, std::uint64_t block) {
    std::vector<std::uint64_t> pairs;
    for (const std::uint64_t at : events.out_of_order(array, 4 * block))
        for (const std::uint64_t offset : {at + block - array_element, at + block}) pairs.push_back(offset);
    return events.per_load(pairs) < nearly_all * events.per_load(events.out_of_order(array, 2 * block));
}

/// Of each pair of blocks of `line` bytes in so many bytes one, by chance: if the other one needs no room, they need
/// half of the bytes, else all.
Offsets halves_of(const Events& events, std::uint64_t bytes, std::uint64_t line, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::uint64_t> halves;
    for (const std::uint64_t pair : events.out_of_order(align_down(bytes, 2 * line), 2 * line))
        halves.push_back(pair + random.below(2) * line);
    return Offsets(std::move(halves));
}

/// Ours: bytes of a line of which blocks are fetched one by one; 0 = as lines of others meet by chance, none is known.
std::uint64_t line_of_blocks(Events& events, const CountedGeometry& found, std::uint64_t seed) {
    constexpr std::uint64_t longest = 4096;
    constexpr double beyond_chance = 0.45;  // up to a third miss where sets have one way, more than half where tags end
    constexpr double few = 0.1;             // of half the capacity
    const std::uint64_t too_many = found.capacity / 2 * 3;
    std::uint64_t line = found.block;
    while (line < longest && events.per_load(halves_of(events, too_many, line, seed)) >= beyond_chance) line *= 2;
    if (line == found.block) return line;
    const Offsets fit = halves_of(events, found.capacity, line, seed);
    return !found.uneven && events.all_arrive(fit) && events.per_load(fit) < few ? line : 0;
}

/// Ours: whether blocks, longer than lines above, are lines, or pairs of them that are fetched together. First halves
/// of some blocks are used again and again between many others; lines of their own beside them are lost meanwhile.
/// Returns the bytes of a line; 0 = not known: uses keep no line either, or more than two are lost one by one.
std::uint64_t line_of_pairs(Events& events, const CountedGeometry& found, std::uint64_t line_above) {
    constexpr unsigned times = 16;
    constexpr std::uint64_t most_times_longer = 4;  // else it is where pages lie that loads miss by
    constexpr double some_lost = 0.25, few_lost = 0.05;
    if (found.block > most_times_longer * line_above) return 0;
    const std::uint64_t used = align_down(found.capacity / 8 * 5, found.block);
    const std::uint64_t others = align_down(found.capacity / 8, found.block);
    if (others == 0 || used + times * others > events.most()) return 0;
    const auto string = [&](std::uint64_t last) {
        std::vector<std::uint64_t> loads;
        const Offsets again = events.out_of_order(used, found.block), once = events.out_of_order(others, found.block);
        for (unsigned i = 0; i < times; ++i) {
            loads.insert(loads.end(), again.begin(), again.end());
            for (const std::uint64_t at : once) loads.push_back(used + i * others + at);
        }
        for (const std::uint64_t at : again) loads.push_back(at + last);
        return Offsets(std::move(loads));
    };
    const Offsets first = string(0);
    if (!events.all_arrive(first)) return 0;
    const double misses = events.per_lap(first), blocks = static_cast<double>(used) / static_cast<double>(found.block);
    if (events.per_lap(string(found.block / 2)) - misses > some_lost * blocks)
        return found.block == 2 * line_above ? line_above : 0;
    const double once_loaded = static_cast<double>(times * others) / static_cast<double>(found.block);
    return misses - once_loaded < few_lost * times * blocks ? found.block : 0;
}

/// papi_cacheBlock, case 3: the first stride at which the elements left make no misses any more.
std::uint64_t fitting_elements(Events& events, std::uint64_t array, std::uint64_t from) {
    for (std::uint64_t stride = from; stride <= array / 2; stride *= 2)
        if (events.per_lap(strided_string(array, stride)) <= some_misses) return array / stride;
    return 1;
}

/// The most elements `stride` apart that fit; 0 = more than the arena has.
std::uint64_t most_that_fit(Events& events, std::uint64_t stride, std::uint64_t low) {
    const auto fit = [&](std::uint64_t count) {
        return events.per_lap(strided_string(count * stride, stride)) <= some_misses;
    };
    std::uint64_t high = 2 * low;
    while (high * stride <= events.most() && fit(high)) low = high, high *= 2;
    if (high * stride > events.most()) return 0;
    return bisect(low, high, fit).low;
}

/// Elements of a set of W ways halve in number as their distance doubles up to a way, and remain W from there on. What
/// levels above keep besides, or a distance that is no multiple of a way (an odd multiple of a power of two), shows as
/// numbers that do not. Capacity must be W ways.
bool confirmed_ways(Events& events, const CountedGeometry& found, std::uint64_t stride) {
    if (!events.all_arrive(strided_string(found.ways * stride, stride))) return false;
    while (stride > found.block && most_that_fit(events, stride / 2, found.ways) == found.ways) stride /= 2;
    // Sets may be an odd multiple of a power of two: lines a power of two apart then fill several sets.
    for (std::uint64_t times = 2; times <= found.ways; times = times == 2 ? 3 : times + 2) {
        if (times > 3 && found.ways % times != 0) continue;
        if (most_that_fit(events, times * stride, found.ways / times + 1) != found.ways) return false;
    }
    const auto bytes = static_cast<double>(stride * found.ways);
    // Where misses grow slowly the level ends where they are clear.
    if (bytes < std::max(found.low, found.high / 1.1) || bytes > found.high) return false;
    return stride <= found.block || most_that_fit(events, stride / 2, found.ways) == 2 * found.ways;
}

/// papi_cacheSize: powers of two first, then the size at which misses begin. 0 = not within the arena.
std::uint64_t end_of_hits(Events& events, std::uint64_t step, std::uint64_t resolution,
                          const std::function<bool(std::uint64_t)>& misses) {
    std::uint64_t fits = 0, array = std::max(least_array, step);
    while (array <= events.most() && !misses(array)) fits = array, array *= 2;
    if (array > events.most() || fits == 0) return 0;
    for (std::uint64_t high = array; high - fits > std::max(step, resolution == 0 ? 0 : fits / resolution);) {
        const std::uint64_t middle = fits + (high - fits) / 2 / step * step;
        (misses(middle) ? high : fits) = middle;
    }
    return fits;
}

/// papi_cacheSize with one load in each of so many pieces of an array: elements far apart do as well where sets are
/// fields of the address.
using Stride = std::function<std::uint64_t(std::uint64_t bytes)>;

/// Where misses begin, and where they are clear: lines of others take some of a level. With noise some loads of long
/// laps miss anywhere, so that only clear misses count.
CountedGeometry capacity_between(Events& events, std::uint64_t step, const Stride& stride_at) {
    CountedGeometry found;
    const auto array = [&](std::uint64_t bytes) { return strided_string(bytes, stride_at(bytes)); };
    const auto exposed = [&](std::uint64_t bytes) { return events.noisy() && bytes / stride_at(bytes) > few_loads; };
    const auto some = [&](std::uint64_t bytes) { return events.per_lap(array(bytes)) > some_misses; };
    const auto many = [&](std::uint64_t bytes, double share) { return events.per_load(array(bytes)) > share; };
    const auto clear = [&](std::uint64_t bytes) {
        return many(bytes, exposed(bytes) ? clear_with_noise : clear_misses);
    };
    found.capacity = end_of_hits(events, step, 128,
                                 [&](std::uint64_t bytes) { return exposed(bytes) ? clear(bytes) : some(bytes); });
    if (found.capacity == 0) return found;
    const bool rough = exposed(found.capacity);
    std::uint64_t low = found.capacity, high = 2 * found.capacity;
    while (high - low > std::max(step, found.capacity / 128)) {
        const std::uint64_t middle = low + (high - low) / 2 / step * step;
        ((rough ? many(middle, 3 * clear_with_noise) : clear(middle)) ? high : low) = middle;
    }
    const auto bytes = static_cast<double>(found.capacity);
    found.low = bytes * (rough ? 0.985 : 1);
    found.high = std::max(bytes * (rough ? 1.04 : 1 + of_others), static_cast<double>(high));
    const auto beyond = static_cast<std::uint64_t>(1.05 * found.high) / step * step;
    found.uneven = beyond <= events.most() && !events.same_elsewhere(array(beyond));
    found.walks = events.walks(std::min(beyond, events.most()));
    return found;
}

/// Elements far apart first; where all of them, close together, say otherwise, these.
CountedGeometry capacity_between(Events& events, std::uint64_t step) {
    constexpr std::uint64_t enough = 4096;
    const auto sparse = [&](std::uint64_t bytes) { return std::max(step, std::bit_floor(bytes / enough)); };
    const auto dense = [&](std::uint64_t) { return step; };
    const CountedGeometry found = capacity_between(events, step, sparse);
    if (found.capacity == 0 || sparse(found.capacity) == step) return found;
    const auto share = [&](double bytes) {
        return events.per_load(strided_string(static_cast<std::uint64_t>(bytes) / step * step, step));
    };
    const bool agree = share(0.95 * found.low) < clear_with_noise && share(1.1 * found.high) > clear_with_noise;
    return agree ? found : capacity_between(events, step, dense);
}

/// papi_cacheSize. Interrupts only add misses, so that the most that ever fits is the answer.
CountedGeometry capacity_of(Events& events, const CountedLevel& level, std::uint64_t step) {
    if (level.robust && !level.tlb) return capacity_between(events, step);
    CountedGeometry found;
    for (int i = 0; i < (level.robust && events.noisy() ? 3 : 1); ++i)
        found.capacity = std::max(found.capacity, end_of_hits(events, step, 0, [&](std::uint64_t bytes) {
                                      return events.per_lap(strided_string(bytes, step)) > some_misses;
                                  }));
    found.low = found.high = static_cast<double>(found.capacity);
    return found;
}

}  // namespace

CountedGeometry measure_geometry(Meter& meter, const CountedLevel& level, const std::string& name,
                                 std::vector<std::string>& decisions) {
    Events events(meter, level.robust, level.tlb, level.level);
    CountedGeometry found = capacity_of(events, level, level.step);
    if (found.capacity == 0) return found;
    const std::uint64_t array = std::bit_ceil(2 * found.capacity);
    std::uint64_t block = 0;
    if (array <= events.most())
        block =
            level.robust ? sure_block(events, found, level.least_block) : block_size(events, array, level.least_block);
    // Of blocks that are, or may be, shorter than a step some were passed over.
    const std::uint64_t shortest = block != 0 ? block : level.least_block;
    if (level.robust && !level.tlb && shortest < level.step) found = capacity_of(events, level, shortest);
    found.block = block;
    if (level.robust && !level.tlb && found.capacity != 0)
        found.all_arrive = events.all_arrive(strided_string(found.capacity, shortest));
    if (block == 0 || found.capacity == 0) return found;
    found.fetches_next = level.robust && !level.tlb && fetches_next(events, array, block);
    if (level.robust && !level.tlb && !found.fetches_next) {
        const bool may_be_pairs = level.level > 0 && block > level.least_block;
        found.line = may_be_pairs ? line_of_pairs(events, found, level.least_block) : block;
        if (found.line == block) found.line = line_of_blocks(events, found, meter.seed());
    }
    const std::uint64_t fit = fitting_elements(events, array, 2 * block), stride = array / fit;
    found.ways = level.robust ? most_that_fit(events, stride, fit) : fit;
    found.ways_confirmed = level.robust && found.ways != 0 && confirmed_ways(events, found, stride);
    decisions.push_back(fmt::format("{}: misses begin beyond {} bytes; blocks of {} bytes; {} elements fit one set",
                                    name, found.capacity, block, found.ways));
    return found;
}

}  // namespace cachetally
