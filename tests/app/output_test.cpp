// Where results go and cannot go: full disks, closed pipes, files that exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using testing::operator+;
using ::testing::HasSubstr;

constexpr char full_device[] = "/dev/full";

/// A trace whose packed form has some 100 kB: addresses without order (xorshift).
std::string long_trace() {
    std::string text;
    std::uint64_t state = 88172645463325252ULL;
    char line[40];
    for (int i = 0; i < 30000; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        std::snprintf(line, sizeof line, "0 %llx\n", static_cast<unsigned long long>(state >> 44));
        text += line;
    }
    return text;
}

using Words = std::vector<std::string>;

class Outputs : public ::testing::Test {
protected:
    Outputs() { write_contents(directory / "t.din", long_trace()); }
    Finished call(const std::vector<std::string>& words, const Circumstances& circumstances = {}) const {
        return cachetally(directory.path(), words, circumstances);
    }
    TemporaryDirectory directory;
};

TEST_F(Outputs, StandardOutputOnAFullDisk) {
    Circumstances circumstances;
    circumstances.out_file = full_device;
    for (const std::vector<std::string>& words : {std::vector<std::string>{"replay", "t.din"},
                                                  {"machine", "list"},
                                                  {"workload", "list", "--json"},
                                                  {"trace", "info", "t.din"},
                                                  {"--help"}}) {
        const Finished finished = call(words, circumstances);
        EXPECT_EQ(finished.status, 1) << words.front();
        EXPECT_THAT(finished.err, HasSubstr("standard output"));
        EXPECT_THAT(finished.err, HasSubstr("No space left on device"));
    }
}

TEST_F(Outputs, NoStandardOutput) {
    Circumstances circumstances;
    circumstances.out_closed = true;
    const Finished finished = call({"trace", "convert", "t.din", "o.h5"}, circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("standard output"));
    EXPECT_EQ(call({"trace", "info", "o.h5", "--json"}).json()["complete"], true);  // and nothing was written into it
}

TEST_F(Outputs, AReaderThatHasSeenEnough) {
    Circumstances circumstances;
    circumstances.out_reader_leaves = true;
    for (const std::vector<std::string>& words : {std::vector<std::string>{"workload", "list"},
                                                  {"replay", "t.din", "--json"},
                                                  {"machine", "show", "generic3"}}) {
        const Finished finished = call(words, circumstances);
        EXPECT_EQ(finished.signal, 0);
        EXPECT_EQ(finished.err, "") << words.front();
    }
}

TEST_F(Outputs, AReaderThatHasSeenEnoughDoesNotCostTheResultFile) {
    Circumstances circumstances;
    circumstances.out_reader_leaves = true;
    const Finished finished = call({"replay", "t.din", "--json", "-o", "r.h5"}, circumstances);
    EXPECT_EQ(finished.err, "");
    EXPECT_EQ(listing(directory.path()), "r.h5 t.din");
    Circumstances full;
    full.out_file = full_device;
    EXPECT_EQ(call({"replay", "t.din", "-o", "s.h5"}, full).status, 1);
    EXPECT_EQ(listing(directory.path()), "r.h5 s.h5 t.din");
}

/// Words of a command that writes `file`.
std::vector<std::vector<std::string>> writers(const std::string& file) {
    return {{"trace", "convert", "t.din", file},
            {"replay", "t.din", "-o", file},
            {"run", "chase", "--max-references", "100000", "-o", file},
            {"sweep", "t.din", "-o", file}};
}

TEST_F(Outputs, ExistingFilesAreRefusedAndKept) {
    write_contents(directory / "o.h5", "precious");
    for (const auto& words : writers("o.h5")) {
        const Finished finished = call(words);
        EXPECT_NE(finished.status, 0) << words.front();
        EXPECT_THAT(finished.err, HasSubstr("o.h5: exists already"));
        EXPECT_THAT(finished.err, HasSubstr("--force"));
        EXPECT_EQ(contents(directory / "o.h5"), "precious");
        EXPECT_EQ(listing(directory.path()), "o.h5 t.din");
    }
}

TEST_F(Outputs, ExistingFilesAreReplacedWhereThatIsAskedFor) {
    for (auto words : writers("o.h5")) {
        write_contents(directory / "o.h5", "precious");
        words.emplace_back("--force");
        call(words);
        EXPECT_EQ(contents(directory / "o.h5").substr(1, 3), "HDF") << words.front();
        EXPECT_EQ(listing(directory.path()), "o.h5 t.din");
    }
}

TEST_F(Outputs, MessagesThatNobodyCanReadChangeNothing) {
    Circumstances unread;
    unread.err_full = true;
    EXPECT_EQ(cachetally(directory.path(), {"replay", "absent.din"}, unread).status, 2);
    EXPECT_EQ(cachetally(directory.path(), {"nonsense"}, unread).status, 2);
    write_contents(directory / "bad.din", "0 1000\n0 2000\nx\n");
    const Finished damaged = cachetally(directory.path(), {"replay", "bad.din", "--format", "din", "--json"}, unread);
    EXPECT_EQ(damaged.status, 1);
    EXPECT_EQ(damaged.json()["complete"], false);
}

TEST_F(Outputs, ATraceIsNotPackedOntoItself) {
    call({"trace", "convert", "t.din", "o.h5"});
    const Finished finished = call({"trace", "convert", "o.h5", "./o.h5", "--force"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, testing::HasSubstr("would be written over itself"));
    EXPECT_EQ(call({"trace", "info", "o.h5", "--json"}).json()["references"], 30000);
}

TEST_F(Outputs, AResultDoesNotReplaceItsTrace) {
    const std::string before = contents(directory / "t.din");
    for (const std::string command : {"replay", "sweep"}) {
        const Finished finished = call({command, "./t.din", "-o", "t.din", "--force"});
        EXPECT_EQ(finished.status, 2);
        EXPECT_THAT(finished.err, testing::HasSubstr("would be written over itself"));
    }
    EXPECT_EQ(contents(directory / "t.din"), before);
}

TEST_F(Outputs, APictureDoesNotReplaceItsResult) {
    call({"replay", "t.din", "-o", "r.h5"});
    std::filesystem::rename(directory / "r.h5", directory / "r.png");
    const std::string before = contents(directory / "r.png");
    for (Words words : {Words{"report", "r.png"}, {"figure", "histogram", "r.png"}}) {
        words.insert(words.end(), {"-o", "./r.png", "--force"});
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 2);
        EXPECT_THAT(finished.err, testing::HasSubstr("would be written over itself"));
    }
    EXPECT_EQ(contents(directory / "r.png"), before);
}

TEST_F(Outputs, AFileOfSomebodyElseUnderTheTemporaryNameIsKept) {
    write_contents(directory / "o.h5.part", "precious");
    for (const auto& words : writers("o.h5")) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 1) << words.front();
        EXPECT_THAT(finished.err, HasSubstr("o.h5.part: is in the way"));
    }
    EXPECT_EQ(contents(directory / "o.h5.part"), "precious");
    EXPECT_EQ(listing(directory.path()), "o.h5.part t.din");
    write_contents(directory / "o.h5.part", contents(directory / "t.din").substr(0, 0));  // of a run that was killed
    EXPECT_EQ(call({"trace", "convert", "t.din", "o.h5"}).status, 0);
    EXPECT_EQ(listing(directory.path()), "o.h5 t.din");
}

TEST_F(Outputs, LinksAreFollowed) {
    std::filesystem::create_directory(directory.path() / "far");
    std::filesystem::create_symlink("far/real.h5", directory / "link.h5");
    EXPECT_EQ(call({"trace", "convert", "t.din", "link.h5"}).status, 0);
    EXPECT_EQ(listing(directory / "far"), "real.h5");
    EXPECT_THAT(call({"trace", "convert", "t.din", "link.h5"}).err, HasSubstr("link.h5: exists already"));
    EXPECT_EQ(call({"replay", "t.din", "-o", "link.h5", "--force"}).status, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "link.h5"));
    EXPECT_EQ(call({"show", "far/real.h5"}).status, 0);
    EXPECT_EQ(listing(directory.path()), "far link.h5 t.din");
}

TEST_F(Outputs, PlacesWhereNoFileCanBe) {
    std::filesystem::create_directory(directory.path() / "folder");
    for (const std::string place : {"folder", "absent/o.h5", "/dev/null", ""}) {
        for (const auto& words : writers(place)) {
            const Finished finished = call(words);
            EXPECT_NE(finished.status, 0) << words.front() << " " << place;
            EXPECT_THAT(finished.err, HasSubstr(place)) << words.front();
            EXPECT_EQ(finished.signal, 0);
        }
    }
    EXPECT_EQ(listing(directory.path()), "folder t.din");
}

TEST_F(Outputs, FilesThatMayNotGrow) {
    for (const std::size_t most : {std::size_t{0}, std::size_t{4096}, std::size_t{20000}}) {
        Circumstances circumstances;
        circumstances.largest_file = most;
        for (const auto& words : writers("o.h5")) {
            if (most > 4096 && words.front() != "trace") continue;  // those results may fit
            const Finished finished = call(words, circumstances);
            EXPECT_EQ(finished.status, 1) << words.front();
            EXPECT_EQ(finished.signal, 0);
            EXPECT_THAT(finished.err, HasSubstr("o.h5"));
            EXPECT_THAT(finished.err, HasSubstr("File too large"));
            EXPECT_EQ(listing(directory.path()), "t.din");
        }
    }
}

/// Damage at any place (tests/app/damage_test.cpp has more of them), by whatever reads the file.
TEST_F(Outputs, DamagedResultsAreNotShown) {
    ASSERT_EQ(call({"run", "lu", "n=16", "block=8", "-m", "schulz2002", "-o", "o.h5", "--json"}).status, 0);
    const std::string whole = contents(directory / "o.h5");
    for (const std::size_t place : {std::size_t{20}, std::size_t{3000}, whole.size() / 2, whole.size() - 50}) {
        std::string bytes = whole;
        bytes[place] ^= static_cast<char>(1U << place % 8);
        write_contents(directory / "o.h5", bytes);
        for (const Words& words : {Words{"show", "o.h5"},
                                   {"view", "o.h5", "--no-browser"},
                                   {"report", "o.h5", "-o", "o.html"},
                                   {"figure", "histogram", "o.h5", "-o", "o.svg"}}) {
            const Finished finished = call(words);
            EXPECT_EQ(finished.status, 1) << words.front() << " " << place;
            EXPECT_THAT(finished.err, HasSubstr("o.h5: is damaged: bytes 0 to ")) << words.front();
        }
    }
    EXPECT_EQ(listing(directory.path()), "o.h5 t.din");
}

/// What another program made of a file, or an earlier version wrote, is read on demand.
TEST_F(Outputs, FilesWithoutDigestsAreReadOnTrustAlone) {
    ASSERT_EQ(call({"run", "lu", "n=16", "block=8", "-m", "schulz2002", "-o", "o.h5"}).status, 0);
    ASSERT_EQ(call({"trace", "convert", "t.din", "t.ct.h5"}).status, 0);
    const std::string shown = call({"show", "o.h5"}).out, told = call({"replay", "t.ct.h5", "--json"}).out;
    for (const char* name : {"o.h5", "t.ct.h5"}) {
        const std::string whole = contents(directory / name);
        write_contents(directory / name, whole.substr(0, whole.size() - 40));
    }
    for (const Words& words : {Words{"show", "o.h5"},
                               {"report", "o.h5", "-o", "o.html"},
                               {"figure", "histogram", "o.h5", "-o", "o.svg"},
                               {"trace", "info", "t.ct.h5"},
                               {"replay", "t.ct.h5", "--json"}}) {
        const Finished refused = call(words), trusted = call(words + Words{"--trust"});
        EXPECT_EQ(refused.status, 1) << words.front();
        EXPECT_THAT(refused.err, HasSubstr("--trust reads it as it is")) << words.front();
        EXPECT_EQ(trusted.status, 0) << words.front() << trusted.err;
    }
    EXPECT_EQ(call({"show", "o.h5", "--trust"}).out, shown);
    EXPECT_EQ(nlohmann::json::parse(call({"replay", "t.ct.h5", "--json", "--trust"}).out)["levels"],
              nlohmann::json::parse(told)["levels"]);
}

/// A file system of little room, gone with its scope.
class SmallDisk {
public:
    explicit SmallDisk(std::string path) : path_(std::move(path)) {
        std::filesystem::create_directory(path_);
        mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=16k") == 0;
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (mounted_) ::umount(path_.c_str());
    }
    bool mounted() const { return mounted_; }

private:
    std::string path_;
    bool mounted_;
};

TEST_F(Outputs, FullDisk) {
    const SmallDisk disk(directory / "disk");
    if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system needs rights that this process lacks";
    for (const auto& words : writers("disk/o.h5")) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 1) << words.front();
        EXPECT_THAT(finished.err, HasSubstr("disk/o.h5"));
        EXPECT_THAT(finished.err, HasSubstr("the disk is full"));
        EXPECT_EQ(listing(directory / "disk"), "");
    }
}

}  // namespace
}  // namespace cachetally::testing
