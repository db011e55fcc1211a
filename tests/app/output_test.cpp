// SPDX-License-Identifier: BSD-3-Clause
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
using Words = std::vector<std::string>;

using Words = std::vector<std::string>;

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
    const std::vector<std::string> long_output{"sweep", "t.din",  "--counters", "1-60",   "--granularity",
                                               "1-4",   "--json", "-o",         "long.h5"};
    EXPECT_EQ(call(long_output, circumstances).err, "") << "more than is kept back";
    EXPECT_TRUE(std::filesystem::remove(directory / "long.h5"));
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

/// Every command with an output, with what it reads, and `output` in the place of its output.
std::vector<std::pair<std::string, Words>> readers(const std::string& output) {
    const Words short_run = {"--max-references", "1000", "--force", "-o", output};
    return {
        {"m.yaml", Words{"run", "chase", "-m", "m.yaml"} + short_run},
        {"m.yaml", Words{"replay", "t.din", "-m", "m.yaml"} + short_run},
        {"m.yaml", Words{"sweep", "chase", "-m", "m.yaml"} + short_run},
        {"m.yaml", Words{"intrusion", "chase", "-m", "m.yaml"} + short_run},
        {"m.yaml", Words{"probe", "l1", "--machine", "m.yaml", "--arena", "1", "--force", "-o", output}},
        {"t.din", Words{"replay", "t.din"} + short_run},
        {"t.din", Words{"sweep", "t.din"} + short_run},
        {"t.din", Words{"intrusion", "t.din"} + short_run},
        {"t.din", {"trace", "convert", "t.din", output, "--force"}},
        {"r.h5", {"report", "r.h5", "-o", output, "--force"}},
        {"r.h5", {"figure", "histogram", "r.h5", "-o", output, "--force"}},
    };
}

TEST_F(Outputs, NeverReplaceWhatTheCommandReads) {
    write_contents(directory / "m.yaml", call({"machine", "show", "schulz2002", "--yaml"}).out);
    ASSERT_EQ(call({"run", "chase", "--max-references", "1000", "-o", "r.h5"}).status, 0);
    std::filesystem::create_directory(directory.path() / "far");
    for (const std::string input : {"m.yaml", "t.din", "r.h5"}) {
        const std::string before = contents(directory / input);
        for (const std::string kind : {"itself", "symbolic", "hard", "growing"}) {
            const std::string name = kind == "itself" ? "far/../" + input : kind + ".svg";
            const std::string link = directory / (kind == "growing" ? name + ".part" : name);
            if (kind == "symbolic") std::filesystem::create_symlink(input, link);
            if (kind == "hard" || kind == "growing") std::filesystem::create_hard_link(directory / input, link);
            for (const auto& [read, words] : readers(name)) {
                if (read != input) continue;
                // figures end in .svg: another ending is refused before
                if (words.front() == "figure" && !name.ends_with(".svg")) continue;
                const Finished finished = call(words);
                EXPECT_EQ(finished.status, 2) << words.front() << " " << kind;
                EXPECT_THAT(finished.err,
                            HasSubstr(kind == "growing" ? "has the name under which" : "would be written over itself"))
                    << words.front() << " " << kind;
                EXPECT_EQ(contents(directory / input), before) << words.front() << " " << kind;
            }
            if (kind != "itself") std::filesystem::remove(link);
        }
    }
    Circumstances from_trace;
    from_trace.in_file = directory / "t.din";
    const std::string before = contents(directory / "t.din");
    EXPECT_THAT(call({"replay", "-", "-o", "t.din", "--force"}, from_trace).err,
                HasSubstr("'standard input' would be"));
    EXPECT_EQ(contents(directory / "t.din"), before);
}

TEST_F(Outputs, AMachineOfTheProgramIsNoFile) {
    write_contents(directory / "generic3", "precious");
    EXPECT_EQ(call({"run", "chase", "--max-references", "1000", "-o", "generic3", "--force"}).status, 0);
    EXPECT_EQ(contents(directory / "generic3").substr(1, 3), "HDF");
}

TEST_F(Outputs, OfAnotherFormatThanTheNameSaysAreRefused) {
    ASSERT_EQ(call({"run", "chase", "--max-references", "1000", "-o", "r.h5"}).status, 0);
    const std::pair<Words, const char*> cases[] = {
        {{"report", "r.h5", "-o", "x.pdf"}, "'x.pdf': what is written is HTML, not PDF; end the name in .html"},
        {{"report", "r.h5", "-o", "x.h5"}, "what is written is HTML, not HDF5"},
        {{"run", "chase", "-o", "x.json"}, "what is written is HDF5, not JSON; end the name in .h5, or have JSON"},
        {{"trace", "convert", "t.din", "x.TXT"}, "what is written is HDF5, not text; end the name in .h5"},
        {{"figure", "histogram", "r.h5", "-o", "x.html"}, "end it in .pdf, .svg or .png"},
        {{"report", "r.h5", "-o", ""}, "the name of a file"},
    };
    for (const auto& [words, says] : cases) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 2) << words.back();
        EXPECT_THAT(finished.err, HasSubstr(says));
    }
    EXPECT_EQ(listing(directory.path()), "r.h5 t.din");
}

TEST_F(Outputs, NameTheDirectoryThatIsNotThere) {
    ASSERT_EQ(call({"run", "chase", "--max-references", "1000", "-o", "r.h5"}).status, 0);
    std::filesystem::create_symlink("nix/y.h5", directory / "link.h5");
    for (const Words& words : {Words{"run", "chase", "-o", "nix/x.h5"},
                               {"sweep", "t.din", "-o", "nix/x.h5"},
                               {"trace", "convert", "t.din", "nix/x.h5"},
                               {"report", "r.h5", "-o", "nix/x.html"},
                               {"figure", "histogram", "r.h5", "-o", "nix/x.pdf"},
                               {"run", "chase", "-o", "link.h5"}}) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 1) << words.front();
        EXPECT_THAT(finished.err, HasSubstr(words.back() + ": there is no directory 'nix'; make it first"));
    }
    for (const Words& words : {Words{"run", "chase", "-o", "t.din/x.h5"}, {"report", "r.h5", "-o", "t.din/x.html"}})
        EXPECT_THAT(call(words).err, HasSubstr("'t.din' is not a directory"));
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
        if (most == 0 && thread_sanitizer) continue;  // it begins with files of its own
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
