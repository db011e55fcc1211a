// SPDX-License-Identifier: BSD-3-Clause
// Which code and data of a captured program misses, and why: against what the program is known to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <iomanip>
#include <sstream>

#include "tests/app/captured.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;

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

// Their allocations are inlined from the same lines of the library: the lines that make them tell them apart.
TEST_F(Captured, ContainersAreNamedByTheLineThatMakesThem) {
    ASSERT_EQ(cachetally(directory.path(), reported + Words{"--", CACHETALLY_CONTAINERS}).status, 0);
    const Json json = report(), &structures = json["attribution"]["structures"];
    EXPECT_GE(named(structures, "heap: main containers.cpp:7").value("accesses", 0), 2 * 4096) << structures;
    EXPECT_GE(named(structures, "heap: main containers.cpp:8").value("accesses", 0), 4096) << structures;
    EXPECT_TRUE(std::ranges::any_of(structures, [](const auto& each) {  // of the program, or of the library
        return each["name"].template get<std::string>().ends_with("std::cout");
    })) << structures;  // "_ZSt4cout@GLIBCXX_3.4"
    EXPECT_THAT(structures.dump(), ::testing::Not(HasSubstr("_Z")));
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
    EXPECT_FALSE(json.contains("causes"));  // they would be by regions, which a program that runs has at its end only
    for (const char* const level : {"L1D", "L1I", "L2", "L3"}) {
        for (const char* const rows : {"functions", "lines"}) {
            std::uint64_t causes = 0;
            for (const Json& row : attribution[rows])
                for (const auto& [cause, count] : row["causes"][level].items()) causes += count.get<std::uint64_t>();
            EXPECT_EQ(causes, sum_of(attribution["functions"], level)) << level;
        }
        std::uint64_t lines = 0;
        for (const Json& pair : attribution["evictions"][level]["pairs"]) lines += pair["count"].get<std::uint64_t>();
        EXPECT_EQ(lines, json["levels"][level]["evictions"]) << level;
    }
    // each of 1000 nodes is a line, or less; their places are used again
    EXPECT_EQ(named(attribution["structures"], "heap: new_node")["causes"]["L3"]["capacity"], 0);
    EXPECT_EQ(cachetally(directory.path(), {"show", "r.h5", "--json"}).json()["attribution"], attribution);
    const std::string shown = cachetally(directory.path(), {"show", "r.h5", "--level", "L1D"}).out;
    EXPECT_THAT(shown, HasSubstr("heap: n~own.c:106~ > heap: n~own.c:106~"));
    EXPECT_THAT(cachetally(directory.path(), {"show", "r.h5", "--phase", "0"}).out, HasSubstr("why levels miss"));
    // the heap's structures are asked for by their names, as all others
    const std::string heap = named(attribution["structures"], "heap: new_node")["name"];
    const std::string of_heap =
        cachetally(directory.path(), {"show", "r.h5", "--width", "300", "--structure", heap}).out;
    EXPECT_THAT(of_heap, HasSubstr(" accesses to " + heap + ", "));
    EXPECT_THAT(of_heap, HasSubstr("\nnew_node "));
    EXPECT_THAT(of_heap, Not(HasSubstr("_dl_relocate_object")));
    const Finished drawn = cachetally(directory.path(), {"show", "r.h5", "--structure", heap, "--heat"});
    EXPECT_EQ(drawn.status, 2);
    EXPECT_THAT(drawn.err, HasSubstr("the file does not tell its addresses"));
    EXPECT_THAT(cachetally(directory.path(), {"show", "r.h5", "--structure", "no such"}).err,
                HasSubstr("the first are: " + heap + ", "));
    const Finished without = cachetally(directory.path(), {"replay", "t.ct.h5", "--causes", "--no-attribution"});
    EXPECT_EQ(without.status, 2);
    EXPECT_THAT(without.err, HasSubstr("leave --no-attribution out"));
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
    const std::uint64_t misses = field_of(attribution, "node.next", "heap: new_node")["misses"]["L1D"],
                        of_all = sum_of(attribution["structures"], "L1D");
    std::ostringstream share;  // of all data, as that of structures
    share << std::fixed << std::setprecision(2) << 100.0 * static_cast<double>(misses) / static_cast<double>(of_all);
    EXPECT_THAT(cachetally(directory.path(), {"show", "r.h5"}).out,
                ::testing::ContainsRegex("node.next[^\n]*:106~[^\n]* " + share.str()));
}

// The result of malloc is a variable of that type from there on, as the compiler says.
TEST_F(Captured, FieldsOfTheHeapAreThoseOfWhatTheResultPointsTo) {
    ASSERT_EQ(run(reported + Words{"--fields"}, {"list"}).status, 0);
    const Json attribution = report()["attribution"];
    EXPECT_EQ(field_of(attribution, "node.next", "heap: new_node")["accesses"], 6 * 1000);
    EXPECT_EQ(field_of(attribution, "node.value", "heap: new_node")["accesses"], 4 * 1000);
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
    EXPECT_THAT(cachetally(directory.path(), {"annotate", "r.h5", "--file", "nown.c"}).err,
                HasSubstr("no source file ends in 'nown.c'"));
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

}  // namespace
}  // namespace cachetally::testing
