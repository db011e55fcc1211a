// SPDX-License-Identifier: BSD-3-Clause
// Parts of traces and kernels, streams on other cores, and names for traces of other tools, on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

class Parts : public ::testing::Test {
protected:
    Finished call(const Words& words) { return cachetally(directory.path(), words); }
    Json json(const Words& words) {
        const Finished finished = call(words + Words{"--monitor", "none", "--json"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished.json();
    }
    void write(const std::string& name, const std::string& text) { std::ofstream(directory / name) << text; }
    TemporaryDirectory directory;
};

/// Differences of all numbers; what is no number is of `all`.
Json difference(Json all, const Json& some) {
    if (all.is_number_unsigned()) return all.get<std::uint64_t>() - some.get<std::uint64_t>();
    if (all.is_object())
        for (auto& [key, value] : all.items()) value = difference(value, some.at(key));
    return all;
}

TEST_F(Parts, WarmupIsTheDifferenceOfTwoRuns) {
    const Words lu = {"run", "lu", "n=48", "-m", "generic3-timed"};
    const Json warm = json(lu + Words{"--warmup", "10K", "--count", "5K"});
    EXPECT_EQ(warm["references"], 5 * 1024);
    const Json all = json(lu + Words{"--count", "15K"}), some = json(lu + Words{"--count", "10K"});
    for (const char* const what : {"levels", "tlbs", "memories", "page_walks", "cycles"})
        EXPECT_EQ(warm[what], difference(all[what], some[what])) << what;
    EXPECT_NE(warm["levels"], json(lu + Words{"--count", "5K"})["levels"]);
}

TEST_F(Parts, TheFormerNameOfCount) {
    EXPECT_EQ(json({"run", "chase", "--max-references", "1000"}), json({"run", "chase", "--count", "1000"}));
}

TEST_F(Parts, PhasesEndAfterSoManyReferences) {
    const Json whole = json({"run", "lu", "n=48"}), parts = json({"run", "lu", "n=48", "--phase-every", "100"});
    EXPECT_EQ(parts["levels"], whole["levels"]);
    EXPECT_EQ(parts["cycles"], whole["cycles"]);
    // Phases of the kernel end as before, and their parts have its names.
    using Phases = std::vector<std::pair<std::string, std::uint64_t>>;
    Phases expected, found;
    for (const Json& phase : whole["phases"]) {
        std::uint64_t left = phase["references"];
        for (; left > 100; left -= 100) expected.emplace_back(phase["name"], 100);
        expected.emplace_back(phase["name"], left);
    }
    for (const Json& phase : parts["phases"]) found.emplace_back(phase["name"], phase["references"]);
    EXPECT_EQ(found, expected);
    EXPECT_THAT(call({"run", "lu", "--phase-every", "99999999G"}).err, HasSubstr("(with a unit below 8192T)"));
    EXPECT_THAT(call({"run", "lu", "n=96", "--phase-every", "100"}).err,
                HasSubstr("warning: 12,879 phases make files large and pages slow, and pictures show 256 rows; with "
                          "--phase-every 10000 there are about 129\n"));
    EXPECT_EQ(call({"run", "lu", "n=96", "--phase-every", "400"}).err, "") << "3,220 phases";
}

TEST_F(Parts, WarmupLongerThanTheProgram) {
    const Finished finished = call({"run", "chase", "size=4K", "--warmup", "1G"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("the program was over within the warmup, after "));
}

// Loads of lines 0 to 5, in a function of the trace's own.
TEST_F(Parts, SkipIsWithoutItsReferences) {
    write("t.din", "0 0\n0 40\n0 80\n0 0\n0 40\n0 80\n");
    EXPECT_EQ(json({"replay", "t.din"})["levels"]["L1D"]["load_misses"], 3);
    EXPECT_EQ(json({"replay", "t.din", "--skip", "4"})["levels"]["L1D"]["load_misses"], 2);
    EXPECT_EQ(json({"replay", "t.din", "--warmup", "3"})["levels"]["L1D"]["load_misses"], 0);
    EXPECT_EQ(json({"replay", "t.din", "--skip", "2", "--warmup", "1", "--count", "2"})["levels"]["L1D"]["load_misses"],
              2);
    ASSERT_EQ(call({"trace", "convert", "t.din", "t.ct.h5", "--skip", "1", "--count", "4"}).status, 0);
    EXPECT_EQ(json({"replay", "t.ct.h5"})["references"], 4);
    const Finished finished = call({"replay", "t.din", "--skip", "7"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("--skip: all 6 references are skipped"));
    EXPECT_THAT(call({"replay", "t.din", "--from", "main"}).err, HasSubstr("--symbols"));
}

TEST_F(Parts, SweepsAndTheLikeTakeThemToo) {
    const Words part = {"--skip", "100", "--warmup", "1000", "--count", "2000", "--json"};
    EXPECT_EQ(call(Words{"sweep", "lu", "n=32", "--counters", "16", "--granularity", "1"} + part).json()["events"],
              2000);
    EXPECT_EQ(call(Words{"trackers", "lu", "n=32"} + part).json()["events"], 2000);
    EXPECT_EQ(call(Words{"intrusion", "lu", "n=32", "-m", "generic3-timed"} + part).json()["references"], 2000);
}

TEST_F(Parts, HeadsSayThatTheRunWasCut) {
    const char* const cut = "lu n=32 on generic3, cut after 2,000 references, as asked";
    for (const char* const command : {"run", "sweep", "trackers", "intrusion"}) {
        const Words lu{command, "lu", "n=32", "-o", std::string(command) + ".h5", "--max-references"};
        EXPECT_THAT(call(lu + Words{"2000"}).out, HasSubstr(cut)) << command;
        EXPECT_THAT(call({"show", std::string(command) + ".h5"}).out, HasSubstr(cut)) << command;
        EXPECT_THAT(call(lu + Words{"1G", "--force"}).out, Not(HasSubstr("cut after"))) << command;
    }
}

TEST_F(Parts, StreamsGoToTheCoresOfTheMap) {
    ASSERT_EQ(call({"trace", "convert", "radix", "r.ct.h5", "keys=2000", "processors=2"}).status, 0);
    const Json two = json({"replay", "r.ct.h5", "--cores", "2"}), one = json({"replay", "r.ct.h5", "--map", "0,0"});
    EXPECT_EQ(one["references"], two["references"]);
    EXPECT_EQ(one["phases"].size(), two["phases"].size());
    EXPECT_GT(one["cycles"].get<std::uint64_t>(), two["cycles"].get<std::uint64_t>() * 3 / 2);
    EXPECT_EQ(json({"replay", "r.ct.h5", "--cores", "2", "--map", "1,0"})["references"], two["references"]);
    EXPECT_THAT(call({"replay", "r.ct.h5", "--map", "0,3"}).err, HasSubstr("--map: there is no core 3"));
    EXPECT_THAT(call({"replay", "r.ct.h5", "--map", "0,0,0"}).err,
                HasSubstr("--map has 3 cores, 'r.ct.h5' has 2 streams"));
    EXPECT_THAT(call({"replay", "r.ct.h5", "--map", "0,x"}).err, HasSubstr("--map: 'x' is not a core"));
}

TEST_F(Parts, StructuresNameTheDataOfATrace) {
    write("t.din", "0 1000\n0 1008\n1 2000\n0 9000\n");
    write("data", "# address bytes element name\n0x1000 16 8 two of them\n\n8192 8 8 stored # 0x2000\n");
    const Json structures = json({"replay", "t.din", "--structures", "data"})["attribution"]["structures"];
    ASSERT_EQ(structures.size(), 3U) << structures;
    std::map<std::string, int> accesses;
    for (const Json& row : structures) accesses[row["name"]] = row["accesses"];
    EXPECT_EQ(accesses, (std::map<std::string, int>{{"two of them", 2}, {"stored", 1}, {"(elsewhere)", 1}}));
    ASSERT_EQ(call({"trace", "convert", "t.din", "t.ct.h5", "--structures", "data"}).status, 0);
    EXPECT_EQ(json({"replay", "t.ct.h5"})["attribution"]["structures"], structures);
    EXPECT_THAT(call({"replay", "t.ct.h5", "--structures", "data"}).err, HasSubstr("the trace has names of its own"));
    EXPECT_THAT(call({"run", "lu", "--structures", "data"}).err, HasSubstr("--structures"));
}

struct WrongStructures {
    std::string text, message;
};
class StructureFiles : public Parts, public ::testing::WithParamInterface<WrongStructures> {};

TEST_P(StructureFiles, ThatAreWrongAreRefused) {
    write("t.din", "0 1000\n");
    write("data", GetParam().text);
    const Finished finished = call({"replay", "t.din", "--structures", "data"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("--structures: data:" + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(All, StructureFiles,
                         ::testing::Values(WrongStructures{"0x10 8 8 a\n0x1x 8 8 b\n", "2:1: '0x1x' is not an address"},
                                           WrongStructures{"16  none 8 a", "1:5: 'none' is not a number of bytes"},
                                           WrongStructures{"16 8", "1:5: '' is not the bytes of an element"},
                                           WrongStructures{"16 0 8 a", "1:4: a number of bytes is at least 1"},
                                           WrongStructures{"16 8 8 ", "1:8: the name is missing"},
                                           WrongStructures{"16 8 9 a", "1:7: an element is larger than the structure"},
                                           WrongStructures{"0xffffffffffffffff 8 8 a",
                                                           "1:23: the structure ends behind"},
                                           WrongStructures{"16 8 8 a\n23 8 8 b", "2:1: 'b' and 'a' overlap"},
                                           WrongStructures{"# nothing\n", " there is no structure"}));

TEST_F(Parts, SymbolsNeedAProgramAndItsPlace) {
    write("t.din", "0 1000\n");
    EXPECT_THAT(call({"replay", "t.din", "--symbols", "t.din"}).err, HasSubstr("--symbols: t.din is no ELF file"));
    EXPECT_THAT(call({"replay", "t.din", "--symbols", CACHETALLY_KNOWN}).err, HasSubstr("may lie anywhere in memory"));
    EXPECT_THAT(call({"replay", "t.din", "--symbols", CACHETALLY_KNOWN "@0xyz"}).err,
                HasSubstr("'0xyz' is no address"));
}

}  // namespace
}  // namespace cachetally::testing
