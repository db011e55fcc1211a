// SPDX-License-Identifier: BSD-3-Clause
#include "app/paper2002.hpp"

namespace cachetally::app {

std::array<PublishedCell, 24> table2() {
    constexpr std::uint64_t swapouts[6][4] = {{1052893, 702290, 582964, 491489}, {423823, 342031, 294309, 89604},
                                              {423823, 29148, 197080, 45797},    {246218, 195801, 73025, 27952},
                                              {212598, 163740, 53182, 21731},    {158171, 119215, 29148, 18071}};
    constexpr double errors[6] = {0.00, 2.05, 4.61, 4.97, 6.34, 6.56};
    std::array<PublishedCell, 24> cells;
    for (std::uint32_t row = 0; row < 6; ++row)
        for (std::uint32_t column = 0; column < 4; ++column)
            cells[row * 4 + column] = {16U << column, row + 1, swapouts[row][column], errors[row],
                                       row == 2 && column < 2};
    return cells;
}

std::optional<PublishedCell> published(std::uint32_t counters, std::uint32_t granularity) {
    for (const PublishedCell& cell : table2())
        if (cell.counters == counters && cell.granularity == granularity) return cell;
    return std::nullopt;
}

}  // namespace cachetally::app
