// SPDX-License-Identifier: BSD-3-Clause
// Listeners that users attach by name, and the settings of --listener.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "monitor/listeners/listener.hpp"
#include "monitor/listeners/listener_file.hpp"
#include "storage/file.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

ListenerTable reuse_of(const std::vector<Address>& addresses, std::uint32_t count = 1) {
    const ListenerSpec spec = parse_listener("reuse,link=core-L1,line=64");
    const auto listener = spec.row.make(spec.base, spec.values);
    Injector injector;
    for (const Address address : addresses)
        listener->on_event({.address = address, .count = count, .kind = EventKind::load}, injector);
    return listener->table();
}

std::uint64_t events_at(const ListenerTable& table, std::string_view label) {
    const auto row = std::ranges::find(table.rows, label, &ListenerTable::Row::label);
    return row == table.rows.end() ? 0 : row->numbers.front();
}

TEST(Reuse, CountsOtherLinesSinceTheLastUse) {
    const ListenerTable table = reuse_of({0, 64, 128, 8, 0, 64, 128, 64});  // A B C A A B C B
    EXPECT_EQ(events_at(table, "first use"), 3U);
    EXPECT_EQ(events_at(table, "0"), 1U);
    EXPECT_EQ(events_at(table, "1"), 1U);
    EXPECT_EQ(events_at(table, "2-3"), 3U);
    EXPECT_EQ(events_at(reuse_of({0, 64, 0}, 5), "0"), 12U);
}

TEST(Listeners, OfSeveralCopiesAreAddedUp) {
    const ListenerTable sum = merged({reuse_of({0, 0}), reuse_of({0, 64, 0})});
    EXPECT_EQ(events_at(sum, "first use"), 3U);
    EXPECT_EQ(events_at(sum, "0"), 1U);
    EXPECT_EQ(events_at(sum, "1"), 1U);
}

TEST(Listeners, RowsOfAllCopiesGoByTheirOrder) {
    const ListenerTable sum = merged({reuse_of({0, 64, 128, 192, 256, 0}), reuse_of({0, 0}), reuse_of({0, 64, 0})});
    std::vector<std::string> labels;
    for (const ListenerTable::Row& row : sum.rows) labels.push_back(row.label);
    EXPECT_THAT(labels, ::testing::ElementsAre("first use", "0", "1", "4-7"));
}

void expect_documented(const std::string& page, const std::vector<std::string_view>& names) {
    std::ostringstream text;
    text << std::ifstream(CACHETALLY_SOURCE_DIR "/docs/" + page).rdbuf();
    for (const std::string_view name : names)
        EXPECT_THAT(text.str(), ::testing::HasSubstr("`" + std::string(name) + "`")) << page;
}

TEST(Listeners, AndEvictionPoliciesAreDocumented) {
    std::vector<std::string_view> listeners;
    for (const ListenerMaker make : listener_rows()) listeners.push_back(make().name);
    expect_documented("listeners.md", listeners);
    expect_documented("monitors.md", {eviction_names().begin(), eviction_names().end()});
}

TEST(Listeners, WrongSettingsAreReportedWithWhatIsRight) {
    const auto message = [](const char* text) {
        try {
            parse_listener(text);
            return std::string();
        } catch (const SpecError& error) {
            return error.message();
        }
    };
    EXPECT_THAT(message("reuze"),
                ::testing::HasSubstr("there is no listener 'reuze'; did you mean 'reuse'? known are: "));
    EXPECT_EQ(message("reuse,counters=4"),
              "the listener 'reuse' has no 'counters'; known are: link, line, kinds, range, "
              "cores, start");
    EXPECT_THAT(message("reuse,kinds=lod"), ::testing::HasSubstr("did you mean 'load'?"));
    EXPECT_THAT(message("reuse,link=a,link=b"), ::testing::HasSubstr("'link' is given twice"));
    EXPECT_THAT(message("reuse,"), ::testing::HasSubstr("has no ''"));
    EXPECT_EQ(message("reuse"), "");
}

TEST(ListenerFiles, AreReadAsWritten) {
    const std::vector<ListenerResult> written = {
        {"reuse",
         "core-L1D",
         "reuse,kinds=load",
         {{{"distance", "lines", "other lines"}, {"events", "", "uses"}},
          {{"first use", {7}, 0}, {"2-3", {~0ULL}, 0}}}},
        {"reuse", "core-L1D", "reuse", {{{"a/b", "", ""}, {".", "", ""}, {".", "x", ""}}, {{"", {1, 2}, 0}}}},
        {"none", "L1D-L2", "", {{{"only", "", ""}}, {}}}};
    const testing::TemporaryDirectory directory;
    {
        ResultFile file(directory / "l.h5");
        write_listeners(file.root(), written);
        Group odd = file.root().create_group("odd");
        write_listeners(odd, written);
        odd.open_group("listeners").open_group("listener1").set_attribute("units", std::vector<std::string>{"lines"});
        file.finish();
    }
    const InputFile file(directory / "l.h5");
    const std::vector<ListenerResult> found = read_listeners(file.root());
    ASSERT_EQ(found.size(), written.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto [name, link, spec, table] = found[i];
        EXPECT_EQ(name + '|' + link + '|' + spec, written[i].name + '|' + written[i].link + '|' + written[i].spec);
        ASSERT_EQ(table.columns.size(), written[i].table.columns.size());
        for (std::size_t column = 0; column < table.columns.size(); ++column) {
            const auto& [title, unit, meaning] = table.columns[column];
            const auto& expected = written[i].table.columns[column];
            EXPECT_EQ(title + '|' + unit + '|' + meaning, expected.name + '|' + expected.unit + '|' + expected.meaning);
        }
        ASSERT_EQ(table.rows.size(), written[i].table.rows.size());
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            EXPECT_EQ(table.rows[row].label, written[i].table.rows[row].label);
            EXPECT_EQ(table.rows[row].numbers, written[i].table.rows[row].numbers);
        }
    }
    EXPECT_THROW(read_listeners(file.root().open_group("odd")), StorageError);
}

}  // namespace
}  // namespace cachetally
