// SPDX-License-Identifier: BSD-3-Clause
// advise: of a real program what its page says; what it prints; and wrong use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;
using Json = nlohmann::json;

class Advise : public ::testing::Test {
protected:
    Finished call(const Words& words) { return cachetally(directory.path(), Words{"advise"} + words); }
    TemporaryDirectory directory;
};

/// The trial of a structure whose text begins so.
Json trial(const Json& advice, const std::string& structure, const std::string& text) {
    for (const Json& each : advice["trials"])
        if (each["structure"].get<std::string>().starts_with(structure) &&
            each["change"].get<std::string>().starts_with(text))
            return each;
    ADD_FAILURE() << structure << ": " << text << " is not in " << advice.dump(1);
    return {};
}

// The example of docs/advice.md. 512 x 512 doubles by columns, loads and stores, on 32 KiB of 8 ways: all of a column
// lies in one set, so that each load misses; padded, each line misses once. 16384 structs of 64 bytes, 8 of them used,
// read 4 times: 1 MiB and then 128 KiB.
TEST_F(Advise, FindsWhatHelpsAProgram) {
#ifndef CACHETALLY_CAPTURES
    GTEST_SKIP() << "the capture tool was not built: the package valgrind is not installed";
#endif
    const Finished finished = call({"-m", "generic3", "--data-only", "--layouts", "2", "--top", "2", "--json",
                                    "--report", "report", "--", CACHETALLY_ADVISED});
    ASSERT_EQ(finished.status, 0) << finished.err;
    std::ifstream file(directory / "report");
    const Json advice = Json::parse(file);
    const Json padded = trial(advice, "matrix", "pad rows of 4,096 B by 64 B");
    EXPECT_EQ(padded["helps"], true);
    EXPECT_GE(padded["before"]["least"], 512 * 512 + 4 * 16384);
    EXPECT_GE(padded["recorded"]["before"].get<int>() - padded["recorded"]["after"].get<int>(), 512 * (512 - 66));
    const Json split = trial(advice, "heap: main", "split elements of 64 B: hot 8 B apart (bytes 48-55)");
    EXPECT_EQ(split["helps"], true);
    const int saved = split["recorded"]["before"].get<int>() - split["recorded"]["after"].get<int>();
    EXPECT_NEAR(saved, 4 * 16384 - 4 * 2048, 100);
    EXPECT_EQ(advice["together"]["helps"], true);
    EXPECT_EQ(listing(directory.path()), "report");
}

// The run of an unchanged program is that of `run`, and padding, which makes no more references, has a fair chance.
TEST_F(Advise, CountsTheFirstReferencesAlone) {
    const Words source{"matmul", "n=64", "--count", "50000", "--json"};
    const Json run = cachetally(directory.path(), Words{"run", "--monitor", "none"} + source).json();
    const Json advice = call(source + Words{"--layouts", "1", "--top", "1"}).json();
    const auto& level = run["levels"]["L1D"];
    EXPECT_EQ(advice["misses"]["L1D"].get<int>(), level["load_misses"].get<int>() + level["store_misses"].get<int>());
    EXPECT_EQ(advice["cycles"], run["cycles"]);
    EXPECT_EQ(trial(advice, "B", "pad rows")["helps"], true);
    const Finished text =
        call({"matmul", "n=64", "processors=2", "-m", "coherent8", "--max-references", "20K", "--layouts", "0"});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, ::testing::StartsWith(
                              "matmul on coherent8, at most 20,480 references (--count), as recorded: L1D misses "));
}

TEST_F(Advise, DoesNotCountTheWarmup) {
    const Words source{"matmul", "n=64", "--warmup", "30000", "--count", "20000", "--json"};
    const Json run = cachetally(directory.path(), Words{"run", "--monitor", "none"} + source).json();
    const Json advice = call(source + Words{"--layouts", "1", "--top", "1"}).json();
    const auto& level = run["levels"]["L1D"];
    EXPECT_EQ(advice["misses"]["L1D"].get<int>(), level["load_misses"].get<int>() + level["store_misses"].get<int>());
    EXPECT_EQ(advice["cycles"], run["cycles"]);
    const Finished text = call({"matmul", "n=64", "--warmup", "20K", "--layouts", "0"});
    EXPECT_THAT(text.out,
                HasSubstr("matmul on generic3, after 20,480 references of warm-up, as recorded: L1D misses "));
    const Finished over = call({"matmul", "n=8", "--warmup", "1M", "--layouts", "0"});
    EXPECT_EQ(over.status, 1);
    EXPECT_THAT(over.err, HasSubstr("the program was over within the warmup"));
}

/// docs/programs-walks.md: the data structure of a program that misses most, as `run` finds it.
class Walk : public Advise {
protected:
    void SetUp() override {
#ifndef CACHETALLY_CAPTURES
        GTEST_SKIP() << "the capture tool was not built: the package valgrind is not installed";
#endif
    }
    Json report(const Words& words, const std::string& program) {
        const Words end{"--data-only", "--json", "--report", "report", "--", CACHETALLY_WALKS "/" + program};
        const Finished finished = cachetally(directory.path(), words + end);
        EXPECT_EQ(finished.status, 0) << finished.err;
        std::ifstream file(directory / "report");
        return Json::parse(file);
    }
    Json worst(const std::string& machine, const std::string& program, const std::string& structure) {
        const Json run = report({"run", "-m", machine, "--monitor", "none", "--causes"}, program);
        Json found;
        for (const Json& each : run["attribution"]["structures"])
            if (each["name"].get<std::string>().starts_with(structure) &&
                (found.is_null() || misses(each) > misses(found)))
                found = each;
        for (const Json& each : run["attribution"]["structures"])
            EXPECT_TRUE(program.ends_with("-fixed") || misses(each) <= misses(found)) << each << found;
        return found;
    }
    static int misses(const Json& structure) { return structure["misses"]["L1D"]; }
};

// Four times, each column of 256 rows of 2 KiB lies in two of 64 sets. Lines of the column before would fit into the
// cache, but each eighth column has others. Padded, each line misses once; rows may end within one.
TEST_F(Walk, Transpose) {
    constexpr int elements = 4 * 256 * 256;
    const Json before = worst("generic3", "transpose", "to");
    EXPECT_NEAR(misses(before), elements, 512);
    EXPECT_NEAR(before["causes"]["L1D"]["conflict"].get<int>(), elements / 8 * 7, 512);
    EXPECT_NEAR(misses(worst("generic3", "transpose-fixed", "to")), elements / 8, 4 * 257);
    const Json padded =
        trial(report({"advise", "-m", "generic3", "--layouts", "2", "--array", "to=256x256x8"}, "transpose"), "to",
              "pad rows of 2,048 B by 64 B");
    EXPECT_EQ(padded["helps"], true);
    EXPECT_NEAR(padded["recorded"]["before"].get<int>() - padded["recorded"]["after"].get<int>(), elements / 8 * 7,
                4 * 257);
}

// 2 MiB of 32,768 structs are walked through 22 times: a line for each, or for 8 of the hot parts.
TEST_F(Walk, Particles) {
    constexpr int visits = 22 * 32768;
    const Json before = worst("generic3", "particles", "heap: main particles.c");
    EXPECT_NEAR(misses(before), visits, 22);
    EXPECT_EQ(before["causes"]["L1D"]["conflict"], 0);
    EXPECT_NEAR(misses(worst("generic3", "particles-fixed", "heap: main particles.c")), visits / 8, 44);
    const Json split = trial(report({"advise", "-m", "generic3", "--layouts", "2"}, "particles"), "heap: main",
                             "split elements of 64 B: hot 8 B apart (bytes 0-7)");
    EXPECT_EQ(split["helps"], true);
}

// 200,000 numbers in each of two threads, half of which are counted. How often the threads alternate is not theirs.
TEST_F(Walk, Counters) {
    const Json before = worst("coherent8", "counters", "counters");
    EXPECT_GT(misses(before), 100000);
    EXPECT_GT(before["causes"]["L1D"]["invalidated"].get<int>(), misses(before) - 100);
    EXPECT_LT(misses(worst("coherent8", "counters-fixed", "counters")), 100);
    const Json padded =
        trial(report({"advise", "-m", "coherent8", "--layouts", "2", "--element", "counters=16"}, "counters"),
              "counters", "pad elements of 16 B to 64 B");
    EXPECT_EQ(padded["helps"], true);
    EXPECT_LT(padded["recorded"]["after"].get<int>(), 5000);
}

TEST_F(Advise, PrintsTheSameForAnyNumberOfJobs) {
    const Words words{"lu", "n=64", "-m", "schulz2002", "--layouts", "2", "--top", "1"};
    const Finished one = call(words + Words{"--jobs", "1"});
    ASSERT_EQ(one.status, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("\nA, 32 KiB: "));
    EXPECT_THAT(one.out, HasSubstr("lu on schulz2002, as recorded: L1 misses "));
    EXPECT_THAT(one.out, HasSubstr("whole program, before -> after: medians of the random layouts"));
    const Finished recorded = call({"lu", "n=64", "-m", "schulz2002", "--layouts", "0", "--top", "1"});
    EXPECT_THAT(recorded.out, HasSubstr("whole program, before -> after: as recorded.\n"));
    EXPECT_EQ(call(words + Words{"--jobs", "4"}).out, one.out);
    EXPECT_NE(call(words + Words{"--seed", "2"}).out, one.out);
    const Finished json = call(words + Words{"--json"});
    EXPECT_EQ(json.json()["layouts"], 2);
    EXPECT_EQ(json.json()["complete"], true);
}

// In rows, one element after the other.
TEST_F(Advise, SaysThatNothingWasTried) {
    const Finished finished = call({"stream", "n=20001", "--layouts", "2"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("\nNothing was tried: "));
    EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("\n  ")));
}

// Of the trace alone no place of the program is known, but where its data is.
TEST_F(Advise, OfAPartOfATraceWithNames) {
    std::string text;
    for (unsigned i = 0; i < 4000; ++i) text += "0 " + std::to_string(4 * (i % 4)) + "00000 8\n";
    write_contents(directory / "t.din", text);
    write_contents(directory / "names", "0x400000 64 8 first\n0x800000 64 8 second\n");
    const Words words{"t.din", "-m", "generic3", "--layouts", "0", "--json", "--structures", "names"};
    const Json all = call(words).json(), part = call(words + Words{"--skip", "3998"}).json();
    EXPECT_EQ(all["misses"]["L1D"], 4);
    EXPECT_EQ(part["misses"]["L1D"], 2);
    EXPECT_EQ(call(words + Words{"--map", "0,1"}).status, 2);
}

TEST_F(Advise, WrongUse) {
    const auto refused = [&](const Words& words, const std::string& message) {
        const Finished finished = call(words);
        EXPECT_EQ(finished.status, 2) << finished.err;
        EXPECT_THAT(finished.err, HasSubstr(message));
    };
    refused({"-"}, "read only once");
    refused({"lu", "n=16", "--array", "A=16x16"}, "--array 'A=16x16': write the name of a data structure and ROWSx");
    refused({"lu", "n=16", "--array", "A=16x0x8"}, "ROWSx");
    refused({"lu", "n=16", "--element", "=8"}, "--element '=8': write the name of a data structure and bytes");
    refused({"lu", "n=16", "--element", "A=1M"}, "at most 65536");
    refused({"lu", "n=16", "--element", "B=8"}, "there is no data structure 'B'");
    refused({"lu", "n=16", "processors=4"}, "add --cores 4");
}

}  // namespace
}  // namespace cachetally::testing
