// SPDX-License-Identifier: BSD-3-Clause
// Every state that two nodes and two lines can reach, and random walks of four nodes of several levels.
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "base/random.hpp"
#include "tests/sim/coherent_nodes.hpp"

namespace cachetally {
namespace {

CacheConfig coherent_level(const char* name, unsigned ways, unsigned sets, Inclusion inclusion = Inclusion::nine) {
    CacheConfig level;
    level.name = name;
    level.ways = ways;
    level.size = std::uint64_t{64} * ways * sets;
    level.inclusion = inclusion;
    return level;
}

/// A load or store of a line by a node. The lines 0 and 1 are the two; 2 displaces them.
struct Step {
    unsigned node;
    bool stores;
    Address line;
};

std::vector<Step> all_steps() {
    std::vector<Step> steps;
    for (const unsigned node : {0U, 1U})
        for (const Address line : {0, 64, 128})
            for (const bool stores : {false, true})
                if (line != 128 || !stores) steps.push_back({node, stores, line});
    return steps;
}

std::string make_step(CoherentNodes& nodes, const Step& step) {
    return step.stores ? nodes.store(step.node, step.line) : nodes.load(step.node, step.line);
}

struct Explored {
    std::size_t states = 0;
    std::set<std::pair<LineState, LineState>> pairs;  ///< of line 0 in both nodes
    std::string wrong;
};

/// Breadth first, each state by the steps that lead to it.
Explored explore(const NodesConfig& config) {
    Explored explored;
    std::set<std::uint64_t> seen;
    std::deque<std::vector<Step>> ways{{}};
    const auto steps = all_steps();
    for (; !ways.empty() && explored.wrong.empty(); ways.pop_front()) {
        for (const Step& step : steps) {
            CoherentNodes nodes(config);
            for (const Step& before : ways.front()) make_step(nodes, before);
            explored.wrong = make_step(nodes, step);
            if (!explored.wrong.empty()) break;
            if (!seen.insert(nodes.digest()).second) continue;
            explored.pairs.insert({nodes.state(0, 0), nodes.state(1, 0)});
            ways.push_back(ways.front());
            ways.back().push_back(step);
        }
    }
    explored.states = seen.size();
    return explored;
}

NodesConfig two_nodes(Protocol protocol, CoherenceBy by) {
    NodesConfig config;
    config.coherence.protocol = protocol;
    config.coherence.by = by;
    config.levels = {coherent_level("L1", 2, 1)};
    return config;
}

using enum LineState;

TEST(CoherenceExplored, EveryReachableStateOfTwoNodesAndTwoLinesIsCoherent) {
    const std::set<std::pair<LineState, LineState>> mesi{
        {invalid, invalid},   {invalid, shared},    {shared, invalid},   {shared, shared},
        {exclusive, invalid}, {invalid, exclusive}, {modified, invalid}, {invalid, modified}};
    auto moesi = mesi;
    moesi.insert({{owned, shared}, {shared, owned}, {owned, invalid}, {invalid, owned}});
    for (const CoherenceBy by : {CoherenceBy::snooping, CoherenceBy::directory}) {
        const Explored of_mesi = explore(two_nodes(Protocol::mesi, by));
        EXPECT_EQ(of_mesi.wrong, "");
        EXPECT_EQ(of_mesi.pairs, mesi);
        EXPECT_GT(of_mesi.states, 100U);
        const Explored of_moesi = explore(two_nodes(Protocol::moesi, by));
        EXPECT_EQ(of_moesi.wrong, "");
        EXPECT_EQ(of_moesi.pairs, moesi);
        EXPECT_GT(of_moesi.states, of_mesi.states);
    }
}

/// Nodes of one or two levels, over memory or a small level of any kind that may be there.
NodesConfig random_nodes(Random& random) {
    NodesConfig config;
    config.nodes = 4;
    config.coherence.protocol = random.below(2) == 0 ? Protocol::mesi : Protocol::moesi;
    config.coherence.by = random.below(2) == 0 ? CoherenceBy::snooping : CoherenceBy::directory;
    const auto small = [&] { return static_cast<unsigned>(1 + random.below(3)); };
    const auto inclusion = [&] { return static_cast<Inclusion>(random.below(3)); };
    config.levels = {coherent_level("L1", small(), small())};
    if (random.below(2) == 0) config.levels.push_back(coherent_level("L2", small(), small(), inclusion()));
    if (random.below(2) == 0) {
        config.point = coherent_level("L3", 1 + small(), 1 + small());
        if (random.below(2) == 0) config.point.inclusion = Inclusion::inclusive;
    }
    for (CacheConfig& level : config.levels) {
        level.write_back_first = random.below(2) == 0;
        level.replacement = static_cast<Replacement>(random.below(7));
    }
    return config;
}

TEST(CoherenceExplored, RandomWalksOfFourNodesAreCoherent) {
    Random random(1);
    for (unsigned walk = 0; walk < 300; ++walk) {
        CoherentNodes nodes(random_nodes(random));
        for (unsigned step = 0; step < 300; ++step) {
            const auto node = static_cast<unsigned>(random.below(4));
            const Address line = random.below(6) * 64;
            const std::string wrong = random.below(3) == 0 ? nodes.store(node, line) : nodes.load(node, line);
            ASSERT_EQ(wrong, "") << "walk " << walk << " step " << step;
        }
        EXPECT_GT(nodes.counts().invalidations, 0U);
    }
}

}  // namespace
}  // namespace cachetally
