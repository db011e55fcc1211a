// SPDX-License-Identifier: BSD-3-Clause
#include "probes/ours/translation_times.hpp"

#include <algorithm>
#include <limits>

#include "probes/ours/page_groups.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t line_apart = 128;  ///< no line is longer
constexpr std::uint64_t part = 4096;       ///< TLBs may hold parts of pages: all loads on a page are in one
constexpr double clear_difference = 1;     ///< cycles per load
constexpr double by_chance = 0.02;         ///< of a load: caches that replace at random, or pages that meet
constexpr int trials = 3;
constexpr std::uint64_t many_pages = 1 << 20, some_pages = 512;

/// Of every second page one line: different ones in different pages, so that every pass fills all sets alike.
void add_pass(std::vector<std::uint64_t>& offsets, std::uint64_t pages, std::uint64_t page, std::uint64_t first,
              std::uint64_t begin) {
    for (std::uint64_t i = first; i < pages; i += 2) offsets.push_back(i * page + (begin + i / 2 * line_apart) % part);
}

/// Cycles of a lap on pages that nobody has used.
double fresh_lap(Meter& meter, std::uint64_t pages, const Offsets& offsets) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < (meter.noise() > 0 ? trials : 1); ++i) {
        const Arena arena = meter.target().make_arena(pages * meter.page(), meter.page());
        least = std::min(least, meter.run(arena, {offsets}, {0, 1}).cycles);
        meter.target().release(arena);
    }
    return least * static_cast<double>(offsets.size());
}

}  // namespace

bool TranslationTimes::come_in_groups(std::uint64_t pages) {
    const double limit = std::max(0.0, step(pages)) * (1 + more_with_two / 2) + clear_step / 2;
    // Where pages lie may make lines of one kind meet in a cache: they stay if those of another kind do.
    return cachetally::come_in_groups(pages, most(), [&](const std::vector<std::uint64_t>& numbers) {
        const PairedStrings strings = paired_strings(numbers.size(), arena_.page, unit_, meter_.seed());
        std::vector<std::uint64_t> as_paired, near;
        for (const std::uint64_t offset : strings.spread)
            as_paired.push_back(numbers[offset / arena_.page] * arena_.page + offset % arena_.page);
        for (std::size_t i = 0; i < numbers.size(); ++i) near.push_back(numbers[i] * arena_.page + in_a_way(i));
        for (unsigned i = 0; i <= asked_again(); ++i)
            if (difference(as_paired, strings.packed) < limit || more_than_packed(near) < limit ||
                lap(numbers) / static_cast<double>(numbers.size()) < limit)
                return true;
        return false;
    });
}

bool more_tlbs_hold_all(Meter& meter, std::uint64_t entries) {
    // So many that random replacement has left next to none of the first when they come again.
    const std::uint64_t page = meter.page(), most = std::min(meter.capabilities().largest_arena / page, many_pages);
    const std::uint64_t pages = entries == 0 ? std::min(most, some_pages) : 8 * entries + 16;
    if (pages > most || pages < 8 || page < part) return false;
    std::vector<std::uint64_t> offsets;
    add_pass(offsets, pages, page, 0, 0);  // brings the table entries of their neighbours along
    const double neighbours = fresh_lap(meter, pages, offsets);
    add_pass(offsets, pages, page, 1, 0);
    const double with_fresh = fresh_lap(meter, pages, offsets);
    add_pass(offsets, pages, page, 1, part / 2);
    const double with_used = fresh_lap(meter, pages, offsets);
    const auto loads = static_cast<double>(pages / 2);
    const double fresh = with_fresh - neighbours, used = with_used - with_fresh;
    return fresh - used > loads * clear_difference + by_chance * used + meter.tolerance(with_used);
}

}  // namespace cachetally
