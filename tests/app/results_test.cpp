// SPDX-License-Identifier: BSD-3-Clause
// Result files: what run, replay and sweep write, show tells again; equal runs, partial ones, full disks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "sim/engine/result_file.hpp"
#include "storage/file.hpp"
#include "tests/app/results.hpp"
#include "workloads/traces/packed_writer.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST_F(Results, ShowTellsWhatTheRunTold) {
    const std::vector<Words> runs{
        radix,
        radix + Words{"--no-exact"},
        radix + Words{"--monitor", "none"},
        radix + Words{"--monitor", "link=core-L1,granularity=4,name=a/b", "--monitor", "link=core-L1,name=a_b",
                      "--monitor", "link=L1-L2,barriers=off,functions=on"},
        {"run", "lu", "n=32", "block=8", "--machine", "schulz2002"},
        {"run", "stream", "n=1000", "--machine", "generic3"},
        {"run", "matmul", "n=16", "--max-references", "1000"},
    };
    for (const Words& words : runs) {
        const json told = good_json(words + Words{"-o", "r.h5", "--force"});
        EXPECT_EQ(good_json({"show", "r.h5"}), told) << ::testing::PrintToString(words);
        EXPECT_TRUE(told["complete"]);
    }
}

TEST_F(Results, TextOfShowBeginsWithThatOfTheRun) {
    const Finished run = call(radix + Words{"-o", "r.h5"}), shown = call({"show", "r.h5", "--plain"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    const std::size_t made = shown.out.find("\nmade 2"), tables = shown.out.find("\n\n");  // the heading ends so
    ASSERT_LT(made, tables);
    EXPECT_EQ((shown.out.substr(0, made) + shown.out.substr(tables)).substr(0, run.out.size()), run.out);
    EXPECT_THAT(shown.out, HasSubstr("misses of L1 per line of 32 bytes"));
}

TEST_F(Results, WorstComesFirstAndMonitorsWhereTheyAreAskedFor) {
    const std::string out = call(radix + Words{"-o", "r.h5"}).out;
    EXPECT_THAT(out, ::testing::StartsWith("L1 misses "));
    const auto at = [&](const char* text) { return out.find(text); };
    EXPECT_LT(at("\nkey_to"), at("\nkey_from"));  // most misses
    EXPECT_LT(at("\nkey_from"), at("\ntotal"));
    EXPECT_LT(at("\ntotal"), at("\nlevel "));
    EXPECT_LT(at("\nlevel "), at("\nphase "));
    const std::string caused = call(radix + Words{"--causes"}).out;
    EXPECT_LT(caused.find("\nlevel "), caused.find("\nwhy levels miss"));
    EXPECT_NE(caused.find("\nwhy levels miss"), std::string::npos);
    EXPECT_THAT(out, ::testing::Not(HasSubstr("swap-outs")));
    EXPECT_THAT(call({"show", "r.h5"}).out, ::testing::Not(HasSubstr("swap-outs")));
    EXPECT_THAT(call({"show", "r.h5", "--monitor", "core-L1"}).out, HasSubstr("swap-outs"));
    const json told = good_json(radix), all = good_json(radix + Words{"--monitor", "all"});
    EXPECT_EQ(all, told);
    EXPECT_THAT(call(radix + Words{"--monitor", "all", "-o", "a.h5"}).out, HasSubstr("swap-outs"));
    EXPECT_THAT(call({"show", "a.h5"}).out, HasSubstr("swap-outs"));
}

TEST_F(Results, PhasesSumToTotals) {
    const json told = good_json(radix + Words{"-o", "r.h5"});
    ASSERT_GT(told["phases"].size(), 3U);
    for (const char* part : {"levels", "tlbs", "memories"})
        for (const auto& [name, counters] : told[part].items())
            for (const auto& [counter, total] : counters.items()) {
                std::uint64_t sum = 0;
                for (const json& phase : told["phases"]) sum += phase[part][name][counter].get<std::uint64_t>();
                EXPECT_EQ(sum, total) << name << " " << counter;
            }
    std::uint64_t cycles = 0, references = 0;
    for (const json& phase : told["phases"]) {
        cycles += phase["cycles"].get<std::uint64_t>();
        references += phase["references"].get<std::uint64_t>();
    }
    EXPECT_EQ(references, told["references"]);
    EXPECT_EQ(cycles, told["cycles"]);
}

TEST_F(Results, PhasesHaveNames) {
    const json told = good_json(radix + Words{"-o", "r.h5"}), &phases = told["phases"];
    EXPECT_EQ(phases[0]["name"], "initialise");
    EXPECT_EQ(phases[1]["name"], "count digits");
    EXPECT_EQ(phases[2]["name"], "prefix over processors");
    EXPECT_EQ(phases[3]["name"], "permute");
    EXPECT_EQ(phases.back()["name"], "");
    EXPECT_THAT(call({"show", "r.h5"}).out, ::testing::ContainsRegex("\n *3  permute "));
    std::string numbers;
    for (std::size_t i = 0; i < phases.size(); ++i)
        if (phases[i]["name"] == "permute") numbers += (numbers.empty() ? "" : ",") + std::to_string(i);
    const std::string of_name = call({"show", "r.h5", "--phase", "permute"}).out;
    EXPECT_EQ(of_name, call({"show", "r.h5", "--phase", numbers}).out);
    EXPECT_THAT(of_name, HasSubstr("phases " + std::string(1, numbers.front())));
    const std::string wrong = call({"show", "r.h5", "--phase", "permut"}).err;
    EXPECT_THAT(wrong, HasSubstr("there is no phase 'permut'; did you mean 'permute'? known are: "));
    EXPECT_THAT(wrong, HasSubstr("; or write numbers"));
    EXPECT_EQ(call({"trace", "convert", "radix", "t.ct.h5", "keys=300"}).status, 0);
    EXPECT_EQ(good_json({"replay", "t.ct.h5"})["phases"][3]["name"], "permute");
    const std::string info = call({"trace", "info", "t.ct.h5"}).out;
    EXPECT_THAT(info, HasSubstr("  names        initialise (0); count digits (1"));
    EXPECT_THAT(info, HasSubstr("); prefix over processors (2"));
    const json names = good_json({"trace", "info", "t.ct.h5"})["phase_names"];
    const json replayed = good_json({"replay", "t.ct.h5"})["phases"];
    ASSERT_EQ(names.size(), replayed.size());
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], replayed[i]["name"]) << i;
    const InputFile file(directory / "r.h5");
    EXPECT_EQ(file.root().open_group("phases").read_texts("name")[0], "initialise");
}

TEST_F(Results, ANameIsKeptWhereCountingBeginsInItsPhase) {
    ASSERT_EQ(call({"trace", "convert", "radix", "t.ct.h5", "keys=300"}).status, 0);
    const json all = good_json({"replay", "t.ct.h5"})["phases"];
    const auto in_permute = all[0]["references"].get<std::uint64_t>() + all[1]["references"].get<std::uint64_t>() +
                            all[2]["references"].get<std::uint64_t>() + 5;
    const json phases = good_json({"replay", "t.ct.h5", "--skip", std::to_string(in_permute)})["phases"];
    ASSERT_EQ(phases.size(), all.size() - 3);
    EXPECT_EQ(phases[0]["name"], "permute");
    EXPECT_EQ(phases[0]["references"].get<std::uint64_t>() + 5, all[3]["references"]);
    for (std::size_t i = 0; i < phases.size(); ++i) EXPECT_EQ(phases[i]["name"], all[i + 3]["name"]);
}

// A program may call a phase what files called those without a name.
TEST_F(Results, ANameThatLooksLikeANumberIsAName) {
    PackedTraceWriter writer(directory / "t.ct.h5", 1);
    const Reference loads[] = {{0x1000, 0, 8, ReferenceKind::load, 0}};
    writer.append(0, loads);
    writer.append(0, Control{Control::Kind::barrier, 1});
    writer.append(0, loads);
    writer.set_phase_names({"phase 1"});
    writer.finish();
    ASSERT_EQ(call({"replay", "t.ct.h5", "-o", "r.h5"}).status, 0);
    EXPECT_EQ(good_json({"show", "r.h5"})["phases"][0]["name"], "");
    EXPECT_EQ(good_json({"show", "r.h5"})["phases"][1]["name"], "phase 1");
    EXPECT_EQ(call({"show", "r.h5", "--phase", "phase 1"}).out, call({"show", "r.h5", "--phase", "1"}).out);
    EXPECT_THAT(call({"show", "r.h5", "--phase", "phase 0"}).err, HasSubstr("there is no phase 'phase 0'"));
}

TEST_F(Results, OlderFilesHaveNumbersForPhasesWithoutNames) {
    ASSERT_EQ(call(radix + Words{"-o", "r.h5"}).status, 0);
    {
        ResultFile file(directory / "old.h5");
        file.root().create_group("phases").write_texts("name", std::vector<std::string>{"phase 0", "phase 2"});
        file.finish();
    }
    const InputFile old(directory / "old.h5"), file(directory / "r.h5");
    EXPECT_EQ(read_phase_names(old.root().open_group("phases")), (std::vector<std::string>{"", "phase 2"}));
    EXPECT_EQ(read_phase_names(file.root().open_group("phases"))[1], "count digits");
}

TEST_F(Results, DataStructuresSumToTheLevels) {
    const std::vector<Words> runs{radix,
                                  radix + Words{"-o", "r.h5"},
                                  {"run", "ocean", "n=16", "levels=2", "--machine", "bench3tlb", "-o", "s.h5"}};
    for (const Words& words : runs) {
        const json told = good_json(words);
        for (const auto& [name, level] : told["levels"].items()) {
            ASSERT_TRUE(told["structures_exact"].contains(name)) << name;
            double accesses = 0, misses = 0, in_phases = 0;
            for (const auto& [structure, entry] : told["structures"].items()) {
                accesses += entry["levels"].value(name, json{{"accesses", 0}})["accesses"].get<double>();
                misses += entry["levels"].value(name, json{{"misses", 0}})["misses"].get<double>();
            }
            for (const json& phase : told["phases"])
                for (const auto& [structure, levels] : phase["structures"].items())
                    in_phases += levels.value(name, json{{"misses", 0}})["misses"].get<double>();
            EXPECT_EQ(accesses, demand(level).first) << name;
            EXPECT_EQ(misses, demand(level).second) << name;
            EXPECT_EQ(in_phases, misses) << name;
        }
    }
    const json counted = good_json(radix + Words{"-o", "t.h5"});  // TLBs are watched with exact counting alone
    double misses = 0;
    for (const auto& [structure, entry] : counted["structures"].items())
        misses += entry["levels"]["DTLB"]["misses"].get<double>();
    EXPECT_EQ(misses, counted["tlbs"]["DTLB"]["misses"]);
}

/// By data structure as by counters, whatever passes between the levels.
TEST_F(Results, DataStructuresSumToLevelsOfEveryKind) {
    for (const std::string upper :
         {"", ", write: write_through", ", write_allocate: false", ", prefetch: {kind: next_line}"})
        for (const std::string lower :
             {"", ", inclusion: exclusive", ", inclusion: victim", ", inclusion: inclusive"}) {
            write_contents(directory / "m.yaml", "name: m\ncaches:\n  - {name: L1, size: 2 KiB, ways: 4, next: L2" +
                                                     upper + "}\n  - {name: L2, size: 8 KiB, ways: 8, next: memory" +
                                                     lower + "}\nmemory: {name: memory}\n");
            const json told =
                good_json({"run", "radix", "keys=1000", "radix=64", "--machine", "m.yaml", "-o", "r.h5", "-f"});
            for (const auto& [name, level] : told["levels"].items()) {
                double accesses = 0, misses = 0;
                for (const auto& [structure, entry] : told["structures"].items()) {
                    const json tally = entry["levels"].value(name, json{{"accesses", 0}, {"misses", 0}});
                    accesses += tally["accesses"].get<double>();
                    misses += tally["misses"].get<double>();
                }
                EXPECT_EQ(accesses, demand(level).first) << name << upper << lower;
                EXPECT_EQ(misses, demand(level).second) << name << upper << lower;
            }
        }
}

/// L1 with shorter lines than L2: it has the counts that it has above a memory.
TEST_F(Results, ALevelIsCountedByItsOwnLinesOrItIsNotExact) {
    const std::string l1 = "name: m\ncaches:\n  - {name: L1, size: 2 KiB, ways: 4, line: 16, next: ";
    write_contents(directory / "one.yaml", l1 + "memory}\nmemory: {name: memory}\n");
    write_contents(directory / "two.yaml", l1 + "L2}\n  - {name: L2, size: 16 KiB, ways: 4, line: 64, next: memory}\n"
                                                "memory: {name: memory}\n");
    const Words words = {"run", "water", "molecules=8", "--machine", "two.yaml"};
    const Words counted = {"--monitor", "none", "-o", "r.h5", "-f"};
    const json alone = good_json(Words{"run", "water", "molecules=8", "--machine", "one.yaml"} + counted);
    const json exact = good_json(words + counted);
    for (const auto& [name, structure] : alone["structures"].items())
        EXPECT_EQ(exact["structures"][name]["levels"]["L1"], structure["levels"]["L1"]) << name;
    EXPECT_EQ(exact["structures_exact"], (json{{"L1", true}, {"L2", true}}));
    EXPECT_EQ(good_json(words)["structures_exact"], (json{{"L1", false}, {"L2", true}}))
        << "the monitor below L1 counts its misses by lines of 64 bytes";
}

TEST_F(Results, ALevelWhoseStoreMissesNoLinkTellsIsLeftOut) {
    write_contents(
        directory / "m.yaml",
        "name: m\ncaches:\n  - {name: L1, size: 2 KiB, ways: 4, next: L2, write: write_through, "
        "write_allocate: false}\n  - {name: L2, size: 8 KiB, ways: 8, next: memory}\nmemory: {name: memory}\n");
    const json told = good_json({"run", "radix", "keys=1000", "radix=64", "--machine", "m.yaml"});
    EXPECT_FALSE(told["structures_exact"].contains("L1"));
    EXPECT_TRUE(told["structures_exact"].contains("L2"));
}

TEST_F(Results, ALevelThatFetchesLinesForWriteBacksIsLeftOut) {
    write_contents(
        directory / "m.yaml",
        "name: m\ncaches:\n  - {name: L1, size: 2 KiB, ways: 4, next: L2, write_back_miss: fetch}\n"
        "  - {name: L2, size: 8 KiB, ways: 8, next: memory, write_back_miss: fetch}\nmemory: {name: memory}\n");
    const json told = good_json({"run", "radix", "keys=1000", "radix=64", "--machine", "m.yaml"});
    EXPECT_TRUE(told["structures_exact"].contains("L1")) << "nothing is written back into it";
    EXPECT_FALSE(told["structures_exact"].contains("L2"));
    const std::string text = call({"run", "radix", "keys=1000", "radix=64", "--machine", "m.yaml"}).out;
    EXPECT_THAT(text, HasSubstr("\nL2 by data structure: not known; no option helps: links do not"));
}

TEST_F(Results, ARunWithoutReferencesSaysSo) {
    write_contents(directory / "t.din", "2 1000\n");
    const std::string text = call({"replay", "t.din", "--data-only"}).out;
    EXPECT_THAT(text, HasSubstr("no references: nothing was counted"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("level")));
}

TEST_F(Results, UnmeasuredErrorsAreNotZero) {
    const Words spread = radix + Words{"--monitor", "link=core-L1,granularity=4"};
    EXPECT_GT(good_json(spread)["monitors"]["core-L1"]["error"], 0.0);
    EXPECT_TRUE(good_json(spread + Words{"--no-exact"})["monitors"]["core-L1"]["error"].is_null());
    EXPECT_EQ(good_json(radix + Words{"--monitor", "link=core-L1", "--no-exact"})["monitors"]["core-L1"]["error"], 0.0);
}

/// A file's groups and datasets below `group`, without /provenance, as one text.
void describe(const Group& group, const std::string& path, std::string& text) {
    for (const std::string& name : group.children()) {
        if (path.empty() && name == "provenance") continue;
        text += path + "/" + name + "\n";
        try {
            const Group child = group.open_group(name);
            describe(child, path + "/" + name, text);
        } catch (const StorageError&) {
            const Dataset data = group.open_dataset(name);
            try {
                for (const double value : data.read<double>()) text += std::to_string(value) + " ";
            } catch (const StorageError&) {
                for (const std::string& value : data.read_texts()) text += value + " ";
            }
        }
    }
}

std::string described(const std::string& path) {
    const InputFile file(path);
    std::string text;
    describe(file.root(), "", text);
    return text;
}

TEST_F(Results, EqualRunsDifferInProvenanceAlone) {
    for (const char* name : {"a.h5", "b.h5"}) ASSERT_EQ(call(radix + Words{"-o", name}).status, 0);
    const std::string a = contents(directory / "a.h5"), b = contents(directory / "b.h5");
    ASSERT_EQ(a.size(), b.size());
    EXPECT_EQ(described(directory / "a.h5"), described(directory / "b.h5"));
    const std::size_t provenance = a.find("command_line");
    ASSERT_NE(provenance, std::string::npos);
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] == b[i] ? 0U : 1U;
    EXPECT_LT(different, 64U);  // a letter of the command line, the time, and their checksums
}

TEST_F(Results, AQuantumChangesNothingForOneCore) {
    const Words lu{"run", "lu", "n=32", "block=8", "--machine", "schulz2002"};
    ASSERT_EQ(call(lu + Words{"-o", "a.h5"}).status, 0);
    ASSERT_EQ(call(lu + Words{"-o", "b.h5", "--quantum", "1us"}).status, 0);
    EXPECT_EQ(described(directory / "a.h5"), described(directory / "b.h5"));
}

TEST_F(Results, AnExistingFileIsKeptUnlessForced) {
    write_contents(directory / "r.h5", "precious");
    const Finished refused = call(radix + Words{"-o", "r.h5"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_EQ(refused.out, "");  // before the run starts
    EXPECT_THAT(refused.err, HasSubstr("r.h5: exists already"));
    EXPECT_EQ(contents(directory / "r.h5"), "precious");
    EXPECT_EQ(call(radix + Words{"-o", "r.h5", "--force"}).status, 0);
    EXPECT_EQ(call({"show", "r.h5"}).status, 0);
    EXPECT_EQ(call(radix + Words{"--force"}).status, 2);  // without a file
}

TEST_F(Results, AFullDiskLeavesNoFile) {
    const Words commands[] = {radix, {"sweep", "radix", "keys=20000", "processors=1"}};
    for (const Words& words : commands) {
        Circumstances small;
        small.largest_file = 4096;
        const Finished finished = call(words + Words{"-o", "r.h5"}, small);
        EXPECT_EQ(finished.status, 1);
        EXPECT_THAT(finished.err, HasSubstr("r.h5"));
        EXPECT_THAT(finished.err, HasSubstr("cannot write"));
        EXPECT_THAT(finished.out, HasSubstr("references"));  // the result is not lost
        EXPECT_EQ(listing(directory.path()), "mixed.yaml");
    }
}

TEST_F(Results, AnInterruptedRunIsKeptAndMarked) {
    Circumstances interrupted;
    interrupted.interrupt_when = [calls = 0]() mutable { return ++calls > 20; };
    const Finished finished = call({"run", "gups", "updates=4G", "table=1024", "-o", "r.h5", "--json"}, interrupted);
    ASSERT_EQ(finished.status, 1) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("kept in r.h5 (marked partial)"));
    EXPECT_EQ(finished.json()["complete"], false);
    EXPECT_EQ(good_json({"show", "r.h5"}), finished.json());
    EXPECT_THAT(call({"show", "r.h5"}).out, HasSubstr("PARTIAL: interrupted"));
    const InputFile file(directory / "r.h5");
    EXPECT_EQ(file.root().whole_attribute("complete"), 0U);
    EXPECT_THAT(file.root().text_attribute("incomplete"), HasSubstr("interrupted"));
}

TEST_F(Results, ATraceThatIsDamagedIsKeptUpToThere) {
    write_contents(directory / "t.din", "0 1000\n1 2000\nbroken\n");
    const Finished finished = call({"replay", "t.din", "--format", "din", "-o", "r.h5", "--json"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("t.din:3"));
    EXPECT_EQ(finished.json()["references"], 2);
    EXPECT_EQ(good_json({"show", "r.h5"}), finished.json());
}

TEST_F(Results, AnEmptyTraceHasAnEmptyHistogram) {
    write_contents(directory / "t.din", "");
    ASSERT_EQ(call({"replay", "t.din", "--format", "din", "-o", "r.h5"}).status, 1);  // and kept, marked partial
    const Finished shown = call({"show", "r.h5"});
    EXPECT_EQ(shown.status, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("(no events)"));
}

/// The example of docs/format.md, its last code.
TEST_F(Results, TheExampleOfTheDocumentationRuns) {
    ASSERT_EQ(std::system("/usr/bin/python3 -c 'import h5py'"), 0) << "python3-h5py (scripts/packages) is missing";
    const std::string text = contents(std::string(CACHETALLY_SOURCE_DIR) + "/docs/format.md");
    const std::string fence = "```python\n";
    const std::size_t begin = text.rfind(fence), end = text.find("```", begin + fence.size());
    ASSERT_NE(begin, std::string::npos);
    write_contents(directory / "example.py", text.substr(begin + fence.size(), end - begin - fence.size()));
    ASSERT_EQ(call({"run", "lu", "n=64", "--machine", "schulz2002", "-o", "lu.h5"}).status, 0);
    ASSERT_EQ(std::system(("cd '" + directory.path().string() + "' && /usr/bin/python3 example.py > printed").c_str()),
              0);
    const std::size_t shown = text.find("```text\n", end) + 8;
    EXPECT_EQ(contents(directory / "printed"), text.substr(shown, text.find("```", shown) - shown));
}

}  // namespace
}  // namespace cachetally::testing
