// SPDX-License-Identifier: BSD-3-Clause
// Which code lay at an address when: eras of mapped files.
#include "workloads/capture/captured_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace cachetally::testing {
namespace {

constexpr std::uint32_t readable = 4, code = 5;

/// As the loader does: all of it, then its code over that.
void load(CapturedFiles& files, const std::string& path, Address base) {
    files.add({base, 0x4000, readable, 0, path});
    files.add({base + 0x1000, 0x1000, code, 0x1000, path});
    files.add({base + 0x3000, 0x1000, readable, 0x2000, path});
}

std::size_t parts(const CapturedFiles& files, std::size_t era, const std::string& path) {
    return static_cast<std::size_t>(std::ranges::count(files.of(era), path, &MappedFile::path));
}

TEST(CapturedFiles, FilesBesideOthersAreOfOneEra) {
    CapturedFiles files;
    load(files, "program", 0x10000);
    load(files, "library", 0x20000);
    load(files, "library", 0x20000);  // told again
    EXPECT_EQ(files.era(), 0U);
    EXPECT_EQ(files.now().size(), 6U);
}

TEST(CapturedFiles, CodeInPlaceOfOtherCodeBeginsAnEra) {
    CapturedFiles files;
    load(files, "program", 0x10000);
    load(files, "first", 0x20000);
    load(files, "second", 0x20000);
    ASSERT_EQ(files.era(), 1U);
    EXPECT_EQ(parts(files, 0, "first"), 3U);
    EXPECT_EQ(parts(files, 0, "second"), 0U);
    EXPECT_EQ(parts(files, 1, "first"), 0U);
    EXPECT_EQ(parts(files, 1, "second"), 3U);
    for (const std::size_t era : {0U, 1U}) EXPECT_EQ(parts(files, era, "program"), 3U);
}

TEST(CapturedFiles, CodeThatComesBackIsOfItsEra) {
    CapturedFiles files;
    load(files, "program", 0x10000);
    for (int i = 0; i < 5; ++i) {
        load(files, "first", 0x20000);
        EXPECT_EQ(files.era(), 0U);
        load(files, "second", 0x20000);
        EXPECT_EQ(files.era(), 1U);
    }
}

TEST(CapturedFiles, AFileThatMovesBeginsAnEra) {
    CapturedFiles files;
    load(files, "library", 0x20000);
    load(files, "library", 0x50000);
    ASSERT_EQ(files.era(), 1U);
    ASSERT_EQ(parts(files, 0, "library"), 3U);
    ASSERT_EQ(parts(files, 1, "library"), 3U);
    EXPECT_EQ(files.of(0).front().base, 0x20000U);
    EXPECT_EQ(files.of(1).front().base, 0x50000U);
}

TEST(CapturedFiles, AnotherProgramHasNoneOfThem) {
    CapturedFiles files;
    load(files, "program", 0x10000);
    files.clear();
    load(files, "other", 0x10000);
    ASSERT_EQ(files.era(), 1U);
    EXPECT_EQ(parts(files, 1, "program"), 0U);
    EXPECT_EQ(parts(files, 1, "other"), 3U);
}

TEST(CapturedFiles, DataMayTakeAnyPlace) {
    CapturedFiles files;
    load(files, "library", 0x20000);
    files.add({0x20000, 0x4000, readable, 0, "data"});
    files.add({0x90000, 0x4000, readable, 0, "data"});
    EXPECT_EQ(files.era(), 0U);
}

}  // namespace
}  // namespace cachetally::testing
