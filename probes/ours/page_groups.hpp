// SPDX-License-Identifier: BSD-3-Clause
// Whether a TLB takes pages one by one, or in groups that share an entry or a set. (ours)
#pragma once

#include <cstdint>
#include <vector>

namespace cachetally {

/// Every second of `pages` pages, and of the next as many the others. Each set of a TLB that is chosen by the page's
/// number gets as many as it does of pages in a row.
inline std::vector<std::uint64_t> two_halves(std::uint64_t pages) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < pages; ++i) all.push_back(i % 2 == 0 ? i : i + pages);
    return all;
}

inline std::vector<std::uint64_t> pages_apart(std::uint64_t pages, std::uint64_t distance) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < pages; ++i) all.push_back(i * distance);
    return all;
}

/// Of a TLB that seems to hold `pages` pages in a row; stay(numbers): whether it holds these pages. It takes them in
/// groups of up to 16 if
/// * it does not hold as many that fill its sets alike: pages of a group share an entry;
/// * it holds more that are apart: pages of a group share a set;
/// * it holds as many that are 2 apart, so that it seems to have one set, but not if they are farther apart.
/// Numbers from `most` on are not asked for.
template <class Stay>
bool come_in_groups(std::uint64_t pages, std::uint64_t most, Stay stay) {
    constexpr std::uint64_t largest_group = 16;
    const auto stay_apart = [&](std::uint64_t count, std::uint64_t distance) {
        return stay(pages_apart(count, distance));
    };
    const auto fit = [&](std::uint64_t count, std::uint64_t distance) { return count * distance <= most; };
    if (fit(pages, 2) && !stay(two_halves(pages))) return true;
    const std::uint64_t more = pages + pages / 8 + 1;
    for (std::uint64_t distance = 2; distance <= largest_group && fit(more, distance); distance *= 2)
        if (stay_apart(more, distance)) return true;
    if (!fit(pages, 2) || !stay_apart(pages, 2)) return false;
    for (std::uint64_t distance = 4; distance <= 2 * largest_group && fit(pages, distance); distance *= 2)
        if (!stay_apart(pages, distance)) return true;
    return false;
}

inline constexpr char in_groups[] =
    "how many pages stay depends on which of them follow one another: they share entries (coalesce) or sets in groups";

}  // namespace cachetally
