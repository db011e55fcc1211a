// SPDX-License-Identifier: BSD-3-Clause
// Histograms in files: read back as written, coarse views by hand, and damage refused.
#include "monitor/histogram_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <utility>

#include "base/random.hpp"
#include "monitor/result_file.hpp"
#include "storage/file.hpp"

namespace cachetally {
namespace {

class HistogramFile : public testing::Test {
protected:
    void SetUp() override {
        path_ =
            testing::TempDir() + "histogram_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".h5";
        std::filesystem::remove(path_);
    }
    void TearDown() override { std::filesystem::remove(path_); }

    void write(const Histogram& histogram) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        write_histogram(file.root(), "core-L1", histogram);
        file.finish();
    }

    std::string path_;
};

Histogram random_histogram(std::uint32_t rows, bool functions) {
    Random random(5);
    std::vector<HistogramRow> all;
    for (std::uint32_t i = 0; i < rows; ++i)
        all.push_back({random.below(100000) * 64, 1 + static_cast<std::uint32_t>(random.below(3)),
                       static_cast<std::uint32_t>(random.below(4)),
                       functions ? static_cast<std::uint32_t>(random.below(3)) : no_function, 1 + random.below(9)});
    Histogram histogram(64, std::move(all));
    histogram.set_phases(6);
    return histogram;
}

TEST_F(HistogramFile, IsReadBackAsWritten) {
    for (const bool functions : {false, true})
        for (const std::uint32_t rows : {0U, 1U, 5000U}) {
            const Histogram histogram = random_histogram(rows, functions);
            write(histogram);
            const InputFile file(path_);
            EXPECT_EQ(read_histogram(file.root(), "core-L1"), histogram);
            EXPECT_EQ(file.root().open_group("core-L1").has("pyramid"), rows == 5000U);
        }
}

TEST_F(HistogramFile, PyramidsSummariseBlocks) {
    std::vector<HistogramRow> rows;
    for (std::uint32_t line = 0; line < 260; ++line)
        rows.push_back({Address{line} * 64, 1, line % 2, no_function, line + 1});
    rows.push_back({Address{1024} * 64, 4, 0, no_function, 10});  // spread: 2.5 each
    write(Histogram(64, rows));
    const InputFile file(path_);
    const Group pyramid = file.root().open_group("core-L1").open_group("pyramid");
    ASSERT_EQ(pyramid.children(), std::vector<std::string>{"level1"});
    const Group level = pyramid.open_group("level1");
    const auto address = level.read<std::uint64_t>("address");
    const auto sum = level.read<double>("sum"), least = level.read<double>("min"), most = level.read<double>("max");
    EXPECT_EQ(level.whole_attribute("units"), 16U);
    ASSERT_EQ(address.size(), 18U);  // 0-255 in 16 blocks, 256-259, 1024-1027
    EXPECT_EQ(address[1], 16U * 64);
    EXPECT_EQ(least[1], 17);
    EXPECT_EQ(most[1], 32);
    EXPECT_EQ(sum[1], (17 + 32) * 8);
    EXPECT_EQ(address[17], 1024U * 64);
    EXPECT_EQ(most[17], 2.5);
    EXPECT_EQ(sum[17], 10);
}

/// Columns as a damaged or foreign file might have them.
void write_columns(Group& root, const std::string& name, const std::vector<std::uint64_t>& address,
                   const std::vector<std::uint32_t>& phase, const std::vector<std::uint64_t>& count) {
    Group group = root.create_group(name);
    group.set_attribute("unit_bytes", 64U);
    group.set_attribute("phases", 1U);
    group.write("address", address);
    group.write("span", std::vector<std::uint32_t>(count.size(), 1));
    group.write("phase", phase);
    group.write("count", count);
}

TEST_F(HistogramFile, DamageIsRefused) {
    ResultFile file(path_, ResultFile::Existing::overwrite);
    write_columns(file.root(), "right", {0, 64}, {0, 0}, {1, 1});
    write_columns(file.root(), "unsorted", {64, 0}, {0, 0}, {1, 1});
    write_columns(file.root(), "repeated", {64, 64}, {0, 0}, {1, 1});
    write_columns(file.root(), "short", {0}, {0, 0}, {1, 1});
    write_columns(file.root(), "no_such_phase", {0, 64}, {0, 1}, {1, 1});
    write_columns(file.root(), "zero", {0, 64}, {0, 0}, {1, 0});
    EXPECT_EQ(read_histogram(file.root(), "right").total(), 2U);
    for (const char* name : {"unsorted", "repeated", "short", "no_such_phase", "zero", "absent"})
        EXPECT_THROW(read_histogram(file.root(), name), StorageError) << name;
}

/// Of P phases in 256 rows the one of a phase is the last that begins before it; sums of lines are of all phases.
TEST_F(HistogramFile, ManyPhasesHaveSumsOfLinesAndRowsOfSeveralPhases) {
    constexpr std::uint32_t phases = 1000, with_lines = 990;
    for (const std::uint64_t line_count : {std::uint64_t{60}, std::uint64_t{62}}) {  // 990 of 62 lines: below 16 times
        LevelLines lines{"L1", 64, {}, {}, {}, {}};
        std::map<Address, double> by_line;
        std::map<std::pair<std::uint32_t, Address>, double> expected, found;
        for (std::uint32_t phase = 0; phase < with_lines; ++phase) {
            const Address address = 0x1000 + phase * 7 % line_count * 64;
            lines.phase.push_back(phase);
            lines.address.push_back(address);
            lines.accesses.push_back(3 + phase % 5);
            lines.misses.push_back(phase % 3);
            by_line[address] += phase % 3;
            std::uint32_t row = 255;
            while (row * phases / 256 > phase) --row;
            expected[{row * phases / 256, address}] += 3 + phase % 5;
        }
        {
            ResultFile file(path_, ResultFile::Existing::overwrite);
            write_combined(file.root(), {lines}, phases);
            file.finish();
        }
        const InputFile file(path_);
        const Group level = file.root().open_group("combined").open_group("L1");
        const Group grid = level.open_group("grid");
        const auto phase = grid.read<std::uint32_t>("phase");
        const auto address = grid.read<std::uint64_t>("address");
        const auto accesses = grid.read<double>("accesses");
        ASSERT_EQ(phase.size(), 256U);
        for (std::size_t i = 0; i < accesses.size(); ++i)
            if (accesses[i] > 0) found[{phase[i / address.size()], address[i % address.size()]}] = accesses[i];
        EXPECT_EQ(found, expected);
        ASSERT_EQ(level.has("lines"), line_count == 60);
        if (!level.has("lines")) continue;
        std::map<Address, double> sums;
        const auto misses = level.open_group("lines").read<double>("misses");
        const auto starts = level.open_group("lines").read<std::uint64_t>("address");
        for (std::size_t i = 0; i < starts.size(); ++i) sums[starts[i]] += misses[i];
        EXPECT_EQ(sums, by_line);
    }
}

/// Every row of the columns is in its cell, and nothing else; with too many lines, in that of its block.
TEST_F(HistogramFile, GridsOfLevelsHaveTheCountsOfEachPhaseAndLine) {
    for (const std::uint64_t most : {std::uint64_t{50}, std::uint64_t{200000}}) {
        Random random(3);
        std::map<std::pair<std::uint32_t, Address>, double> rows;
        for (std::uint64_t i = 0; i < most; ++i)
            rows[{static_cast<std::uint32_t>(random.below(3)), 4096 + random.below(10 * most) * 32}] =
                static_cast<double>(1 + random.below(9));
        LevelLines lines{"L1", 32, {}, {}, {}, {}};
        for (const auto& [key, count] : rows) {
            lines.phase.push_back(key.first);
            lines.address.push_back(key.second);
            lines.accesses.push_back(2 * count);
            lines.misses.push_back(count);
        }
        {
            ResultFile file(path_, ResultFile::Existing::overwrite);
            write_combined(file.root(), {lines});
            file.finish();
        }
        const InputFile file(path_);
        const Group grid = file.root().open_group("combined").open_group("L1").open_group("grid");
        const std::uint64_t block = 32 * grid.whole_attribute("units");
        EXPECT_EQ(block == 32, most == 50);
        std::map<std::pair<std::uint32_t, Address>, double> expected, found;
        for (const auto& [key, count] : rows) expected[{key.first, key.second / block * block}] += count;
        const auto phase = grid.read<std::uint32_t>("phase");
        const auto address = grid.read<std::uint64_t>("address");
        const auto accesses = grid.read<double>("accesses"), misses = grid.read<double>("misses");
        ASSERT_EQ(misses.size(), phase.size() * address.size());
        EXPECT_LE(misses.size(), 262144U);
        for (std::size_t i = 0; i < misses.size(); ++i) {
            EXPECT_EQ(accesses[i], 2 * misses[i]);
            if (misses[i] != 0) found[{phase[i / address.size()], address[i % address.size()]}] = misses[i];
        }
        EXPECT_EQ(found, expected);
    }
}

}  // namespace
}  // namespace cachetally
