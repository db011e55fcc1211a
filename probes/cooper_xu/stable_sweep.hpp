// SPDX-License-Identifier: BSD-3-Clause
// Repeated sweeps over sizes until every time is stable, with knock-out and revival of neighbours.
#pragma once

#include <functional>

#include "probes/meter.hpp"

namespace cachetally {

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

}  // namespace cachetally
