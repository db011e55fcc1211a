// SPDX-License-Identifier: BSD-3-Clause
// Programs of which it is known what helps, and by how much; and programs that nothing helps.
#include "advice/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "cachetally/topology.hpp"
#include "tests/advice/listed.hpp"

namespace cachetally {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using testing::Listed;
using testing::load;
using ::testing::Not;
using testing::one_cache;

AdviceOptions few_layouts(unsigned layouts = 8) {
    AdviceOptions options;
    options.layouts = layouts;
    options.jobs = 2;
    return options;
}

Advice advice_for(const MachineDescription& machine, const Listed& program,
                  const AdviceOptions& options = few_layouts()) {
    return advise(machine, testing::opener(program), options);
}

/// The trial whose text begins so; fails where there is none.
Trial trial(const Advice& advice, const std::string& structure, const std::string& text) {
    std::string all;
    for (const Trial& each : advice.trials) {
        if (each.structure == structure && each.text.starts_with(text)) return each;
        all += each.structure + ": " + each.text + "\n";
    }
    ADD_FAILURE() << "'" << text << "' was not suggested, but\n" << all;
    return {};
}

std::vector<std::string> helpful(const Advice& advice) {
    std::vector<std::string> all;
    for (const Trial& each : advice.trials)
        if (each.helps) all.push_back(each.structure + ": " + each.text);
    return all;
}

std::vector<std::uint64_t> misses(const std::vector<Measured>& runs) {
    std::vector<std::uint64_t> all;
    for (const Measured& run : runs) all.push_back(run.misses[0]);
    return all;
}

Listed by_columns(std::uint64_t rows, std::uint64_t columns) {
    Listed program{{{}}, {{"A", 0x100000, rows * columns * 8, 8}}};
    for (std::uint64_t column = 0; column < columns; ++column)
        for (std::uint64_t row = 0; row < rows; ++row)
            program.cores[0].push_back(load(0x100000 + (row * columns + column) * 8));
    return program;
}

// 512 x 512 doubles in 32 KiB of 8 ways, that is 64 sets: rows are 4096 bytes apart, so a column lies in one set, and
// each of its 512 lines is gone before the next column. Rows 65 lines apart lie 8 in each set: each line misses once.
// In layouts that begin within a line, a row has a line more, and the transposed matrix one in all.
TEST(Advice, RowsOfAPowerOfTwoArePaddedOrTransposed) {
    const Advice advice = advice_for(one_cache(32768, 8), by_columns(512, 512));
    EXPECT_THAT(misses(advice.before), Each(512U * 512));
    EXPECT_EQ(advice.before.size(), 9U);
    ASSERT_EQ(advice.structures.size(), 1U);
    EXPECT_EQ(advice.structures[0].misses.causes[0], (CauseCounts{512 * 64, 0, 0, 512 * 512 - 512 * 64}));
    const Trial padded = trial(advice, "A", "pad rows of 4,096 B by 64 B");
    EXPECT_TRUE(padded.helps);
    EXPECT_EQ(padded.after[0].misses[0], 512U * 64);
    EXPECT_THAT(misses(padded.after), Each(AnyOf(512U * 64, 512U * 65)));
    EXPECT_THAT(misses(padded.after), ::testing::Contains(512U * 65));
    const Trial transposed = trial(advice, "A", "store it by columns (512 x 512 of 8 B)");
    EXPECT_TRUE(transposed.helps);
    EXPECT_EQ(transposed.after[0].misses[0], 512U * 64);
    EXPECT_THAT(misses(transposed.after), Each(AnyOf(512U * 64, 512U * 64 + 1)));
    const Trial moved = trial(advice, "A", "move it up by 64 B");
    EXPECT_FALSE(moved.helps);
    EXPECT_EQ(moved.after.size(), 1U);  // was of no use at once
}

// Fields 1 and 4 of records of 84 doubles, in turn: strides of 24, and of 648 bytes to the next record. The rows are
// those of the source, and 648 bytes go from one row to another.
TEST(Advice, RowsAreThoseOfTheSource) {
    Listed program{{{}}, {{"records", 0x100000, 512 * 672, 8, 84}}};
    for (int pass = 0; pass < 2; ++pass)
        for (std::uint64_t record = 0; record < 512; ++record)
            for (const std::uint64_t field : {1, 4})
                program.cores[0].push_back(load(0x100000 + record * 672 + field * 8));
    const Advice advice = advice_for(one_cache(16384, 4), program);
    EXPECT_TRUE(trial(advice, "records", "store it in tiles of 2 x 4 (512 x 84 of 8 B)").helps);
    ASSERT_EQ(advice.structures.size(), 1U);
    for (const Trial& each : advice.trials)
        EXPECT_THAT(each.text, Not(AnyOf(HasSubstr("rows of 648 B"), HasSubstr(" x 81 of")))) << "strides as rows";
}

/// A[i], B[i], A[i + 1] ...: of 512 doubles each.
Listed in_turn(Address a, Address b) {
    Listed program{{{}}, {{"A", a, 4096, 8}, {"B", b, 4096, 8}}};
    for (std::uint64_t i = 0; i < 512; ++i) {
        program.cores[0].push_back(load(a + i * 8));
        program.cores[0].push_back(load(b + i * 8));
    }
    return program;
}

// Direct-mapped, 64 sets: A[i] and B[i] lie in one set, always. One line apart each line of both misses once: 64 and
// 64, and one more each in layouts that begin within a line.
TEST(Advice, ArraysInTheSameSetsAreMovedApart) {
    const Advice advice = advice_for(one_cache(4096, 1), in_turn(0x10000, 0x20000));
    EXPECT_THAT(misses(advice.before), Each(1024U));
    for (const char* const structure : {"A", "B"})
        for (const char* const text : {"move it up by 64 B", "move it up by 2,048 B"}) {
            const Trial moved = trial(advice, structure, text);
            EXPECT_TRUE(moved.helps) << structure << text;
            EXPECT_EQ(moved.after[0].misses[0], 128U);
            EXPECT_THAT(misses(moved.after), Each(AnyOf(128U, 130U)));
        }
}

// The same arrays far from each other, as of two mappings: that their sets are the same was luck.
TEST(Advice, WhatHelpsInTheRecordedLayoutAloneIsLuck) {
    const Advice advice = advice_for(one_cache(4096, 1), in_turn(0x10000, 0x10000000));
    EXPECT_EQ(advice.before[0].misses[0], 1024U);
    EXPECT_THAT(helpful(advice), ::testing::IsEmpty());
    const Trial moved = trial(advice, "B", "move it up by 64 B");
    EXPECT_EQ(moved.after[0].misses[0], 128U);
    EXPECT_LT(moved.better, moved.after.size());
    EXPECT_GT(moved.better, 0U);
}

Listed structs(std::uint64_t count, std::uint64_t bytes, unsigned passes) {
    Listed program{{{}}, {{"particles", 0x100000, count * bytes, 1}}};
    for (unsigned pass = 0; pass < passes; ++pass)
        for (std::uint64_t i = 0; i < count; ++i) program.cores[0].push_back(load(0x100000 + i * bytes + 16));
    return program;
}

// 4096 structs of 64 bytes, of which 8 are used, read twice in 4 KiB: a miss for each, then for eight.
TEST(Advice, AHotFieldIsSplitOff) {
    const Advice advice = advice_for(one_cache(4096, 4), structs(4096, 64, 2));
    EXPECT_THAT(misses(advice.before), Each(2U * 4096));
    const Trial split = trial(advice, "particles", "split elements of 64 B: hot 8 B apart (bytes 16-23)");
    EXPECT_TRUE(split.helps);
    EXPECT_EQ(split.after[0].misses[0], 2U * 4096 / 8);
    EXPECT_THAT(misses(split.after), Each(AnyOf(2U * 512, 2U * 513)));
    EXPECT_EQ(advice.trials[0].text, split.text);  // what helps most
}

// 192 bytes each, of which 0-7 and 128-135 are used: two lines, side by side one in four.
TEST(Advice, HotFieldsFarApartAreReordered) {
    Listed program = structs(1024, 192, 0);
    for (std::uint64_t i = 0; i < 1024; ++i)
        for (const std::uint32_t field : {0, 128})  // by places of their own
            program.cores[0].push_back(load(0x100000 + i * 192 + field, 8, 1 + field));
    const Advice advice = advice_for(one_cache(4096, 4), program);
    EXPECT_EQ(advice.before[0].misses[0], 2048U);
    const Trial reordered =
        trial(advice, "particles", "reorder elements of 192 B: hot fields first (bytes 0-7, 128-135)");
    EXPECT_TRUE(reordered.helps);
    EXPECT_THAT(misses(reordered.after), Each(1024U));
    EXPECT_EQ(trial(advice, "particles", "split").after[0].misses[0], 1024U * 16 / 64);
}

// Structs of 48 bytes, first and last 8 read, in an order in which no line is met again: half of them lie in two lines.
TEST(Advice, StructsAcrossLinesAreAligned) {
    Listed program{{{}}, {{"nodes", 0x100000, 4096 * 48, 48}}};
    for (std::uint64_t i = 0; i < 4096; ++i)
        for (const std::uint64_t field : {0, 40})
            program.cores[0].push_back(load(0x100000 + i * 1031 % 4096 * 48 + field));
    const Advice advice = advice_for(one_cache(4096, 0), program);
    EXPECT_THAT(misses(advice.before), Each(4096U * 3 / 2));
    const Trial padded = trial(advice, "nodes", "pad elements of 48 B to 64 B");
    EXPECT_TRUE(padded.helps);
    EXPECT_THAT(misses(padded.after), Each(4096U));
}

// The same after references across the ends of structs, of which padding makes two each: none of these is counted.
TEST(Advice, TheWarmupEndsAtOnePlaceOfTheProgram) {
    constexpr std::uint64_t count = 4096;
    Listed first{{{}}, {{"nodes", 0x100000, count * 48, 48}}};
    for (std::uint64_t i = 0; i + 1 < count; ++i) first.cores[0].push_back(load(0x100000 + i * 48 + 40, 16));
    Listed program = first;
    for (std::uint64_t i = 0; i < count; ++i)
        for (const std::uint64_t field : {0, 40})
            program.cores[0].push_back(load(0x100000 + i * 1031 % count * 48 + field));
    AdviceOptions options = few_layouts(2);
    options.warmup = first.cores[0].size();
    options.open_warmup = testing::opener(first);
    const Advice advice = advice_for(one_cache(4096, 0), program, options);
    constexpr std::uint64_t kept = 64;  // lines
    EXPECT_THAT(misses(advice.before), Each(AllOf(Ge(count * 3 / 2 - kept), ::testing::Le(count * 3 / 2))));
    const Trial padded = trial(advice, "nodes", "pad elements of 48 B to 64 B");
    EXPECT_TRUE(padded.helps);
    EXPECT_THAT(misses(padded.after), Each(AllOf(Ge(count - kept), ::testing::Le(count))));
}

MachineDescription two_coherent_cores() {
    return read_machine(
        "name: two\ncores: 2\ncoherence: {protocol: mesi}\ncaches:\n"
        "  - {name: L1D, next: L2, serves: data, shared_by: 1, size: 4 KiB, ways: 4, line: 64, latency: 4}\n"
        "  - {name: L2, next: memory, size: 64 KiB, ways: 8, line: 64, latency: 10}\n"
        "memory: {name: memory, size: 1 GiB, latency: 100}\n",
        "two");
}

// Each core counts in a counter of its own, of one line: a store of the one takes the line from the other. In lines of
// their own each misses once.
TEST(Advice, CountersOfCoresGetLinesOfTheirOwn) {
    Listed program{{{}, {}}, {{"counters", 0x10000, 16, 8}}};
    for (unsigned core = 0; core < 2; ++core)
        for (unsigned i = 0; i < 1000; ++i) {
            program.cores[core].push_back(load(0x10000 + core * 8));
            program.cores[core].push_back(program.cores[core].back());
            program.cores[core].back().kind = ReferenceKind::store;
        }
    const Advice advice = advice_for(two_coherent_cores(), program);
    EXPECT_THAT(misses(advice.before), Each(Ge(1000U)));
    const Trial padded = trial(advice, "counters", "pad elements of 8 B to 64 B");
    EXPECT_TRUE(padded.helps);
    EXPECT_THAT(misses(padded.after), Each(2U));
    EXPECT_LT(padded.after[0].cycles, advice.before[0].cycles);
    EXPECT_FALSE(trial(advice, "counters", "give it lines of its own").helps);
}

// In rows, twice: each line misses once in each pass, whatever is done.
TEST(Advice, NothingHelpsASequentialProgram) {
    Listed program{{{}}, {{"A", 0x100000, 65536, 8}}};
    for (unsigned i = 0; i < 2 * 8192; ++i) program.cores[0].push_back(load(0x100000 + i % 8192 * 8));
    const Advice advice = advice_for(one_cache(4096, 4), program);
    EXPECT_EQ(advice.before[0].misses[0], 2048U);
    EXPECT_THAT(helpful(advice), ::testing::IsEmpty());
}

TEST(Advice, NothingHelpsARandomProgram) {
    Listed program{{{}}, {{"table", 0x100000, 65536, 8}}};
    std::mt19937 random(1);
    for (unsigned i = 0; i < 20000; ++i) program.cores[0].push_back(load(0x100000 + random() % 8192 * 8));
    EXPECT_THAT(helpful(advice_for(one_cache(4096, 4), program)), ::testing::IsEmpty());
}

TEST(Advice, NothingIsSaidOfStacksAndOfWhatNeverMisses) {
    Listed program = by_columns(64, 512);
    program.regions[0].name = "stack0";
    EXPECT_THAT(advice_for(one_cache(4096, 1), program).structures, ::testing::IsEmpty());
    EXPECT_THAT(advice_for(one_cache(4096, 1), Listed{{{}}, {{"A", 0x1000, 64, 8}}}).structures, ::testing::IsEmpty());
}

// What a trace says nothing of is a stretch of memory.
TEST(Advice, WithoutNamesStretchesOfMemoryStandForStructures) {
    Listed program = by_columns(512, 512);
    program.regions.clear();
    const Advice advice = advice_for(one_cache(32768, 8), program, few_layouts(1));
    EXPECT_TRUE(trial(advice, "memory at 0x100000", "pad rows of 4,096 B by 64 B").helps);
}

TEST(Advice, TheUserKnowsArraysAndElements) {
    AdviceOptions options = few_layouts(1);
    options.known.arrays["A"] = {256, 1024, 8};
    EXPECT_FALSE(trial(advice_for(one_cache(32768, 8), by_columns(512, 512), options), "A",
                       "store it by columns (256 x 1024 of 8 B)")
                     .text.empty());
    options.known.arrays.clear();
    options.known.elements["particles"] = 128;
    EXPECT_FALSE(trial(advice_for(one_cache(4096, 4), structs(512, 64, 1), options), "particles",
                       "split elements of 128 B: hot 16 B apart (bytes 16-23, 80-87)")
                     .text.empty());
    options.known.elements["partikles"] = 128;
    EXPECT_THROW(advice_for(one_cache(4096, 4), structs(512, 64, 1), options), std::invalid_argument);
}

// A walked by columns, and structs with one hot field: both at once are what both save.
TEST(Advice, TheBestOfEachStructureIsTriedTogether) {
    Listed program = by_columns(512, 512);
    const Listed other = structs(4096, 64, 1);
    program.regions.push_back(other.regions[0]);
    program.regions[1].base = 0x400000;
    for (Reference reference : other.cores[0]) {
        reference.address += 0x300000;
        program.cores[0].push_back(reference);
    }
    const Advice advice = advice_for(one_cache(32768, 8), program, few_layouts(2));
    ASSERT_EQ(advice.together.size(), 1U);
    EXPECT_TRUE(advice.together[0].helps);
    EXPECT_EQ(advice.before[0].misses[0], 512U * 512 + 4096);
    EXPECT_EQ(advice.together[0].after[0].misses[0], 512U * 64 + 4096 / 8);
}

TEST(Advice, DoesNotDependOnTheNumberOfJobs) {
    const auto all = [](unsigned jobs) {
        AdviceOptions options = few_layouts(6);
        options.jobs = jobs;
        std::vector<std::pair<std::string, std::vector<Measured>>> runs;
        for (const Trial& each : advice_for(one_cache(4096, 1), in_turn(0x10000, 0x10000000), options).trials)
            runs.emplace_back(each.structure + each.text, each.after);
        return runs;
    };
    EXPECT_EQ(all(1), all(5));
}

// Frames are drawn anew in each layout: two pages of one set in one, of two in another.
TEST(Advice, PagesAreLaidOutAnew) {
    MachineDescription machine = one_cache(8192, 1);
    machine.pages.mapping = Mapping::random;
    machine.memories[0].size = 1 << 30;
    Advice advice;
    do {
        ++machine.pages.seed;
        advice = advice_for(machine, in_turn(0x10000, 0x20000), few_layouts(16));
    } while (advice.before[0].misses[0] < 1024);
    EXPECT_THAT(misses(advice.before), ::testing::Contains(::testing::Le(200U)));
    EXPECT_THAT(helpful(advice), ::testing::IsEmpty());
}

TEST(Advice, EndsWhenItIsToldTo) {
    AdviceOptions options = few_layouts();
    options.go_on = [](std::uint64_t, std::uint64_t) { return false; };
    EXPECT_THROW(advice_for(one_cache(4096, 1), in_turn(0x10000, 0x20000), options), std::runtime_error);
}

TEST(Distribution, OfAFew) {
    const Distribution four = distribution({4, 1, 3, 2});
    EXPECT_EQ(four.median, 2U);
    EXPECT_EQ(four.least, 1U);
    EXPECT_EQ(four.most, 4U);
    EXPECT_EQ(distribution({}).most, 0U);
}

TEST(Better, IsAHundredthOfTheMissesInNoMoreTime) {
    EXPECT_TRUE(is_better({{100}, 5}, {{99}, 5}, 0));
    EXPECT_FALSE(is_better({{101}, 5}, {{100}, 5}, 0));
    EXPECT_FALSE(is_better({{100}, 5}, {{50}, 6}, 0));
    EXPECT_FALSE(is_better({{0}, 5}, {{0}, 5}, 0));
}

}  // namespace
}  // namespace cachetally
