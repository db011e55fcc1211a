// SPDX-License-Identifier: BSD-3-Clause
// How well the hottest lines of a histogram are found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "monitor/accuracy.hpp"
#include "monitor/histogram.hpp"

namespace cachetally {

/// Of one phase. A line that was told is right where it has at least as many events as the K-th hottest has.
struct TopKeys {
    std::uint32_t phase = 0;
    std::uint64_t wanted = 0;  ///< K, or all lines that have events where these are fewer
    std::uint64_t told = 0;    ///< the K with the largest counts that were measured, or fewer
    std::uint64_t right = 0;

    double recall() const { return static_cast<double>(right) / static_cast<double>(wanted); }
    /// Nothing where nothing was told.
    std::optional<double> precision() const {
        if (told == 0) return std::nullopt;
        return static_cast<double>(right) / static_cast<double>(told);
    }
};

/// Per phase in which there were events. Counts for several lines are spread evenly over them; of equal counts the
/// lower addresses are told. Both with the same unit, else std::invalid_argument. (Ours.)
std::vector<TopKeys> top_keys(const Histogram& exact, const Histogram& measured, std::size_t k);

struct TopSummary {
    double recall = 1, worst_recall = 1;  ///< mean and least over the phases; 1 where there are none
    std::optional<double> precision;  ///< mean over the phases in which lines were told; nothing where there are none
};
TopSummary summary_of(std::span<const TopKeys> phases);

}  // namespace cachetally
