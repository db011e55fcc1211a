// SPDX-License-Identifier: BSD-3-Clause
// cachetally sweep: every cell is what cachetally run tells of the same monitor alone, whatever is varied; and how many
// runs that takes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.hpp"
#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// Splits "radix keys=300" for a command line.
Words words_of(const std::string& text) {
    Words words{""};
    for (const char letter : text)
        if (letter == ' ')
            words.emplace_back();
        else
            words.back() += letter;
    return words;
}

std::string with_commas(std::string text) {
    std::ranges::replace(text, ' ', ',');
    return text;
}

class SweepCells : public ::testing::Test {
protected:
    json good_json(const Words& words) const {
        const Finished finished = cachetally(directory_.path(), words + Words{"--json"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished.json();
    }

    /// The row is that of the monitor alone.
    void expect_equal(const json& row, const std::string& machine, const std::string& common) const {
        const json granularity = row["granularity"];
        const std::string monitor =
            fmt::format("link={},counters={},granularity={},eviction={}{}{}", row["link"].get<std::string>(),
                        row["counters"].get<unsigned>(),
                        granularity.is_string() ? granularity.get<std::string>() : granularity.dump(),
                        row["eviction"].get<std::string>(), row["settings"] == "" ? "" : ",",
                        row["settings"].get<std::string>() + (common.empty() ? "" : "," + common));
        const json alone =
            good_json(Words{"run"} + words_of(row["workload"]) + Words{"-m", machine, "--monitor", monitor});
        const json& told = alone["monitors"].front();
        for (const char* key : {"events", "swapouts", "error", "bytes_per_event"})
            EXPECT_EQ(row[key], told[key])
                << key << " of " << monitor << " in " << row["workload"] << " on " << machine;
    }

    TemporaryDirectory directory_;
};

struct RandomSweep {
    const char *machine, *first, *second;  ///< workloads
    const char* links;
};
constexpr RandomSweep random_sweeps[] = {
    {"schulz2002", "lu n=16 block=8", "radix keys=300", "core-L1,L1-L2"},
    {"generic3", "radix keys=300", "chase size=4K", "L1D-L2,core-L1D"},
    {"coherent8", "radix keys=300 processors=4", "lu n=16 block=8", "core-L1D,L2-L3"},
    {"generic3-timed", "lu n=16 block=8", "radix keys=200", "L1D-L2,L3-memory"},
};
constexpr const char* varied[] = {"ways=0,2",
                                  "width=2-4",
                                  "kinds=load,load+store",
                                  "range=0x0-0x4000000000,0x4000000000-0x8000000000",
                                  "barriers=on,off",
                                  "line=64,128",
                                  "path=memory,link",
                                  "overflow=drop,stall",
                                  "capacity=3,50",
                                  "drain=full,watermark:2,periodic:300",
                                  "write_cost=0,7",
                                  "record=8,16"};

TEST_F(SweepCells, AreThoseOfTheMonitorAlone) {
    Random random(11);
    std::set<std::string> drawn;
    for (unsigned number = 0; number < 12; ++number) {
        const RandomSweep& sweep = random_sweeps[number % 4];
        const std::string common = number % 3 == 0 ? "drain_cost=5" : "";
        const std::string one = varied[number], other = varied[(number + 1 + random.below(11)) % 12];
        Words words{"sweep"};
        words = words + words_of(sweep.first) +
                Words{"--workload",
                      with_commas(sweep.second),
                      "--link",
                      sweep.links,
                      "-m",
                      sweep.machine,
                      "--counters",
                      "4,10",
                      "--granularity",
                      "1,2",
                      "--eviction",
                      number % 2 == 0 ? "lru" : "fifo,lfu",
                      "--vary",
                      one,
                      "--vary",
                      other};
        if (!common.empty()) words = words + Words{"--monitor", common};
        const json told = good_json(words);
        ASSERT_GE(told["rows"].size(), 32U);
        for (int i = 0; i < 6; ++i) {
            const json& row = told["rows"][random.below(told["rows"].size())];
            expect_equal(row, sweep.machine, common);
            drawn.insert(row["workload"]);
        }
    }
    EXPECT_EQ(drawn.size(), 5U) << "all workloads";
}

// Records on buses change the order in which eight cores meet, and with it what misses.
TEST_F(SweepCells, OfCoresThatRecordsDelayAreThoseOfTheMonitorAlone) {
    const std::string machine = CACHETALLY_SOURCE_DIR "/examples/sweeps/coherent8-timed.yaml";
    const json told = good_json({"sweep", "ocean", "n=32", "levels=4", "cycles=1", "processors=8", "-m", machine,
                                 "--link", "L1D-L2,L3-memory", "--counters", "16", "--granularity", "1,4"});
    ASSERT_EQ(told["rows"].size(), 4U);
    for (const json& row : told["rows"]) expect_equal(row, machine, "");
}

TEST_F(SweepCells, TakeOnePassWhereNothingFeedsBack) {
    const Words lu{"sweep", "lu", "n=16", "block=8", "--counters", "4,8", "--granularity", "1,2"};
    const auto runs = [&](const Words& more) { return good_json(lu + more)["runs"].get<int>(); };
    const Words links{"--link", "core-L1D,L1D-L2,L2-L3", "--vary", "ways=0,2,4", "--vary", "width=4-8"};
    EXPECT_EQ(runs(links), 1);
    EXPECT_EQ(runs(links + Words{"--workload", "radix,keys=200"}), 2) << "what is named twice is run once";
    EXPECT_EQ(runs({"--vary", "capacity=4,8", "--monitor", "drain_cost=20", "-m", "generic3-timed"}), 1)
        << "time changes nothing of one stream";
    EXPECT_EQ(runs({"--vary", "path=memory,link"}), 1 + 4);
    EXPECT_EQ(runs({"--vary", "overflow=stall,drop", "--monitor", "drain_cost=20"}), 1 + 4);
    EXPECT_EQ(runs({"--vary", "overflow=stall,drop"}), 1) << "a ring that is emptied at once loses nothing";
    EXPECT_EQ(runs({"--vary", "path=memory,link", "--slowdown"}), 1 + 8);
    const Words four{"processors=4", "--cores", "4"};
    EXPECT_EQ(runs(four), 1);
    EXPECT_EQ(runs(four + Words{"--vary", "write_cost=0,1"}), 1 + 4);
    EXPECT_EQ(runs(four + Words{"-m", "generic3-timed"}), 1 + 4);
}

TEST_F(SweepCells, WrongOnesAreRefused) {
    const Words lu{"sweep", "lu", "n=16", "block=8", "--counters", "12", "--granularity", "1"};
    for (const auto& [words, says] :
         {std::pair<Words, const char*>{{"--vary", "ways"}, "'--vary ways': write a key"},
          {{"--vary", "ways=4-1"}, "is not an ascending range"},
          {{"--vary", "ways=5"}, "12 counters cannot be divided into sets of 5"},
          {{"--vary", "way=4"}, "a monitor has no 'way'; did you mean 'ways'?"},
          {{"--vary", "counters=4"}, "write --counters"},
          {{"--vary", "filter=load"}, "it counts is filtered by 'kinds', 'range' and 'cores'"},
          {{"--vary", "link=L1D-L2"}, "write --link"},
          {{"--vary", "width=4", "--monitor", "width=8"}, "--vary width=4: --monitor has 'width=8', too"},
          {{"--vary", "width=4", "--vary", "width=8"}, "'width' is given twice"},
          {{"--vary", "drain=watermark:5000"}, "from 1 to the capacity (4096)"},
          {{"--vary", "seed=1-900", "--vary", "width=4,5"}, "1800 combinations; at most 1000"},
          {{"--link", "core-L1D,L1D-L3"}, "no link 'L1D-L3'"},
          {{"--workload", "lv,n=16"}, "'lv' is neither a workload nor a trace"},
          {{"--objectives", "eror"}, "did you mean 'error'?"},
          {{"--where", "error=5"}, "is not a bound"},
          {{"--where", "error<5,slowdown<1"}, "the slowdown was not measured; sweep --slowdown measures it"},
          {{"--objectives", "error,slowdown"}, "the slowdown was not measured"},
          {{"--tolerance", "-1"}, "--tolerance"}}) {
        const Finished refused = cachetally(directory_.path(), lu + words);
        EXPECT_EQ(refused.status, 2) << says;
        EXPECT_THAT(refused.err, HasSubstr(says));
    }
    const Finished none = cachetally(directory_.path(), {"sweep"});
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("WORKLOAD is required"));
}

// Sets of five have no twelve counters, and dynamic windows no sets.
TEST_F(SweepCells, ImpossibleOnesAreLeftOutWhereOthersRemain) {
    const Finished finished =
        cachetally(directory_.path(), {"sweep", "lu", "n=16", "block=8", "--counters", "12,15", "--granularity",
                                       "1,dynamic:4", "--vary", "ways=0,5", "--json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("with ways=5 are left out: 12 counters (12 counters cannot be divided"));
    EXPECT_THAT(finished.err, HasSubstr("with ways=5 are left out: granularity dynamic:4 ("));
    const json rows = finished.json()["rows"];
    std::vector<std::string> cells;
    for (const json& row : rows)
        if (row["settings"] == "ways=5") cells.push_back(row["counters"].dump() + " " + row["granularity"].dump());
    EXPECT_EQ(cells, std::vector<std::string>{"15 1"});
    EXPECT_EQ(rows.size(), 4U + 1U);
    const Words stores{"sweep",      "lu", "n=16",          "block=8", "--vary", "kinds=load+store,store",
                       "--counters", "8",  "--granularity", "1",       "--json"};
    const Finished linked = cachetally(directory_.path(), stores + Words{"--link", "core-L1D,L1D-L2"});
    ASSERT_EQ(linked.status, 0) << linked.err;
    EXPECT_THAT(linked.err, HasSubstr("a monitor of store would see nothing on 'L1D-L2'"));
    EXPECT_EQ(linked.json()["rows"].size(), 3U);
    EXPECT_EQ(cachetally(directory_.path(), stores + Words{"--link", "L1D-L2", "--monitor", "cores=7"}).status, 2);
}

/// Circles in a figure of a front.
std::size_t circles(const std::string& svg) {
    const std::size_t begin = svg.find("<g id=\"remain\">");
    if (begin == std::string::npos) return 0;
    std::size_t count = 0, at = svg.find("<use ", begin);
    for (const std::size_t end = svg.find("</g>", begin); at < end; at = svg.find("<use ", at + 1)) ++count;
    return count;
}

// The figure has error and bytes as axes, whatever the cells were compared by.
TEST_F(SweepCells, RemainInFiguresAsTheyDoElsewhere) {
    const Words sweep{"sweep", "lu", "n=32", "block=8", "--counters", "16,32", "--granularity", "1-3", "-o", "s.h5"};
    ASSERT_EQ(cachetally(directory_.path(), sweep + Words{"--objectives", "error,bits"}).status, 0);
    std::set<std::size_t> different;
    for (const Words& choice : {Words{}, Words{"--objectives", "bytes"}, Words{"--objectives", "error,bytes,bits"},
                                Words{"--where", "error>1", "--tolerance", "0"}}) {
        const Words figure{"figure", "front", "s.h5", "--metric", "bytes", "-f", "-o", "f.svg"};
        const Finished drawn = cachetally(directory_.path(), figure + choice);
        ASSERT_EQ(drawn.status, 0) << drawn.err;
        std::size_t remain = 0;
        const json told = good_json(Words{"show", "s.h5"} + choice);
        for (const json& row : told["rows"]) remain += row["remains"] == true;
        EXPECT_EQ(circles(contents(directory_ / "f.svg")), remain);
        const json objectives = told["objectives"];
        std::string of = objectives[0];
        for (std::size_t i = 1; i < objectives.size(); ++i) of += ", " + objectives[i].get<std::string>();
        const double percent = 100 * told["tolerance"].get<double>();
        for (const std::string& text : {std::string(">front in error, bytes<"),
                                        fmt::format(">remaining cells: front in {} within {:g} %<", of, percent)})
            EXPECT_THAT(contents(directory_ / "f.svg"), HasSubstr(text));
        different.insert(remain);
    }
    EXPECT_GT(different.size(), 1U);
    const Words wrong{"figure", "front", "s.h5", "-o", "x.svg", "--objectives", "eror"};
    EXPECT_THAT(cachetally(directory_.path(), wrong).err, HasSubstr("did you mean 'error'?"));
}

TEST_F(SweepCells, InFiguresAreThoseOfChosenWorkloadsAndLinks) {
    ASSERT_EQ(cachetally(directory_.path(), {"sweep", "--workload", "lu,n=16", "--workload", "chase", "--count", "1K",
                                             "--link", "core-L1D,L1D-L2", "--counters", "16,32", "-o", "s.h5"})
                  .status,
              0);
    for (const char* kind : {"sweep", "front"}) {
        const Words figure{"figure", kind, "s.h5", "-f", "-o", "f.svg"};
        const auto panels = [&](const Words& choice) {
            const Finished drawn = cachetally(directory_.path(), figure + choice);
            EXPECT_EQ(drawn.status, 0) << drawn.err;
            const std::string svg = contents(directory_ / "f.svg");
            std::vector<std::string> found;
            for (const char* title : {">lu n=16, core-L1D<", ">lu n=16, L1D-L2<", ">chase, core-L1D<"})
                if (svg.find(title) != std::string::npos) found.emplace_back(title);
            return found.size();
        };
        EXPECT_EQ(panels({}), 3U) << kind;
        EXPECT_EQ(panels({"--workload", "lu", "--link", "core-L1D,L1D-L2"}), 2U) << kind;
        EXPECT_EQ(panels({"--link", "core-L1D"}), 2U) << kind;
        EXPECT_THAT(cachetally(directory_.path(), figure + Words{"--workload", "radix"}).err,
                    HasSubstr("there is no workload 'radix'; there are: lu n=16, chase"));
    }
}

TEST_F(SweepCells, InFiguresNameTheDefaultObjectives) {
    const Words sweep{"sweep", "lu", "n=16", "--counters", "16,32", "--granularity", "1,2", "-o", "s.h5"};
    ASSERT_EQ(cachetally(directory_.path(), sweep).status, 0);
    ASSERT_EQ(cachetally(directory_.path(), {"figure", "front", "s.h5", "-o", "f.svg"}).status, 0);
    EXPECT_THAT(contents(directory_ / "f.svg"), HasSubstr(">remaining cells: front in error, bytes, bits within 5 %<"));
}

// What a file was asked for counts on where an option is not given.
// Alone they give the same fronts as beside each other.
TEST_F(SweepCells, OfOtherEventsAreNotCompared) {
    const Words sweep{"sweep", "lu", "n=32", "--counters", "16,64", "--granularity", "1,4", "--vary", "ways=0,4"};
    const json both = good_json(sweep + Words{"--vary", "kinds=load,store", "-o", "both.h5"});
    std::size_t place = 0;
    for (const std::string kind : {"kinds=load", "kinds=store"}) {
        const json alone = good_json(sweep + Words{"--monitor", kind});
        for (json row : alone["rows"]) {
            row["settings"] = fmt::format("{},{}", row["settings"].get<std::string>(), kind);
            EXPECT_EQ(both["rows"][place++], row);
        }
        const Words figure{"figure", "front", "both.h5", "-f", "-o", "f.svg"};
        ASSERT_EQ(cachetally(directory_.path(), figure).status, 0);
        EXPECT_THAT(contents(directory_ / "f.svg"), HasSubstr(">lu n=32, core-L1D, " + kind + "<"));
        EXPECT_THAT(cachetally(directory_.path(), {"show", "both.h5"}).out,
                    HasSubstr("\nlu n=32, core-L1D, " + kind + ": "));
    }
    EXPECT_EQ(place, both["rows"].size());
}

TEST_F(SweepCells, OptionsReplaceOnlyThemselves) {
    const Words sweep{"sweep", "lu", "n=32", "block=8", "--counters", "16,32", "--granularity", "1,2"};
    const Words asked{"--objectives", "error,bits", "--where", "error<5", "--tolerance", "20", "-o", "s.h5"};
    ASSERT_EQ(cachetally(directory_.path(), sweep + asked).status, 0);
    const auto told = [&](const Words& options) {
        const json shown = good_json(Words{"show", "s.h5"} + options);
        return json{shown["objectives"], shown["where"], shown["tolerance"]}.dump();
    };
    EXPECT_EQ(told({}), R"([["error","bits"],"error<5",0.2])");
    EXPECT_EQ(told({"--tolerance", "5"}), R"([["error","bits"],"error<5",0.05])");
    EXPECT_EQ(told({"--where", "none"}), R"([["error","bits"],"",0.2])");
    EXPECT_EQ(told({"--where", "bits<9999"}), R"([["error","bits"],"bits<9999",0.2])");
    EXPECT_EQ(told({"--objectives", "bytes"}), R"([["bytes"],"error<5",0.2])");
    ASSERT_EQ(cachetally(directory_.path(), {"figure", "front", "s.h5", "--tolerance", "0", "-o", "f.svg"}).status, 0);
    EXPECT_THAT(contents(directory_ / "f.svg"), HasSubstr(">remaining cells: front in error, bits within 0 %<"));
}

TEST_F(SweepCells, AreChosenByObjectivesAndBounds) {
    const Words sweep{"sweep", "lu", "n=32", "block=8", "--counters", "16,32", "--granularity", "1,2"};
    ASSERT_EQ(cachetally(directory_.path(), sweep + Words{"-o", "s.h5"}).status, 0);
    const Words choice{"--objectives", "error,bits", "--where", "error<5", "--tolerance", "0"};
    const json told = good_json(sweep + choice);
    EXPECT_EQ(told["objectives"], (json{"error", "bits"}));
    EXPECT_EQ(told["tolerance"], 0.0);
    // G=1 has no error, and 16 counters take fewer bits
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(told["rows"][i]["admitted"], i < 2) << i;
        EXPECT_EQ(told["rows"][i]["front"], i == 0) << i;
        EXPECT_EQ(told["rows"][i]["remains"], i == 0) << i;
    }
    EXPECT_EQ(good_json(Words{"show", "s.h5"} + choice), told) << "a file can be asked again";
    for (const Words& words : {Words{"show", "s.h5"}, Words{"figure", "front", "s.h5", "-o", "f.svg"}}) {
        const Finished untimed = cachetally(directory_.path(), words + Words{"--where", "slowdown<1"});
        EXPECT_EQ(untimed.status, 2) << untimed.err;
        EXPECT_THAT(untimed.err, HasSubstr("'--where slowdown<1': the slowdown was not measured"));
    }
    const Finished refused = cachetally(directory_.path(), {"run", "lu", "n=16", "block=8", "-o", "r.h5"});
    EXPECT_EQ(refused.status, 0);
    EXPECT_THAT(cachetally(directory_.path(), {"show", "r.h5", "--where", "error<5"}).err,
                HasSubstr("mean something for sweeps"));
}

// Whether or not it remains within the tolerance: the least is the least.
TEST_F(SweepCells, TheAnswerNamesTheLeastOfAllThatIsAdmitted) {
    const Words sweep{"sweep", "lu", "n=64", "--objectives", "bytes,error", "--where", "error<50"};
    const json told = good_json(sweep);
    const json* least = nullptr;
    for (const json& row : told["rows"])
        if (row["admitted"] && (!least || row["bytes_per_event"] < (*least)["bytes_per_event"])) least = &row;
    ASSERT_NE(least, nullptr);
    EXPECT_FALSE((*least)["remains"]) << "the case that this is about";
    const std::string text = cachetally(directory_.path(), sweep).out;
    EXPECT_THAT(text, HasSubstr(fmt::format("Least bytes/event: fifo, G={}, C={} (bytes/event {:.3f},",
                                            (*least)["granularity"].get<int>(), (*least)["counters"].get<int>(),
                                            (*least)["bytes_per_event"].get<double>())));
}

// Of cells that are equal in one objective the best in the others: both are exact, four ways take fewer bits.
TEST_F(SweepCells, OfEqualOnesTheAnswerNamesThatWhichTheOthersDoNotBeat) {
    const std::string text =
        cachetally(directory_.path(), {"sweep", "lu", "n=32", "-m", "schulz2002", "--counters", "16", "--granularity",
                                       "1", "--vary", "ways=0,4", "--objectives", "error,bits"})
            .out;
    EXPECT_THAT(text, HasSubstr("Least error, bits: fifo, ways=4, G=1, C=16 (error 0 %, bits 1,319)."));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("Of all")));
}

// So that it is seen by how far.
// Written otherwise the same is counted; what is counted by other lines is not compared.
TEST_F(SweepCells, OfTheSameEventsHaveOneFront) {
    const Words sweep{"sweep", "lu", "n=32", "--counters", "4", "--granularity", "1,2", "-f", "-o", "same.h5"};
    const auto fields = [&](const std::string& vary) {
        const std::string text = cachetally(directory_.path(), sweep + Words{"--vary", vary, "--vary", "ways=0,4"}).out;
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find("\nlu n=32, core-L1D", at + 1)) != std::string::npos;) ++found;
        return found;
    };
    EXPECT_EQ(fields("kinds=load+store,store+load"), 1U);
    EXPECT_EQ(fields("range=0-1M,0x0-0x100000"), 1U);
    EXPECT_EQ(fields("line=0,64"), 1U);
    EXPECT_EQ(fields("line=64,128"), 2U);
}

TEST_F(SweepCells, WhereNothingIsAdmittedTheAnswerIsOfAll) {
    const Words sweep{"sweep", "lu", "n=32", "--counters", "16", "--granularity", "2,4", "--objectives", "error,bits"};
    const json rows = good_json(sweep + Words{"--where", "error<5,bits<100", "-o", "none.h5"})["rows"];
    EXPECT_THAT(
        cachetally(directory_.path(), {"show", "none.h5", "--width", "200"}).out,
        HasSubstr(fmt::format("0 of 2 cells with error<5,bits<100. Of all cells: Least error: fifo, G=2, C=16 (error "
                              "{:.2f} %, bits {}",
                              100 * rows[0]["error"].get<double>(), "1,")));
}

TEST_F(SweepCells, WhereNothingPassesNothingIsTheBest) {
    const std::string text =
        cachetally(directory_.path(), {"sweep", "lu", "n=32", "--link", "core-L1I", "--counters", "4,8"}).out;
    EXPECT_THAT(text, HasSubstr("No event passed the monitors: there is nothing to choose.\n"));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("Least ")));
}

}  // namespace
}  // namespace cachetally::testing
