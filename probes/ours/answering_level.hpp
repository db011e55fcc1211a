// SPDX-License-Identifier: BSD-3-Clause
// Which level answers a load, by what it takes on average.
#pragma once

#include <optional>
#include <vector>

#include "probes/tests.hpp"

namespace cachetally {

/// Cycles per load.
struct MeanTime {
    double cycles = 0;
    double error = 0;  ///< by which it may be off; 0 where times are exact
};

/// Latencies of L1 and the levels below, as far as `levels` knows them without a gap.
struct KnownLatencies {
    std::vector<double> cycles;
    bool all = false;  ///< there are no more levels

    KnownLatencies(const L1Geometry& l1, const std::optional<TestReport>& levels);
};

/// Of a probe that is made again and again where times scatter; rounds that take much longer than most were disturbed.
MeanTime mean_time(Meter& meter, const Arena& arena, const PrimeProbe& question, const Effort& effort = {0, 1});

/// Pages of a few lines that stay in L1 together and whose translations a small TLB holds.
struct SparseLines {
    std::uint64_t page = 0;            ///< bytes, of the arena
    std::vector<std::uint64_t> lines;  ///< offsets of lines, one of each of the first 4 KiB blocks

    /// At most `most`; they leave `room` bytes of their block behind them.
    SparseLines(const Meter& meter, const L1Geometry& l1, std::uint64_t most, std::uint64_t room);

    /// Of an arena for them, with one block more.
    std::uint64_t bytes() const { return (lines.size() + 2) * block; }
    /// Offset of a line that lies in none of their blocks.
    std::uint64_t elsewhere() const { return (lines.size() + 1) * block; }

    static constexpr std::uint64_t block = 4096;  ///< bytes, beyond which no prefetcher goes
};

}  // namespace cachetally
