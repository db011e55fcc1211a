// SPDX-License-Identifier: BSD-3-Clause
// check: budgets of caches whose misses are known, beside run, and in layouts that are run here by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/random.hpp"
#include "cachetally/run.hpp"
#include "tests/app/results.hpp"
#include "workloads/kernels/source.hpp"
#include "workloads/layouts/drawn_layout.hpp"

namespace cachetally::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class Check : public Results {
protected:
    Finished check(const std::string& file, const Words& more = {}, const Circumstances& circumstances = {}) const {
        write_contents(directory / "b.yaml", file);
        return call(Words{"check", "b.yaml"} + more, circumstances);
    }
    Json json(const std::string& file) const { return check(file, {"--json"}).json(); }
    /// By the texts of the budgets.
    std::map<std::string, double> values(const std::string& file) const {
        std::map<std::string, double> found;
        const Json all = json(file);
        for (const Json& each : all["budgets"]) found[each["budget"]] = each["value"].get<double>();
        return found;
    }
    /// Standard output of a script of Python.
    std::string python(const std::string& script) const {
        write_contents(directory / "script.py", script);
        const std::string output = directory / "script.out";
        const std::string command = "cd " + directory.path().string() + " && /usr/bin/python3 script.py > " + output;
        EXPECT_EQ(std::system(command.c_str()), 0);
        return contents(output);
    }
};

/// Four lines of 64 bytes, all in one set, LRU.
constexpr char four_lines[] = R"(name: four
caches:
  - {name: L1, size: 256, ways: full, line: 64, latency: 1, next: memory}
memory: {latency: 10}
)";

/// Loads of so many lines in turn, over and over, from an address.
std::string loop(unsigned lines, unsigned rounds, unsigned long base) {
    std::string text;
    for (unsigned i = 0; i < lines * rounds; ++i) text += fmt::format(" L {:x},8\n", base + i % lines * 64);
    return text;
}

TEST_F(Check, MissesThatAreKnownByHand) {
    write_contents(directory / "four.yaml", four_lines);
    write_contents(directory / "fits.lackey", loop(4, 10, 0x100000));  // 4 lines are loaded once: 4 of 40
    write_contents(directory / "too_long.lackey",
                   loop(5, 10, 0x100000));  // the line that is next has just left: 50 of 50
    const std::string file = R"(machine: four.yaml
checks:
  - trace: fits.lackey
    budgets: [{misses: 4, level: L1}, {miss_rate: 10 %, level: L1}, {mpkr: 100, level: L1}]
  - trace: too_long.lackey
    budgets: [{misses: 50, level: L1}, {miss_rate: 100 %, level: L1}]
)";
    const Finished kept = check(file);
    EXPECT_EQ(kept.status, 0) << kept.out << kept.err;
    EXPECT_EQ(kept.err, "b.yaml: all 5 budgets are kept\n");
    const Json all = json(file);
    ASSERT_EQ(all["budgets"].size(), 5U);
    for (const Json& each : all["budgets"]) {
        EXPECT_EQ(each["value"], each["limit"]) << each;
        EXPECT_EQ(each["layouts"], 101);
        EXPECT_EQ(each["spread"], 0) << "a set of all lines knows no layout";
    }
    const Finished exceeded = check(R"(machine: four.yaml
checks:
  - {trace: fits.lackey, budgets: [{misses: 3, level: L1}]}
  - {trace: too_long.lackey, budgets: [{misses: 50, level: L1}]}
)");
    EXPECT_EQ(exceeded.status, 1);
    EXPECT_THAT(exceeded.out, HasSubstr("\nfits.lackey: L1 misses: 4 exceeds the limit of 3 by 33.33 %\n"));
    EXPECT_EQ(exceeded.err, "cachetally: b.yaml: 1 of 2 budgets not kept\n");
}

TEST_F(Check, InstructionsAreThoseOfTheTrace) {
    write_contents(directory / "four.yaml", four_lines);
    std::string text = loop(5, 8, 0x100000);                // 40 misses of data
    for (int i = 0; i < 160; ++i) text += "I  400000,4\n";  // and one of code
    write_contents(directory / "t.lackey", text);
    const std::string file =
        "machine: four.yaml\nlayouts: 3\nchecks: [{trace: t.lackey, budgets: [{mpki: 1, level: L1}]}]";
    EXPECT_DOUBLE_EQ(values(file)["L1 mpki"], 1000 * 41. / 160);
    write_contents(directory / "t.din", "0 100000\n2 400000\n");
    const Finished unknown = check("machine: four.yaml\nchecks: [{trace: t.din, budgets: [{mpki: 1, level: L1}]}]");
    EXPECT_EQ(unknown.status, 1);
    EXPECT_THAT(unknown.out, HasSubstr("the number of instructions is not known"));
}

// 5 lines in turn always miss in 4, so that the misses are the references that were made.
TEST_F(Check, CountAndWarmupAreOfAllChecks) {
    write_contents(directory / "four.yaml", four_lines);
    write_contents(directory / "t.lackey", loop(5, 10, 0x100000));
    const std::string file = R"(machine: four.yaml
layouts: 2
checks:
  - {name: all, trace: t.lackey, budgets: [{misses: 50, level: L1}]}
  - {name: some, trace: t.lackey, count: 30, budgets: [{misses: 50, level: L1}]}
)";
    const auto misses = [&](const Words& more) {
        std::vector<int> found;
        const Json all = check(file, more + Words{"--json"}).json();
        for (const Json& each : all["budgets"]) found.push_back(each["value"].get<int>());
        std::ranges::sort(found);
        return found;
    };
    EXPECT_THAT(misses({}), ElementsAre(30, 50));
    EXPECT_THAT(misses({"--max-references", "20"}), ElementsAre(20, 20));
    EXPECT_THAT(misses({"--count", "0"}), ElementsAre(50, 50));
    EXPECT_THAT(misses({"--warmup", "10"}), ElementsAre(30, 40));
    const Finished refused =
        check("machine: four.yaml\nchecks: [{trace: t.lackey, budgets: [{mpki: 1, level: L1}]}]", {"--count", "5"});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--count: 't.lackey' has a budget of mpki"));
    EXPECT_THAT(
        check("machine: four.yaml\nchecks: [{trace: t.lackey, budgets: [{mpki: 1, level: L1}]}]", {"--warmup", "5"})
            .err,
        HasSubstr("--warmup: 't.lackey' has a budget of mpki"));
}

TEST_F(Check, OwnAddressesGiveWhatRunGives) {
    const Json run = good_json({"run", "lu", "n=32", "block=8", "--monitor", "link=core-L1D,counters=16"});
    const auto found = values(R"(layouts: 1
checks:
  - run: lu n=32 block=8
    monitors: ["link=core-L1D,counters=16"]
    budgets: [{misses: 1, level: L1D}, {misses: 1, level: DTLB}, {misses: 1, level: L1D, structure: A},
              {cycles: 1}, {swapouts: 1}]
)");
    EXPECT_EQ(found.at("L1D misses"), demand(run["levels"]["L1D"]).second);
    EXPECT_EQ(found.at("DTLB misses"), run["tlbs"]["DTLB"]["misses"]);
    const Json on_all_links = good_json({"run", "lu", "n=32", "block=8"});
    EXPECT_EQ(found.at("L1D misses of A"), on_all_links["structures"]["A"]["levels"]["L1D"]["misses"]);
    EXPECT_EQ(found.at("cycles"), run["cycles"]);
    EXPECT_EQ(found.at("swap-outs"), run["monitors"]["core-L1D"]["swapouts"]);
    EXPECT_GT(found.at("swap-outs"), 0);
}

TEST_F(Check, LayoutsAreTheSameByHand) {
    const Json found = json(R"(layouts: 6
machine: schulz2002
checks: [{run: lu n=64 block=8, budgets: [{misses: 1, level: L1}]}]
)")["budgets"][0];
    const auto open = [] {
        return std::make_unique<WorkloadSource>(make_workload("lu", std::vector<std::string>{"n=64", "block=8"}));
    };
    const MemorySurvey survey = survey_memory(*open(), 0, [] { return true; });
    std::vector<double> by_hand;
    for (unsigned i = 0; i < 6; ++i) {
        MachineDescription machine = load_machine("schulz2002");
        machine.pages.seed = splitmix64(machine.pages.seed + i);
        Hierarchy hierarchy{Topology(machine)};
        MovedSource source(open(), survey.segments, drawn_layout(survey.segments, i, 6));
        const CacheCounts counts = run(hierarchy, source).counts.caches[0];
        by_hand.push_back(static_cast<double>(counts.load_misses + counts.store_misses + counts.fetch_misses));
    }
    EXPECT_EQ(found["values"], Json(by_hand));
    std::ranges::sort(by_hand);
    EXPECT_NE(by_hand.front(), by_hand.back());
    EXPECT_DOUBLE_EQ(found["value"], (by_hand[1] + by_hand[2] + by_hand[3] + by_hand[4]) / 4);
    EXPECT_DOUBLE_EQ(found["spread"], 100 * (by_hand[5] - by_hand[0]) / found["value"].get<double>());
}

/// Data at one address and at another, which meet in a direct-mapped cache or do not, as they lie.
TEST_F(Check, WhereAProgramLayChangesNothing) {
    write_contents(directory / "direct.yaml", R"(name: direct
caches:
  - {name: L1, size: 4 KiB, ways: 1, line: 64, next: memory}
memory: {latency: 10}
)");
    const auto misses = [&](unsigned long stack, unsigned layouts, unsigned lines) {
        std::string text;
        for (unsigned i = 0; i < 40 * lines; ++i)
            text += fmt::format(" L {:x},8\n L {:x},8\n", 0x100000 + i % lines * 64, stack + i % 16 * 64);
        write_contents(directory / "t.lackey", text);
        return values(fmt::format("machine: direct.yaml\nlayouts: {}\nchecks: [{{trace: t.lackey, budgets: [{{misses: "
                                  "1, level: L1}}]}}]",
                                  layouts))
            .at("L1 misses");
    };
    EXPECT_GT(misses(0x7ffff0000000, 1, 16), 10 * misses(0x7ffff0000800, 1, 16)) << "one layout shows its luck";
    const double first = misses(0x7ffff0000000, 31, 16);
    for (const unsigned long stack : {0x7ffff0000800, 0x7ffff0000410, 0x7fffe0123450})
        EXPECT_EQ(misses(stack, 31, 16), first) << stack;
    EXPECT_GT(misses(0x7ffff0000000, 31, 32), 1.5 * first) << "what is real is seen";
}

TEST_F(Check, StoredResultsAreComparedWith) {
    const std::string file = R"(layouts: 5
stored: main.json
within: 1 %
checks: [{name: a, trace: t.lackey, budgets: [{misses: stored, level: L1D}, {cycles: 1G}]}]
)";
    write_contents(directory / "t.lackey", loop(100, 3, 0x100000));
    const Finished missing = check(file);
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(missing.out, HasSubstr("main.json"));
    const Finished stored = check(file, {"--store", "main.json"});
    EXPECT_EQ(stored.status, 0) << stored.err;
    EXPECT_EQ(json(file)["budgets"][0]["change"], 0);
    write_contents(directory / "t.lackey", loop(120, 3, 0x100000));
    const Finished differs = check(file);
    EXPECT_EQ(differs.status, 1);
    EXPECT_THAT(differs.out, HasSubstr("differs from the stored"));
    EXPECT_EQ(json(file)["budgets"][0]["verdict"], "differs");
    ASSERT_EQ(call({"run", "lu", "n=32", "block=8", "-o", "lu.h5"}).status, 0);
    const std::string of_run =
        "layouts: 1\nstored: lu.h5\nwithin: 0 %\nchecks: [{run: lu n=32 block=8, budgets: "
        "[{misses: stored, level: L1D}, {misses: stored, level: L1D, structure: A}]}]";
    const Json all = json(of_run);
    ASSERT_EQ(all["budgets"].size(), 2U);
    for (const Json& each : all["budgets"]) {
        EXPECT_EQ(each["change"], 0) << each;
        EXPECT_EQ(each["verdict"], "kept");
    }
    EXPECT_THAT(
        check("layouts: 1\nstored: lu.h5\nwithin: 0 %\nchecks: [{run: lu n=16, budgets: [{cycles: stored}]}]").out,
        HasSubstr("lu.h5 is a result of lu n=32 block=8 on generic3, not of lu n=16 on generic3"));
}

TEST_F(Check, JUnitIsReadByPython) {
    const Finished done = check(R"(layouts: 1
checks:
  - {name: 'a <b> & "c"', run: lu n=16, budgets: [{misses: 1, level: L1D}, {misses: 1M, level: L1D, structure: A}]}
  - {trace: none.lackey, budgets: [{cycles: 1}]}
)",
                                {"--junit", "j.xml", "--markdown", "m.md"});
    EXPECT_EQ(done.status, 1);
    EXPECT_EQ(python(R"(
import xml.etree.ElementTree as tree
root = tree.parse("j.xml").getroot()
print(root.tag, root.get("tests"), root.get("failures"), root.get("errors"))
for suite in root:
    print(suite.tag, suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors"))
    for case in suite:
        print(case.tag, case.get("classname"), case.get("name"), [part.tag for part in case])
print(root.find(".//failure").get("message").split(" exceeds")[0].rsplit(" ", 1)[0])
)"),
              "testsuites 3 1 1\n"
              "testsuite a <b> & \"c\" 2 1 0\n"
              "testcase a <b> & \"c\" L1D misses ['failure']\n"
              "testcase a <b> & \"c\" L1D misses of A []\n"
              "testsuite none.lackey 1 0 1\n"
              "testcase none.lackey cycles ['error']\n"
              "a <b> & \"c\": L1D misses:\n");
    EXPECT_THAT(contents(directory / "m.md"), HasSubstr("### Budgets: 2 of 3 budgets not kept"));
    EXPECT_THAT(contents(directory / "m.md"), HasSubstr("| a \\<b\\> \\& \"c\" | L1D misses | 1 |"));
}

TEST_F(Check, AFileThatIsNotRightRunsNothing) {
    const Finished wrong = check("checks: [{run: lu n=16, budgets: [{misses: 1, level: L9}]}]", {"--junit", "j.xml"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_EQ(wrong.out, "");
    EXPECT_THAT(wrong.err, HasSubstr("b.yaml:1:35: error: the machine 'generic3' has no level 'L9'"));
    EXPECT_FALSE(std::filesystem::exists(directory / "j.xml"));
    EXPECT_EQ(call({"check", "none.yaml"}).status, 2);
    const std::string good = "checks: [{run: lu n=16, budgets: [{misses: 1G, level: L1D}]}]";
    EXPECT_EQ(check(good, {"--json", "--markdown", "-"}).status, 2);
    EXPECT_EQ(check(good, {"--junit", "b.yaml"}).status, 2);
    EXPECT_THAT(check(good, {"--markdown", "-"}).out, HasSubstr("### Budgets: the budget is kept"));
    const Finished absent =
        check("checks: [{run: lu n=16, stored: none.json, budgets: [{cycles: 1G}, {misses: 1G, level: L1D}]}]");
    EXPECT_THAT(absent.out, HasSubstr("lu n=16: 2 budgets: "));
}

TEST_F(Check, StoredValuesAreOfTheSameRunsAlone) {
    const std::string rest = "stored: s.json, layouts: 1, budgets: [{misses: 1G, level: L1D}]}]";
    EXPECT_EQ(check("checks: [{name: a, run: lu n=16, " + rest, {"--store", "s.json"}).status, 0);
    EXPECT_EQ(check("checks: [{name: a, run: lu n=16, " + rest).status, 0);
    for (const char* const other :
         {"run: lu n=17, ", "run: lu n=16, machine: x86-desktop, ", "run: lu n=16, count: 50, "})
        EXPECT_THAT(check(std::string("checks: [{name: a, ") + other + rest).out,
                    HasSubstr("its check 'a' is of something else (lu n=16 on generic3"))
            << other;
}

TEST_F(Check, FilesOfOthersAreNotReplaced) {
    const std::string good = "checks: [{run: lu n=16, layouts: 1, budgets: [{misses: 1G, level: L1D}]}]";
    write_contents(directory / "mine", "mine");
    for (const char* const option : {"--junit", "--store", "--markdown"})
        EXPECT_THAT(check(good, {option, "mine"}).err, HasSubstr("'mine' is there and none of its files"));
    EXPECT_EQ(contents(directory / "mine"), "mine");
    EXPECT_THAT(check(good, {"--junit", "x", "--store", "x"}).err, HasSubstr("'x' is to be written twice"));
    EXPECT_EQ(check(good, {"--junit", "x", "--store", "y", "--markdown", "z"}).status, 0);
    EXPECT_EQ(check(good, {"--junit", "x", "--store", "y", "--markdown", "z"}).status, 0) << "its own are replaced";
    write_contents(directory / "z", contents(directory / "z") + "### mine\n");
    EXPECT_THAT(check(good, {"--markdown", "z"}).err,
                HasSubstr("'z' is there and none of its files, or has more in it"));
    write_contents(directory / "j.xml",
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"other\">\n</testsuites>\n");
    EXPECT_THAT(check(good, {"--junit", "j.xml"}).err, HasSubstr("'j.xml' is there and none of its files"));
    for (const char* const option : {"--junit", "--store", "--markdown"})
        EXPECT_THAT(check(good, {option, "/dev/stdout"}).err, HasSubstr("'/dev/stdout' is no file"));
}

TEST_F(Check, StoredResultsOfRunAreOfTheSameRunsAlone) {
    ASSERT_EQ(
        call({"run", "lu", "n=16", "--monitor", "link=core-L1D,counters=8", "--count", "500", "-o", "lu.h5"}).status,
        0);
    const auto said = [&](const std::string& more, const std::string& quantity) {
        return check("layouts: 1\nstored: lu.h5\nwithin: 0 %\nchecks: [{run: lu n=16, " + more + "budgets: [{" +
                     quantity + ": stored" + (quantity == "misses" ? ", level: L1D" : "") + "}]}]");
    };
    EXPECT_EQ(said("count: 500, monitors: [\"link=core-L1D,counters=8\"], ", "swapouts").status, 0);
    EXPECT_EQ(said("count: 500, monitors: [\"link=core-L1D,counters=16\"], ", "misses").status, 0);
    EXPECT_THAT(said("count: 500, monitors: [\"link=core-L1D,counters=16\"], ", "swapouts").out,
                HasSubstr("lu.h5 is of other monitors"));
    for (const char* const other : {"", "count: 400, ", "count: 500, warmup: 10, "})
        EXPECT_THAT(said(other, "misses").out, HasSubstr("lu.h5 is of count 500 and warmup 0, not of")) << other;
}

TEST_F(Check, PhasesMayBeNamed) {
    const std::string file =
        "layouts: 3\nchecks: [{run: lu n=32 block=8, budgets: [{misses: 1M, level: L1D, structure: A, phase: "
        "perimeter}, {misses: 1M, level: L1D, structure: A, phase: \"interior, next diagonal\"}, "
        "{cycles: 1G, phase: perimetre}, {cycles: 1G, phase: 0}]}]";
    const Finished done = check(file);
    EXPECT_EQ(done.status, 1);
    EXPECT_THAT(done.out, HasSubstr("L1D misses of A in phase 'perimeter'"));
    EXPECT_THAT(done.out, HasSubstr("there is no phase 'perimetre'; did you mean 'perimeter'? known are: "));
    EXPECT_THAT(done.err, HasSubstr("1 of 4 budgets not kept"));
    std::map<std::string, Json> by_phase;
    const Json all = json(file);
    for (const Json& each : all["budgets"]) by_phase[each["phase"].dump()] = each["value"];
    EXPECT_TRUE(by_phase.contains("0")) << "a number";
    EXPECT_TRUE(by_phase.contains("\"perimeter\""));
}

TEST_F(Check, ABudgetOfWhatIsNotThereFailsAlone) {
    const Finished done = check(
        "checks: [{run: lu n=16, budgets: [{misses: 1M, structure: B, level: L1D}, {cycles: 1G}, "
        "{misses: 1G, level: L1D, phase: 99}]}]");
    EXPECT_EQ(done.status, 1);
    EXPECT_THAT(done.out, HasSubstr("there is no data structure 'B'; did you mean 'A'?"));
    EXPECT_THAT(done.out, HasSubstr("there is no phase 99"));
    EXPECT_THAT(done.err, HasSubstr("2 of 3 budgets not kept"));
}

TEST_F(Check, AnInterruptEndsIt) {
    Circumstances circumstances;
    circumstances.interrupt_when = [] { return true; };
    const Finished ended = check("checks: [{run: chase laps=1000000, budgets: [{cycles: 1}]}]", {}, circumstances);
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.out, HasSubstr("interrupted"));
}

TEST_F(Check, TheExampleIsKept) {
    const Finished done = call({"check", CACHETALLY_SOURCE_DIR "/examples/budgets/budgets.yaml"});
    EXPECT_EQ(done.status, 0) << done.out << done.err;
    EXPECT_THAT(done.out, HasSubstr("LU, blocks in the first level"));
}

#ifdef CACHETALLY_CAPTURES
TEST_F(Check, ProgramsAreCapturedAndMayFail) {
    const Finished done = check(R"(layouts: 2
checks:
  - {name: good, program: [/bin/echo, printed by the program], budgets: [{cycles: 1G}]}
  - {name: bad, program: [/bin/false], budgets: [{cycles: 1G}]}
  - {name: instructions, program: [/bin/true], fetches: instructions, budgets: [{mpki: 999, level: L1I}]}
  - {name: gone, program: [./none], budgets: [{cycles: 1G}]}
)");
    EXPECT_EQ(done.status, 1);
    EXPECT_THAT(done.out, Not(HasSubstr("printed by the program\n")));
    EXPECT_THAT(done.out, HasSubstr("bad: cycles: the program failed with status 1\n"));
    EXPECT_THAT(done.out, HasSubstr("gone: cycles: "));
    EXPECT_EQ(done.err.substr(done.err.rfind("cachetally: b.yaml")), "cachetally: b.yaml: 2 of 4 budgets not kept\n");
}
#endif

}  // namespace
}  // namespace cachetally::testing
