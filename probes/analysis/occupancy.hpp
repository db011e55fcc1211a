// SPDX-License-Identifier: BSD-3-Clause
// How many pages that lie anywhere fit into a physically indexed cache: the likelihood of its size.
#pragma once

#include <cstdint>
#include <span>

namespace cachetally {

/// Probability that `pages` pages, each in one of `colours` classes of sets with equal chance, leave at most `ways` in
/// each class. Not exact but for small numbers: the sum of truncated Poisson numbers is taken to be normal. (Levin
/// 1981)
double chance_that_all_fit(std::uint64_t pages, std::uint64_t colours, std::uint64_t ways);

/// Number of classes with an interval, from the numbers of pages with which each of some trials failed to fit first.
struct ColourEstimate {
    std::uint64_t colours = 0;  ///< the likeliest; 0 = none is likely
    std::uint64_t low = 0, high = 0;
    bool contiguous = false;  ///< pages did not lie anywhere: all trials failed with the same number
};
/// By likelihood: the interval holds what is at most exp(2) times less likely than the likeliest. Where numbers scatter
/// much less than pages that lie anywhere make them, none is likely. (ours)
ColourEstimate estimate_colours(std::span<const std::uint64_t> first_failures, std::uint64_t ways);

}  // namespace cachetally
