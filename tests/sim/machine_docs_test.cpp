// SPDX-License-Identifier: BSD-3-Clause
// The machine files and messages that docs/machines.md shows are real.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cachetally/counts.hpp"
#include "cachetally/topology.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

struct Block {
    std::string language;
    std::string text;
};

std::vector<Block> blocks_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<Block> blocks;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("```")) {
            inside = !inside;
            if (inside) blocks.push_back({line.substr(3), ""});
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    return blocks;
}

TEST(MachineDocs, ExamplesAreReal) {
    const auto blocks = blocks_of(CACHETALLY_SOURCE_DIR "/docs/machines.md");
    std::size_t examples = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].language != "yaml") continue;
        ++examples;
        const bool is_wrong = i + 1 < blocks.size() && blocks[i + 1].language == "text";
        std::string message;
        try {
            const Topology topology(read_machine(blocks[i].text, "mine.yaml"));
        } catch (const MachineError& error) {
            message = std::string(error.what()) + "\n";
        }
        EXPECT_EQ(message, is_wrong ? blocks[i + 1].text : "");
    }
    EXPECT_EQ(examples, 3U);
}

template <class Enum>
void expect_documented(const std::string& page) {
    for (const std::string_view name : names_of<Enum>())
        EXPECT_NE(page.find(fmt::format("`{}`", name)), page.npos) << name << " is missing in docs/machines.md";
}

TEST(MachineDocs, NameEveryRow) {
    std::ostringstream page;
    page << std::ifstream(CACHETALLY_SOURCE_DIR "/docs/machines.md").rdbuf();
    expect_documented<Replacement>(page.str());
    expect_documented<Indexing>(page.str());
    expect_documented<PrefetchKind>(page.str());
}

template <class Counts>
void expect_counts_documented(const std::string& page) {
    for (const Counter<Counts>& counter : counters<Counts>())
        EXPECT_NE(page.find(fmt::format("`{}`", counter.name)), page.npos) << counter.name << ": docs/format.md";
}

TEST(FormatDocs, NameEveryCount) {
    std::ostringstream page;
    page << std::ifstream(CACHETALLY_SOURCE_DIR "/docs/format.md").rdbuf();
    expect_counts_documented<CacheCounts>(page.str());
    expect_counts_documented<TlbCounts>(page.str());
    expect_counts_documented<MemoryCounts>(page.str());
    expect_counts_documented<BusCounts>(page.str());
    expect_counts_documented<CoherenceCounts>(page.str());
    expect_counts_documented<NumaCounts>(page.str());
}

TEST(MachineDocs, TheMachineOfTimingIsReal) {
    const auto blocks = blocks_of(CACHETALLY_SOURCE_DIR "/docs/timing.md");
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_TRUE(Topology(read_machine(blocks[0].text, "mine.yaml")).machine().has_link_timing());
}

TEST(MachineDocs, TheMachineOfNodesIsReal) {
    const auto blocks = blocks_of(CACHETALLY_SOURCE_DIR "/docs/numa.md");
    ASSERT_FALSE(blocks.empty());
    EXPECT_EQ(Topology(read_machine(blocks[0].text, "mine.yaml")).machine().numa.nodes, 2U);
}

}  // namespace
}  // namespace cachetally
