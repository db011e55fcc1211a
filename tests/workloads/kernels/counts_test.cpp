// SPDX-License-Identifier: BSD-3-Clause
// References of the other kernels, worked out by hand for small sizes.
#include <gtest/gtest.h>

#include <set>

#include "tests/workloads/kernels/recording.hpp"

namespace cachetally::test {
namespace {

using Counts = std::vector<std::size_t>;

std::vector<Address> addresses(const std::vector<Reference>& references) {
    std::vector<Address> result;
    for (const Reference& reference : references) result.push_back(reference.address);
    return result;
}

TEST(Stream, MakesTwoOrThreeReferencesPerElement) {
    EXPECT_EQ(record("stream", {"n=4", "repetitions=2"}).counts(), (Counts{12, 8, 8, 12, 12, 8, 8, 12, 12, 0}));
    EXPECT_EQ(record("stream", {"n=4", "repetitions=1", "kernel=triad"}).counts(), (Counts{12, 12, 0}));
    const Recording copy = record("stream", {"n=2", "repetitions=1", "kernel=copy"});
    EXPECT_EQ(addresses(copy.phases[1][0]), (std::vector<Address>{0x10000000, 0x10002000, 0x10000008, 0x10002008}));
    EXPECT_EQ(copy.phases[1][0][1].kind, ReferenceKind::store);
    EXPECT_EQ(copy.phases[1][0][1].flags, reference_flag::floating_point);
}

TEST(Matmul, MakesTheReferencesOfItsLoops) {
    const Recording naive = record("matmul", {"n=2"});
    EXPECT_EQ(naive.counts(), (Counts{8, 4 * (2 * 2 + 1), 0}));
    auto first = addresses(naive.phases[1][0]);
    first.resize(5);
    EXPECT_EQ(first, (std::vector<Address>{0x10000000, 0x10001000, 0x10000008, 0x10001010, 0x10002000}));
    EXPECT_EQ(record("matmul", {"n=2", "variant=blocked", "block=1"}).counts(), (Counts{12, 8 + 24, 0}));
    EXPECT_EQ(record("matmul", {"n=2", "variant=blocked", "block=2"}).counts(), (Counts{12, 4 + 24, 0}));
}

TEST(Matmul, VariantsAgree) {
    // the same sums in the same order
    EXPECT_EQ(record("matmul", {"n=20"}).fingerprint,
              record("matmul", {"n=20", "variant=blocked", "block=6"}).fingerprint);
}

TEST(Gups, FollowsTheSequenceOfHpcChallenge) {
    // 2, 4, 8, ..., 2^63, then 7, 14: words 2, 0 and 0 of 4, and 3 and 2 after the first 63
    const Recording result = record("gups", {"table=4", "updates=65"});
    EXPECT_EQ(result.counts(), (Counts{4, 130, 0}));
    const auto at = addresses(result.phases[1][0]);
    EXPECT_EQ(at[0], 0x10000010U);
    EXPECT_EQ(at[1], 0x10000010U);
    EXPECT_EQ(at[2], 0x10000000U);
    EXPECT_EQ(at[126], 0x10000018U);
    EXPECT_EQ(at[128], 0x10000010U);
}

TEST(Gups, ProcessorsTakeStretchesOfOneSequence) {
    const auto alone = addresses(record("gups", {"table=64K", "updates=1000"}).phases[1][0]);
    std::vector<Address> joined;
    const Recording shared = record("gups", {"table=64K", "updates=1000", "processors=7"});
    for (const auto& stream : shared.phases[1])
        for (const Address address : addresses(stream)) joined.push_back(address);
    EXPECT_EQ(joined, alone);
}

TEST(Chase, VisitsEveryNodeOnceInEachLapInTheSameOrder) {
    const Recording result = record("chase", {"size=640", "laps=2"});
    EXPECT_EQ(result.counts(), (Counts{10, 20, 0}));
    const auto visits = addresses(result.phases[1][0]);
    EXPECT_EQ(std::set<Address>(visits.begin(), visits.begin() + 10).size(), 10U);
    EXPECT_TRUE(std::equal(visits.begin(), visits.begin() + 10, visits.begin() + 10));
    EXPECT_EQ(result.regions[0].element_bytes, 64U);
    EXPECT_NE(addresses(record("chase", {"size=64K", "seed=2"}).phases[1][0]),
              addresses(record("chase", {"size=64K"}).phases[1][0]));
}

TEST(TwoDimensionalArrays, SayHowLongTheirRowsAre) {
    const auto row = [](const std::string& kernel, const std::vector<std::string>& words, const std::string& name) {
        const Recording result = record(kernel, words);
        const auto found = std::ranges::find(result.regions, name, &Region::name);
        return found == result.regions.end() ? -1 : static_cast<int>(found->row_elements);
    };
    for (const char* name : {"A", "B", "C"}) EXPECT_EQ(row("matmul", {"n=6"}, name), 6) << name;
    EXPECT_EQ(row("lu", {"n=16", "block=4"}, "A"), 16);
    EXPECT_EQ(row("lu", {"n=16", "block=4", "layout=contiguous"}, "A"), 0) << "stored by blocks";
    EXPECT_EQ(row("lu", {"n=16", "block=4"}, "stack0"), 0);
    EXPECT_EQ(row("stream", {"n=64"}, "a"), 0);
    EXPECT_EQ(row("water", {"molecules=8"}, "molecules"), 84) << "words of a molecule";
    EXPECT_EQ(row("water", {"molecules=8"}, "partial0"), 9) << "a sum per direction and atom";
    EXPECT_EQ(row("radix", {"radix=16"}, "rank"), 16) << "the digits of each processor";
    EXPECT_EQ(row("fft", {"n=64"}, "x"), 2) << "real and imaginary part of a number";
}

TEST(Radix, MakesTheReferencesOfOnePass) {
    // init; clear 2, count 3 per key; 3 per digit; 3 per digit and 4 per key
    EXPECT_EQ(record("radix", {"keys=4", "radix=2", "max_key=2"}).counts(), (Counts{4, 2 + 12, 6, 6 + 16, 0}));
    EXPECT_EQ(record("radix", {}).barriers(), 7U) << "19 bits are 2 digits of 10";
    EXPECT_EQ(record("radix", {"max_key=1M"}).barriers(), 7U);
    EXPECT_EQ(record("radix", {"max_key=1048577"}).barriers(), 10U);
}

TEST(Radix, SortsKeysOfAnyRange) {
    for (const char* most : {"max_key=2", "max_key=3", "max_key=1000", "max_key=4G"})
        EXPECT_TRUE(record("radix", {"keys=5000", "radix=32", most, "processors=3"}).verdict.passed()) << most;
}

TEST(Fft, MakesTheReferencesOfSixSteps) {
    // 2 x 2 numbers: transpose 4 * 4, one butterfly of 10 per row, twiddles 4 * 6
    EXPECT_EQ(record("fft", {"n=4"}).counts(), (Counts{8, 16, 20 + 24, 16, 20, 16, 0}));
}

TEST(Fft, TransformsAnyPowerOf4) {
    for (const char* n : {"n=4", "n=16", "n=64", "n=4K", "n=16K"})
        EXPECT_TRUE(record("fft", {n}).verdict.passed()) << n;
}

TEST(Ocean, MakesTheReferencesOfAVCycle) {
    EXPECT_EQ(record("ocean", {"n=2", "levels=1", "sweeps=1", "cycles=1"}).counts(), (Counts{18, 6, 0, 0}));
    // points 25 + 9; of 9 inner points 5 are red; residual 7 each; one coarse point 9 + 2; coarse 6; interpolation
    // reads (2 + 1 + 2)^2 coarse points
    EXPECT_EQ(record("ocean", {"n=4", "levels=2", "sweeps=1", "cycles=1"}).counts(),
              (Counts{68, 30, 24, 63, 11, 6, 0, 25 + 18, 30, 24, 0}));
}

TEST(Ocean, ConvergesAsMultigridDoes) {
    const Recording multigrid = record("ocean", {"n=64", "levels=5", "cycles=8"});
    EXPECT_LT(multigrid.verdict.residual, 1e-6);
    const Recording plain = record("ocean", {"n=64", "levels=1", "cycles=8"});
    EXPECT_TRUE(plain.verdict.passed());
    EXPECT_GT(plain.verdict.residual, 0.5);
    const Recording more = record("ocean", {"n=64", "levels=1", "cycles=80"});
    EXPECT_LT(more.verdict.residual, plain.verdict.residual);
}

TEST(Water, MakesTheReferencesOfOneMolecule) {
    // intra 9 + 3 + 9, clearing 9; reduction 9 * 3; start 9 * 2; predict 9 * 13; correct 9 * 16; boundary 3; kinetic 10
    EXPECT_EQ(record("water", {"molecules=1", "steps=1"}).counts(),
              (Counts{84, 30, 0, 27 + 18, 117 + 30, 0, 27 + 144 + 3 + 10, 0}));
}

TEST(Water, LooksAtEveryPairOnce) {
    for (const unsigned n : {2U, 3U, 4U, 5U, 6U, 7U, 64U}) {
        const Recording result = record("water", {"molecules=" + std::to_string(n), "steps=1", "processors=2"});
        ASSERT_EQ(result.regions[0].element_bytes, 8U);
        std::size_t looks = 0;
        for (const auto& stream : result.phases[2])
            for (const Reference& reference : stream) {
                const Address offset = reference.address - result.regions[0].base;
                looks += offset < result.regions[0].bytes && offset % 672 < 24 ? 1 : 0;
            }
        EXPECT_EQ(looks, 6 * n * (n - 1) / 2) << n;
    }
}

TEST(Water, KeepsItsEnergy) {
    for (const char* molecules : {"molecules=8", "molecules=30", "molecules=64"})
        EXPECT_LT(record("water", {molecules, "steps=60"}).verdict.residual, 2e-3) << molecules;
}

TEST(Water, HasMoleculesOf672Bytes) {
    const Recording result = record("water", {});
    EXPECT_EQ(result.regions[0].name, "molecules");
    EXPECT_EQ(result.regions[0].bytes, 64U * 672);
    EXPECT_EQ(result.barriers(), 4U + 3 * 3);
}

}  // namespace
}  // namespace cachetally::test
