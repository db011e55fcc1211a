// SPDX-License-Identifier: BSD-3-Clause
// Files appear under their name only when whole, or marked partial; damage and full disks are told in words.
#include "storage/file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <numeric>
#include <set>

#include "storage/columns.hpp"
#include "storage/provenance.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using testing::contents;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TemporaryDirectory;
using testing::write_contents;

void write_sample(ResultFile& file) {
    Group data = file.root().create_group("data");
    std::vector<std::uint64_t> key(100000);
    std::iota(key.begin(), key.end(), 7);
    data.write("key", key);
    data.write("phase", std::vector<std::uint32_t>{1, 2});
    data.write_table<double>("counts", std::vector<double>(200000, 0.5), 2, 100000);
    set_axes(data, "counts", {"phase", "key"});
    data.set_attribute("texts", std::vector<std::string>{"one", "two two", ""});
    data.write_texts("names", std::vector<std::string>{"A", "molecules"});
    set_nexus_class(file.root(), "NXroot", "data");
}

TEST(ResultFile, AppearsOnlyWhenFinished) {
    const TemporaryDirectory directory;
    const std::string path = directory / "out.h5";
    {
        ResultFile file(path);
        write_sample(file);
        EXPECT_FALSE(std::filesystem::exists(path));
        EXPECT_TRUE(std::filesystem::exists(path + ".part"));
        file.finish();
        EXPECT_TRUE(std::filesystem::exists(path));
        EXPECT_FALSE(std::filesystem::exists(path + ".part"));
    }
    const InputFile input(path);
    EXPECT_EQ(input.root().whole_attribute("complete"), 1U);
}

// Readers of a large file look at its metadata first: these are not strewn among the data.
TEST(ResultFile, HasItsMetadataInFewPlaces) {
    constexpr std::size_t place = 64 << 10, groups = 64;
    const TemporaryDirectory directory;
    const std::string path = directory / "out.h5";
    const std::vector<double> data(place / sizeof(double));
    ResultFile file(path);
    for (std::size_t i = 0; i < groups; ++i)
        file.root().create_group(fmt::format("group{}", i)).write("data", std::span(data), Compression::none);
    file.finish();
    const std::string bytes = contents(path);
    ASSERT_GT(bytes.size(), groups * place);
    std::set<std::size_t> places;
    std::size_t headers = 0;
    for (std::size_t at = bytes.find("OHDR"); at != std::string::npos; at = bytes.find("OHDR", at + 1), ++headers)
        places.insert(at / place);
    EXPECT_GT(headers, 2 * groups);
    EXPECT_LE(places.size(), groups / 16);
}

TEST(ResultFile, TellsOfAllObjectsInOnePlace) {
    const TemporaryDirectory directory;
    const std::string path = directory / "out.h5";
    {
        ResultFile file(path);
        Group group = file.root().create_group("links");
        group.set_attribute("names", std::vector<std::string>{"core-L1"});
        group.set_attribute("from", "core\n\xc3\xa9");
        group.set_attribute("largest", ~std::uint64_t{0} >> 1);
        group.set_attribute("less", std::int64_t{-2});
        group.set_attribute("share", 0.1);
        group.set_attribute("unknown", std::nan(""));
        Group inner = group.create_group("load");
        inner.write("count", std::vector<std::uint64_t>{1, 2, 3});
        number_rows(inner, "row", 3);
        file.root().create_group("provenance").set_attribute("host", "another in each run");
        file.finish();
    }
    const InputFile file(path);
    EXPECT_EQ(
        file.root().read_texts("consolidated_metadata"),
        std::vector<std::string>{
            R"({"/":{"attributes":{"complete":1},"members":["links","provenance"]},)"
            R"("links":{"attributes":{"from":"core\né","largest":9223372036854775807,"less":-2,"names":["core-L1"],)"
            R"("share":0.1,"unknown":null},"members":["load"]},)"
            R"("links/load":{"attributes":{},"members":["count","row"]},)"
            R"("links/load/count":{"attributes":{"long_name":"count","units":"1"},"shape":[3]},)"
            R"("links/load/row":{"attributes":{"long_name":"row","units":"1"},"shape":[3]}})"});
}

TEST(ResultFile, LeavesNothingBehindWhenAbandoned) {
    const TemporaryDirectory directory;
    {
        ResultFile file(directory / "out.h5");
        write_sample(file);
    }
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(ResultFile, KeepsWhatIsThereWhenInterrupted) {
    const TemporaryDirectory directory;
    const std::string path = directory / "out.h5";
    {
        ResultFile file(path);
        file.root().write("column", std::vector<std::uint64_t>{1, 2, 3});
        file.keep_partial("interrupted");
    }
    const InputFile input(path);
    EXPECT_EQ(input.root().whole_attribute("complete"), 0U);
    EXPECT_EQ(input.root().text_attribute("incomplete"), "interrupted");
    EXPECT_EQ(input.root().read<std::uint64_t>("column"), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(ResultFile, RefusesAnExistingFile) {
    const TemporaryDirectory directory;
    const std::string path = directory / "out.h5";
    write_contents(path, "precious");
    EXPECT_THAT(message_of([&] { ResultFile file(path); }), HasSubstr("out.h5: exists already"));
    EXPECT_EQ(contents(path), "precious");
    ResultFile file(path, ResultFile::Existing::overwrite);
    file.finish();
    EXPECT_NO_THROW(InputFile{path});
}

TEST(ResultFile, DoesNotReplaceAFileThatAppearedMeanwhile) {
    const TemporaryDirectory directory;
    const std::string path = directory / "out.h5";
    ResultFile file(path);
    write_contents(path, "precious");
    EXPECT_THAT(message_of([&] { file.finish(); }), HasSubstr("exists by now"));
    EXPECT_EQ(contents(path), "precious");
}

TEST(ResultFile, RefusesDevicesDirectoriesAndAbsentDirectories) {
    const TemporaryDirectory directory;
    const auto overwrite = ResultFile::Existing::overwrite;
    EXPECT_THAT(message_of([&] { ResultFile file("/dev/full", overwrite); }), HasSubstr("is not a regular file"));
    EXPECT_THAT(message_of([&] { ResultFile file(directory.path().string()); }),
                HasSubstr("is a directory, not a regular file"));
    EXPECT_THAT(message_of([&] { ResultFile file(directory / "absent/out.h5"); }),
                HasSubstr("absent/out.h5: there is no directory '"));
}

TEST(ResultFile, ReplacesTheRestOfAKilledRunButNotALiveOne) {
    const TemporaryDirectory directory;
    write_contents(directory / "out.h5.part", "\x89HDF\r\n\x1a\n, the rest");
    ResultFile file(directory / "out.h5");
    EXPECT_THAT(message_of([&] { ResultFile other(directory / "out.h5"); }), HasSubstr("another run is writing"));
    file.finish();
    EXPECT_NO_THROW(InputFile{directory / "out.h5"});
}

/// Files may not grow beyond a limit: the same path through the library as a full disk. In a process of its own.
int write_beyond_limit(const std::string& path) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string message;
    {
        ResultFile file(path, ResultFile::Existing::overwrite);
        message = message_of([&] {
            std::vector<std::uint64_t> noise(1000000);
            std::uint64_t state = 1;
            for (auto& value : noise) value = state = state * 6364136223846793005U + 1442695040888963407U;
            file.root().write("noise", noise);
            file.finish();
        });
    }
    std::fprintf(stderr, "%s\n", message.c_str());
    return contents(path) == "precious" && !std::filesystem::exists(path + ".part") ? 0 : 1;
}

TEST(ResultFileDeathTest, TellsOfAFullDiskAndLeavesTheOldFile) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const TemporaryDirectory directory;
    const std::string path = directory / "out.h5";
    write_contents(path, "precious");
    EXPECT_EXIT(std::exit(write_beyond_limit(path)), ::testing::ExitedWithCode(0),
                "noise: cannot write: File too large");
}

TEST(ResultFile, EqualContentsGiveEqualBytes) {
    const TemporaryDirectory directory;
    for (const char* name : {"a.h5", "b.h5"}) {
        ResultFile file(directory / name);
        write_sample(file);
        file.finish();
    }
    EXPECT_EQ(contents(directory / "a.h5"), contents(directory / "b.h5"));
    EXPECT_LT(contents(directory / "a.h5").size(), 300000U) << "2.4 MB of regular numbers are compressed";
}

/// A file as it was written, and what differs from it in one place.
class DamagedFiles : public ::testing::Test {
protected:
    void SetUp() override {
        ResultFile file(path_);
        write_sample(file);
        file.finish();
    }

    /// "" where a file of these bytes is opened.
    std::string refusal(const std::string& bytes) {
        write_contents(path_, bytes);
        return message_of([&] { InputFile{path_}; });
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "d.h5";
};

TEST_F(DamagedFiles, EveryChangeOfTheirBytesIsRefused) {
    const std::string whole = contents(path_);
    ASSERT_EQ(refusal(whole), "");
    for (std::size_t place = 0; place < whole.size(); place += place + 200 < whole.size() ? 97 : 1) {
        std::string changed = whole;
        changed[place] ^= static_cast<char>(1U << place % 8);
        EXPECT_THAT(refusal(changed), ::testing::AnyOf(HasSubstr("is damaged"), HasSubstr("of version"))) << place;
        changed = whole;
        changed.insert(place, 1, '\0');
        EXPECT_THAT(refusal(changed), HasSubstr("is damaged")) << place;
        changed = whole;
        changed.erase(place, 1);
        EXPECT_THAT(refusal(changed), ::testing::AnyOf(HasSubstr("is damaged"), HasSubstr("is cut off"))) << place;
        EXPECT_NE(refusal(whole.substr(0, place)), "") << place;
    }
}

/// The trailer by hand: digests of 1 MiB each, the magic word, version, block, size, digest (docs/format.md).
TEST_F(DamagedFiles, TheTrailerIsAsTheFormatSays) {
    const std::string whole = contents(path_);
    const std::size_t footer = whole.size() - 32;
    EXPECT_EQ(whole.substr(footer, 16), std::string("CTDIGEST\x01\0\0\0\0\0\x10\0", 16));
    std::uint64_t size = 0;
    std::memcpy(&size, whole.data() + footer + 16, sizeof size);
    EXPECT_EQ(size, footer - 8);  // one block
    EXPECT_EQ(whole.substr(0, 4), "\x89HDF");
}

TEST_F(DamagedFiles, WithoutDigestsAreReadOnTrustAlone) {
    const std::string whole = contents(path_);
    write_contents(path_, whole.substr(0, whole.size() - 40));
    EXPECT_THAT(message_of([&] { InputFile{path_}; }), HasSubstr("has no digests of its blocks"));
    EXPECT_THAT(message_of([&] { InputFile{path_}; }), HasSubstr("--trust reads it as it is"));
    EXPECT_EQ(InputFile(path_, Trust::file).root().whole_attribute("complete"), 1U);
    EXPECT_THAT(message_of([&] { verify_file(path_); }), HasSubstr("has no digests"));
}

/// A column of 24 MiB: what is read is verified, block by block, and what is not is not.
TEST(InputFile, LargeFilesAreVerifiedWhereTheyAreRead) {
    const TemporaryDirectory directory;
    const std::string path = directory / "l.h5";
    std::vector<std::uint64_t> many(3U << 20);
    std::iota(many.begin(), many.end(), 7);
    {
        ResultFile file(path);
        file.root().write("before", std::vector<std::uint64_t>{1, 2, 3});
        file.root().write("many", std::span<const std::uint64_t>(many), Compression::none);
        file.finish();
    }
    EXPECT_NO_THROW(verify_file(path));
    const std::size_t place = 12 << 20;
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out).seekp(place) << '\xff';
    EXPECT_THAT(message_of([&] { verify_file(path); }),
                HasSubstr("l.h5: is damaged: bytes 12582912 to 13631487 are not what was written"));
    const InputFile input(path);
    EXPECT_EQ(input.root().read<std::uint64_t>("before"), (std::vector<std::uint64_t>{1, 2, 3}));
    const Dataset column = input.root().open_dataset("many");
    std::vector<std::uint64_t> rows(1000);
    column.read_rows(0, std::span(rows));
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), many.begin()));
    EXPECT_THAT(message_of([&] { column.read_rows(place / 8 - 500, std::span(rows)); }),
                HasSubstr(": bytes 12582912 to 13631487 are not what was written"));
    EXPECT_THAT(message_of([&] { (void)column.read<std::uint64_t>(); }), HasSubstr("not what was written"));
    column.read_rows(many.size() - 1000, std::span(rows));  // and all else is read still
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), many.end() - 1000));
}

/// How many of them a group says that it has; asks for one that is not there, too.
std::size_t count_names(const Group& group, const std::vector<std::string>& expected) {
    std::size_t count = 0;
    for (const std::string& name : expected) count += group.has(name);
    EXPECT_FALSE(group.has("absent"));
    return count;
}

TEST(InputFile, NothingThatIsThereIsSaidToBeAbsent) {
    const TemporaryDirectory directory;
    const std::string path = directory / "l.h5";
    std::vector<std::string> names, few;
    for (int i = 0; i < 2000; ++i) names.push_back(fmt::format("a group with a long name {}", i));
    for (int i = 0; i < 7; ++i)
        few.push_back(fmt::format("a longer name, so that a header is continued elsewhere {}", i));
    {
        ResultFile file(path);
        std::vector<std::uint64_t> noise(1 << 16);
        std::uint64_t state = 1;
        for (std::uint64_t& word : noise) word = state = state * 6364136223846793005U + 1442695040888963407U;
        Group groups = file.root().create_group("groups"), small = file.root().create_group("small");
        for (std::size_t i = 0; i < names.size(); ++i) {
            groups.create_group(names[i]);
            if (i % 50 == 0) file.root().write(fmt::format("noise {}", i), noise);
            if (i % 300 == 0) small.create_group(few[i / 300]);
        }
        file.finish();
    }
    const std::string whole = contents(path);
    ASSERT_GT(whole.size(), 16U << 20);
    unsigned refused = 0;
    for (std::size_t at = 777; at < whole.size(); at += 1 << 20) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 4);
        write_contents(path, damaged);
        try {
            const InputFile file(path);
            const std::size_t found = count_names(file.root().open_group("groups"), names);
            EXPECT_EQ(found, names.size()) << at;
            EXPECT_EQ(count_names(file.root().open_group("small"), few), few.size()) << at;
        } catch (const StorageError& error) {
            EXPECT_THAT(error.what(), HasSubstr("not what was written")) << at;
            ++refused;
        }
    }
    EXPECT_GT(refused, 1U);
}

TEST(InputFile, TellsWhatIsWrongWithAFile) {
    const TemporaryDirectory directory;
    EXPECT_THAT(message_of([&] { InputFile{directory / "absent.h5"}; }), HasSubstr("absent.h5: No such file"));
    write_contents(directory / "text.h5", "I  04000000,3\n");
    EXPECT_THAT(message_of([&] { InputFile{directory / "text.h5"}; }), HasSubstr("is not an HDF5 file"));
    write_contents(directory / "empty.h5", "");
    EXPECT_THAT(message_of([&] { InputFile{directory / "empty.h5"}; }), HasSubstr("empty.h5: is empty"));
    EXPECT_THAT(message_of([&] { InputFile{directory / "."}; }), HasSubstr("is a directory; give a file"));
    write_contents(directory / "j.h5", " {\"levels\": []}");
    EXPECT_THAT(message_of([&] { InputFile{directory / "j.h5"}; }), HasSubstr("looks like JSON; run with -o FILE.h5"));
    write_contents(directory / "p.html", "<!doctype html>");
    EXPECT_THAT(message_of([&] { InputFile{directory / "p.html"}; }), HasSubstr("a page: open it in a browser"));
    {
        ResultFile file(directory / "whole.h5");
        write_sample(file);
        file.finish();
    }
    const std::string whole = contents(directory / "whole.h5");
    for (const std::size_t bytes : {std::size_t{50}, whole.size() / 2, whole.size() - 41}) {
        write_contents(directory / "cut.h5", whole.substr(0, bytes));
        EXPECT_THAT(message_of([&] { InputFile{directory / "cut.h5"}; }),
                    HasSubstr(fmt::format("cut.h5: is cut off: it should have at least {} bytes and has {};",
                                          whole.size() - 40, bytes)));
    }
    write_contents(directory / "cut.h5", whole.substr(0, whole.size() - 1));
    EXPECT_THAT(message_of([&] { InputFile{directory / "cut.h5"}; }), HasSubstr("does not end in its digests"));
    write_contents(directory / "cut.h5", whole.substr(0, 20));
    EXPECT_THAT(message_of([&] { InputFile{directory / "cut.h5"}; }), HasSubstr("is cut off: it has 20 bytes alone"));
    std::string damaged = whole;
    damaged[20] = static_cast<char>(damaged[20] ^ 0x5a);
    write_contents(directory / "damaged.h5", damaged);
    EXPECT_THAT(message_of([&] { InputFile{directory / "damaged.h5"}; }), HasSubstr("damaged.h5: is damaged"));
}

}  // namespace
}  // namespace cachetally
