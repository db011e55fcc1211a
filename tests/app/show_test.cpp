// SPDX-License-Identifier: BSD-3-Clause
// show: parts of results, and results of other kinds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/results.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Results, OptionsOfShowThatNameNothing) {
    ASSERT_EQ(call(radix + Words{"-o", "r.h5"}).status, 0);
    const std::pair<Words, const char*> cases[] = {
        {{"--level", "L9"}, "there are: L1, L2, DTLB"},
        {{"--phase", "99"}, "numbered from 0"},
        {{"--structure", "keys"}, "known are: key_from"},
        {{"--monitor", "x"}, "there are: core-DTLB, core-L1, "},
        {{"--monitor", "core-L1", "--what", "misses"}, "a monitor counts events alone"},
    };
    for (const auto& [words, advice] : cases) {
        const Finished finished = call(Words{"show", "r.h5"} + words);
        EXPECT_EQ(finished.status, 2);
        EXPECT_THAT(finished.err, HasSubstr(advice));
    }
}

// Names of water's phases hold commas: "reduce forces, correct" is that of 6, 9 and 12.
TEST_F(Results, PhasesAreListedByNumbersRangesAndNames) {
    ASSERT_EQ(call({"run", "water", "molecules=8", "--monitor", "none", "-o", "w.h5"}).status, 0);
    const auto shown = [&](const std::string& phases) {
        const Finished finished = call({"show", "w.h5", "--phases", phases});
        return finished.status == 0 ? finished.out : finished.err;
    };
    const std::string of_numbers = shown("6,9,12");
    EXPECT_THAT(of_numbers, HasSubstr("water molecules=8 on generic3, phases 6, 9, 12 of 0-13"));
    EXPECT_EQ(shown("reduce forces, correct"), of_numbers);
    EXPECT_EQ(shown("\"reduce forces, correct\""), of_numbers);
    EXPECT_THAT(shown("reduce forces, correct, 0 ,2-4"), HasSubstr("phases 0, 2-4, 6, 9, 12 of"));
    EXPECT_THAT(shown("initialise,\"reduce forces, start\",13"), HasSubstr("phases 0, 3, 13 of"));
    EXPECT_THAT(shown("99"), HasSubstr("'--phases 99': there is no phase 99; there are 14 phases, numbered from 0"));
    EXPECT_THAT(call({"show", "w.h5", "--phase", "99"}).err, HasSubstr("'--phase 99': "));
    EXPECT_THAT(shown("-1"), HasSubstr("there is no phase '-1'"));
    EXPECT_THAT(shown("4-2"), HasSubstr("'4-2' ends before it begins"));
    EXPECT_THAT(shown("reduce"), HasSubstr("there is no phase 'reduce'; known are: initialise, intra-molecular forces, "
                                           "inter-molecular forces, 'reduce forces, start', "));
    const Words figure{"figure", "histogram", "w.h5", "-o", "w.svg"};
    EXPECT_THAT(call(figure + Words{"--phases", "reduce forces, correct,99"}).err, HasSubstr("there is no phase 99"));
    EXPECT_EQ(call(figure + Words{"--phases", "reduce forces, correct,2"}).status, 0);
}

TEST_F(Results, OfOneStructureHasItsSharedLinesAlone) {
    ASSERT_EQ(
        call({"run", "lu", "n=32", "processors=4", "--cores", "4", "-m", "coherent8", "--causes", "-o", "c.h5", "-f"})
            .status,
        0);
    const auto is_shared = HasSubstr("lines that cores take from each other");
    EXPECT_THAT(call({"show", "c.h5", "--structure", "A"}).out, is_shared);
    EXPECT_THAT(call({"show", "c.h5", "--structure", "stack3"}).out, Not(is_shared)) << "those of A";
}

TEST_F(Results, OfOneStructureBeginsWithIt) {
    ASSERT_EQ(call(radix + Words{"--causes", "-o", "r.h5"}).status, 0);
    EXPECT_THAT(call({"show", "r.h5", "--structure", "rank"}).out,
                ::testing::ContainsRegex("^L1 misses [0-9.]+ % of [0-9,]+ accesses to rank, [0-9.]+ % of all"));
    const std::string unused = call({"show", "r.h5", "--structure", "rank", "--phases", "0"}).out;
    EXPECT_THAT(unused, ::testing::StartsWith("L1 has no accesses to rank in phase 0 (initialise).\n"));
    for (const char* const title : {"why levels miss", "what evicts what"})
        EXPECT_THAT(unused, Not(HasSubstr(title))) << "of no rows";
}

TEST_F(Results, RecordsAreThoseOfMonitorsThatWereAskedFor) {
    EXPECT_THAT(call({"run", "lu", "n=16"}).out, Not(HasSubstr("monitor record")));
    EXPECT_THAT(call({"run", "lu", "n=16", "--monitor", "link=core-L1D,counters=4"}).out,
                HasSubstr("monitor records\n"));
}

TEST_F(Results, FiguresThatARefusalNamesCanBeDrawn) {
    ASSERT_EQ(call(radix + Words{"-o", "r.h5"}).status, 0);
    EXPECT_THAT(call({"figure", "foo", "r.h5", "-o", "x.svg"}).err,
                HasSubstr("KIND: 'foo' is not possible for r.h5; known are: histogram, phases, heat\n"));
    EXPECT_THAT(call({"figure", "sweep", "r.h5", "-o", "x.svg"}).err,
                HasSubstr("of it there are: histogram, phases, heat\n"));
    EXPECT_THAT(call({"figure", "foo", "none.h5", "-o", "x.svg"}).err,
                HasSubstr("KIND: 'foo' is not possible; known are: histogram, phases, heat, sweep"));
    ASSERT_EQ(call(radix + Words{"--reuse", "-o", "reuse.h5"}).status, 0);
    EXPECT_THAT(call({"figure", "foo", "reuse.h5", "-o", "x.svg"}).err, HasSubstr("heat, reuse\n"));
}

TEST_F(Results, OfTlbsArePagesAndOfCachesLines) {
    ASSERT_EQ(call(radix + Words{"-o", "r.h5"}).status, 0);
    const auto shown = [&](const Words& words) { return call(Words{"show", "r.h5"} + words).out; };
    EXPECT_THAT(shown({"--level", "DTLB"}), HasSubstr("misses of DTLB per page of 4096 bytes"));
    EXPECT_THAT(shown({"--monitor", "core-DTLB"}), HasSubstr("events per page of 4096 bytes as monitor core-DTLB"));
    EXPECT_THAT(shown({"--monitor", "core-L1"}), HasSubstr("events per line of 32 bytes as monitor core-L1"));
}

TEST_F(Results, HistogramsThatShowGivesSumToTheCounts) {
    ASSERT_EQ(call(radix + Words{"--causes", "-o", "r.h5"}).status, 0);
    const auto sum = [&](const Words& words) {
        double total = 0;
        const json shown = good_json(Words{"show", "r.h5"} + words);
        for (const json& value : shown["histogram"]["values"]) total += value.get<double>();
        return total;
    };
    const json told = good_json({"show", "r.h5"});
    EXPECT_EQ(sum({"--level", "L2", "--what", "accesses"}), demand(told["levels"]["L2"]).first);
    EXPECT_EQ(sum({"--level", "L1", "--what", "misses"}), demand(told["levels"]["L1"]).second);
    EXPECT_EQ(sum({"--level", "L1", "--what", "writebacks"}), told["levels"]["L1"]["writebacks_out"]);
    for (const std::string cause : {"first_use", "invalidated", "capacity", "conflict"}) {
        std::uint64_t misses = 0;
        for (const json& row : told["causes"]["L1"]["misses"]) misses += row[cause].get<std::uint64_t>();
        EXPECT_EQ(sum({"--level", "L1", "--what", cause}), misses) << cause;
    }
    EXPECT_EQ(sum({"--level", "L1", "--what", "misses", "--phase", "3"}),
              demand(told["phases"][3]["levels"]["L1"]).second);
    EXPECT_EQ(sum({"--monitor", "core-L1"}), told["monitors"]["core-L1"]["events"]);
    EXPECT_EQ(sum({"--structure", "rank", "--what", "misses"}), told["structures"]["rank"]["levels"]["L1"]["misses"]);
}

TEST_F(Results, OfSeveralPhasesAreTheSumsOfThose) {
    ASSERT_EQ(call(radix + Words{"-o", "r.h5"}).status, 0);
    const json told = good_json({"show", "r.h5"});
    ASSERT_GT(told["phases"].size(), 6U);
    double accesses = 0, misses = 0;
    std::uint64_t references = 0;
    for (const unsigned phase : {1, 3, 4, 5}) {
        const auto [all, missed] = demand(told["phases"][phase]["levels"]["L1"]);
        accesses += static_cast<double>(all), misses += static_cast<double>(missed);
        references += told["phases"][phase]["references"].get<std::uint64_t>();
    }
    for (const char* option : {"--phase", "--phases"}) {
        double shown = 0;
        const json histogram = good_json({"show", "r.h5", "--level", "L1", "--what", "misses", option, "3-5,1"});
        for (const json& value : histogram["histogram"]["values"]) shown += value.get<double>();
        EXPECT_EQ(shown, misses) << option;
    }
    std::string text = call({"show", "r.h5", "--level", "L1", "--phase", "1,3-5"}).out;
    EXPECT_THAT(text, HasSubstr(", phases 1, 3-5 of 0-"));
    std::erase(text, ',');
    EXPECT_THAT(text, HasSubstr(std::to_string(references) + " references"));
    EXPECT_THAT(text, ::testing::ContainsRegex("\nL1 +" + std::to_string(static_cast<std::uint64_t>(accesses)) + " +" +
                                               std::to_string(static_cast<std::uint64_t>(misses)) + " "));
}

TEST_F(Results, AndTracesAreToldFromEachOther) {
    ASSERT_EQ(call({"run", "chase", "--max-references", "1K", "-o", "r.h5"}).status, 0);
    ASSERT_EQ(call({"trace", "convert", "chase", "t.ct.h5", "--max-references", "1K"}).status, 0);
    for (const Words& words : {Words{"show", "t.ct.h5"}, {"report", "t.ct.h5", "-o", "t.html"}})
        EXPECT_THAT(call(words).err, HasSubstr("t.ct.h5: is a trace, not a result of cachetally; 'cachetally replay'"));
    for (const Words& words : {Words{"replay", "r.h5"}, {"trace", "info", "r.h5"}, {"sweep", "r.h5"}})
        EXPECT_THAT(call(words).err, HasSubstr("not a packed trace: it is a result, which 'cachetally show' shows"));
}

TEST_F(Results, OfAnotherKindAreNamedWhereAFigureIsOfOne) {
    ASSERT_EQ(call(radix + Words{"-o", "r.h5"}).status, 0);
    ASSERT_EQ(call({"sweep", "chase", "--max-references", "1K", "-o", "s.h5"}).status, 0);
    const auto refused = [&](const char* kind, const char* file) {
        const Finished finished = call({"figure", kind, file, "-o", "f.pdf"});
        EXPECT_EQ(finished.status, 2) << finished.err;
        return finished.err;
    };
    EXPECT_THAT(
        refused("sweep", "r.h5"),
        HasSubstr("r.h5: is the result of a run, and figures of the kind sweep are drawn from that of a sweep; of "
                  "it there are: histogram, phases, heat"));
    EXPECT_THAT(refused("heat", "s.h5"), HasSubstr("s.h5: is the result of a sweep"));
    EXPECT_THAT(refused("intrusion", "s.h5"), HasSubstr("of it there are: sweep, front"));
}

}  // namespace
}  // namespace cachetally::testing
