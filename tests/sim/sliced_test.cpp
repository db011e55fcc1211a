// SPDX-License-Identifier: BSD-3-Clause
// Laws of slices: they are filled evenly, and no stride stays in one of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/model/indexing/indexing.hpp"

namespace cachetally {
namespace {

/// How many of the lines go to each set.
std::vector<unsigned> lines_by_set(unsigned slices, unsigned sets_of_slice, std::uint64_t first, std::uint64_t count,
                                   std::uint64_t stride = 1) {
    const IndexingPolicy index(indexings::sliced, std::uint64_t{slices} * sets_of_slice, 64, slices);
    std::vector<unsigned> lines(index.sets());
    for (std::uint64_t i = 0; i < count; ++i) ++lines.at(index.set_of((first + i * stride) * 64));
    return lines;
}

void expect_each_set_once(unsigned slices, unsigned sets_of_slice) {
    const std::uint64_t run = std::uint64_t{slices} * sets_of_slice;
    for (const std::uint64_t first : {std::uint64_t{0}, run, 1000 * run, (std::uint64_t{1} << 36) / run * run}) {
        const auto lines = lines_by_set(slices, sets_of_slice, first, run);
        EXPECT_TRUE(std::ranges::all_of(lines, [](unsigned count) { return count == 1; }))
            << slices << " slices of " << sets_of_slice << " sets, from line " << first;
    }
}

TEST(Sliced, AnAlignedRunFillsEachSetOnce) {
    for (const unsigned slices : {3U, 5U, 6U, 7U, 11U, 16U, 28U})
        for (const unsigned sets : {1U, 4U, 5U, 2048U}) expect_each_set_once(slices, sets);
}

// The slices of the processors whose functions were measured have 2048 sets.
TEST(Sliced, MeasuredFunctionsFillEachSetOfTheirProcessorsOnce) {
    for (const unsigned slices : {2U, 4U, 8U}) expect_each_set_once(slices, 2048);
}

// Lines that modulo puts into one set.
TEST(Sliced, StridesOfTheWholeCacheVisitAllSlices) {
    for (const unsigned slices : {2U, 3U, 4U, 6U, 8U, 11U}) {
        const auto lines = lines_by_set(slices, 1024, 0, 100 * slices, std::uint64_t{slices} * 1024);
        for (unsigned slice = 0; slice < slices; ++slice) {
            EXPECT_GT(lines[slice * 1024], 50U) << slice << " of " << slices;
            EXPECT_LT(lines[slice * 1024], 150U) << slice << " of " << slices;
        }
    }
}

}  // namespace
}  // namespace cachetally
