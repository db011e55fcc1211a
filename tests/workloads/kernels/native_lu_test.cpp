// SPDX-License-Identifier: BSD-3-Clause
// LU on plain memory (examples/prediction) beside the kernel: the same matrix, as many accesses.
#include <gtest/gtest.h>

#include "examples/prediction/native_lu.hpp"
#include "tests/workloads/kernels/recording.hpp"

namespace cachetally::test {
namespace {

using prediction::Counted;
using prediction::Doubles;

struct Case {
    std::uint64_t n, block;
    bool contiguous;
};

class NativeLu : public testing::TestWithParam<Case> {};

TEST_P(NativeLu, ComputesAndTouchesWhatTheKernelDoes) {
    const auto [n, block, contiguous] = GetParam();
    const Recording kernel = record("lu", {"n=" + std::to_string(n), "block=" + std::to_string(block), "stack=off",
                                           contiguous ? "layout=contiguous" : "layout=noncontiguous"});
    ASSERT_TRUE(kernel.verdict.passed());

    const lu::Blocks blocks{n, block, contiguous};
    Doubles memory(blocks.elements());
    Counted a(memory.values());
    prediction::fill(memory.values(), blocks, lu::random_matrix(n, 1));
    lu::Program<Counted>(blocks, a).factorise();

    std::vector<double> result;
    for (std::uint64_t j = 0; j < n; ++j)
        for (std::uint64_t i = 0; i < n; ++i) result.push_back(memory.values()[blocks.index(i, j)]);
    EXPECT_EQ(fingerprint_of(std::span<const double>(result)), kernel.fingerprint);

    std::uint64_t references = 0;
    const auto counts = kernel.counts();
    for (std::size_t phase = 2; phase < counts.size(); ++phase) references += counts[phase];
    EXPECT_EQ(a.references(), references);
    // whatever the blocks: the sum of squares below n, and each element right of the diagonal divided once
    EXPECT_EQ(a.iterations(), (n - 1) * n * (2 * n - 1) / 6);
    EXPECT_EQ(a.divisions(), n * (n - 1) / 2);
}

INSTANTIATE_TEST_SUITE_P(Sizes, NativeLu,
                         testing::Values(Case{1, 1, false}, Case{4, 2, false}, Case{33, 33, false}, Case{50, 7, false},
                                         Case{50, 7, true}, Case{64, 16, false}),
                         [](const auto& named) {
                             return "n" + std::to_string(named.param.n) + "block" + std::to_string(named.param.block) +
                                    (named.param.contiguous ? "contiguous" : "");
                         });

TEST(NativeLuOf4, CountsCallsByHand) {
    // as in Lu.MakesTheReferencesWorkedOutByHand: 1, 1 + 4 and 4 + 1 calls of daxpy
    const lu::Blocks blocks{4, 2};
    Doubles memory(blocks.elements());
    Counted a(memory.values());
    prediction::fill(memory.values(), blocks, lu::random_matrix(4, 1));
    lu::Program<Counted>(blocks, a).factorise();
    EXPECT_EQ(a.calls(), 11U);
    EXPECT_EQ(a.references(), 6U + 25 + 34);
}

TEST(NativeLuMemory, LiesAsFarFromAPageAsTheKernels) {
    Doubles memory(10);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.values().data()) % 4096, 40U);
    EXPECT_EQ(record("lu", {"n=4", "block=2"}).regions.at(0).base % 4096, 40U);
}

}  // namespace
}  // namespace cachetally::test
