// SPDX-License-Identifier: BSD-3-Clause
// Topology: the graph that a machine makes, its order, its links, and its picture.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/machine_text.hpp"

namespace cachetally {
namespace {

Topology topology_of(const std::string& text) { return Topology(read_machine(text, "m")); }

std::vector<std::string> link_names(const Topology& topology) {
    std::vector<std::string> names;
    for (const LinkInfo& link : topology.links()) names.push_back(link.name);
    std::ranges::sort(names);
    return names;
}

TEST(Topology, HasALinkPerWayOfARequest) {
    EXPECT_EQ(
        link_names(Topology(load_machine("generic3"))),
        (std::vector<std::string>{"DTLB-STLB", "ITLB-STLB", "L1D-L2", "L1I-L2", "L2-L3", "L3-memory", "STLB-walker",
                                  "core-DTLB", "core-ITLB", "core-L1D", "core-L1I", "walker-L1D"}));
    EXPECT_EQ(link_names(Topology(load_machine("schulz2002"))),
              (std::vector<std::string>{"L1-L2", "L2-memory", "core-L1"}));
}

TEST(Topology, WithoutCachesTheCoreIsAtMemory) {
    EXPECT_EQ(link_names(topology_of("{}")), (std::vector<std::string>{"core-memory"}));
    EXPECT_EQ(link_names(topology_of("tlbs: [{name: T, entries: 4, ways: full}]")),
              (std::vector<std::string>{"T-walker", "core-T", "core-memory", "walker-memory"}));
}

TEST(Topology, WalksEnterTheFirstDataCacheUnlessToldOtherwise) {
    const std::string machine =
        "caches:\n  - {name: I, next: L2, size: 1K, ways: 2, serves: fetch}\n"
        "  - {name: D, next: L2, size: 1K, ways: 2, serves: data}\n  - {name: L2, next: memory, size: 2K, ways: 2}\n"
        "tlbs: [{name: T, entries: 4, ways: full}]\n";
    const auto has = [&](const std::string& more, const std::string& link) {
        const auto names = link_names(topology_of(machine + more));
        return std::ranges::find(names, link) != names.end();
    };
    EXPECT_TRUE(has("", "walker-D"));
    EXPECT_TRUE(has("pages: {walk: {through: L2}}", "walker-L2"));
    EXPECT_FALSE(has("pages: {walk: {through: L2}}", "walker-D"));
    EXPECT_TRUE(has("pages: {walk: {through: memory}}", "walker-memory"));
    EXPECT_FALSE(has("pages: {walk: {references: false}}", "walker-D"));
    EXPECT_TRUE(has("pages: {walk: {references: false}}", "T-walker"));
}

TEST(Topology, ComponentsAndLinksAreInTopologicalOrder) {
    for (const PresetInfo& preset : machine_presets()) {
        const Topology topology(load_machine(preset.name));
        EXPECT_EQ(topology.components().front().name, "core");
        for (std::size_t id = 0; id < topology.links().size(); ++id) {
            const LinkInfo& link = topology.links()[id];
            EXPECT_LT(link.from, link.to) << link.name;
            EXPECT_EQ(link.name, topology.components()[link.from].name + "-" + topology.components()[link.to].name);
            EXPECT_EQ(topology.link(link.name), id);
            if (id == 0) continue;
            const LinkInfo& before = topology.links()[id - 1];
            EXPECT_LT(std::pair(before.from, before.to), std::pair(link.from, link.to));
        }
    }
}

TEST(Topology, TheOrderOfTheFileDoesNotMatterForTheGraph) {
    const char* const down =
        "caches:\n  - {name: A, next: B, size: 1K, ways: 2}\n  - {name: B, next: memory, size: 2K, ways: 2}\n";
    const char* const up =
        "caches:\n  - {name: B, next: memory, size: 2K, ways: 2}\n  - {name: A, next: B, size: 1K, ways: 2}\n";
    const Topology first = topology_of(down), second = topology_of(up);
    for (std::size_t id = 0; id < first.links().size(); ++id)
        EXPECT_EQ(first.links()[id].name, second.links().at(id).name);
}

TEST(Topology, CopiesFollowSharing) {
    const Topology topology = topology_of(
        "cores: 8\ncaches:\n  - {name: A, next: B, size: 1K, ways: 2, shared_by: 1}\n"
        "  - {name: B, next: C, size: 4K, ways: 2, shared_by: 4}\n  - {name: C, next: memory, size: 8K, ways: 2}\n"
        "tlbs: [{name: T, entries: 4, ways: full}]\n");
    std::map<std::string, std::pair<unsigned, unsigned>> sharing;
    for (const Component& component : topology.components())
        sharing[component.name] = {component.copies, component.cores_per_copy};
    EXPECT_EQ(sharing, (std::map<std::string, std::pair<unsigned, unsigned>>{{"core", {8, 1}},
                                                                             {"T", {8, 1}},
                                                                             {"walker", {8, 1}},
                                                                             {"A", {8, 1}},
                                                                             {"B", {2, 4}},
                                                                             {"C", {1, 8}},
                                                                             {"memory", {1, 8}}}));
}

TEST(Topology, LinksOfTheCoreGoBySide) {
    const Topology topology(load_machine("generic3"));
    EXPECT_EQ(topology.links()[topology.core_link(false)].name, "core-L1D");
    EXPECT_EQ(topology.links()[topology.core_link(true)].name, "core-L1I");
    EXPECT_TRUE(topology.links()[topology.link("core-DTLB")].virtual_addresses);
    EXPECT_TRUE(topology.links()[topology.link("DTLB-STLB")].virtual_addresses);
    EXPECT_FALSE(topology.links()[topology.link("core-L1D")].virtual_addresses);
    EXPECT_FALSE(topology.links()[topology.link("walker-L1D")].virtual_addresses);
    const Topology unified(load_machine("schulz2002"));
    EXPECT_EQ(unified.core_link(false), unified.core_link(true));
    EXPECT_THROW((void)Topology(load_machine("bench3")).core_link(true), std::invalid_argument);
}

TEST(Topology, SuggestsTheLinkThatWasMeant) {
    try {
        (void)Topology(load_machine("schulz2002")).link("core-L2");
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "machine 'schulz2002' has no link 'core-L2'; did you mean 'core-L1'? known are: core-L1, L1-L2, "
                     "L2-memory");
    }
}

TEST(Topology, DescriptionsMadeByProgramsAreCheckedToo) {
    const auto message = [](const MachineDescription& machine) -> std::string {
        try {
            const Topology topology(machine);
            return "";
        } catch (const MachineError& error) {
            return error.what();
        }
    };
    MachineDescription machine;
    machine.name = "made";
    EXPECT_EQ(message(machine), "");
    machine.cores = 0;
    EXPECT_EQ(message(machine), "made: error: a machine has from 1 to 256 cores, not 0");
    machine.cores = 1;
    machine.period = 0;
    EXPECT_EQ(message(machine),
              "made: error: a cycle of 0 picoseconds is not possible; write a clock from 1 MHz to 1 THz");
    machine.period = 1000;
    machine.caches.emplace_back();
    EXPECT_NE(message(machine).find("made: error: a component has no name"), std::string::npos);
    CacheConfig& cache = machine.caches[0];
    cache.name = "L1";
    cache.next = "memory";
    cache.size = 1024;
    cache.ways = 2;
    EXPECT_EQ(message(machine), "");
    cache.latency = 2000000;
    EXPECT_EQ(message(machine), "made: error: a latency of 2000000 cycles is too long; write at most 1000000");
    machine.period = 2000;
    EXPECT_EQ(message(machine),
              "made: error: a latency of 2000000 cycles is too long; write at most 500000, which are 1 ms");
    machine.caches.assign(65, CacheConfig(cache));
    EXPECT_EQ(message(machine), "made: error: there are 65 caches; at most 64 can be simulated");
}

TEST(Dot, SaysWhatEveryComponentAndLinkIs) {
    const std::string dot =
        topology_of(
            "name: small\ncores: 2\n"
            "caches:\n  - {name: L1, next: V, shared_by: 1, size: 1 KiB, ways: 1, line: 32}\n"
            "  - {name: V, next: memory, size: 512, ways: full, line: 32, inclusion: victim, latency: 3}\n"
            "tlbs: [{name: T, entries: 8, ways: 2, indexing: xor_hash}]\n"
            "memory: {size: 1 GiB, latency: 50}\n")
            .to_dot({{"L1-V", "64 \"counters\""}});
    EXPECT_EQ(dot,
              "digraph \"small\" {\n"
              "    node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
              "    edge [fontname=\"sans-serif\", fontsize=10];\n"
              "    n0 [label=\"2 x core\", shape=ellipse, fillcolor=\"#e8e8e8\"];\n"
              "    n1 [label=\"2 x T\\n8 entries, 2-way\\nlru, xor_hash\\n0 cycles\", fillcolor=\"#fff3d6\"];\n"
              "    n2 [label=\"2 x page walker\\n4 KiB pages, identity\", shape=ellipse, fillcolor=\"#fff3d6\"];\n"
              "    n3 [label=\"2 x L1\\n1 KiB, direct-mapped, 32-byte lines\\nlru, write_back\\n1 cycle\", "
              "fillcolor=\"#dcebfa\"];\n"
              "    n4 [label=\"V\\n512, fully associative, 32-byte lines\\nlru, write_back\\nvictim\\n3 cycles\", "
              "fillcolor=\"#dcebfa\"];\n"
              "    n5 [label=\"memory\\n1 GiB\\n50 cycles\", fillcolor=\"#e2f2e2\"];\n"
              "    n0 -> n1 [label=\" core-T\", style=dashed];\n"
              "    n0 -> n3 [label=\" core-L1\"];\n"
              "    n1 -> n2 [label=\" T-walker\", style=dashed];\n"
              "    n2 -> n3 [label=\" walker-L1\"];\n"
              "    n3 -> n4 [label=\" L1-V\\n64 \\\"counters\\\"\"];\n"
              "    n4 -> n5 [label=\" V-memory\"];\n"
              "}\n");
}

TEST(Dot, EscapesTheNameOfTheMachine) {
    EXPECT_TRUE(topology_of("name: 'a \"b\" \\'").to_dot().starts_with("digraph \"a \\\"b\\\" \\\\\" {\n"));
}

}  // namespace
}  // namespace cachetally
