// SPDX-License-Identifier: BSD-3-Clause
// run and record of programs: counts that are known, their output and end, and what is kept of a program that is
// killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

const std::string known = CACHETALLY_KNOWN;

class Captured : public ::testing::Test {
protected:
    void SetUp() override {
#ifndef CACHETALLY_CAPTURES
        GTEST_SKIP() << "the capture tool was not built: the package valgrind is not installed";
#endif
    }
    /// The known program; what it printed is `out`.
    Finished run(const Words& options, const Words& program, const Circumstances& circumstances = {}) {
        return cachetally(directory.path(), options + Words{"--", known} + program, circumstances);
    }
    Json report() const {
        std::ifstream file(directory / "report");
        return Json::parse(file);
    }
    /// Exact counts of the known program's data.
    Json counts(const Words& options, const Words& program) {
        const Finished finished =
            run(Words{"run", "--monitor", "none", "--report", "report", "--json", "-o", "r.h5", "--force"} + options,
                program);
        EXPECT_EQ(finished.status, 0) << finished.err;
        return report();
    }
    TemporaryDirectory directory;
};

const Words reported = {"run", "--monitor", "none", "--report", "report", "--json"};

// 64 x 64 doubles on generic3 (48 KiB, 12 ways, 64 sets): each line is stored to 8 times, then read by 64 columns. A
// column is 64 lines at a distance of 512 bytes, that is 8 sets of 8 lines each, so all columns of a line hit again.
TEST_F(Captured, CountsOfAMatrixAreTheClosedForm) {
    const Json json = counts({"--data-only"}, {"sweep"});
    const Json& matrix = json["structures"]["matrix"];
    EXPECT_EQ(matrix["bytes"], 64 * 64 * 8);
    EXPECT_EQ(matrix["levels"]["L1D"]["accesses"], 2 * 64 * 64);
    EXPECT_GE(matrix["levels"]["L1D"]["misses"], 64 * 8);  // each line once, and where others have come between
    ASSERT_EQ(json["phases"].size(), 3U);
}

TEST_F(Captured, PhasesAreTheProgramsOwn) {
    const Json json = counts({"--data-only"}, {"sweep"});
    const Json& phases = json["phases"];
    ASSERT_EQ(phases.size(), 3U);
    EXPECT_GE(phases[1]["references"], 64 * 64);
    EXPECT_LT(phases[1]["references"], 64 * 64 + 100);  // all else is in registers
}

TEST_F(Captured, OffAndOnLeaveReferencesOut) {
    EXPECT_EQ(counts({}, {"partly"})["structures"]["matrix"]["levels"]["L1D"]["accesses"], 100);
}

TEST_F(Captured, AProgramSeesTheNameByWhichItIsCalled) {
    const Finished named = cachetally(directory.path(), reported + Words{"--", "sh", "-c", "echo $0"});
    EXPECT_EQ(named.out, "sh\n") << named.err;
}

TEST_F(Captured, NamedMemoryOfTheHeap) {
    EXPECT_GE(counts({}, {"heap"})["structures"]["block"]["levels"]["L1D"]["accesses"], 200);
}

TEST_F(Captured, ThreadsGoToCoresAndBarriersEndPhasesWhereAsked) {
    const Json alone = counts({"-m", "generic3", "--data-only"}, {"threads"});
    EXPECT_EQ(alone["structures"]["own"]["levels"]["L1D"]["accesses"], 4 * 10 * 1024);
    const Json four = counts({"-m", "coherent8", "--data-only"}, {"threads"});
    EXPECT_EQ(four["structures"]["own"]["levels"]["L1D"]["accesses"], 4 * 10 * 1024);
    EXPECT_EQ(four["phases"].size(), 1U);
    EXPECT_EQ(counts({"-m", "coherent8", "--data-only", "--barriers"}, {"threads"})["phases"].size(), 11U);
}

TEST_F(Captured, RecordingBeginsAtAFunction) {
    const Json whole = counts({"--data-only"}, {"sweep"}), late = counts({"--data-only", "--from", "sweep"}, {"sweep"});
    EXPECT_EQ(late["structures"]["matrix"], whole["structures"]["matrix"]);
    EXPECT_LT(late["references"], whole["references"].get<std::uint64_t>() / 2);
    EXPECT_EQ(late["phases"].size(), whole["phases"].size());
    const Finished never = run(Words{"run", "--from", "swep"}, {"sweep"});
    EXPECT_EQ(never.status, 1);
    EXPECT_THAT(never.err, HasSubstr("--from: the program never entered a function 'swep'; did you mean 'sweep'?"));
    EXPECT_THAT(run(Words{"run", "--from", "new_node"}, {"sweep"}).err,
                HasSubstr("--from: the program never entered 'new_node'"));
}

TEST_F(Captured, OfAPartAloneTheProgramIsEnded) {
    const Finished finished = run(reported + Words{"--skip", "1000", "--warmup", "5000", "--count", "2000"}, {"sweep"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(report()["references"], 2000);
    EXPECT_EQ(run(Words{"sweep", "--report", "report", "--json", "--from", "sweep", "--count", "1K"}, {"sweep"}).status,
              0);
    EXPECT_EQ(report()["references"], 1024);
}

TEST_F(Captured, ThreadsGoToTheCoresOfTheMap) {
    // false sharing needs two cores
    const auto invalidations = [&](const std::string& map) {
        const Json json = counts({"-m", "coherent8", "--data-only", "--map", map}, {"threads"});
        EXPECT_EQ(json["structures"]["own"]["levels"]["L1D"]["accesses"], 4 * 10 * 1024);
        return json["levels"]["L1D"]["invalidations"].get<std::uint64_t>();
    };
    EXPECT_EQ(invalidations("5,5,5,5,5,5,5,5"), 0U);
    EXPECT_GT(invalidations("5,4,3,2,1,0"), 0U);
    EXPECT_THAT(run(Words{"run", "-m", "coherent8", "--map", "0,8"}, {"threads"}).err,
                HasSubstr("--map: there is no core 8"));
}

TEST_F(Captured, LackeyKnowsLess) {
    for (const Words& option :
         {Words{"--from", "main"}, {"--barriers"}, {"--children"}, {"--program", "a"}, {"--map", "0"}}) {
        const Finished finished = run(Words{"run", "--with", "lackey"} + option, {"sweep"});
        EXPECT_EQ(finished.status, 2);
        EXPECT_THAT(finished.err, HasSubstr("--with lackey"));
        EXPECT_THAT(finished.err, HasSubstr(option.front()));
    }
    EXPECT_EQ(run(reported + Words{"--with", "lackey"}, {"exit", "3"}).status, 3);
    const Finished killed = run(reported + Words{"--with", "lackey"}, {"kill"});
    EXPECT_EQ(killed.status, 128 + 9);
    EXPECT_FALSE(report()["complete"]);
}

TEST_F(Captured, OutputInputAndEndAreTheProgramsOwn) {
    Circumstances input;
    input.input = "some text\n";
    const Finished copied = run(reported, {"copy"}, input);
    EXPECT_EQ(copied.out, "some text\n");
    EXPECT_EQ(copied.status, 0);
    EXPECT_TRUE(report()["complete"]);
    EXPECT_EQ(run(reported, {"exit", "3"}).status, 3);
    EXPECT_EQ(run(reported, {"exec"}).status, 7);
    const Finished aborted = run(reported, {"abort"});
    EXPECT_EQ(aborted.status, 128 + 6);
    EXPECT_THAT(aborted.err, HasSubstr("abort was ended by signal 6 (Aborted)"));
    EXPECT_FALSE(report()["complete"]);
    const Finished forked = run(reported, {"fork"});
    EXPECT_EQ(forked.out, "child 5\n");
    EXPECT_EQ(forked.status, 0);
}

TEST_F(Captured, AForkedChildIsNotCaptured) {
    EXPECT_EQ(counts({}, {"fork"})["structures"]["matrix"]["levels"]["L1D"]["accesses"], 10);
}

TEST_F(Captured, OfAKilledProgramAllIsKeptAndMarked) {
    const Finished killed =
        run(Words{"run", "--monitor", "none", "--report", "report", "--json", "-o", "r.h5"}, {"kill"});
    EXPECT_EQ(killed.status, 128 + 9) << killed.err;
    EXPECT_FALSE(report()["complete"]);
    EXPECT_EQ(report()["structures"]["matrix"]["levels"]["L1D"]["accesses"], 2 * 64 * 64);
    EXPECT_EQ(run({"record", "-o", "t.ct.h5"}, {"kill"}).status, 128 + 9);
    const Finished replayed = cachetally(directory.path(), {"replay", "t.ct.h5", "--monitor", "none", "--json"});
    EXPECT_EQ(replayed.status, 0) << replayed.err;
    EXPECT_FALSE(replayed.json()["complete"]);
}

/// Random layout of addresses would differ between two runs of the program: one live, one recorded, in one run.
TEST_F(Captured, ReplayEqualsReplayAndHasTheNames) {
    const Finished recorded = run({"record", "-o", "t.ct.h5"}, {"sweep"});
    EXPECT_EQ(recorded.status, 0) << recorded.err;
    EXPECT_EQ(recorded.out, "129024\n");
    const Words replay = {"replay", "t.ct.h5", "--monitor", "none", "--json", "-o", "r.h5", "--force"};
    const Finished first = cachetally(directory.path(), replay), second = cachetally(directory.path(), replay);
    EXPECT_EQ(first.out, second.out);
    EXPECT_EQ(first.json()["structures"]["matrix"]["levels"]["L1D"]["accesses"], 2 * 64 * 64);
}

const Json& named(const Json& list, const std::string& begin) {
    static const Json nothing;
    for (const Json& row : list)
        if (row["name"].get<std::string>().starts_with(begin)) return row;
    return nothing;
}

std::uint64_t sum_of(const Json& list, const std::string& level) {
    std::uint64_t sum = 0;
    for (const Json& row : list) sum += row["misses"][level].get<std::uint64_t>();
    return sum;
}

// A shell forks before each of these.
TEST_F(Captured, OneProcessOfSeveral) {
    const std::string script = known + " sweep; " + known + " partly; " + known + " exit 3";
    const auto shell = [&](const Words& options) {
        return cachetally(directory.path(), reported + options + Words{"--", "/bin/sh", "-c", script});
    };
    const Finished first = shell({"--program", "known"});
    EXPECT_EQ(first.status, 3) << first.err;
    EXPECT_TRUE(report()["complete"]);
    EXPECT_EQ(named(report()["attribution"]["structures"], "matrix")["accesses"], 2 * 64 * 64);
    const Finished children = shell({"--children"});  // which are no concern of the shell's own process
    EXPECT_EQ(children.status, 3) << children.err;
    EXPECT_TRUE(report()["complete"]);
    EXPECT_TRUE(named(report()["attribution"]["structures"], "matrix").is_null());
    const Finished none = run(reported + Words{"--program", "unknown"}, {"sweep"});
    EXPECT_EQ(none.status, 1);
    EXPECT_THAT(none.err, HasSubstr("--program: no process executed 'unknown'"));
}

TEST_F(Captured, NamesOfCAndZerosOfLibrariesAreTheirOwn) {
    ASSERT_EQ(run(reported, {"letter"}).status, 0);
    const Json structures = report()["attribution"]["structures"];
    const auto accesses = [&](const std::string& name) {
        for (const Json& row : structures)
            if (row["name"] == name) return row["accesses"];
        return Json();
    };
    EXPECT_EQ(accesses("d"), 16);
    EXPECT_TRUE(accesses("libc.so.6:__exit_funcs_lock").is_number() || accesses("libc.so.6:environ").is_number());
}

TEST_F(Captured, MissesBelongToStructuresFunctionsAndLines) {
    ASSERT_EQ(run(reported, {"list"}).status, 0);
    const Json json = report(), &attribution = json["attribution"];
    const Json& nodes = named(attribution["structures"], "heap: new_node known.c:");
    ASSERT_TRUE(nodes.is_object()) << attribution["structures"];
    EXPECT_EQ(nodes["name"], named(attribution["structures"], "heap: new_node known.c:")["name"]);
    EXPECT_TRUE(nodes["name"].get<std::string>().ends_with(" < list")) << nodes["name"];
    EXPECT_EQ(nodes["accesses"], 2 * 1000 * 5);
    EXPECT_EQ(named(attribution["functions"], "sum_of")["module"], "known");
    EXPECT_GE(named(attribution["functions"], "sum_of")["accesses"], 2 * 1000 * 2);
    EXPECT_TRUE(named(attribution["lines"], "known.c:").is_object());
    // all that levels count is attributed, once
    for (const char* const level : {"L1D", "L1I", "L2", "L3"}) {
        const Json& counts = json["levels"][level];
        const std::uint64_t misses = counts["load_misses"].get<std::uint64_t>() +
                                     counts["store_misses"].get<std::uint64_t>() +
                                     counts["fetch_misses"].get<std::uint64_t>();
        EXPECT_EQ(sum_of(attribution["functions"], level), misses) << level;
        EXPECT_EQ(sum_of(attribution["lines"], level), misses) << level;
    }
    for (const char* const level : {"DTLB", "ITLB", "STLB"})
        EXPECT_EQ(sum_of(attribution["functions"], level), json["tlbs"][level]["misses"]) << level;
    EXPECT_EQ(sum_of(attribution["structures"], "L1D"), sum_of(attribution["functions"], "L1D"));
    std::uint64_t accesses = 0;
    for (const Json& row : attribution["functions"]) accesses += row["accesses"].get<std::uint64_t>();
    std::uint64_t asked = 0;
    for (const char* const level : {"L1D", "L1I"})
        for (const char* const kind : {"loads", "stores", "fetches"})
            asked += json["levels"][level][kind].get<std::uint64_t>();
    EXPECT_EQ(accesses, asked);
}

TEST_F(Captured, MachinesWithoutFetchesAttributeData) {
    ASSERT_EQ(run(reported + Words{"-m", "x86-server"}, {"list"}).status, 0);
    const Json json = report(), &l1 = json["levels"]["L1D"];
    std::uint64_t accesses = 0;
    for (const Json& row : json["attribution"]["functions"]) accesses += row["accesses"].get<std::uint64_t>();
    EXPECT_EQ(accesses, l1["loads"].get<std::uint64_t>() + l1["stores"].get<std::uint64_t>());
    EXPECT_EQ(named(json["attribution"]["structures"], "heap: new_node")["accesses"], 2 * 1000 * 5);
}

TEST_F(Captured, AttributionIsKeptInTracesAndResultFiles) {
    ASSERT_EQ(run({"record", "-o", "t.ct.h5"}, {"list"}).status, 0);
    const Words replay = {"replay", "t.ct.h5", "--monitor", "none", "-o", "r.h5"};
    const Json first = cachetally(directory.path(), replay + Words{"--json"}).json()["attribution"];
    EXPECT_EQ(named(first["structures"], "heap: new_node")["accesses"], 2 * 1000 * 5);
    EXPECT_EQ(cachetally(directory.path(), {"show", "r.h5", "--json"}).json()["attribution"], first);
    EXPECT_THAT(cachetally(directory.path(), {"show", "r.h5"}).out, HasSubstr("in functions with a name"));
    ASSERT_EQ(cachetally(directory.path(), {"trace", "convert", "t.ct.h5", "u.ct.h5"}).status, 0);
    const Words again = {"replay", "u.ct.h5", "--monitor", "none", "--json"};
    EXPECT_EQ(cachetally(directory.path(), again).json()["attribution"], first);
    EXPECT_FALSE(cachetally(directory.path(), again + Words{"--no-attribution"}).json().contains("attribution"));
}

TEST_F(Captured, CausesBelongToStructuresAndCodeAndAddUp) {
    ASSERT_EQ(run({"record", "-o", "t.ct.h5"}, {"list"}).status, 0);
    const Words replay = {"replay", "t.ct.h5", "--monitor", "none", "--causes", "-o", "r.h5"};
    const Json json = cachetally(directory.path(), replay + Words{"--json"}).json(), &attribution = json["attribution"];
    for (const char* const level : {"L1D", "L1I", "L2", "L3"}) {
        for (const char* const cause : {"first_use", "invalidated", "capacity", "conflict"}) {
            std::uint64_t rows = 0, whole = 0;
            for (const Json& row : attribution["functions"]) rows += row["causes"][level][cause].get<std::uint64_t>();
            for (const Json& row : json["causes"][level]["misses"]) whole += row[cause].get<std::uint64_t>();
            EXPECT_EQ(rows, whole) << level << ' ' << cause;
        }
        std::uint64_t lines = 0;
        for (const Json& pair : attribution["evictions"][level]["pairs"]) lines += pair["count"].get<std::uint64_t>();
        EXPECT_EQ(lines, json["levels"][level]["evictions"]) << level;
    }
    // each of 1000 nodes is a line, or less; their places are used again
    EXPECT_EQ(named(attribution["structures"], "heap: new_node")["causes"]["L3"]["capacity"], 0);
    EXPECT_EQ(cachetally(directory.path(), {"show", "r.h5", "--json"}).json()["attribution"], attribution);
    const std::string shown = cachetally(directory.path(), {"show", "r.h5", "--level", "L1D"}).out;
    EXPECT_THAT(shown, HasSubstr("heap: new_node kn~ > heap: new_node kn~"));
    EXPECT_THAT(cachetally(directory.path(), {"show", "r.h5", "--phase", "0"}).out, HasSubstr("why levels miss"));
}

TEST_F(Captured, CausesOfARunningProgramAreThoseOfItsDataStructures) {
    ASSERT_EQ(run(reported + Words{"--causes"}, {"sweep"}).status, 0);
    const Json json = report(), &matrix = named(json["attribution"]["structures"], "matrix");
    ASSERT_TRUE(matrix.is_object());
    const Json& causes = matrix["causes"]["L1D"];
    EXPECT_EQ(causes["first_use"], 64 * 64 * 8 / 64);
    EXPECT_EQ(causes["first_use"].get<std::uint64_t>() + causes["capacity"].get<std::uint64_t>() +
                  causes["conflict"].get<std::uint64_t>(),
              matrix["misses"]["L1D"]);
}

const Json& field_of(const Json& attribution, const std::string& field, const std::string& structure) {
    static const Json nothing;
    for (const Json& row : attribution["fields"])
        if (row["name"] == field && row["structure"].get<std::string>().starts_with(structure)) return row;
    return nothing;
}

// How often the fields of struct cell are used is in known.c.
TEST_F(Captured, FieldsOfVariablesAreToldApart) {
    ASSERT_EQ(run(reported + Words{"--fields"}, {"fields"}).status, 0);
    const Json attribution = report()["attribution"];
    EXPECT_EQ(field_of(attribution, "cell.key", "grid")["accesses"], 200);
    EXPECT_EQ(field_of(attribution, "cell.range.high", "grid")["accesses"], 100);
    EXPECT_EQ(field_of(attribution, "cell.weight", "grid")["accesses"], 200);
    EXPECT_EQ(field_of(attribution, "cell.bits|more", "grid")["accesses"], 2);
    EXPECT_TRUE(field_of(attribution, "cell.flag", "grid").is_null());
    EXPECT_EQ(named(attribution["structures"], "grid")["accesses"], 200 + 100 + 200 + 2);
    ASSERT_EQ(run(reported, {"fields"}).status, 0);
    EXPECT_FALSE(report()["attribution"].contains("fields"));
}

TEST_F(Captured, FieldsOfTheHeapAreThoseOfTheNamedType) {
    ASSERT_EQ(run({"record", "-o", "t.ct.h5", "--type", "new_node=struct node"}, {"list"}).status, 0);
    const Words replay = {"replay", "t.ct.h5", "--monitor", "none", "--cycles", "--used-bytes", "-o", "r.h5"};
    const Json json = cachetally(directory.path(), replay + Words{"--json"}).json(), &attribution = json["attribution"];
    EXPECT_EQ(field_of(attribution, "node.next", "heap: new_node")["accesses"], 6 * 1000);
    EXPECT_EQ(field_of(attribution, "node.value", "heap: new_node")["accesses"], 4 * 1000);
    const Json& nodes = named(attribution["structures"], "heap: new_node");
    for (const char* const count : {"accesses", "cycles_lost", "fills", "used_bytes"}) {
        std::uint64_t sum = 0;
        for (const Json& row : attribution["fields"])
            if (row["structure"] == nodes["name"]) sum += row[count].get<std::uint64_t>();
        EXPECT_EQ(sum, nodes[count]) << count;
    }
    EXPECT_EQ(cachetally(directory.path(), {"show", "r.h5", "--json"}).json()["attribution"], attribution);
    EXPECT_THAT(cachetally(directory.path(), {"show", "r.h5"}).out, HasSubstr("node.next of heap: new_node"));
}

TEST_F(Captured, WordsOfElementsAreToldApart) {
    const Finished finished = run(reported + Words{"--element", "block=16", "--element", "nothing=8"}, {"heap"});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.err, HasSubstr("no data structure's name begins with 'nothing'"));
    const Json attribution = report()["attribution"];
    EXPECT_EQ(field_of(attribution, "+0", "block")["accesses"], 100);
    EXPECT_EQ(field_of(attribution, "+8", "block")["accesses"], 100);
    EXPECT_THAT(run(reported + Words{"--element", "block=many"}, {"heap"}).err, HasSubstr("1 to 1048576 bytes"));
    EXPECT_THAT(run(reported + Words{"--type", "block"}, {"heap"}).err,
                HasSubstr("write it as in new_node=struct node"));
    EXPECT_THAT(run(reported + Words{"--type", "block=struct none"}, {"heap"}).err,
                HasSubstr("has a struct 'struct none'"));
    EXPECT_EQ(cachetally(directory.path(), {"run", "lu", "--fields"}).status, 2);
    EXPECT_EQ(cachetally(directory.path(), {"run", "lu", "--cycles"}).status, 2);
}

/// Hits of both machines' first levels last 4 cycles.
TEST_F(Captured, CyclesLostAndHitsAreTheTimeOfTheRun) {
    ASSERT_EQ(run({"record", "-o", "t.ct.h5"}, {"list"}).status, 0);
    for (const char* const machine : {"generic3", "generic3-timed"}) {
        const Json json = cachetally(directory.path(),
                                     {"replay", "t.ct.h5", "-m", machine, "--monitor", "none", "--cycles", "--json"})
                              .json();
        std::uint64_t lost = 0, hits = 0;
        for (const Json& row : json["attribution"]["functions"]) lost += row["cycles_lost"].get<std::uint64_t>();
        const Json& levels = json["levels"];
        for (const char* const level : {"L1D", "L1I"})
            for (const char* const kind : {"loads", "stores", "fetches"})
                hits += levels[level][kind].get<std::uint64_t>();
        EXPECT_EQ(lost + 4 * hits, json["cycles"]) << machine;
    }
}

// Each round of four threads stores to parts of one line that are their own; nobody else uses them.
TEST_F(Captured, FalseSharingIsToldFromTrueSharing) {
    ASSERT_EQ(
        run(reported + Words{"-m", "coherent8", "--data-only", "--causes", "--per-core", "-o", "r.h5"}, {"threads"})
            .status,
        0);
    const Json json = report();
    std::uint64_t true_sharing = 0, false_sharing = 0;
    for (const Json& row : json["sharing"]["rows"]) {
        if (row["structure"] != "shared_line" || row["level"] != "L1D") continue;
        EXPECT_NE(row["core"], row["by"]["core"]);
        EXPECT_EQ(row["by"]["function"], "work");
        true_sharing += row["true_sharing"].get<std::uint64_t>();
        false_sharing += row["false_sharing"].get<std::uint64_t>();
    }
    const Json& line = named(json["attribution"]["structures"], "shared_line");
    EXPECT_EQ(true_sharing, 0U);
    EXPECT_EQ(false_sharing, line["causes"]["L1D"]["invalidated"]);
    // In each of nine rounds all four miss, but for the first if it was the last of the round before.
    EXPECT_GE(false_sharing, 3 * 9U);
    EXPECT_LE(false_sharing, 4 * 9U);
    EXPECT_EQ(line["cores"].size(), 4U);
    std::uint64_t misses = 0;
    for (const Json& core : json["cores"])
        if (core["level"] == "L1D") misses += core["misses"].get<std::uint64_t>();
    EXPECT_EQ(misses, json["levels"]["L1D"]["load_misses"].get<std::uint64_t>() +
                          json["levels"]["L1D"]["store_misses"].get<std::uint64_t>());
    Json shown = cachetally(directory.path(), {"show", "r.h5", "--json"}).json();
    for (const char* const part : {"sharing", "cores", "attribution"}) EXPECT_EQ(shown[part], json[part]) << part;
    const std::string text = cachetally(directory.path(), {"show", "r.h5"}).out;
    EXPECT_THAT(text, HasSubstr("lines that cores take from each other, by misses of L1D"));
    EXPECT_THAT(text, HasSubstr("L1D misses by core"));
}

TEST_F(Captured, SourceIsShownBesideItsMisses) {
    ASSERT_EQ(run(Words{"run", "--monitor", "none", "--report", "report", "-o", "r.h5"}, {"sweep"}).status, 0);
    const Finished shown = cachetally(directory.path(), {"annotate", "r.h5", "--file", "known.c"});
    // L1D, L1I, L2, L3: the line's code may begin a line of L1I
    EXPECT_THAT(shown.out,
                ::testing::ContainsRegex(" 512 +(512 +512|1 +513 +513) +[0-9]+ .*matrix\\[i\\]\\[j\\] = i;\n"));
    EXPECT_THAT(cachetally(directory.path(), {"annotate", "r.h5", "--file", "no.c"}).err,
                HasSubstr("no source file ends in 'no.c'"));
    EXPECT_THAT(cachetally(directory.path(), {"annotate", "r.h5", "--level", "L9"}).err,
                HasSubstr("there is no level 'L9'; known are: L1D"));
    // callgrind's format: lines add up to the totals
    std::istringstream profile(cachetally(directory.path(), {"annotate", "r.h5", "--callgrind"}).out);
    std::uint64_t accesses = 0, total = 0;
    for (std::string line; std::getline(profile, line);) {
        std::istringstream words(line);
        std::string first;
        std::uint64_t number = 0, count = 0;
        words >> first;
        if (first.starts_with("0x") && words >> number >> count) accesses += count;
        if (first == "totals:") words >> total;
    }
    EXPECT_GT(total, 10000U);
    EXPECT_EQ(accesses, total);
}

// Weights are those of all profiles, and frames are there.
TEST_F(Captured, SpeedscopeProfilesAddUp) {
    ASSERT_EQ(run(Words{"run", "--monitor", "none", "--report", "report", "-o", "r.h5"}, {"sweep"}).status, 0);
    const Json scope = cachetally(directory.path(), {"annotate", "r.h5", "--speedscope"}).json();
    const Json shown = cachetally(directory.path(), {"show", "r.h5", "--json"}).json();
    std::uint64_t accesses = 0, weights = 0, of_matrix = 0;
    for (const Json& row : shown["attribution"]["functions"]) accesses += row["accesses"].get<std::uint64_t>();
    const Json& profile = scope["profiles"].back();
    EXPECT_EQ(profile["name"], "accesses");
    EXPECT_EQ(profile["type"], "sampled");
    EXPECT_EQ(profile["endValue"], accesses);
    ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
    for (std::size_t i = 0; i < profile["samples"].size(); ++i) {
        const Json& stack = profile["samples"][i];
        for (const Json& frame : stack) ASSERT_LT(frame.get<std::size_t>(), scope["shared"]["frames"].size());
        weights += profile["weights"][i].get<std::uint64_t>();
        if (scope["shared"]["frames"][stack.back().get<std::size_t>()]["name"] == "matrix")
            of_matrix += profile["weights"][i].get<std::uint64_t>();
    }
    EXPECT_EQ(weights, accesses);
    EXPECT_EQ(of_matrix, 2 * 64 * 64);
}

TEST_F(Captured, CommandsThatReadTwiceRecordFirst) {
    const Finished recorded = run({"record", "-o", "t.ct.h5"}, {"list"});
    for (const Words& command : {Words{"sweep", "--counters", "16,64", "--granularity", "1-2"}, Words{"trackers"},
                                 Words{"intrusion", "-m", "generic3-timed"}}) {
        const Finished finished = run(command + Words{"--json", "--report", "report"}, {"list"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        EXPECT_EQ(finished.out, recorded.out);
        EXPECT_FALSE(report().empty());
    }
    EXPECT_EQ(run({"sweep", "--report", "report"}, {"exit", "4"}).status, 4);
    EXPECT_THAT(run({"sweep", "lu"}, {"list"}).err, HasSubstr("cannot be run at once"));
}

TEST_F(Captured, AnInterruptedRecordingKeepsItsBeginning) {
    Circumstances interrupted;
    const auto begin = std::chrono::steady_clock::now();
    interrupted.interrupt_when = [begin] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(2); };
    const Finished finished = run({"record", "-o", "t.ct.h5"}, {"endless"}, interrupted);
    EXPECT_EQ(finished.status, 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("interrupted"));
    EXPECT_TRUE(std::filesystem::exists(directory / "t.ct.h5"));
}

TEST_F(Captured, WhatCannotBeRunIsRefused) {
    const auto refused = [&](const Words& words) { return cachetally(directory.path(), words); };
    const Finished nothing = refused({"run", "--", "no-such-program"});
    EXPECT_EQ(nothing.status, 2);
    EXPECT_THAT(nothing.err, HasSubstr("there is no program 'no-such-program'"));
    EXPECT_THAT(refused({"run", "lu", "--", known}).err, HasSubstr("cannot be run at once"));
    EXPECT_THAT(refused({"record", "-o", "t.ct.h5"}).err, HasSubstr("the program is missing"));
    EXPECT_THAT(refused({"record", "--", known}).err, HasSubstr("--output is required"));
    for (const Words& option :
         {Words{"--report", "r.txt"}, Words{"--with", "lackey"}, Words{"--program", "cc1"}, Words{"--element", "A=8"},
          Words{"--children"}, Words{"--barriers"}, Words{"--data-only"}}) {
        Words words{"run", "lu", "n=16"};
        words.insert(words.end(), option.begin(), option.end());
        const Finished of_kernel = refused(words);
        EXPECT_EQ(of_kernel.status, 2);
        EXPECT_THAT(of_kernel.err, HasSubstr(option.front() + " is for programs"));
    }
    std::ofstream(directory / "text") << "no program\n";
    EXPECT_NE(refused({"run", "--", "./text"}).status, 0);
}

}  // namespace
}  // namespace cachetally::testing
