// SPDX-License-Identifier: BSD-3-Clause
// Trackers in files: read back as written, damage refused; totals over the copies of a link.
#include "viewer/trackers_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using cachetally::testing::message_of;
using cachetally::testing::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::Not;

class TrackerFiles : public ::testing::Test {
protected:
    static TrackersView made_up() {
        TrackersView view;
        view.title = {"lu", {"n=8"}, "none", true, "", "", {}};
        view.link = "core-L1";
        view.events = 1000;
        view.phases = 2;
        view.copies = 8;
        view.top = 4;
        view.asked = 0.5;
        view.rows.push_back(
            {"counter_array", "link=core-L1", 1315, 16, 900, 30, 480, 0, 0.5, 0.0, {{0, 4, 4, 4}, {1, 3, 3, 3}}});
        view.rows.push_back(
            {"sampling", "kind=sampling", 171, 0, 90, 10, 160, 2, 0.25, 0.75, {{0, 4, 2, 1}, {1, 3, 0, 0}}});
        return view;
    }

    TrackersView read_again(const TrackersView& view) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        Group& root = file.root();
        root.create_group("input").set_attribute("name", "lu");
        root.open_group("input").write_texts("settings", view.title.settings);
        root.create_group("machine").set_attribute("name", "none");
        write_trackers(root, view);
        file.finish();
        return read_trackers_view(InputFile(path_));
    }

    TemporaryDirectory directory_;
    std::string path_ = directory_ / "t.h5";
};

TEST_F(TrackerFiles, AreReadBackAsWritten) {
    TrackersView view = made_up();
    EXPECT_EQ(to_json(read_again(view)), to_json(view));
    EXPECT_EQ(to_text(read_again(view), 120), to_text(view, 120));
    view.asked.reset();
    view.rows.clear();
    EXPECT_EQ(to_json(read_again(view)), to_json(view));
}

// 8 x 1315 and 8 x 171 bits; a recall of 1/4 and 0; half of the two lines reported in the one phase with reports.
TEST_F(TrackerFiles, TellTheTotalOfAllCopies) {
    TrackersView view = made_up();
    const nlohmann::ordered_json told = to_json(view);
    EXPECT_EQ(told["copies"], 8);
    EXPECT_EQ(told["rows"][0]["total_bits"], 10520);
    EXPECT_EQ(told["rows"][1]["recall"], 0.125);
    EXPECT_EQ(told["rows"][1]["precision"], 0.5);
    EXPECT_EQ(told["rows"][1]["traffic_is_off"], true);
    const std::string text = to_text(view, 120);
    for (const char* part : {"all 8 copies", "10,520", "1,368", "*0.250", "(2 reports lost)", "*: off the 0.5"})
        EXPECT_THAT(text, HasSubstr(part));
    view.copies = 1;
    EXPECT_THAT(to_text(view, 120), Not(HasSubstr("copies")));
}

TEST_F(TrackerFiles, DamagedOnesAreRefused) {
    TrackersView view = made_up();
    view.rows[0].error = std::nan("");
    EXPECT_THAT(message_of([&] { (void)read_again(view); }), HasSubstr("is no number"));
    view = made_up();
    view.rows[1].phases[0].right = 3;  // of two that were reported
    EXPECT_THAT(message_of([&] { (void)read_again(view); }), HasSubstr("no tracker can have"));
}

}  // namespace
}  // namespace cachetally
