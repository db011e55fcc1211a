// SPDX-License-Identifier: BSD-3-Clause
// probe and validate as users call them: what is refused, what is left out, what is printed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

using ProbeWords = std::vector<std::string>;

struct ProbeRefusal {
    const char* name;
    ProbeWords words;
    std::vector<const char*> says;
};

void PrintTo(const ProbeRefusal& refusal, std::ostream* out) { *out << refusal.name; }

class ProbeRefused : public ::testing::TestWithParam<ProbeRefusal> {};

TEST_P(ProbeRefused, BeforeAnythingIsRun) {
    const TemporaryDirectory directory;
    write_contents(directory / "file", "x");
    const Finished finished = cachetally(directory.path(), GetParam().words);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_LT(finished.err.size(), 1000U);
    for (const char* text : GetParam().says) EXPECT_THAT(finished.err, HasSubstr(text));
    EXPECT_EQ(listing(directory.path()), "file");
}

INSTANTIATE_TEST_SUITE_P(
    Words, ProbeRefused,
    ::testing::Values(
        ProbeRefusal{
            "NativeNoise", {"probe", "--machine", "native", "--noise", "quiet"}, {"--noise is for simulated machines"}},
        ProbeRefusal{"NativeSavings",
                     {"probe", "tlb", "--machine", "native", "--savings", "1"},
                     {"--savings is for simulated machines"}},
        ProbeRefusal{"WriteSimulated",
                     {"probe", "--machine", "generic3", "--write-machine", "m.yaml"},
                     {"--write-machine is for --machine native", "'fit'"}},
        ProbeRefusal{"ReplayNothing", {"probe", "--replay", "absent.h5"}, {"absent.h5"}},
        ProbeRefusal{"RecordTwice", {"probe", "--record", "a.h5", "-o", "b.h5"}, {"--record", "give one of them"}},
        ProbeRefusal{"ReplayBudget",
                     {"probe", "--replay", "file", "--budget", "5"},
                     {"--budget cannot stand beside --replay", "what was recorded"}},
        ProbeRefusal{"ReplayNoise",
                     {"probe", "--replay", "file", "--noise", "quiet"},
                     {"--noise is of a machine", "the recording alone"}},
        ProbeRefusal{"RawEvent",
                     {"probe", "--machine", "native", "--raw-event", "L2=864"},
                     {"--raw-event: 'L2=864' is not possible", "write LEVEL=HEX", "L2=0x0864"}},
        ProbeRefusal{"RawEventSimulated",
                     {"probe", "--machine", "generic3", "--raw-event", "L2=0x864"},
                     {"--raw-event is for --machine native"}},
        ProbeRefusal{"RawEventHidden",
                     {"probe", "--machine", "native", "--raw-event", "L2=0x864", "--no-events", "none"},
                     {"--no-events leaves no use for --raw-event"}},
        ProbeRefusal{"Budget", {"probe", "--budget", "nan"}, {"--budget: 'nan'", "write a number above 0"}},
        ProbeRefusal{"NoBudget", {"probe", "--budget", "0"}, {"--budget: '0'", "write a number above 0"}},
        ProbeRefusal{"Seed", {"probe", "--seed", "-3"}, {"--seed: '-3'", "whole number of at least 0"}},
        ProbeRefusal{"LargeSeed",
                     {"probe", "--seed", "18446744073709551616"},
                     {"--seed: '18446744073709551616'", "from 0 to 18446744073709551615"}},
        ProbeRefusal{"Arena", {"probe", "--arena", "0"}, {"--arena: '0'", "from 1 to 1048576"}},
        ProbeRefusal{"ArenaWord", {"probe", "--arena", "16M"}, {"--arena: '16M'", "from 1 to 1048576"}},
        ProbeRefusal{"Reason", {"probe", "--no-events", ""}, {"--no-events", "a reason"}},
        ProbeRefusal{"Noise", {"probe", "--noise", "realistc"}, {"--noise", "did you mean 'realistic'"}},
        ProbeRefusal{"Stability", {"probe", "--stability", "1.5"}, {"--stability: '1.5'", "from 1 to 1000"}},
        ProbeRefusal{"Test", {"probe", "level"}, {"no test 'level'", "did you mean 'levels'"}},
        ProbeRefusal{
            "OnlyPublished", {"probe", "gap", "--robust"}, {"'gap' is published only", "robust, l1 answers the same"}},
        ProbeRefusal{"OnlyRobust", {"probe", "prefetcher", "--as-published"}, {"'prefetcher' is robust only"}},
        ProbeRefusal{"Orders", {"probe", "--orders", "x"}, {"--orders: 'x'", "whole number"}},
        ProbeRefusal{"CheapNamed", {"probe", "l1", "--cheap"}, {"--cheap", "would change nothing"}},
        ProbeRefusal{"NothingToDo", {"probe", "--as-published", "--robust"}, {"give one of them"}},
        ProbeRefusal{"NoSweep", {"probe", "l1", "--no-knock-out"}, {"--no-knock-out", "levels and tlb"}},
        ProbeRefusal{"RobustSweep", {"probe", "--robust", "--stability", "3"}, {"--stability", "levels and tlb"}},
        ProbeRefusal{"NoTlb", {"probe", "levels", "--exhaustive"}, {"--exhaustive", "the published tlb"}},
        ProbeRefusal{"Savings", {"probe", "--savings", "2", "--exhaustive"}, {"--exhaustive", "--savings"}},
        ProbeRefusal{"NothingRevived", {"probe", "--no-knock-out", "--no-revival"}, {"--no-revival"}},
        ProbeRefusal{"Machines", {"validate", "--machines", "0"}, {"--machines: '0'", "from 1 to 10000000"}},
        ProbeRefusal{"MachinesWord", {"validate", "--machines", "ten"}, {"--machines: 'ten'"}},
        ProbeRefusal{"Jobs", {"validate", "-j", "-1"}, {"--jobs: '-1'", "from 1 to 1024"}},
        ProbeRefusal{"CampaignSeed", {"validate", "--seed", "-3"}, {"--seed: '-3'"}},
        ProbeRefusal{"CostlyEvery", {"validate", "--costly-every", "-1"}, {"--costly-every: '-1'"}},
        ProbeRefusal{"CostlyNamed",
                     {"validate", "--tests", "levels", "--costly-every", "1"},
                     {"--costly-every", "run on every machine"}},
        ProbeRefusal{"CampaignReason", {"validate", "--no-events", ""}, {"--no-events", "a reason"}},
        ProbeRefusal{"NoNoiseFile", {"probe", "l1", "--noise", "absent.h5"}, {"absent.h5"}},
        ProbeRefusal{"CampaignNoise", {"validate", "--noise", "loud"}, {"--noise", "mixed"}},
        ProbeRefusal{"CampaignTest",
                     {"validate", "--machines", "2", "--tests", "gap", "--robust"},
                     {"'gap' is published only", "l1 answers the same"}},
        ProbeRefusal{"Population", {"validate", "--population", "wild"}, {"--population", "did you mean 'wide'"}},
        ProbeRefusal{
            "NoMachines", {"validate", "--machines-from", "."}, {"--machines-from", "'.' has no machine file"}},
        ProbeRefusal{
            "NoDirectory", {"validate", "--machines-from", "nix"}, {"--machines-from", "'nix' cannot be read"}},
        ProbeRefusal{"MachinesOfBothKinds",
                     {"validate", "--machines-from", ".", "--machines", "3"},
                     {"--machines is for random machines", "--machines-from"}},
        ProbeRefusal{"WorstIsAFile", {"validate", "--machines", "2", "--worst", "file"}, {"--worst", "'file'"}},
        ProbeRefusal{
            "WorstBelowAFile", {"validate", "--machines", "2", "--worst", "file/d"}, {"--worst", "Not a directory"}}),
    [](const auto& refusal) { return std::string(refusal.param.name); });

struct ProbedMachine {
    const char *clock, *memory;
    ProbeWords words;
    std::vector<const char*> says;
};

// What probes or their noise add to a machine is named, as the machine file says nothing of it.
TEST(Probe, MachinesThatProbesMakeImpossible) {
    const std::vector<ProbedMachine> all{
        {"1 GHz", "64 KiB", {}, {"pages of 2 MiB", "64 KiB", "--small-pages"}},
        {"1 GHz", "4 MiB", {}, {"--arena 256", "a smaller --arena"}},
        {"500 GHz", "4 GiB", {"--noise", "heavy"}, {"--noise heavy adds a second core", "write clock: "}}};
    for (const ProbedMachine& one : all) {
        const TemporaryDirectory directory;
        write_contents(
            directory / "m.yaml",
            fmt::format(
                "name: m\nclock: {}\ncaches:\n  - {{name: L1, next: memory, size: 8 KiB, ways: 2, "
                "latency: 4}}\ntlbs:\n  - {{name: TLB, entries: 8, ways: full}}\npages: {{mapping: contiguous}}\n"
                "memory: {{latency: 100, size: {}}}\n",
                one.clock, one.memory));
        ProbeWords words{"probe", "levels", "--robust", "--machine", "m.yaml"};
        words.insert(words.end(), one.words.begin(), one.words.end());
        const Finished finished = cachetally(directory.path(), words);
        EXPECT_EQ(finished.status, 2) << finished.out;
        for (const char* text : one.says) EXPECT_THAT(finished.err, HasSubstr(text));
    }
    const TemporaryDirectory directory;
    write_contents(directory / "m.yaml",
                   "caches:\n  - {name: L1, next: memory, size: 8 KiB, ways: 2, latency: 4}\n"
                   "memory: {latency: 100, size: 64 KiB}\n");
    const Finished small =
        cachetally(directory.path(), {"probe", "l1", "--robust", "--machine", "m.yaml", "--small-pages"});
    EXPECT_EQ(small.status, 0) << small.err;
}

TEST(Validate, ADirectoryThatCannotBeWrittenIsToldFirst) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "locked");
    std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
    Circumstances nobody;
    nobody.as_nobody = true;
    for (const char* name : {"locked", "locked/new"}) {
        const Finished finished =
            cachetally(directory.path(), {"validate", "--machines", "2", "--tests", "l1", "--worst", name}, nobody);
        EXPECT_EQ(finished.status, 2) << name;
        EXPECT_EQ(finished.out, "");
        EXPECT_THAT(finished.err, AllOf(HasSubstr("--worst"), HasSubstr("Permission denied")));
    }
}

TEST(Validate, TheScoresAreToldWhateverBecomesOfTheFiles) {
    const TemporaryDirectory directory;
    Circumstances full;
    full.largest_file = 10;
    const Finished finished = cachetally(
        directory.path(),
        {"validate", "--machines", "3", "--tests", "gap", "--as-published", "--worst", "d", "--seed", "4"}, full);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.out, HasSubstr("capacity   published"));
    EXPECT_THAT(finished.err, HasSubstr("cannot be written"));
}

// One of them hashes bits above those of small pages: with these alone, which lie anywhere, nothing is to be found.
TEST(Validate, MachinesOfADirectoryAreProbed) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "mine");
    const auto write = [&](const char* name, const char* ways) {
        write_contents(directory / ("mine/" + std::string(name)),
                       fmt::format("caches:\n  - {{name: L1, next: memory, size: 32 KiB, ways: {}, latency: 4}}\n"
                                   "tlbs:\n  - {{name: TLB, entries: 32, ways: full}}\n"
                                   "pages: {{mapping: random}}\nmemory: {{latency: 100, size: 4 GiB}}\n",
                                   ways));
    };
    write("a.yaml", "2, indexing: xor_hash");
    write("b.yml", "8");
    write_contents(directory / "mine/notes.txt", "no machine");
    const ProbeWords words{"validate", "--machines-from", "mine", "--tests", "l1", "--robust", "--json"};
    const auto right = [](const auto& told) {
        for (const auto& score : told["summary"])
            if (score["parameter"] == "capacity") return score["right"].template get<int>();
        return -1;
    };
    const auto large = cachetally(directory.path(), words).json();
    EXPECT_EQ(large["machines"], 2);
    EXPECT_EQ(right(large), 2);
    const auto small = cachetally(directory.path(), words + ProbeWords{"--small-pages"}).json();
    EXPECT_EQ(right(small), 1);
    EXPECT_THAT(small["worst"][0]["replay"].get<std::string>(), HasSubstr(" --machine mine/a.yaml --small-pages "));
    write_contents(directory / "mine/c.json", "{caches: 3}");
    const Finished wrong = cachetally(directory.path(), words);
    EXPECT_NE(wrong.status, 0);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, HasSubstr("mine/c.json:1:"));
}

TEST(Validate, ShowTellsWhatItTold) {
    const TemporaryDirectory directory;
    const ProbeWords words{"validate",       "--machines", "3", "--tests", "gap,l1",
                           "--as-published", "--seed",     "4", "-o",      "v.h5"};
    const Finished printed = cachetally(directory.path(), words);
    ASSERT_EQ(printed.status, 0) << printed.err;
    const std::string table = printed.out.substr(printed.out.find('\n'));  // the first line tells the time, too
    EXPECT_THAT(table, HasSubstr("worst machines"));
    EXPECT_THAT(cachetally(directory.path(), {"show", "v.h5"}).out, HasSubstr(table));
    const auto told = cachetally(directory.path(), words + ProbeWords{"--force", "--json"}).json();
    EXPECT_EQ(told["complete"], true);
    EXPECT_EQ(cachetally(directory.path(), {"show", "v.h5", "--json"}).json(), told);
    EXPECT_EQ(cachetally(directory.path(), {"show", "v.h5", "--heat"}).status, 2);
}

TEST(Probe, WhatHasNoSuchVariantIsLeftOutInWords) {
    const TemporaryDirectory directory;
    const ProbeWords words{"probe", "gap", "l1", "prefetcher", "--robust", "--machine", "bcm2835"};
    const Finished finished = cachetally(directory.path(), words);
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out, HasSubstr("left out, as there is no robust variant: gap (l1 answers the same)\n"));
    EXPECT_THAT(finished.out, Not(HasSubstr("\ngap ")));
    ProbeWords json = words;
    json.emplace_back("--json");
    EXPECT_EQ(cachetally(directory.path(), json).json()["left_out"],
              "left out, as there is no robust variant: gap (l1 answers the same)");
    EXPECT_THAT(cachetally(directory.path(), {"validate", "--machines", "1", "--tests", "gap,l1", "--robust"}).out,
                HasSubstr("left out, as there is no robust variant: gap (l1 answers the same)\n"));
}

TEST(Probe, HelpTellsVariantsAndWhy) {
    const TemporaryDirectory directory;
    const Finished help = cachetally(directory.path(), {"probe", "--help"});
    EXPECT_THAT(help.out,
                ContainsRegex("gap .*3.2\\)\n *published only; robust, l1 answers the same \\(gaps are powers"));
    EXPECT_THAT(help.out, ContainsRegex("prefetcher .*\n *robust only \\(none of the sources"));
    EXPECT_THAT(help.out, ContainsRegex("tlb .*\n *published and robust\n"));
}

TEST(Probe, APublishedTestNamesItsRobustCounterpart) {
    const TemporaryDirectory directory;
    const ProbeWords words{"probe", "gap", "l1", "--machine", "bcm2835"};
    EXPECT_THAT(cachetally(directory.path(), words).out,
                HasSubstr("gap is published only: robust, l1 answers the same (gaps are powers of two"));
    ProbeWords json = words;
    json.emplace_back("--json");
    const auto told = cachetally(directory.path(), json).json();
    for (const auto& test : told["tests"]) EXPECT_EQ(test.contains("note"), test["test"] == "gap") << test["test"];
}

TEST(Probe, CountsAreWholeNumbers) {
    const TemporaryDirectory directory;
#ifdef CACHETALLY_SANITIZED
    const ProbeWords words{"probe", "l1", "--robust", "--json"};
#else
    const ProbeWords words{"probe", "l1", "levels", "tlb", "events", "--robust", "--json"};
#endif
    const auto told = cachetally(directory.path(), words).json();
    for (const auto& one : told["results"])
        for (const char* key : {"value", "low", "high", "truth", "truth_high"})
            EXPECT_TRUE(one["parameter"] == "latency" || !one.contains(key) || !one[key].is_number_float())
                << one.dump();
    for (const auto& test : told["tests"])
        for (const std::string decision : test["decisions"])
            EXPECT_THAT(decision, Not(ContainsRegex("between 64 and 64 "))) << decision;
    const auto fp =
        cachetally(directory.path(), {"probe", "events", "--robust", "--json", "--machine", "xray-itanium2"});
    EXPECT_THAT(fp.out,
                ContainsRegex("\"fp_bypass\",\n *\"value\": \"present\",\n *\"low\": null,\n *\"high\": null,\n "
                              "*\"unit\": \"boolean\""));
}

TEST(Probe, AMachineWithoutCachesHasNoWrongAnswers) {
    const TemporaryDirectory directory;
    write_contents(directory / "m.yaml", "name: bare\ncaches: []\nmemory: {size: 1 GiB, latency: 100}\n");
    const Finished finished = cachetally(directory.path(), {"probe", "l1", "gap", "chase", "latency", "events",
                                                            "levels", "tlb", "--machine", "m.yaml", "--json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    const auto told = finished.json();  // what the loop goes through
    for (const auto& one : told["results"]) EXPECT_EQ(one["verdict"], "not_identifiable") << one.dump();
}

TEST(Probe, ASmallBudgetIsAnAnswerOfEachTest) {
    const TemporaryDirectory directory;
    const Finished finished =
        cachetally(directory.path(), {"probe", "l1", "levels", "--robust", "--budget", "10", "--json"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    const auto results = finished.json()["results"];
    ASSERT_EQ(results.size(), 2U);
    for (const auto& one : results) EXPECT_THAT(one["reason"].get<std::string>(), HasSubstr("share of the budget"));
}

TEST(Probe, SavingsAreThoseOfReferencesAndOfTime) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(directory.path(), {"probe", "tlb", "--savings", "1", "--machine", "bcm2835",
                                                            "--arena", "1", "--stability", "4", "--json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto savings = finished.json()["savings"];
    ASSERT_EQ(savings.size(), 3U);
    for (const auto& one : savings) {
        EXPECT_GT(one["references_ratio"], 1) << one.dump();
        EXPECT_GT(one["host_ratio"], 0);
        EXPECT_GT(one["exhaustive"]["runs"], one["as_published"]["runs"]);
    }
}

}  // namespace
}  // namespace cachetally::testing
