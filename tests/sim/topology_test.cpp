// Machine files and topologies: what is read, what is refused and with which words, and the graph that comes of it.
#include "sim/topology/topology.hpp"

#include <gtest/gtest.h>

namespace cachetally {
namespace {

/// All complaints about a machine file, "line:column: message" each.
std::string complaints(const std::string& text) {
    try {
        Topology topology(read_machine(text, "m.yaml"));
        return "";
    } catch (const MachineError& error) {
        return error.what();
    }
}

constexpr const char* small = R"(name: small
caches:
  - {name: L1, next: L2, size: 1 KiB, ways: 2, line: 32}
  - {name: L2, next: memory, size: 3K, ways: 3, line: 64}
memory: {latency: 50}
)";

TEST(MachineFile, ReadsSizesAndDefaults) {
    const MachineDescription machine = read_machine(small, "m.yaml");
    ASSERT_EQ(machine.caches.size(), 2U);
    EXPECT_EQ(machine.caches[0].size, 1024U);
    EXPECT_EQ(machine.caches[1].size, 3072U);
    EXPECT_EQ(machine.caches[1].ways, 3U);
    EXPECT_EQ(machine.caches[0].replacement, Replacement::lru);
    EXPECT_EQ(machine.memories.at(0).latency, 50U);
    EXPECT_EQ(machine.memories.at(0).name, "memory");
    EXPECT_EQ(machine.period, 1000U);
}

TEST(MachineFile, ClockIsAPeriodInPicoseconds) {
    EXPECT_EQ(read_machine("clock: 2.2 GHz", "m").period, 455U);
    EXPECT_EQ(read_machine("clock: 500 MHz", "m").period, 2000U);
    EXPECT_NE(complaints("clock: fast").find("m.yaml:1:8: error: 'fast' is not a frequency"), std::string::npos);
}

TEST(MachineFile, JsonIsYaml) {
    EXPECT_EQ(
        read_machine(R"({"name": "j", "caches": [{"name": "L1", "next": "memory", "size": 1024, "ways": 2}]})", "j")
            .caches[0]
            .size,
        1024U);
}

struct Refusal {
    const char* text;
    const char* words;
};

class MachineFileRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(MachineFileRefuses, WithPlaceAndAdvice) {
    EXPECT_NE(complaints(GetParam().text).find(GetParam().words), std::string::npos) << complaints(GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Each, MachineFileRefuses,
    testing::Values(
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1K, wais: 2}\n",
                "m.yaml:2:40: error: unknown key 'wais' in a cache; did you mean 'ways'?"},
        Refusal{"name: a\nname: b\n", "m.yaml:2:1: error: key 'name' of a machine is given twice"},
        Refusal{"caches: {}\n", "m.yaml:1:9: error: 'caches' must be a list"},
        Refusal{"cores: 300\n",
                "m.yaml:1:8: error: '300' is not a value of 'cores'; write a whole number from 1 to 256"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: big, ways: 2}\n",
                "m.yaml:2:36: error: 'big' is not a size"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1K, ways: 0}\n",
                "m.yaml:2:46: error: a cache has at least one way"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1K, ways: 2, replacement: lrv}\n", "did you mean 'lru'?"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1000, ways: 2, line: 64}\n",
                "m.yaml:2:5: error: the size of 'L1' is 1000 bytes, which is not a multiple of ways x line = 2 x 64 = "
                "128; write 896 or 1024"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1K, ways: 2, line: 48}\n",
                "the line of 'L1' is 48 bytes; write a power of two from 8 to 4096"},
        Refusal{"caches:\n  - {name: L1, next: L2, size: 1K, ways: 2, line: 64}\n  - {name: L2, next: memory, size: "
                "2K, ways: 2, line: 32}\n",
                "m.yaml:3:5: error: lines shrink from 64 bytes in 'L1' to 32 in 'L2'"},
        Refusal{"caches:\n  - {name: L1, next: L2, size: 1K, ways: 2}\n  - {name: L2, next: L1, size: 2K, ways: 2}\n",
                "the levels form a loop: "},
        Refusal{
            "caches:\n  - {name: L1, next: L3, size: 1K, ways: 2}\n  - {name: L2, next: memory, size: 2K, ways: 2}\n",
            "m.yaml:2:5: error: 'next' of 'L1' names 'L3', which is not there; did you mean 'L1'?"},
        Refusal{"caches:\n  - {name: L1, size: 1K, ways: 2}\n", "'L1' leads nowhere; write 'next: memory'"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1K, ways: 2}\n  - {name: L2, next: memory, size: 2K, "
                "ways: 2}\n",
                "both 'L1' and 'L2' are next to the core and serve data"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1K, ways: 2}\n  - {name: L1, next: memory, size: 2K, "
                "ways: 2}\n",
                "two components are named 'L1'"},
        Refusal{"caches:\n  - {name: core, next: memory, size: 1K, ways: 2}\n",
                "the name 'core' is taken by the machine itself"},
        Refusal{"caches:\n  - {name: L-1, next: memory, size: 1K, ways: 2}\n", "'L-1' is not a name"},
        Refusal{"cores: 6\ncaches:\n  - {name: L1, next: memory, size: 1K, ways: 2, shared_by: 4}\n",
                "'L1' is shared by 4 of 6 cores"},
        Refusal{"cores: 4\ncaches:\n  - {name: L1, next: L2, size: 1K, ways: 2, shared_by: 2}\n  - {name: L2, next: "
                "memory, size: 2K, ways: 2, shared_by: 1}\n",
                "'L1' is shared by 2 cores, but 'L2' below it by 1"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 3K, ways: 2, line: 64, indexing: xor_hash}\n",
                "'L1' has 24 sets; xor_hash needs a power of two"},
        Refusal{"caches:\n  - {name: L1, next: L2, size: 1K, ways: 2, line: 32}\n  - {name: L2, next: memory, size: "
                "2K, ways: 2, line: 64, inclusion: exclusive}\n",
                "'L2' is exclusive: its lines must be as long as those of 'L1', 32 bytes"},
        Refusal{"caches:\n  - {name: L1, next: memory, size: 1K, ways: 2, inclusion: victim}\n",
                "no cache above hands victims to it"},
        Refusal{"pages: {size: 5000}\n", "the page size is 5000 bytes; write a power of two from 4 KiB to 1 GiB"},
        Refusal{"pages: {ranges: [{from: 0x1000, to: 0x200000, size: 2 MiB}]}\n",
                "with ends that are multiples of its page size 2 MiB"},
        Refusal{"tlbs:\n  - {name: T, entries: 10, ways: 4}\n",
                "'T' has 10 entries, which is not a multiple of its 4 ways"},
        Refusal{"memory: {size: 1K}\n", "write at least one page (4 KiB)"},
        Refusal{"caches: [\n", "this is not valid YAML"}, Refusal{"- 1\n", "a machine must be a mapping"},
        Refusal{"pages: {walk: {through: L9}}\ntlbs:\n  - {name: T, entries: 4}\n",
                "'through' of the page walk names 'L9', which is not there"}));

TEST(MachineFile, CollectsAllComplaints) {
    const std::string text = complaints("cores: no\ncaches:\n  - {name: L1, next: memory, size: x, ways: y}\n");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

TEST(MachineFile, RefusesDeepNesting) {
    EXPECT_NE(complaints(std::string(100000, '[')).find("nested too deeply"), std::string::npos);
    std::string dashes;
    for (int i = 0; i < 5000; ++i) dashes += "- ";
    EXPECT_NE(complaints(dashes).find("nested too deeply"), std::string::npos);
}

TEST(MachineFile, WritesWhatItReads) {
    for (const PresetInfo& preset : machine_presets()) {
        const MachineDescription machine = load_machine(preset.name);
        const std::string text = write_machine(machine);
        EXPECT_EQ(write_machine(read_machine(text, preset.name)), text) << preset.name;
    }
}

TEST(MachineFile, PresetsAreValidAndDescribed) {
    EXPECT_GE(machine_presets().size(), 4U);
    for (const PresetInfo& preset : machine_presets()) {
        EXPECT_NO_THROW(Topology(load_machine(preset.name))) << preset.name;
        EXPECT_FALSE(preset.description.empty()) << preset.name;
        EXPECT_EQ(load_machine(preset.name).name, preset.name);
    }
    try {
        load_machine("generic4");
        FAIL();
    } catch (const MachineError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'generic3'?"), std::string::npos) << error.what();
    }
}

TEST(Topology, LinksAreInTopologicalOrderAndNamed) {
    const Topology topology(load_machine("generic3"));
    std::vector<std::string> names;
    for (const LinkInfo& link : topology.links()) {
        names.push_back(link.name);
        EXPECT_LT(link.from, link.to);
    }
    for (const char* name : {"core-L1D", "core-L1I", "L1D-L2", "L1I-L2", "L2-L3", "L3-memory", "core-DTLB", "DTLB-STLB",
                             "STLB-walker", "walker-L1D"})
        EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
    EXPECT_EQ(topology.links()[topology.core_link(false)].name, "core-L1D");
    EXPECT_EQ(topology.links()[topology.core_link(true)].name, "core-L1I");
    EXPECT_TRUE(topology.links()[topology.link("core-DTLB")].virtual_addresses);
    EXPECT_FALSE(topology.links()[topology.link("walker-L1D")].virtual_addresses);
    EXPECT_THROW(topology.link("L1-L2"), std::invalid_argument);
}

TEST(Topology, CopiesFollowSharing) {
    const Topology topology(read_machine(
        "cores: 8\ncaches:\n  - {name: A, next: B, size: 1K, ways: 2, shared_by: 1}\n"
        "  - {name: B, next: C, size: 4K, ways: 2, shared_by: 4}\n  - {name: C, next: memory, size: 8K, ways: 2}\n",
        "m"));
    std::map<std::string, unsigned> copies;
    for (const Component& component : topology.components()) copies[component.name] = component.copies;
    EXPECT_EQ(copies, (std::map<std::string, unsigned>{{"core", 8}, {"A", 8}, {"B", 2}, {"C", 1}, {"memory", 1}}));
}

TEST(Topology, ExportsGraphviz) {
    const std::string dot = Topology(read_machine(small, "m")).to_dot({{"L1-L2", "64 counters"}});
    EXPECT_NE(dot.find("digraph \"small\""), std::string::npos);
    EXPECT_NE(dot.find("L1\\n1 KiB, 2-way, 32-byte lines\\nlru"), std::string::npos) << dot;
    EXPECT_NE(dot.find("[label=\"L1-L2\\n64 counters\"]"), std::string::npos) << dot;
}

}  // namespace
}  // namespace cachetally
