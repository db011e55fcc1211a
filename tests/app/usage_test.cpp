// SPDX-License-Identifier: BSD-3-Clause
// What the program says of itself, and of command lines that are not right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

TEST(Usage, HelpOfEachCommandHasAnExample) {
    const TemporaryDirectory directory;
    const Finished help = cachetally(directory.path(), {"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("First steps:"));
    EXPECT_EQ(help.err, "");
    for (const Words& command : {Words{"run"},
                                 {"replay"},
                                 {"sweep"},
                                 {"intrusion"},
                                 {"show"},
                                 {"trace", "info"},
                                 {"trace", "convert"},
                                 {"machine"},
                                 {"machine", "list"},
                                 {"machine", "show"},
                                 {"machine", "check"},
                                 {"workload"},
                                 {"workload", "list"}}) {
        Words words = command;
        words.push_back("--help");
        const Finished finished = cachetally(directory.path(), words);
        EXPECT_EQ(finished.status, 0);
        EXPECT_THAT(finished.out, HasSubstr("Example")) << words.front();
        EXPECT_THAT(finished.out, HasSubstr("cachetally " + command.front())) << words.front();
    }
}

TEST(Usage, Version) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(directory.path(), {"--version"});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out, StartsWith("cachetally 0."));
}

TEST(Usage, NoCommandIsAnError) {
    const TemporaryDirectory directory;
    const Finished finished = cachetally(directory.path(), {});
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr("cachetally --help"));
}

TEST(Usage, MachineShowTellsWhatTakesTime) {
    const TemporaryDirectory directory;
    const std::string shown = cachetally(directory.path(), {"machine", "show", "generic3-timed"}).out;
    EXPECT_THAT(shown, ::testing::ContainsRegex("L2 +8 +32 +16 +16\n"));
    EXPECT_THAT(shown, HasSubstr("memory: 16 banks of 64 bytes in turn, busy for 60 cycles with an access"));
    const auto told = cachetally(directory.path(), {"machine", "show", "generic3-timed", "--json"}).json();
    EXPECT_EQ(told["memories"][0]["banks"], 16);
    EXPECT_THAT(cachetally(directory.path(), {"machine", "show", "generic3"}).out, Not(HasSubstr("bus below")));
}

TEST(Usage, MachineShowTellsWhatCachesDoBesides) {
    const TemporaryDirectory directory;
    const auto shown = [&](const char* name) { return cachetally(directory.path(), {"machine", "show", name}).out; };
    EXPECT_THAT(shown("x86-desktop"), ::testing::ContainsRegex("L3 .* memory +exclusive"));
    EXPECT_THAT(shown("coherent8"), ::testing::ContainsRegex("L2 +256 KiB +8 +64 +10 +1 "));
    EXPECT_THAT(shown("coherent8"), HasSubstr("caches of several cores are kept coherent: mesi, by directory"));
    EXPECT_THAT(shown("generic3"), HasSubstr("pages of 4 KiB, mapped: "));
    EXPECT_THAT(shown("generic3"), HasSubstr("page walks: reads of the page table, plus 0 cycles\n"));
    write_contents(directory / "walks.yaml",
                   "name: walks\ncaches: [{name: L1, size: 1 KiB, ways: 2, next: memory}]\n"
                   "tlbs: [{name: T, entries: 4, ways: 2}]\n"
                   "pages: {walk: {latency: 20, caches: [2, 4]}}\n");
    EXPECT_THAT(shown("walks.yaml"),
                HasSubstr("page walks: reads of the page table, plus 20 cycles; page-walk caches of 2, 4 entries\n"));
}

struct Refusal {
    const char* name;
    Words words;
    std::vector<const char*> says;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithAMessageAndStatus2) {
    const TemporaryDirectory directory;
    write_contents(directory / "t.din", "0 1000\n");
    const Finished finished = cachetally(directory.path(), GetParam().words);
    EXPECT_EQ(finished.status, 2);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, AnyOf(StartsWith("cachetally: "), StartsWith("generic4: error: ")));
    for (const char* text : GetParam().says) EXPECT_THAT(finished.err, HasSubstr(text));
    EXPECT_EQ(listing(directory.path()), "t.din");
}

INSTANTIATE_TEST_SUITE_P(
    Words, Refused,
    ::testing::Values(
        Refusal{"Command", {"rnu", "lu"}, {"'rnu'", "did you mean 'run'"}},
        Refusal{"SubCommand", {"trace", "conver"}, {"'conver'", "did you mean 'convert'", "'cachetally trace --help'"}},
        Refusal{"Option", {"replay", "t.din", "--fromat=din"}, {"'--fromat=din'", "did you mean '--format'"}},
        Refusal{"Surplus", {"trace", "info", "t.din", "u.din"}, {"'u.din'"}},
        Refusal{"Missing", {"replay"}, {"TRACE is required", "'cachetally replay --help'"}},
        Refusal{"NoSubCommand",
                {"machine"},
                {"a command is missing; known are: list, show", "'cachetally machine --help'"}},
        Refusal{"NoValue", {"run", "lu", "--monitor"}, {"--monitor needs a value: --monitor SPEC"}},
        Refusal{"Twice",
                {"replay", "t.din", "--machine", "generic2", "--machine", "generic3"},
                {"--machine is given 2 times; give it once"}},
        Refusal{"BeforeTheCommand",
                {"--machine", "generic3", "run", "lu"},
                {"'--machine' stands before the command; write it behind: cachetally run ..."}},
        Refusal{"Workload", {"run", "lux"}, {"'lux'", "did you mean 'lu'"}},
        Refusal{"Setting", {"run", "lu", "blocks=4"}, {"blocks", "block"}},
        Refusal{"SettingRange", {"run", "lu", "n=0"}, {"n", "0"}},
        Refusal{"SettingWord", {"run", "lu", "n=many"}, {"many"}},
        Refusal{"Source", {"sweep", "gup"}, {"'gup'", "neither a workload nor a trace", "did you mean 'gups'"}},
        Refusal{"SettingOfTrace", {"sweep", "t.din", "n=4"}, {"'n=4'", "'t.din' is a trace"}},
        Refusal{"Machine", {"replay", "t.din", "--machine", "generic4"}, {"generic4", "generic3"}},
        Refusal{"Format",
                {"replay", "t.din", "--format", "xml"},
                {"--format: 'xml' is not possible; known are: auto, lackey"}},
        Refusal{"Cores", {"replay", "t.din", "--cores", "0"}, {"--cores", "256"}},
        Refusal{"NotANumber",
                {"replay", "t.din", "--count", "-1"},
                {"--count: '-1'", "write a whole number of at least 0\n"}},
        Refusal{"SweepNumber", {"sweep", "t.din", "--max-references", "-1"}, {"--max-references", "-1"}},
        Refusal{"EmptyName", {"replay", ""}, {"name of the trace is empty"}},
        Refusal{"Quantum", {"replay", "t.din", "--quantum", "5"}, {"--quantum 5", "ps, ns, us or ms"}},
        Refusal{"HugeQuantum", {"replay", "t.din", "--quantum", "99999999999999999ms"}, {"--quantum", "at most"}},
        Refusal{"DinBytes", {"replay", "t.din", "--din-bytes", "65536"}, {"--din-bytes", "65535"}},
        Refusal{"NearFormat", {"replay", "t.din", "--format", "lacky"}, {"did you mean 'lackey'"}},
        Refusal{"Columns",
                {"figure", "heat", "x.h5", "-o", "x.svg", "--columns", "3"},
                {"--columns: '3'", "whole number from 1 to 2"}},
        Refusal{"Traffic", {"trackers", "t.din", "--traffic", "0"}, {"--traffic: '0'", "write a number above 0"}},
        Refusal{"Level", {"trace", "convert", "t.din", "o.h5", "--level", "20"}, {"--level", "12"}},
        Refusal{"CountByItsFormerName",
                {"run", "lu", "--max-references", "1X"},
                {"--max-references: '1X' is not possible"}},
        Refusal{"CountByItsFormerNameAtOnce", {"sweep", "lu", "--max-references=1X"}, {"--max-references: '1X'"}},
        Refusal{"FormerNameWithoutValue",
                {"run", "lu", "--max-references"},
                {"--max-references needs a value: --max-references"}},
        Refusal{"Count", {"run", "lu", "--count", "1X"}, {"--count: '1X' is not possible"}},
        Refusal{"MonitorKey", {"replay", "t.din", "--monitor", "conters=4"}, {"conters", "counters"}},
        Refusal{"MonitorLink", {"replay", "t.din", "--monitor", "link=L9-L10"}, {"L9-L10", "L1D-L2"}},
        Refusal{"MonitorNumber", {"replay", "t.din", "--monitor", "counters=0"}, {"counters", "0"}},
        Refusal{
            "NoneAndMore", {"replay", "t.din", "--monitor", "none", "--monitor", "link=L1D-L2"}, {"'--monitor none'"}},
        Refusal{"Counters", {"sweep", "t.din", "--counters", "16,x"}, {"--counters", "'x'", "16,32,64"}},
        Refusal{"Granularity", {"sweep", "t.din", "--granularity", "6-1"}, {"--granularity", "6-1"}},
        Refusal{"Eviction", {"sweep", "t.din", "--eviction", "lur"}, {"'--eviction lur': 'lur' is not"}},
        Refusal{"SweepLink", {"sweep", "t.din", "--link", "nowhere"}, {"nowhere"}},
        Refusal{"DotAndJson", {"machine", "show", "generic3", "--dot", "--json"}, {"--dot excludes --json"}},
        Refusal{"NoSuchCore", {"replay", "t.din", "--monitor", "link=core-L1D,cores=7"}, {"no core 7", "has one"}},
        Refusal{"IdleCoreOfRun",
                {"run", "lu", "n=16", "--cores", "2", "--monitor", "link=core-L1D,cores=1"},
                {"cores=1'", "runs on core 0 of the 2 cores", "write cores=0"}},
        Refusal{"IdleCoreOfSweep",
                {"sweep", "lu", "n=16", "--cores", "2", "--monitor", "cores=1"},
                {"cores=1'", "runs on core 0 of the 2 cores", "write cores=0"}},
        Refusal{"IdleCoreOfTrackers",
                {"trackers", "lu", "n=16", "--cores", "2", "--monitor", "cores=1"},
                {"cores=1'", "runs on core 0 of the 2 cores", "write cores=0"}},
        Refusal{"IdleCoreOfIntrusion",
                {"intrusion", "lu", "n=16", "--cores", "2", "--monitor", "cores=1"},
                {"cores=1'", "runs on core 0 of the 2 cores", "write cores=0"}},
        Refusal{"NothingToSee", {"replay", "t.din", "--monitor", "link=core-L1D,kinds=fill"}, {"load, store"}},
        Refusal{"EmptyOutput", {"replay", "t.din", "-o", ""}, {"--output", "the name of a file"}},
        Refusal{"EmptyOut", {"trace", "convert", "t.din", ""}, {"OUT", "the name of a file"}},
        Refusal{"TraceOptionOfKernel", {"sweep", "lu", "--format", "din"}, {"--format", "'lu' is a kernel"}},
        Refusal{"LongRange", {"sweep", "t.din", "--granularity", "1-5000"}, {"'--granularity 1-5000'", "1 to 4096"}},
        Refusal{"GranularityWord", {"sweep", "t.din", "--granularity", "1,x"}, {"'--granularity 1,x'", "'x'"}},
        Refusal{"EvictionWord", {"sweep", "t.din", "--eviction", "lru,x"}, {"'--eviction lru,x'", "fifo"}},
        Refusal{"ManyCounters", {"sweep", "t.din", "--counters", "4194305"}, {"at most 4194304"}},
        Refusal{"SweptKey", {"sweep", "t.din", "--monitor", "counters=4"}, {"counters", "--counters 16,32"}},
        Refusal{"LinkOfSweep", {"sweep", "t.din", "--monitor", "link=L1D-L2"}, {"write --link NAME"}},
        Refusal{"PresetMachine",
                {"sweep", "lu", "--preset", "paper-2002", "-m", "generic3"},
                {"--machine cannot stand beside --preset", "--counters"}},
        Refusal{"PresetSetting", {"sweep", "lu", "n=16", "--preset", "paper-2002"}, {"an option of the kernel"}},
        Refusal{"PresetShort",
                {"sweep", "lu", "--preset", "paper-2002", "--count", "10"},
                {"--count cannot stand beside --preset"}},
        Refusal{"TraceOfRun",
                {"run", "t.din"},
                {"'t.din' is a file, not a kernel; traces are run by 'cachetally replay t.din'"}},
        Refusal{"StandardInputOfRun", {"run", "-"}, {"'-' is standard input", "'cachetally replay -'"}},
        Refusal{"KernelOfReplay", {"replay", "lu"}, {"'lu' is a kernel", "kernels are run by 'cachetally run lu'"}},
        Refusal{
            "KernelOfInfo", {"trace", "info", "lu"}, {"'lu' is a kernel", "'cachetally trace convert lu lu.ct.h5'"}},
        Refusal{"EmptyTrace", {"trace", "info", ""}, {"name of the trace is empty"}},
        Refusal{"SettingBelow", {"run", "lu", "n=-5"}, {"n=-5 is out of range; it must be from 1 to"}},
        Refusal{"SettingAbove", {"run", "lu", "n=99999999999999999999"}, {"is out of range; it must be from 1 to"}},
        Refusal{"SettingPart", {"run", "lu", "n=1.3"}, {"n=1.3 is not a whole number"}},
        Refusal{"ManyReferences", {"run", "lu", "--max-references", "1.3M"}, {"'1.3M'", "write a whole number"}},
        Refusal{"LongCounters", {"sweep", "t.din", "--counters", "1-5000"}, {"5000 counters; at most 1000"}},
        Refusal{"CountersDown", {"sweep", "t.din", "--counters", "20-16"}, {"'20-16' is not an ascending range"}},
        Refusal{"EmptyPreset", {"sweep", "lu", "--preset", ""}, {"--preset", "paper-2002"}},
        Refusal{"WorkloadWithCommas",
                {"run", "lu,n=96,block=16"},
                {"there is no workload 'lu,n=96,block=16'; its options are words of their own: lu n=96 block=16"}},
        Refusal{"EmptyWorkload", {"run", ""}, {"there is no workload ''; known are"}},
        Refusal{"Preset", {"sweep", "lu", "--preset", "paper-2022"}, {"paper-2022", "paper-2002"}}),
    [](const auto& refusal) { return std::string(refusal.param.name); });

TEST(Usage, MessagesStayShortWhateverIsGiven) {
    const TemporaryDirectory directory;
    const std::string word = "\x1b[31m" + std::string(5000, 'x');
    for (const Words& words : {Words{word}, {"sweep", word}, {"run", word}, {"run", "lu", word}}) {
        const Finished finished = cachetally(directory.path(), words);
        EXPECT_EQ(finished.status, 2);
        EXPECT_LT(finished.err.size(), 1500U) << words.front().substr(0, 10);
        EXPECT_THAT(finished.err, Not(HasSubstr("\x1b")));
    }
}

}  // namespace
}  // namespace cachetally::testing
