// SPDX-License-Identifier: BSD-3-Clause
// LU: phases, references by hand, and what the monitor of Schulz et al. 2002 makes of it.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/workloads/kernels/recording.hpp"

namespace cachetally::test {
namespace {

constexpr Address base = 0x10000028;

Address element(unsigned row, unsigned column, unsigned n) { return base + 8 * (row + std::uint64_t{column} * n); }

TEST(Lu, MakesTheReferencesWorkedOutByHand) {
    // Two blocks of 2 x 2 each way. Diagonal: one division (3) and a daxpy of length 1 (3). Perimeter: bdiv 1 + 2 * 3,
    // bmodd 2 * (3 + 3) + 2 * 3. Interior: 4 * (1 + 2 * 3), and the next diagonal block.
    const Options options = {"n=4", "block=2", "stack=off"};
    EXPECT_EQ(record("lu", options).counts(), (std::vector<std::size_t>{16, 16, 6, 7 + 18, 28 + 6, 0, 0, 0}));
    EXPECT_EQ(record("lu", with(options, "initialise=off")).counts()[0], 0U);
    // daxpy is called 1, 1 + 4 and 4 + 1 times, for length 0 too
    EXPECT_EQ(record("lu", {"n=4", "block=2"}).counts(),
              (std::vector<std::size_t>{16, 16, 6 + 18, 25 + 5 * 18, 34 + 5 * 18, 0, 0, 0}));
}

TEST(Lu, MakesThemInTheOrderOfTheProgram) {
    const auto diagonal = record("lu", {"n=4", "block=2", "stack_references=3"}).phases[2][0];
    const std::vector<std::pair<Address, ReferenceKind>> wanted = {
        {element(0, 1, 4), ReferenceKind::load},  {element(0, 0, 4), ReferenceKind::load},
        {element(0, 1, 4), ReferenceKind::store}, {0x7fff001c, ReferenceKind::load},
        {0x7fff0018, ReferenceKind::store},       {0x7fff0014, ReferenceKind::store},
        {element(1, 1, 4), ReferenceKind::load},  {element(1, 0, 4), ReferenceKind::load},
        {element(1, 1, 4), ReferenceKind::store}};
    ASSERT_EQ(diagonal.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(diagonal[i].address, wanted[i].first) << i;
        EXPECT_EQ(diagonal[i].kind, wanted[i].second) << i;
    }
}

/// The blocks of a 128 x 128 matrix that a phase touches, with the number of references.
std::map<std::pair<unsigned, unsigned>, std::size_t> blocks_of(const Recording& recording, std::size_t phase) {
    std::map<std::pair<unsigned, unsigned>, std::size_t> blocks;
    for (const auto& stream : recording.phases[phase])
        for (const Reference& reference : stream) {
            if (reference.address - base >= 128 * 128 * 8) continue;
            const auto index = static_cast<unsigned>((reference.address - base) / 8);
            ++blocks[{index % 128 / 16, index / 128 / 16}];
        }
    return blocks;
}

TEST(Lu, Has19BarriersAndTheSegmentsOfThePaper) {
    for (const char* processors : {"processors=1", "processors=4"}) {
        const Recording result = record("lu", {processors});
        EXPECT_EQ(result.barriers(), 19U);
        const auto counts = result.counts();
        EXPECT_EQ(counts[17] + counts[18] + counts[19], 0U);
        for (std::size_t phase = 0; phase < 17; ++phase) EXPECT_GT(counts[phase], 0U);
        for (unsigned k = 0; k < 2; ++k) {
            for (const auto& [block, count] : blocks_of(result, 3 + 2 * k))
                EXPECT_TRUE((block.first == k && block.second >= k) || (block.second == k && block.first >= k));
            auto interior = blocks_of(result, 4 + 2 * k);
            EXPECT_EQ(interior.size(), 49 + 14 - 15 * k + (k == 1 ? 36 + 12 - 49 - 14 + 15 : 0));
            for (unsigned i = k + 2; i < 8; ++i)
                for (unsigned j = k + 1; j < 8; ++j)
                    EXPECT_EQ((interior[{i, j}]), 256U * 16 * 2) << "each block of the interior alike";
        }
    }
}

TEST(Lu, ContiguousBlocksHoldTheSameNumbers) {
    EXPECT_EQ(record("lu", {"n=96", "layout=contiguous"}).fingerprint, record("lu", {"n=96"}).fingerprint);
    EXPECT_EQ(record("lu", {"n=40", "block=16", "layout=contiguous"}).fingerprint,
              record("lu", {"n=40", "block=16"}).fingerprint);
}

TEST(Lu, BlockSizeChangesRoundingOnly) {
    for (const char* block : {"block=1", "block=5", "block=33", "block=70"})
        EXPECT_TRUE(record("lu", {"n=70", block}).verdict.passed()) << block;
}

/// Swap-outs of a fully associative FIFO array of counters for groups of lines of 16 bytes, with the final ones.
std::uint64_t swap_outs(const std::vector<Reference>& references, unsigned lines, unsigned counters) {
    std::vector<Address> place(counters, 0);
    std::set<Address> resident;
    std::uint64_t swapped = 0;
    std::size_t next = 0;
    Address last = 0;
    for (const Reference& reference : references) {
        const Address key = reference.address / (16 * lines);
        if (key == last || !(last = key, resident.insert(key).second)) continue;
        if (place[next] != 0) {
            resident.erase(place[next]);
            ++swapped;
        }
        place[next] = key;
        next = (next + 1) % counters;
    }
    return swapped + resident.size();
}

/// Schulz et al. 2002, section 4.4, over the matrix.
double error(const std::vector<Reference>& references, unsigned lines) {
    std::map<Address, double> exact, grouped;
    double sum = 0, wrong = 0;
    for (const Reference& reference : references) {
        if (reference.address - base >= 128 * 128 * 8) continue;
        ++exact[reference.address / 16];
        ++grouped[reference.address / 16 / lines];
        ++sum;
    }
    for (const auto& [group, count] : grouped)
        for (Address line = group * lines; line < (group + 1) * lines; ++line) {
            const auto found = exact.find(line);
            wrong += std::abs((found == exact.end() ? 0 : found->second) - count / lines);
        }
    return wrong / sum;
}

TEST(Lu, FitsTable2OfThePaper) {
    const std::vector<Reference> references = record("lu", {}).all();
    EXPECT_EQ(references.size(), 3020896U);
    const std::map<unsigned, double> published = {{16, 1052893}, {32, 702290}, {64, 582964}, {128, 491489}};
    for (const auto& [counters, value] : published)
        EXPECT_NEAR(static_cast<double>(swap_outs(references, 1, counters)) / value, 1.0, 0.1) << counters;
    EXPECT_NEAR(static_cast<double>(swap_outs(references, 4, 128)) / 27952, 1.0, 0.15);
    EXPECT_EQ(error(references, 1), 0.0);
    EXPECT_NEAR(error(references, 2), 0.0205, 0.005);
    EXPECT_NEAR(error(references, 4), 0.0497, 0.005);
    EXPECT_NEAR(error(references, 6), 0.0656, 0.005);
}

}  // namespace
}  // namespace cachetally::test
