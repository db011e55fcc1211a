// SPDX-License-Identifier: BSD-3-Clause
// Table 2 of Schulz et al. 2002 as published, to stand beside what is measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace cachetally::app {

/// Swap-outs and error (percent) of one cell. The counters are 16, 32, 64, 128, the granularities 1 to 6 lines.
struct PublishedCell {
    std::uint32_t counters = 0, granularity = 0;
    std::uint64_t swapouts = 0;
    double error = 0;
    bool misprint = false;  ///< repeats the figure of another cell
};

/// All 24 cells, row by row. The swap-outs for granularity 3 at 16 counters (423823) and at 32 (29148) repeat those of
/// granularity 2 at 16 and of 6 at 64: misprints.
std::array<PublishedCell, 24> table2();

std::optional<PublishedCell> published(std::uint32_t counters, std::uint32_t granularity);

}  // namespace cachetally::app
