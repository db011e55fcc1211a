// SPDX-License-Identifier: BSD-3-Clause
// The machine files and messages that docs/machines.md shows are real.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sim/topology/topology.hpp"

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
