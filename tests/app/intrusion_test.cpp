// SPDX-License-Identifier: BSD-3-Clause
// cachetally intrusion: rows, files, refusals, Ctrl-C.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <sstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class IntrusionCommand : public ::testing::Test {
protected:
    Finished call(const Words& words) const { return cachetally(directory.path(), words); }
    TemporaryDirectory directory;
};

TEST_F(IntrusionCommand, LeavesOutWhatIsImpossibleWhereOthersRemain) {
    const Words six{"intrusion", "lu", "n=16", "block=8", "--monitor", "ways=6", "--json", "--counters"};
    EXPECT_EQ(call(six + Words{"18"}).json()["rows"].size(), 1U) << "whatever the number by default";
    const Finished some = call(six + Words{"16,18"});
    EXPECT_EQ(some.status, 0) << some.err;
    EXPECT_THAT(some.err, HasSubstr("left out: 16 counters cannot be divided into sets of 6"));
    EXPECT_EQ(some.json()["rows"].size(), 1U);
    EXPECT_EQ(call(six + Words{"16,20"}).status, 2);
}

TEST_F(IntrusionCommand, GivesARowPerConfiguration) {
    const Words words{"intrusion",  "lu",
                      "n=16",       "block=8",
                      "-m",         "generic3-timed",
                      "--link",     "core-L1D,L1D-L2",
                      "--counters", "2,4",
                      "--ring",     "8",
                      "--drain",    "full,watermark,periodic:500",
                      "--monitor",  "drain_cost=10",
                      "-o",         "i.h5"};
    Words as_json = words;
    as_json.insert(as_json.end(), {"--force", "--json"});
    const Finished text = call(words), told = call(as_json);
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("lu n=16 block=8 on generic3-timed"));
    EXPECT_THAT(text.out, HasSubstr("watermark 4"));
    EXPECT_THAT(text.out, HasSubstr("extra bytes"));
    const auto json = told.json();
    EXPECT_EQ(json["complete"], true);
    ASSERT_EQ(json["rows"].size(), 2U * 2 * 3);
    const auto& row = json["rows"][1];
    EXPECT_EQ(row["link"], "core-L1D");
    EXPECT_EQ(row["counters"], 2);
    EXPECT_EQ(row["drain"], "watermark 4");
    EXPECT_EQ(row["bytes"], 16 * row["swapouts"].get<std::uint64_t>());
    EXPECT_EQ(row["extra_traffic"]["L3-memory"]["bytes"], 16 * row["records_written"].get<std::uint64_t>());
    EXPECT_TRUE(call({"show", "i.h5", "--json"}).json() == json);
    EXPECT_THAT(call({"show", "i.h5"}).out, HasSubstr("watermark 4"));
    EXPECT_EQ(call({"show", "i.h5", "--heat"}).status, 2);
    EXPECT_EQ(call({"report", "i.h5", "-o", "i.html"}).status, 0);
}

// The tables of docs/results/intrusion.md: of all programs, or with sanitizers of the quickest.
class IntrusionPage : public IntrusionCommand {
protected:
    void SetUp() override {
        IntrusionCommand::SetUp();
        std::ostringstream text;
        text << std::ifstream(CACHETALLY_SOURCE_DIR "/docs/results/intrusion.md").rdbuf();
        page_ = text.str();
    }

    /// Every row of `options` stands on the page as this begin, and this in the program's column.
    void expect_rows(const Words& options, const std::function<std::string(const nlohmann::json&)>& begin,
                     const std::function<std::string(const nlohmann::json&, double)>& cell) {
#ifdef CACHETALLY_SANITIZED
        const std::vector<std::pair<std::string, unsigned>> programs{{ "water", 2 }};
#else
        const std::vector<std::pair<std::string, unsigned>> programs{{"lu", 0}, {"radix", 1}, {"water", 2}};
#endif
        for (const auto& [program, column] : programs) {
            Words words{"intrusion", program, "-m", "generic3-timed", "--json"};
            words.insert(words.end(), options.begin(), options.end());
            const auto told = call(words).json();
            for (const auto& row : told["rows"])
                EXPECT_EQ(cell_of(begin(row), column), cell(row, told["references"].get<double>())) << program;
        }
    }

    bool says(const std::string& text) const { return page_.find(text) != std::string::npos; }

    /// In the first line with this begin.
    std::string cell_of(const std::string& begin, unsigned column) const {
        std::istringstream lines(page_);
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with(begin)) continue;
            std::istringstream cells(line.substr(begin.size()));
            std::string cell;
            for (unsigned i = 0; i <= column; ++i) std::getline(cells, cell, '|');
            return cell;
        }
        return "no line begins with '" + begin + "'";
    }

private:
    std::string page_;
};

/// As the page and `sweep` write it.
std::string with_commas(std::uint64_t number) {
    return number < 1000 ? fmt::format("{}", number) : fmt::format("{},{:03}", number / 1000, number % 1000);
}

std::string percent(const nlohmann::json& row) { return fmt::format(" {:.3f} ", 100 * row["slowdown"].get<double>()); }

TEST_F(IntrusionPage, CountersAndGranularities) {
    expect_rows(
        {"--link", "core-L1D,L1D-L2", "--counters", "16,64,128", "--granularity", "1,4", "--monitor", "drain_cost=20"},
        [](const nlohmann::json& row) {
            return fmt::format("| {} | {} | {} |", std::string(row["link"]), row["counters"].get<unsigned>(),
                               row["granularity"].get<unsigned>());
        },
        [](const nlohmann::json& row, double references) {
            const double records = 1000 * row["swapouts"].get<double>() / references;
            return fmt::format("{}({:.1f}) ", percent(row), records);
        });
}

TEST_F(IntrusionPage, RingsAndDrains) {
    expect_rows(
        {"--link", "core-L1D", "--counters", "64", "--ring", "256,4096", "--drain", "full,watermark,periodic:100000",
         "--monitor", "drain_cost=20"},
        [](const nlohmann::json& row) {
            return fmt::format("| {} | {} | {} |", std::string(row["link"]), row["capacity"].get<unsigned>(),
                               std::string(row["drain"]));
        },
        [](const nlohmann::json& row, double) { return percent(row); });
}

TEST_F(IntrusionPage, RecordsThroughTheCaches) {
    const Words options{"--link", "core-L1D,L1D-L2", "--counters", "64", "--monitor", "drain_cost=20,path=link"};
    const auto begin = [](const char* what) {
        return [what](const nlohmann::json& row) { return fmt::format("| {} | {} |", std::string(row["link"]), what); };
    };
    expect_rows(options, begin("slowdown through them, %"),
                [](const nlohmann::json& row, double) { return percent(row); });
    expect_rows(options, begin("extra misses of the program"), [](const nlohmann::json& row, double) {
        std::int64_t misses = 0;
        for (const auto& level : row["extra_misses"]) misses += level.get<std::int64_t>();
        return fmt::format(" {} ", with_commas(static_cast<std::uint64_t>(misses)));
    });
}

[[maybe_unused]] std::string error_text(double error) {
    return error == 0 ? "0" : fmt::format("{:.{}f}", 100 * error, 100 * error < 0.995 ? 3 : 2);
}

TEST_F(IntrusionPage, ErrorTrafficTimeAndCost) {
    const std::vector<std::pair<std::string, unsigned>> programs{{"lu", 0}, {"radix", 3}};
    for (const auto& [program, column] : programs) {
        const auto told = call({"sweep", program, "-m", "generic3-timed", "--slowdown", "--monitor", "drain_cost=20",
                                "--counters", "16,32,64,128", "--granularity", "1,2,4", "--json"})
                              .json();
        unsigned shown = 0;
        for (const auto& row : told["rows"]) {
            EXPECT_EQ(row["front"], true);
            const auto begin =
                fmt::format("| {} | {} | {} |", row["counters"].get<unsigned>(), row["granularity"].get<unsigned>(),
                            with_commas(row["bits"].get<std::uint64_t>()));
            if (!says(begin)) continue;
            ++shown;
            EXPECT_EQ(cell_of(begin, column), fmt::format(" {} ", error_text(row["error"].get<double>()))) << begin;
            EXPECT_EQ(cell_of(begin, column + 1), percent(row)) << begin;
            EXPECT_EQ(cell_of(begin, column + 2), fmt::format(" {:.4f} ", row["bytes_per_event"].get<double>()))
                << begin;
        }
        EXPECT_EQ(shown, 7U) << program;
    }
}

TEST_F(IntrusionPage, RingsAndDrainsBehindL1) {
    double most = 0;
    for (const char* program : {"lu", "radix", "water"}) {
        const auto told =
            call({"intrusion", program, "-m", "generic3-timed", "--link", "L1D-L2", "--counters", "64", "--ring",
                  "256,4096", "--drain", "full,watermark,periodic:100000", "--monitor", "drain_cost=20", "--json"})
                .json();
        for (const auto& row : told["rows"]) most = std::max(most, 100 * row["slowdown"].get<double>());
    }
    EXPECT_TRUE(says(fmt::format("Behind L1 it is at most {:.2f}.", most))) << most;
}

TEST_F(IntrusionPage, TheFrontTellsPoliciesApart) {
    const auto told =
        call({"sweep", "radix", "-m", "generic3-timed", "--slowdown", "--monitor", "drain_cost=20", "--counters",
              "16,32,64,128", "--granularity", "1,2,4", "--eviction", "fifo,lru,lfu", "--json"})
            .json();
    ASSERT_EQ(told["rows"].size(), 36U);
    for (const auto& row : told["rows"]) EXPECT_EQ(row["front"], row["eviction"] != "lfu");
    const auto& least = told["rows"][24];  // the first of lfu
    EXPECT_TRUE(says(fmt::format("({:.0f} % slower with 16 counters)", 100 * least["slowdown"].get<double>())));
}

// The run alone tells the same cycles.
TEST_F(IntrusionCommand, MeasuresAgainstTheRunWithoutMonitor) {
    const Words program{"radix", "keys=512", "radix=64", "-m", "generic3-timed", "--json"};
    Words without{"run"}, with{"run"}, intrusion{"intrusion"};
    for (Words* words : {&without, &with, &intrusion}) words->insert(words->end(), program.begin(), program.end());
    without.insert(without.end(), {"--monitor", "none"});
    with.insert(with.end(), {"--monitor", "link=L1D-L2,counters=8,write_cost=5"});
    intrusion.insert(intrusion.end(), {"--link", "L1D-L2", "--counters", "8", "--monitor", "write_cost=5"});
    const auto alone = call(without).json(), watched = call(with).json(), told = call(intrusion).json();
    EXPECT_EQ(told["cycles"], alone["cycles"]);
    ASSERT_EQ(told["rows"].size(), 1U);
    const auto& row = told["rows"][0];
    EXPECT_EQ(row["extra_cycles"].get<std::int64_t>(),
              watched["cycles"].get<std::int64_t>() - alone["cycles"].get<std::int64_t>());
    EXPECT_EQ(row["swapouts"], watched["monitors"]["L1D-L2"]["swapouts"]);
    EXPECT_EQ(row["stall_cycles"], 5 * row["records_written"].get<std::uint64_t>());
}

TEST_F(IntrusionCommand, RefusesWhatIsNotRight) {
    struct {
        Words words;
        const char* says;
    } const cases[] = {
        {{"lu", "--drain", "half"}, "watermark:RECORDS or periodic:CYCLES"},
        {{"lu", "--drain", "periodic"}, "periodic:CYCLES"},
        {{"lu", "--drain", "watermark:9", "--ring", "8"}, "from 1 to the capacity (8)"},
        {{"lu", "--ring", "0"}, "'0' is not a number of records"},
        {{"lu", "--counters", "16,x"}, "'x' is not a number of counters"},
        {{"lu", "--link", "core-L1D,L9"}, "L9"},
        {{"lu", "--monitor", "capacity=8"}, "--ring"},
        {{"lu", "--monitor", "period=8"}, "--drain periodic:10000"},
        {{"-"}, "can be read only once"},
        {{"lux"}, "did you mean 'lu'"},
        {{"radix", "processors=2"}, "add --cores 2"},
    };
    for (const auto& [words, says] : cases) {
        Words all{"intrusion"};
        all.insert(all.end(), words.begin(), words.end());
        const Finished refused = call(all);
        EXPECT_EQ(refused.status, 2) << says;
        EXPECT_EQ(refused.out, "") << says;
        EXPECT_THAT(refused.err, HasSubstr(says));
    }
    EXPECT_EQ(listing(directory.path()), "");
}

// A damaged trace is compared up to its damage.
TEST_F(IntrusionCommand, ComparesWhatThereIsOfADamagedTrace) {
    write_contents(directory / "bad.din", "0 1000\n1 2000\n0 3000\nbroken\n");
    const Finished finished = call({"intrusion", "bad.din", "--counters", "1", "--json", "-o", "i.h5"});
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("bad.din:4:1"));
    EXPECT_EQ(finished.json()["complete"], false);
    EXPECT_EQ(finished.json()["references"], 3);
    EXPECT_EQ(finished.json()["rows"][0]["records_written"], 2);
    EXPECT_EQ(call({"show", "i.h5", "--json"}).json()["complete"], false);
}

TEST_F(IntrusionCommand, InterruptedKeepsTheRowsThatAreComplete) {
    Circumstances circumstances;
    circumstances.interrupt_when = [start = std::optional<std::chrono::steady_clock::time_point>()]() mutable {
        const auto now = std::chrono::steady_clock::now();
        if (!start) start = now;
        return now - *start > std::chrono::milliseconds(1500);
    };
    const Finished finished = cachetally(directory.path(),
                                         {"intrusion", "gups", "updates=4096", "--granularity", "1-1000", "--counters",
                                          "1,2,3,4", "--json", "-o", "i.h5"},
                                         circumstances);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, HasSubstr("interrupted after"));
    EXPECT_THAT(finished.err, HasSubstr("of 4000 configurations"));
    const auto told = finished.json();
    EXPECT_EQ(told["complete"], false);
    EXPECT_GT(told["rows"].size(), 0U);
    EXPECT_LT(told["rows"].size(), 4000U);
    EXPECT_TRUE(call({"show", "i.h5", "--json"}).json() == told);
}

}  // namespace
}  // namespace cachetally::testing
