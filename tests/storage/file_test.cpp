// Files appear under their name only when whole, or marked partial; damage and full disks are told in words.
#include "storage/file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <numeric>

#include "storage/axes.hpp"
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
    EXPECT_THAT(message_of([&] { ResultFile file(directory.path().string()); }), HasSubstr("is not a regular file"));
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

/// A column of chunks, one that is kept with its object, and a text: nothing is without a checksum.
TEST(InputFile, NumbersThatAreNotWhatWasWrittenAreRefused) {
    const TemporaryDirectory directory;
    const std::string path = directory / "d.h5";
    std::vector<std::uint64_t> many(5000), few(100);
    std::iota(many.begin(), many.end(), 7);
    std::iota(few.begin(), few.end(), 0x5a5a5a5a5a00U);
    {
        ResultFile file(path);
        Group data = file.root().create_group("data");
        data.write("many", many);
        data.write("few", few);
        data.set_attribute("meaning", "numbers");
        file.finish();
    }
    const std::string whole = contents(path);
    unsigned of_many = 0, of_few = 0, of_texts = 0;
    for (std::size_t place = 0; place < whole.size(); place += 3) {
        std::string damaged = whole;
        damaged[place] ^= static_cast<char>(1U << place % 8);
        write_contents(path, damaged);
        const std::string said = message_of([&] {
            const InputFile input(path);
            const Group data = input.root().open_group("data");
            EXPECT_EQ(data.text_attribute("meaning"), "numbers") << place;
            EXPECT_EQ(data.read<std::uint64_t>("many"), many) << place;
            EXPECT_EQ(data.read<std::uint64_t>("few"), few) << place;
        });
        of_many += said.find("/data/many: cannot read") != std::string::npos ? 1 : 0;
        of_few += said.find("/data/few: ") != std::string::npos ? 1 : 0;
        of_texts += said.find("texts of attributes") != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(of_many, 150U);  // bytes of its chunk
    EXPECT_GE(of_few, 266U);   // in its header
    EXPECT_GE(of_texts, 1365U);
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
    for (const std::size_t bytes : {std::size_t{50}, whole.size() / 2, whole.size() - 1}) {
        write_contents(directory / "cut.h5", whole.substr(0, bytes));
        EXPECT_THAT(
            message_of([&] { InputFile{directory / "cut.h5"}; }),
            HasSubstr(fmt::format("cut.h5: is cut off: it should have {} bytes and has {};", whole.size(), bytes)));
    }
    write_contents(directory / "cut.h5", whole.substr(0, 20));
    EXPECT_THAT(message_of([&] { InputFile{directory / "cut.h5"}; }), HasSubstr("is cut off: it has 20 bytes alone"));
    std::string damaged = whole;
    damaged[20] = static_cast<char>(damaged[20] ^ 0x5a);
    write_contents(directory / "damaged.h5", damaged);
    EXPECT_THAT(message_of([&] { InputFile{directory / "damaged.h5"}; }), HasSubstr("damaged.h5: is damaged"));
}

}  // namespace
}  // namespace cachetally
