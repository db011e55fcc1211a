// SPDX-License-Identifier: BSD-3-Clause
// Sweeps in files: read back as written, damage refused; which cells no other beats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "tests/storage/temporary.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally {
namespace {

using cachetally::testing::message_of;
using cachetally::testing::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::Not;

class SweepFiles : public ::testing::Test {
protected:
    static SweepView view_of(const std::vector<SweepCell>& cells) {
        SweepView view;
        view.title = {"lu", {"n=8"}, "none", true, "", "", {}};
        view.link = "core-L1";
        view.monitor = "link=core-L1";
        view.references = 100;
        view.events = 90;
        view.cells = cells;
        for (SweepCell& cell : view.cells) cell.events = view.events;
        view.timed = std::ranges::any_of(cells, [](const auto& cell) { return cell.slowdown.has_value(); });
        return view;
    }

    /// Written as the program does it, and changed.
    SweepView read_again(const SweepView& view, const std::function<void(Group& rows)>& change = {}) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        Group& root = file.root();
        root.create_group("input").set_attribute("name", "lu");
        root.open_group("input").write_texts("settings", view.title.settings);
        root.create_group("machine").set_attribute("name", "none");
        write_sweep(root, view);
        if (change) {
            Group rows = root.open_group("sweep").open_group("rows");
            change(rows);
        }
        file.finish();
        return read_sweep_view(InputFile(path_));
    }

    std::string refusal_of(const std::vector<SweepCell>& cells, const std::function<void(Group& rows)>& change = {}) {
        return message_of([&] { (void)read_again(view_of(cells), change); });
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "s.h5";
};

/// The axis of tables has lines where all granularities are numbers of lines, else their texts.
TEST_F(SweepFiles, MatricesHaveGranularitiesByTheirValues) {
    for (const char* other : {"3", "dynamic:2"}) {
        SweepView view = view_of({});
        for (const std::string granularity : {"6", other})
            for (const std::uint32_t counters : {16U, 32U})
                view.cells.push_back({"fifo", granularity, counters, counters, 0.25, 1.5, {}, {}});
        (void)read_again(view);
        const InputFile file(path_);
        const Group matrix = file.root().open_group("sweep").open_group("matrices").open_group("fifo");
        if (std::string(other) == "3") {
            EXPECT_EQ(matrix.read<std::uint32_t>("granularity"), (std::vector<std::uint32_t>{6, 3}));
            EXPECT_EQ(matrix.texts_attribute("axes"), (std::vector<std::string>{"granularity", "counters"}));
        } else {
            EXPECT_EQ(matrix.read_texts("granularity"), (std::vector<std::string>{"6", "dynamic:2"}));
            EXPECT_EQ(matrix.texts_attribute("axes"), (std::vector<std::string>{".", "counters"}));
        }
    }
}

TEST_F(SweepFiles, AreReadBackAsWritten) {
    SweepView view = view_of({});
    for (const std::uint32_t counters : {16U, 32U})
        view.cells.push_back({"fifo", "1", counters, counters * 3, 0.25, 1.5,
                              SweepCost{counters * 75, counters, counters * 900, 0.75},
                              PublishedFigures{counters * 2, 0.2, counters == 32}});
    for (const std::uint32_t counters : {16U, 32U})
        view.cells.push_back({"fifo", "dynamic:2", counters, 5, 0.5, 2.5, SweepCost{2400, 32, 5000, 1.5}, {}});
    const SweepView read = read_again(view);
    EXPECT_EQ(read.cells, view.cells);
    EXPECT_EQ(to_json(read), to_json(view));
    const std::string text = to_text(read, 80);
    EXPECT_THAT(text, HasSubstr("mean factor over the 1 clean cell: 1.500"));
}

// Several workloads, links and settings in one file, with what is asked of them.
TEST_F(SweepFiles, OfSeveralPartsAreReadBackAsWritten) {
    SweepView view = view_of({});
    view.link = "core-L1,L1-L2";
    view.runs = 7;
    view.choice = parse_choice("slowdown,bits", "error<=30,bits>10", 12.5);
    for (const char* workload : {"lu n=8", "radix"})
        for (const char* link : {"core-L1", "L1-L2"})
            for (const char* settings : {"ways=0", "ways=4"})
                for (const std::uint32_t counters : {16U, 32U})
                    view.cells.push_back({"fifo",
                                          "1",
                                          counters,
                                          5,
                                          0.25,
                                          1.5,
                                          SweepCost{counters * 75, 4, 900, 0.75},
                                          {},
                                          0.5,
                                          workload,
                                          link,
                                          settings,
                                          1000 + view.cells.size()});
    view.timed = true;
    const SweepView read = read_again(view);
    EXPECT_EQ(read.cells, view.cells);
    EXPECT_EQ(to_json(read), to_json(view));
    EXPECT_EQ(to_text(read, 100), to_text(view, 100));
    EXPECT_THAT(to_text(read, 100), HasSubstr(" 1.50 "));  // bytes per event as other columns; the file has all digits
    EXPECT_THAT(to_text(read, 100), Not(HasSubstr("1.5000")));
    const std::string narrow = to_text(read, 50);  // in parts; those of 16 counters are the front
    EXPECT_LT(narrow.find("C: counters. G: lines per counter."), narrow.find("core-L1: "));
    std::size_t marked = 0;
    std::istringstream lines(narrow);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("fifo  ")) {
            const bool of_the_front = line.ends_with("  *") || line.ends_with("  .");
            EXPECT_EQ(of_the_front, line.find("  1  16  ") != std::string::npos) << narrow;
            marked += of_the_front;
        }
    EXPECT_GE(marked, 2 * 12U) << narrow;
    EXPECT_EQ(read.runs, 7U);
    const nlohmann::ordered_json told = to_json(read);
    EXPECT_EQ(told["rows"][5]["link"], "L1-L2");
    EXPECT_EQ(told["rows"][7]["settings"], "ways=4");
    EXPECT_EQ(told["where"], "error<=30,bits>10");
    ASSERT_EQ(told["worst"].size(), 8U);
    const InputFile file(path_);
    const Group sweep = file.root().open_group("sweep"), worst = sweep.open_group("worst");
    EXPECT_FALSE(sweep.has("matrices")) << "one table cannot hold them";
    EXPECT_EQ(worst.read_texts("workload"), std::vector<std::string>(8, "worst of all workloads"));
    const auto events = worst.read<std::uint64_t>("events");
    const auto remains = worst.read<std::uint8_t>("remains");
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(events[i], 1008 + i) << "of radix, which has more than lu";
        EXPECT_EQ(told["worst"][i]["remains"], remains[i] != 0) << i;
    }
    EXPECT_THAT(to_text(read, 200),
                HasSubstr("4 of 4 cells with error<=30,bits>10. Least slowdown, bits: fifo, ways=0, "
                          "G=1, C=16 (slowdown 50.000 %, bits 1,200).\n"));
    const std::string text = to_text(read, 100);
    for (const char* part : {"\nradix, L1-L2: 1,012 to 1,015 events\n", "worst of all workloads, core-L1",
                             "16 cells, 7 runs", "4 of 4 cells with error<=30,bits>10. Least "})
        EXPECT_THAT(text, HasSubstr(part));
    EXPECT_EQ(message_of([&] {
                  (void)read_again(view, [](Group& rows) { rows.write("settings", std::vector<double>{1}); });
              }).empty(),
              false);
}

// As version 0.1 wrote them: without the columns workload, link, settings and events.
TEST_F(SweepFiles, OfVersionsThatHadOneWorkloadAndLink) {
    {
        ResultFile file(path_);
        Group& root = file.root();
        root.create_group("input").set_attribute("name", "lu");
        root.create_group("machine").set_attribute("name", "none");
        Group sweep = root.create_group("sweep");
        sweep.set_attribute("link", "core-L1");
        sweep.set_attribute("monitor", "link=core-L1");
        sweep.set_attribute("references", std::uint64_t{100});
        sweep.set_attribute("events", std::uint64_t{90});
        Group rows = sweep.create_group("rows");
        for (const char* name : {"eviction", "granularity"}) rows.write_texts(name, std::vector<std::string>{"1"});
        rows.write("counters", std::vector<std::uint32_t>{16});
        rows.write("swapouts", std::vector<std::uint64_t>{5});
        for (const char* name : {"error", "bytes_per_event"}) rows.write(name, std::vector<double>{0.5});
        file.finish();
    }
    const SweepView read = read_sweep_view(InputFile(path_));
    EXPECT_EQ(read.cells, (std::vector<SweepCell>{{"1", "1", 16, 5, 0.5, 0.5, {}, {}, {}, "", "core-L1", "", 90}}));
    EXPECT_FALSE(to_json(read).contains("runs")) << "the file does not say";
    EXPECT_THAT(to_text(read, 80), HasSubstr("90 events on core-L1\n"));
}

// What a monitor is worth in all workloads is the worst that it gives in any.
TEST(SweepWorst, OfAllWorkloads) {
    const auto cell = [](const char* workload, std::uint32_t counters, double error, std::optional<double> slowdown) {
        return SweepCell{"fifo", "1", counters, 5, error, 1 - error, {}, {}, slowdown, workload, "core-L1", "", 9};
    };
    const std::vector<SweepCell> cells{cell("a", 16, 0.5, 0.1), cell("a", 32, 0.25, 0.1), cell("b", 32, 0.75, 0.0),
                                       cell("b", 64, 0.0, 0.0)};
    const std::vector<SweepCell> worst = worst_of(cells);
    ASSERT_EQ(worst.size(), 1U) << "of 16 and 64 counters not all workloads are known";
    EXPECT_EQ(worst[0].counters, 32U);
    EXPECT_EQ(worst[0].error, 0.75);
    EXPECT_EQ(worst[0].bytes_per_event, 0.75);
    EXPECT_EQ(worst[0].slowdown, 0.1);
    EXPECT_TRUE(worst_of(std::span(cells).first(2)).empty()) << "one workload is no more than itself";
}

TEST_F(SweepFiles, OfVersionsThatDidNotTellTheCost) {
    const std::vector<SweepCell> cells{{"fifo", "1", 16, 5, 0.5, 2.5, {}, {}}};
    const SweepView view = view_of(cells);
    const SweepView read = read_again(view);
    EXPECT_EQ(read.cells, view.cells);
    EXPECT_FALSE(to_json(read)["rows"][0].contains("bits"));
    EXPECT_THAT(to_text(read, 80), Not(HasSubstr("energy/event")));
}

// A cell that was not run is not one that costs nothing.
TEST_F(SweepFiles, TellSlowdownsThatAreKnown) {
    const SweepCost cost{2400, 32, 5000, 1.5};
    std::vector<SweepCell> cells{{"fifo", "1", 16, 5, 0.5, 2.5, cost, {}, -0.125},
                                 {"fifo", "1", 32, 5, 0.5, 2.5, cost, {}, 0.0},
                                 {"fifo", "1", 64, 5, 0.5, 2.5, cost, {}, {}}};
    const SweepView some = read_again(view_of(cells));
    EXPECT_EQ(some.cells, view_of(cells).cells);
    EXPECT_EQ(to_json(some)["rows"][0]["slowdown"], -0.125);
    EXPECT_EQ(to_json(some)["rows"][1]["slowdown"], 0.0);
    EXPECT_TRUE(to_json(some)["rows"][2].at("slowdown").is_null());
    const std::string text = to_text(some, 100);
    for (const char* part :
         {" -12.500 ", " 0         2.50", " ? ", "as good in error, bytes/event and bits", "?: there is no"})
        EXPECT_THAT(text, HasSubstr(part));
    SweepView asked = view_of(cells);  // as of one that was interrupted
    asked.choice = parse_choice("slowdown,bits", "");
    EXPECT_THAT(to_text(asked, 100),
                HasSubstr("Least slowdown, bits: fifo, G=1, C=16 (slowdown -12.500 %, bits 2,400)."));
    asked.cells.erase(asked.cells.begin(), asked.cells.begin() + 2);
    EXPECT_THAT(to_text(asked, 100), Not(HasSubstr("Least")));
    cells[2].slowdown = 0.25;
    EXPECT_THAT(to_text(read_again(view_of(cells)), 100), HasSubstr("as good in error, slowdown, bytes/event"));
    SweepView none = view_of(cells);
    none.timed = false;
    for (SweepCell& cell : none.cells) cell.slowdown.reset();
    EXPECT_THAT(to_text(read_again(none), 100), Not(HasSubstr("slow")));
    EXPECT_FALSE(to_json(read_again(none))["rows"][0].contains("slowdown"));
}

// Interrupted before the first was known, or none can be known: asked for they were.
TEST_F(SweepFiles, TellSlowdownsThatWereAskedForAndAreNotKnown) {
    SweepView view = view_of({{"fifo", "1", 16, 5, 0.5, 2.5, SweepCost{2400, 32, 5000, 1.5}, {}, {}}});
    view.timed = true;
    view.slowdown_unknown = "with it time passes";
    const SweepView read = read_again(view);
    EXPECT_TRUE(read.timed);
    EXPECT_TRUE(to_json(read)["rows"][0].at("slowdown").is_null());
    EXPECT_EQ(to_json(read)["slowdown_unknown"], "with it time passes");
    EXPECT_THAT(to_text(read, 100), HasSubstr("slower %"));
    EXPECT_THAT(to_text(read, 100), HasSubstr("\n?: with it time passes.\n"));
}

TEST_F(SweepFiles, DamagedOnesAreRefused) {
    const SweepCost cost{2400, 32, 5000, 1.5};
    const SweepCell good{"fifo", "1", 16, 5, 0.5, 2.5, cost, {}};
    const auto with = [&](auto change) {
        SweepCell cell = good;
        change(cell);
        return std::vector<SweepCell>{good, cell};
    };
    const auto granularities = [&](const std::vector<const char*>& names) {
        std::vector<SweepCell> cells(names.size(), good);
        for (std::size_t i = 0; i < names.size(); ++i) cells[i].granularity = names[i];
        return cells;
    };
    EXPECT_EQ(refusal_of({good, good}), "");
    const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
    for (const auto& [cells, says] :
         {std::pair{with([&](SweepCell& cell) { cell.error = nan; }), "'error' has nan"},
          {with([&](SweepCell& cell) { cell.bytes_per_event = infinite; }), "'bytes_per_event' has inf"},
          {with([&](SweepCell& cell) { cell.cost->energy = nan; }), "'energy' has nan"},
          {with([&](SweepCell& cell) { cell.slowdown = -infinite; }), "'slowdown' has -inf"},
          {granularities({"7", "1", "1"}), "same numbers of counters"},
          {granularities({"1", "1", "7"}), "same numbers of counters"}})
        EXPECT_THAT(refusal_of(cells), HasSubstr(says));
    EXPECT_THAT(refusal_of({good, good}, [](Group& rows) { rows.write("slowdown", std::vector<double>{0.5}); }),
                HasSubstr("'slowdown' has 1 rows instead of 2"));
    EXPECT_THAT(refusal_of({good}, [](Group& rows) { rows.write_texts("slowdown", std::vector<std::string>{"0.5"}); }),
                HasSubstr("slowdown: does not hold numbers"));
    EXPECT_THAT(refusal_of({good}, [](Group& rows) { rows.create_group("slowdown"); }), HasSubstr("slowdown"));
}

// Columns that have no room follow in a second table, with the cells' names and all that the first one leaves out.
TEST(SweepText, WithSlowdownFitsTheWidth) {
    SweepView view;
    view.title = {"lu", {}, "none", true, "", "", {}};
    view.link = "core-L1";
    for (const std::uint32_t counters : {16U, 1024U})
        view.cells.push_back({"clear_all",
                              "1",
                              counters,
                              123456789,
                              0.25,
                              1.5,
                              SweepCost{counters * 7500, counters, counters * 90000, 75123.25},
                              {},
                              counters / 1e4});
    for (SweepCell& cell : view.cells) cell.events = 90;
    view.timed = true;
    const auto longest = [&](unsigned width) {
        std::size_t most = 0;
        std::istringstream lines(to_text(view, width));
        for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
        return most;
    };
    EXPECT_GT(longest(200), 80U);
    EXPECT_THAT(to_text(view, 200), HasSubstr("\neviction   G     C  error %"));
    for (const unsigned width : {60U, 80U, 100U}) {
        EXPECT_LE(longest(width), width);
        const std::string text = to_text(view, width);
        for (const char* field : {"slower", "10.240", "energy/event", "75,123", "1024", "comparators", "area"})
            EXPECT_THAT(text, HasSubstr(field)) << width;
    }
}

std::vector<bool> fronts(std::vector<SweepCell> cells) {
    for (SweepCell& cell : cells) cell.events = 90;
    std::vector<bool> front;
    for (const Standing& standing : standings_of(cells, {})) front.push_back(standing.front);
    return front;
}

TEST(SweepFront, CellsThatNoOtherBeats) {
    const auto cell = [](std::uint64_t bits, double error, double traffic) {
        return SweepCell{"fifo", "1", 1, 0, error, traffic, SweepCost{bits, 0, 0, 0}, {}};
    };
    const std::vector<SweepCell> cells{
        cell(10, 0.5, 1.0),  // the smallest
        cell(20, 0.5, 1.0),  // larger, otherwise the same
        cell(20, 0.4, 2.0),  // better error
        cell(20, 0.6, 0.5),  // better traffic
        cell(30, 0.4, 1.0),  // both
        cell(30, 0.4, 1.0),  // the same again: neither beats the other
        cell(40, 0.5, 0.9),  // less traffic than the one before
        cell(50, 0.7, 0.5),  // worse than the fourth
    };
    EXPECT_EQ(fronts(cells), (std::vector<bool>{true, false, true, true, true, true, true, false}));
    std::vector<SweepCell> timed = cells;
    for (SweepCell& each : timed) each.slowdown = 0.25;
    timed[1].slowdown = 0.125;  // now better in something than the first, which is smaller
    timed[5].slowdown = 0.5;    // now worse than its equal
    EXPECT_EQ(fronts(timed), (std::vector<bool>{true, true, true, true, true, false, true, false}));
    timed[1].slowdown = -0.25;  // the quickest: an end that comes earlier is no cost
    EXPECT_EQ(fronts(timed), (std::vector<bool>{true, true, true, true, true, false, true, false}));
    timed[2].slowdown = timed[3].slowdown = timed[4].slowdown = 0.5;
    timed[6].slowdown = -0.25;  // larger, and as quick as the second, with less traffic
    EXPECT_EQ(fronts(timed), (std::vector<bool>{true, true, true, true, true, true, true, true}));
    timed[7].slowdown.reset();  // not known of all cells: it does not count
    EXPECT_EQ(fronts(timed), fronts(cells));
    std::vector<SweepCell> unknown = cells;
    unknown[0].cost.reset();
    EXPECT_EQ(fronts(unknown), (std::vector<bool>{false, true, true, true, true, true, true, false}));
}

}  // namespace
}  // namespace cachetally
