// SPDX-License-Identifier: BSD-3-Clause
// run --causes: what is printed, kept and documented is one and the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class CausesOfMisses : public ::testing::Test {
protected:
    Finished call(const Words& arguments) { return cachetally(directory.path(), arguments); }
    TemporaryDirectory directory;
};

/// The text with single spaces: how wide columns are does not matter.
std::string squeezed(const std::string& text) {
    std::istringstream words(text);
    std::string result;
    for (std::string word; words >> word;) result += word + " ";
    return result;
}

/// Indented lines of docs/causes.md that belong to tables: those with numbers.
std::vector<std::string> documented_rows() {
    std::ifstream page(CACHETALLY_SOURCE_DIR "/docs/causes.md");
    std::vector<std::string> rows;
    for (std::string line; std::getline(page, line);)
        if (line.starts_with("    L1 ") || line.starts_with("    L2 ")) rows.push_back(squeezed(line));
    return rows;
}

TEST_F(CausesOfMisses, AreThoseOfTheDocumentation) {
    const Words command = {"run", "lu", "n=128", "-m", "schulz2002", "--monitor", "none", "--causes"};
    const std::string rows = squeezed(call(command).out);
    const std::string blocks = squeezed(call(command + Words{"layout=contiguous"}).out);
    const std::vector<std::string> documented = documented_rows();
    ASSERT_EQ(documented.size(), 8U);
    for (std::size_t i = 0; i < documented.size(); ++i) EXPECT_THAT(i < 7 ? rows : blocks, HasSubstr(documented[i]));
}

// Structures are counted from histograms of links, cores and causes by listeners of their own.
TEST_F(CausesOfMisses, ByCoreAddUpToThoseOfStructures) {
    for (const std::string machine : {"coherent8", "x86-server"}) {
        const Finished run = call({"run", "radix", "keys=4096", "processors=4", "--cores", "4", "-m", machine,
                                   "--causes", "--per-core", "--json", "-o", machine + ".h5"});
        ASSERT_EQ(run.status, 0) << run.err;
        const auto told = run.json();
        EXPECT_EQ(call({"show", machine + ".h5", "--json"}).json()["cores"], told["cores"]);
        std::map<std::string, std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>> sums;
        for (const auto& row : told["cores"]) {
            auto& [accesses, misses] = sums[row["level"]][row["structure"]];
            accesses += row["accesses"].get<std::uint64_t>();
            misses += row["misses"].get<std::uint64_t>();
        }
        std::size_t compared = 0;
        for (const auto& [name, structure] : told["structures"].items())
            for (const auto& [level, counts] : structure["levels"].items()) {
                EXPECT_EQ(counts["accesses"], sums[level][name].first) << machine << level << name;
                EXPECT_EQ(counts["misses"], sums[level][name].second) << machine << level << name;
                ++compared;
            }
        EXPECT_GE(compared, 10U);
        std::map<std::pair<std::string, int>, std::uint64_t> caused, missed;
        for (const auto& row : told["causes"]["L1D"]["misses"])
            for (const char* cause : {"first_use", "invalidated", "capacity", "conflict"})
                caused[{row["structure"], row["core"]}] += row[cause].get<std::uint64_t>();
        for (const auto& row : told["cores"])
            if (row["level"] == "L1D" && row["misses"] != 0)
                missed[{row["structure"], row["core"]}] += row["misses"].get<std::uint64_t>();
        EXPECT_EQ(caused, missed) << machine;
        std::string text = squeezed(call({"show", machine + ".h5"}).out);
        std::erase(text, ',');
        EXPECT_THAT(text, HasSubstr("L1D misses by core data structure core 0 core 1 core 2 core 3 "));
        std::string row = "key_to";
        for (const int core : {0, 1, 2, 3}) row += " " + std::to_string(missed[{"key_to", core}]);
        EXPECT_THAT(text, HasSubstr(row)) << machine;
    }
}

TEST_F(CausesOfMisses, InTheFileAreThoseTold) {
    const Finished run = call({"run", "lu", "n=32", "-m", "generic3", "--causes", "--json", "-o", "lu.h5"});
    ASSERT_EQ(run.status, 0) << run.err;
    const auto told = run.json();
    const auto& causes = told["causes"];
    EXPECT_EQ(call({"show", "lu.h5", "--json"}).json()["causes"], causes);
    for (const auto& [level, counts] : told["levels"].items()) {
        std::uint64_t misses = 0, lines = 0;
        for (const auto& row : causes[level]["misses"])
            for (const char* cause : {"first_use", "invalidated", "capacity", "conflict"})
                misses += row[cause].get<std::uint64_t>();
        for (const auto& row : causes[level]["evictions"]) lines += row["count"].get<std::uint64_t>();
        EXPECT_EQ(misses, counts["load_misses"].get<std::uint64_t>() + counts["store_misses"].get<std::uint64_t>() +
                              counts["fetch_misses"].get<std::uint64_t>());
        EXPECT_EQ(lines, counts["evictions"]);
    }
    EXPECT_THAT(call({"show", "lu.h5", "--phase", "0", "--level", "L1D"}).out, HasSubstr("why levels miss"));
}

TEST_F(CausesOfMisses, AreNotSaidToBeUnknownAboveTheirTable) {
    const Words command = {"run", "lu", "n=32", "-m", "schulz2002", "--monitor", "none"};
    const std::string without = call(command).out, with = call(command + Words{"--causes"}).out;
    EXPECT_THAT(without, HasSubstr("L1, L2 by data structure: not known;"));
    EXPECT_THAT(with, ::testing::Not(HasSubstr("not known")));
    EXPECT_THAT(with, HasSubstr("why levels miss"));
}

TEST_F(CausesOfMisses, AreTheSameOnBothHosts) {
    const Words command = {"run", "radix", "keys=4096", "processors=4", "--cores",
                           "4",   "-m",    "coherent8", "--causes",     "--json"};
    const auto engine = call(command).json();
    EXPECT_FALSE(engine["causes"]["L1D"]["misses"].empty());
    EXPECT_EQ(call(command + Words{"--host", "systemc"}).json()["causes"], engine["causes"]);
}

TEST_F(CausesOfMisses, OfTracesWithoutDataStructures) {
    write_contents(directory / "t.din", "0 0\n0 8000\n0 0\n");
    const auto told = call({"replay", "t.din", "-m", "schulz2002", "--causes", "--json"}).json();
    const auto& misses = told["causes"]["L1"]["misses"];
    ASSERT_EQ(misses.size(), 1U);
    EXPECT_EQ(misses[0]["structure"], "(elsewhere)");
    EXPECT_EQ(misses[0]["first_use"], 2);
}

TEST_F(CausesOfMisses, ThatCannotBeToldAreMentioned) {
    write_contents(directory / "bare.yaml", "name: bare\n");
    const Finished run = call({"run", "lu", "n=16", "-m", "bare.yaml", "--causes"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("--causes: nothing can be said"));
}

}  // namespace
}  // namespace cachetally::testing
