// SPDX-License-Identifier: BSD-3-Clause
// What monitors cost: read back from files as written, told in text and JSON, damage refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/storage/temporary.hpp"
#include "viewer/intrusion_view.hpp"

namespace cachetally {
namespace {

using cachetally::testing::message_of;
using cachetally::testing::TemporaryDirectory;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class IntrusionFiles : public ::testing::Test {
protected:
    /// Two configurations, of which the first ends earlier than the run without monitor.
    static IntrusionView made_up() {
        IntrusionView view;
        view.title = {"lu", {"n=8"}, "none", true, "", "", {}};
        view.references = 100;
        view.cycles = 200;
        view.links = {"core-L1", "L1-memory"};
        view.levels = {"L1", "DTLB", "STLB"};
        view.traffic = {{100, 800}, {5, 320}};
        view.misses = {5, 2, 1};
        view.rows.push_back({parse_monitor("link=core-L1,counters=4,capacity=16,drain=watermark,watermark=8"),
                             {.cycles = -50,
                              .events = 80,
                              .records = 3,
                              .swapouts = 7,
                              .bytes = 100,
                              .stall = 11,
                              .lost = 13,
                              .lost_records = 2,
                              .ring_high_water = 9,
                              .misses = {-4, 1, 0},
                              .traffic = {{17, 19}, {-23, -29}}}});
        view.rows.push_back({parse_monitor("link=core-L1,counters=8,granularity=dynamic:2"),
                             {.cycles = 25, .misses = {0, 0, 0}, .traffic = {{1, 2}, {0, 0}}}});
        return view;
    }

    IntrusionView read_again(const IntrusionView& view) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        Group& root = file.root();
        root.create_group("input").set_attribute("name", "lu");
        root.open_group("input").write_texts("settings", view.title.settings);
        root.create_group("machine").set_attribute("name", "none");
        write_intrusion(root, view);
        file.finish();
        return read_intrusion_view(InputFile(path_));
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "i.h5";
};

TEST_F(IntrusionFiles, AreReadBackAsWritten) {
    const IntrusionView view = made_up(), read = read_again(view);
    EXPECT_EQ(read.rows, view.rows);
    EXPECT_EQ(read.links, view.links);
    EXPECT_EQ(read.levels, view.levels);
    EXPECT_EQ(read.misses, view.misses);
    EXPECT_EQ(to_json(read), to_json(view));
    EXPECT_EQ(to_text(read, 120), to_text(view, 120));
    IntrusionView none = view;
    none.rows.clear();
    EXPECT_EQ(to_json(read_again(none)), to_json(none));
}

TEST_F(IntrusionFiles, AreToldWithTheirSigns) {
    const auto json = to_json(made_up());
    const auto& row = json["rows"][0];
    EXPECT_EQ(json["cycles"], 200);
    EXPECT_EQ(json["traffic"]["L1-memory"]["bytes"], 320);
    EXPECT_EQ(row["extra_cycles"], -50);
    EXPECT_EQ(row["slowdown"], -0.25);
    EXPECT_EQ(row["drain"], "watermark 8");
    EXPECT_EQ(row["bytes_per_event"], 1.25);
    EXPECT_EQ(row["extra_traffic"]["core-L1"]["events"], 17);
    EXPECT_EQ(row["extra_traffic"]["L1-memory"]["events"], -23);
    EXPECT_EQ(row["extra_traffic"]["L1-memory"]["bytes"], -29);
    EXPECT_EQ(row["extra_misses"]["L1"], -4);
    EXPECT_EQ(json["rows"][1]["slowdown"], 0.125);
    EXPECT_EQ(json["rows"][1]["granularity"], "dynamic:2");
    const std::string text = to_text(made_up(), 120);
    EXPECT_THAT(text, HasSubstr("100 references, 200 cycles without monitor"));
    EXPECT_THAT(text, ContainsRegex("core-L1 +4 +1 +16 +watermark 8 +-50 +-25.000 +11 +7 +2 +9 +1.25 +-3\n"));
    EXPECT_THAT(text, ContainsRegex("core-L1 +4 +1 +16 +watermark 8 +17 +-23\n"));
    EXPECT_THAT(text, ContainsRegex("core-L1 +4 +1 +16 +watermark 8 +19 +-29\n"));
}

// A memory of nodes that carries something is told also where the records leave it alone; other links are not.
TEST_F(IntrusionFiles, NumbersAreInFullInAllTables) {
    IntrusionView view = made_up();
    Intrusion& found = view.rows.front().intrusion;
    found.stall = found.swapouts = found.lost_records = found.ring_high_water = 123'456'789;
    found.traffic.front().events = 87'654'321;
    for (unsigned width = 60; width < 180; ++width) {
        const std::string text = to_text(view, width);
        EXPECT_THAT(text, Not(ContainsRegex("[0-9][kM]( |\n)"))) << width;
        EXPECT_THAT(text, HasSubstr("123,456,789")) << width;
        EXPECT_THAT(text, HasSubstr("87,654,321")) << width;
    }
}

TEST_F(IntrusionFiles, MemoriesOfNodesStandSideBySide) {
    IntrusionView view = made_up();
    view.rows.resize(1);
    view.links = {"core-L1", "L1-numa", "numa-interconnect", "numa-M0", "numa-M1", "numa-M2"};
    view.traffic = {{100, 800}, {5, 320}, {2, 128}, {3, 192}, {2, 128}, {0, 0}};
    view.rows[0].intrusion.traffic = {{0, 0}, {7, 112}, {0, 0}, {7, 112}, {0, 0}, {0, 0}};
    const std::string title = "extra events .* L1-numa  numa-interconnect  numa-M0  numa-M1\n";
    EXPECT_THAT(to_text(view, 160), ContainsRegex(title));
    view.rows[0].intrusion.traffic = {{0, 0}, {7, 112}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    EXPECT_THAT(to_text(view, 160), ContainsRegex("extra events .* L1-numa\n"));
}

TEST_F(IntrusionFiles, NothingIsSlowerThanWhatTakesNoTime) {
    IntrusionView view = made_up();
    view.cycles = 0;
    view.rows[0].intrusion.cycles = 0;
    const auto json = to_json(read_again(view));
    EXPECT_EQ(json["rows"][0]["slowdown"], 0.0);
    EXPECT_TRUE(json["rows"][1]["slowdown"].is_null());
    EXPECT_THAT(to_text(view, 120), ContainsRegex(" 25 +\\? "));
}

TEST_F(IntrusionFiles, TellConfigurationsThatAreNotKnownInTheirPlaces) {
    IntrusionView view = made_up();
    const IntrusionRow first = view.unknown_row(parse_monitor("link=core-L1,counters=1"));
    const IntrusionRow last = view.unknown_row(parse_monitor("link=core-L1,counters=2"));
    view.rows.insert(view.rows.begin(), first);
    view.rows.insert(view.rows.begin() + 2, last);
    view.unknown = "with it time passes";
    const IntrusionView read = read_again(view);
    EXPECT_EQ(read.rows, view.rows);
    EXPECT_EQ(InputFile(path_).root().open_group("intrusion").open_group("rows").open_dataset("row").rows(), 2U);
    const auto json = to_json(read);
    EXPECT_EQ(json["unknown"], "with it time passes");
    EXPECT_EQ(json["rows"][0]["counters"], 1);
    EXPECT_EQ(json["rows"][2]["counters"], 2);
    for (const char* figure :
         {"extra_cycles", "slowdown", "swapouts", "bytes_per_event", "extra_traffic", "extra_misses"}) {
        EXPECT_TRUE(json["rows"][0].at(figure).is_null()) << figure;
        EXPECT_FALSE(json["rows"][1].at(figure).is_null()) << figure;
    }
    const std::string text = to_text(read, 120);
    EXPECT_THAT(text, ContainsRegex("core-L1 +1 +1 +4,096 +full( +\\?){8}\n"));
    EXPECT_THAT(text, ContainsRegex("core-L1 +2 +1 +4,096 +full +\\? +\\?\n"));
    EXPECT_THAT(text, HasSubstr("?: with it time passes.\n"));
    view.rows = {first};
    EXPECT_EQ(read_again(view).rows, view.rows);
}

TEST_F(IntrusionFiles, DamagedOnesAreRefused) {
    const auto refusal = [&](const std::vector<std::uint64_t>& events, const std::vector<std::uint64_t>& misses,
                             const std::vector<std::string>& monitors) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        Group& root = file.root();
        root.create_group("input").set_attribute("name", "lu");
        root.create_group("machine").set_attribute("name", "none");
        Group group = root.create_group("intrusion");
        group.set_attribute("references", std::uint64_t{100});
        group.set_attribute("cycles", std::uint64_t{200});
        Group without = group.create_group("without");
        without.write_texts("link", std::vector<std::string>{"core-L1", "L1-memory"});
        without.write("events", events);
        without.write("bytes", std::vector<std::uint64_t>{800, 320});
        without.write_texts("level", std::vector<std::string>{"L1"});
        without.write("misses", misses);
        group.create_group("rows").write_texts("monitor", monitors);
        file.finish();
        return message_of([&] { (void)read_intrusion_view(InputFile(path_)); });
    };
    EXPECT_THAT(refusal({1}, {1}, {}), HasSubstr("'events' has 1 rows instead of 2"));
    EXPECT_THAT(refusal({1, 2}, {1, 2, 3}, {}), HasSubstr("'misses' has 3 rows instead of 1"));
    EXPECT_THAT(refusal({1, 2}, {1}, {"link=core-L1,counters=many"}), HasSubstr("the file is damaged"));
    EXPECT_THAT(refusal({1, 2}, {1}, {"link=core-L1"}), HasSubstr("extra_cycles"));
}

}  // namespace
}  // namespace cachetally
