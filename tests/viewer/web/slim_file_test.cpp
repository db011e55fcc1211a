// SPDX-License-Identifier: BSD-3-Clause
// Reduced copies keep every sum; and the pyramids that pages draw from are those of the lines.
#include "viewer/web/slim_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <map>
#include <optional>

#include "monitor/histogram_file.hpp"
#include "monitor/result_file.hpp"
#include "storage/copy.hpp"
#include "storage/file.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using testing::TemporaryDirectory;

constexpr std::uint32_t line_bytes = 32, phases = 3;

/// Numbers that depend on line and phase, without a pattern that blocks would follow.
std::uint64_t count_of(std::uint64_t line, std::uint64_t phase) { return (line * 2654435761U + phase * 40503U) % 97; }

LevelLines made_up_lines(std::uint64_t lines) {
    LevelLines level;
    level.level = "L1";
    level.line_bytes = line_bytes;
    for (std::uint32_t phase = 0; phase < phases; ++phase)
        for (std::uint64_t line = 0; line < lines; ++line) {
            if (count_of(line, phase) == 0) continue;
            level.phase.push_back(phase);
            level.address.push_back(0x1000 + line * line_bytes);
            level.accesses.push_back(static_cast<double>(count_of(line, phase)));
            level.misses.push_back(static_cast<double>(count_of(line, phase) / 3));
            level.causes[0].push_back(line % 5 == 0 ? level.misses.back() : 0);
            level.causes[1].push_back(0);
            level.causes[2].push_back(0);
            level.causes[3].push_back(level.misses.back() - level.causes[0].back());
        }
    return level;
}

Histogram made_up_histogram(std::uint64_t lines) {
    std::vector<HistogramRow> rows;
    for (std::uint32_t phase = 0; phase < phases; ++phase)
        for (std::uint64_t line = 0; line + 2 < lines; line += 3)  // counters for two lines, a hole after each
            rows.push_back({0x1000 + line * line_bytes, 2, phase, no_function, 2 * count_of(line, phase) + 2});
    return {line_bytes, std::move(rows)};
}

class SlimFiles : public ::testing::Test {
protected:
    void write(std::uint64_t lines, bool complete = true) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        Group& root = file.root();
        root.set_attribute("format", "cachetally result");
        root.set_attribute("format_version", 1);
        root.set_attribute("kind", "run");
        root.create_group("input").set_attribute("name", "made up");
        write_combined(root, {made_up_lines(lines)});
        Group monitors = root.create_group("monitors");
        write_histogram(monitors, "histogram", made_up_histogram(lines));
        if (complete) return file.finish();
        file.keep_partial("interrupted");
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "r.h5", slim_ = directory_ / "slim.h5";
};

/// Sum of a column by phase.
std::map<std::uint32_t, double> by_phase(const Group& group, const std::string& column) {
    const auto phase = group.read<std::uint32_t>("phase");
    const auto value = group.read<double>(column);
    std::map<std::uint32_t, double> sums;
    for (std::size_t i = 0; i < phase.size(); ++i) sums[phase[i]] += value[i];
    return sums;
}

TEST_F(SlimFiles, KeepTheSumsOfEveryPhaseInFewRows) {
    write(100000);
    reduce_result(path_, slim_, Trust::digests, 2000);
    const InputFile whole(path_), slim(slim_);
    for (const auto& [group, columns] : std::map<std::string, std::vector<std::string>>{
             {"combined/L1", {"accesses", "misses", "first_use", "conflict"}}, {"monitors/histogram", {"count"}}}) {
        const Group before = whole.root().open_group(group), after = slim.root().open_group(group);
        EXPECT_LE(after.open_dataset("address").rows(), 2000U);
        EXPECT_GT(after.open_dataset("address").rows(), 100U);
        for (const std::string& column : columns) {
            const auto expected = by_phase(before, column), found = by_phase(after, column);
            ASSERT_EQ(found.size(), phases);
            for (const auto& [phase, sum] : expected) EXPECT_NEAR(found.at(phase), sum, 1e-6 * sum) << column;
        }
    }
    EXPECT_NE(slim.root().text_attribute("reduced").find("r.h5"), std::string::npos);
    EXPECT_LT(std::filesystem::file_size(slim_), std::filesystem::file_size(path_) / 2);
}

/// Writes over the middle of the first chunk of a column; the address that it begins at.
haddr_t damage(const std::string& path, const std::string& column) {
    haddr_t where = 0;
    hsize_t bytes = 0;
    {
        const InputFile file(path);
        const Group group = file.root().open_group("combined/L1");
        const Dataset data = group.open_dataset(column);
        const Handle space(H5Dget_space(data.id()), H5Sclose);
        EXPECT_GE(H5Dget_chunk_info(data.id(), space.get(), 0, nullptr, nullptr, &where, &bytes), 0);
    }
    std::string text = testing::contents(path);
    text.replace(where + bytes / 4, bytes / 2, std::string(bytes / 2, 'Z'));
    testing::write_contents(path, text);
    return where;
}

void add_attribute(const Group& group, const char* name, hid_t type, hid_t space, const void* value) {
    const Handle held(space, H5Sclose);
    const Handle attribute(H5Acreate2(group.id(), name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    EXPECT_TRUE(value == nullptr || H5Awrite(attribute.get(), type, value) >= 0) << name;
}

// Our own have none of these.
TEST_F(SlimFiles, KeepAttributesOfOtherPrograms) {
    ResultFile file(path_, ResultFile::Existing::overwrite);
    file.root().set_attribute("kind", "run");
    write_combined(file.root(), {made_up_lines(30000)});
    const hsize_t two = 2;
    const std::int64_t wholes[] = {-1, 2};
    const double reals[] = {0.5, 1.5};
    const char opaque[] = "abc";
    const Handle blob(H5Tcreate(H5T_OPAQUE, 3), H5Tclose);
    {
        const Group level = file.root().open_group("combined/L1");
        add_attribute(level, "wholes", H5T_NATIVE_INT64, H5Screate_simple(1, &two, nullptr), wholes);
        add_attribute(level, "reals", H5T_NATIVE_DOUBLE, H5Screate_simple(1, &two, nullptr), reals);
        add_attribute(level, "nothing", H5T_NATIVE_DOUBLE, H5Screate(H5S_NULL), nullptr);
        add_attribute(level, "blob", blob.get(), H5Screate(H5S_SCALAR), opaque);
    }
    file.finish();
    reduce_result(path_, slim_, Trust::digests, 2000);
    const InputFile slim(slim_);
    const std::string told = slim.root().open_dataset("consolidated_metadata").read_texts().front();
    for (const char* part : {"\"wholes\":[-1,2]", "\"reals\":[0.5,1.5]", "\"nothing\":[]", "\"blob\":null"})
        EXPECT_NE(told.find(part), std::string::npos) << part;
    EXPECT_TRUE(slim.root().open_group("combined/L1").has_attribute("wholes"));
}

TEST_F(SlimFiles, DamagedFilesAreNotCopied) {
    for (const std::uint64_t lines : {30000, 100}) {  // the rows are reduced, or copied
        write(lines);
        const haddr_t block = damage(path_, "misses") >> 20 << 20;
        const std::string said = testing::message_of([&] { reduce_result(path_, slim_, Trust::digests, 2000); });
        EXPECT_NE(said.find(fmt::format("r.h5: is damaged: bytes {} to ", block)), std::string::npos) << said;
    }
}

/// Counts by line, of all phases or of one.
std::map<std::uint64_t, double> by_line(const Group& group, const std::string& column,
                                        std::optional<unsigned> of = {}) {
    const auto phase = group.read<std::uint32_t>("phase");
    const auto address = group.read<std::uint64_t>("address");
    const auto value = group.read<double>(column);
    std::map<std::uint64_t, double> sums;
    for (std::size_t i = 0; i < phase.size(); ++i)
        if (!of || phase[i] == *of) sums[address[i]] += value[i];
    return sums;
}

/// Of equals, those that come first.
std::vector<std::uint64_t> largest(const std::map<std::uint64_t, double>& sums, std::size_t most) {
    std::vector<std::pair<double, std::uint64_t>> lines;
    for (const auto& [address, sum] : sums) lines.emplace_back(-sum, address);
    std::ranges::sort(lines);
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < most && i < lines.size(); ++i) found.push_back(lines[i].second);
    return found;
}

TEST_F(SlimFiles, KeepAllOfTheLinesWithTheHighestCounts) {
    write(30000);
    for (const auto& [rows, lines, lines_of_phase] : {std::tuple{2000, 100, 0}, std::tuple{40000, 1000, 8}}) {
        reduce_result(path_, slim_, Trust::digests, static_cast<std::size_t>(rows));
        const InputFile whole(path_), slim(slim_);
        const Group before = whole.root().open_group("combined/L1"), top = slim.root().open_group("combined/L1/top");
        EXPECT_LE(top.open_dataset("address").rows(), static_cast<std::uint64_t>(rows));
        for (const char* column : {"accesses", "misses", "first_use", "conflict"}) {
            const auto all = by_line(before, column), kept = by_line(top, column);
            for (const auto& [address, sum] : kept) EXPECT_EQ(sum, all.at(address)) << column << " at " << address;
            for (const std::uint64_t address : largest(all, static_cast<std::size_t>(lines)))
                EXPECT_TRUE(kept.contains(address)) << column << " at " << address;
            for (unsigned phase = 0; phase < phases; ++phase) {
                const auto in_phase = by_line(before, column, phase), kept_there = by_line(top, column, phase);
                for (const auto& [address, sum] : kept_there) EXPECT_EQ(sum, in_phase.at(address)) << column;
                for (const std::uint64_t address : largest(in_phase, static_cast<std::size_t>(lines_of_phase)))
                    EXPECT_TRUE(kept_there.contains(address)) << column << " of " << phase << " at " << address;
            }
        }
        std::filesystem::remove(slim_);
    }
}

// Each of 5,000 phases has a few lines of its own among 400: coarser blocks would hardly be fewer.
TEST_F(SlimFiles, BlocksStayFineWherePhasesAreMany) {
    LevelLines level;
    level.level = "L1";
    level.line_bytes = line_bytes;
    for (std::uint32_t phase = 0; phase < 5000; ++phase) {
        level.phase.push_back(phase);
        level.address.push_back(0x1000 + phase * 7919U % 400 * line_bytes);
        level.accesses.push_back(3);
        level.misses.push_back(1);
    }
    ResultFile file(path_, ResultFile::Existing::overwrite);
    file.root().set_attribute("kind", "run");
    write_combined(file.root(), {level});
    file.finish();
    reduce_result(path_, slim_, Trust::digests, 2000);
    for (const std::uint32_t span : InputFile(slim_).root().open_group("combined/L1").read<std::uint32_t>("span"))
        EXPECT_EQ(span, 16U);
}

TEST_F(SlimFiles, BlocksLieWhereTheirLinesWere) {
    write(30000);
    reduce_result(path_, slim_, Trust::digests, 2000);
    const InputFile slim(slim_);
    const Group group = slim.root().open_group("combined/L1");
    const auto address = group.read<std::uint64_t>("address");
    const auto phase = group.read<std::uint32_t>("phase"), span = group.read<std::uint32_t>("span");
    const auto misses = group.read<double>("misses");
    for (std::size_t i = 0; i < address.size(); ++i) {
        std::uint64_t expected = 0;
        for (std::uint64_t at = address[i]; at < address[i] + std::uint64_t{span[i]} * line_bytes; at += line_bytes)
            if (at >= 0x1000 && at < 0x1000 + 30000 * line_bytes)
                expected += count_of((at - 0x1000) / line_bytes, phase[i]) / 3;
        ASSERT_EQ(misses[i], static_cast<double>(expected)) << "row " << i;
    }
}

/// Whether all columns of a group and of those in it have the scale `axis` of their own group (tables of a grid as
/// their second, behind "phase"); how many columns.
std::size_t expect_labels(const Group& group, const std::string& axis) {
    std::size_t columns = 0;
    for (const std::string& name : group.children()) {
        if (is_group(group, name)) {
            columns += expect_labels(group.open_group(name), axis);
            continue;
        }
        const Dataset data = group.open_dataset(name);
        const bool in_grid = group.where().ends_with("/grid");
        const auto has_scale = [&](const std::string& scale, unsigned dimension) {
            return H5DSis_attached(data.id(), group.open_dataset(scale).id(), dimension) > 0;
        };
        if (name == axis || (in_grid && name == "phase")) {
            EXPECT_GT(H5DSis_scale(data.id()), 0) << data.where();
        } else {
            EXPECT_TRUE(in_grid ? has_scale("phase", 0) && has_scale(axis, 1) : has_scale(axis, 0)) << data.where();
        }
        ++columns;
    }
    return columns;
}

TEST_F(SlimFiles, HaveLabelledAxes) {
    for (const std::uint64_t lines : {300, 30000}) {  // copied, reduced
        write(lines);
        reduce_result(path_, slim_, Trust::digests, 2000);
        const InputFile slim(slim_);
        EXPECT_GT(expect_labels(slim.root().open_group("combined"), "address"), 10U);
        EXPECT_GE(expect_labels(slim.root().open_group("monitors"), "address"), 4U);
        const Group lines_of = slim.root().open_group("combined/L1");
        for (const std::string& name : lines_of.texts_attribute("auxiliary_signals")) EXPECT_TRUE(lines_of.has(name));
        std::filesystem::remove(slim_);
    }
}

TEST_F(SlimFiles, AreTheSameWhereNothingIsLarge) {
    write(300);
    reduce_result(path_, slim_, Trust::digests, 2000);
    const InputFile whole(path_), slim(slim_);
    EXPECT_FALSE(slim.root().has_attribute("reduced"));
    EXPECT_EQ(slim.root().open_group("combined/L1").read<double>("hits"),
              whole.root().open_group("combined/L1").read<double>("hits"));
    EXPECT_EQ(slim.root().open_group("input").text_attribute("name"), "made up");
    EXPECT_EQ(slim.root().open_group("combined").texts_attribute("names"), std::vector<std::string>{"L1"});
    EXPECT_EQ(slim.root().whole_attribute("complete"), 1U);
}

TEST_F(SlimFiles, SayThatTheRunWasInterrupted) {
    write(300, false);
    reduce_result(path_, slim_);
    const InputFile slim(slim_);
    EXPECT_EQ(slim.root().whole_attribute("complete"), 0U);
    EXPECT_EQ(slim.root().text_attribute("incomplete"), "interrupted");
}

TEST_F(SlimFiles, MorePhasesThanRowsAreKeptApart) {
    ResultFile file(path_, ResultFile::Existing::overwrite);
    file.root().set_attribute("format_version", 1);
    LevelLines level;
    level.level = "L1";
    for (std::uint32_t phase = 0; phase < 5000; ++phase) {
        level.phase.push_back(phase);
        level.address.push_back(0);
        level.accesses.push_back(phase);
        level.misses.push_back(0);
    }
    write_combined(file.root(), {level});
    file.finish();
    reduce_result(path_, slim_, Trust::digests, 1000);
    EXPECT_EQ(InputFile(slim_).root().open_group("combined/L1").open_dataset("phase").rows(), 5000U);
}

TEST_F(SlimFiles, PyramidsOfLevelsAreThoseOfTheLines) {
    write(30000);
    const InputFile file(path_);
    const Group group = file.root().open_group("combined/L1");
    std::map<std::uint64_t, std::pair<double, double>> lines;
    const auto address = group.read<std::uint64_t>("address");
    const auto accesses = group.read<double>("accesses"), misses = group.read<double>("misses");
    for (std::size_t i = 0; i < address.size(); ++i) {
        lines[address[i]].first += accesses[i];
        lines[address[i]].second += misses[i];
    }
    const Group pyramid = group.open_group("pyramid");
    ASSERT_EQ(pyramid.children(), (std::vector<std::string>{"level1", "level2"}));  // 1,876 blocks, then 118
    for (const std::string& name : pyramid.children()) {
        const Group level = pyramid.open_group(name);
        const auto start = level.read<std::uint64_t>("address");
        const auto count = level.read<std::uint32_t>("lines");
        const auto sum = level.read<double>("misses"), most = level.read<double>("accesses_max");
        const auto least_rate = level.read<double>("miss_rate_min"), most_hits = level.read<double>("hits_max");
        for (std::size_t b = 0; b < start.size(); ++b) {
            std::uint32_t here = 0;
            double total = 0, top = 0, hits = 0, rate = 1;
            const std::uint64_t end = start[b] + level.whole_attribute("units") * line_bytes;
            for (auto line = lines.lower_bound(start[b]); line != lines.end() && line->first < end; ++line, ++here) {
                total += line->second.second;
                top = std::max(top, line->second.first);
                hits = std::max(hits, line->second.first - line->second.second);
                rate = std::min(rate, line->second.second / line->second.first);
            }
            EXPECT_EQ(count[b], here);
            EXPECT_EQ(sum[b], total);
            EXPECT_EQ(most[b], top);
            EXPECT_EQ(most_hits[b], hits);
            EXPECT_DOUBLE_EQ(least_rate[b], rate);
        }
    }
}

}  // namespace
}  // namespace cachetally
