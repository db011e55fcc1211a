// SPDX-License-Identifier: BSD-3-Clause
// Machine files whose memories belong to nodes: what the keys mean, the graph that follows, and what is refused.
#include <map>

#include "tests/sim/machine_refusal.hpp"

namespace cachetally {
namespace {

constexpr const char* fixed_homes =
    "cores: 4\n"
    "caches:\n"
    "  - {name: L1, next: L2, shared_by: 1, size: 1K, ways: 2}\n"
    "  - {name: L2, next: numa, shared_by: 2, size: 4K, ways: 2}\n"
    "numa: {nodes: 2, policy: fixed, ranges: [{from: 0x1000, to: 1 MiB, memory: B}], otherwise: A, interconnect: "
    "{latency: 9, bytes_per_cycle: 8, shared: true}}\n"
    "memories:\n"
    "  - {name: A, node: 0, latency: 50}\n"
    "  - {name: B, node: 1, latency: 60}\n";

TEST(MachineNuma, ReadsEveryKey) {
    const MachineDescription machine = read_machine(fixed_homes, "m");
    const NumaConfig& numa = machine.numa;
    EXPECT_EQ(numa.nodes, 2U);
    EXPECT_EQ(numa.policy, HomePolicy::fixed);
    ASSERT_EQ(numa.ranges.size(), 1U);
    EXPECT_EQ(numa.ranges[0], (HomeRange{0x1000, 1 << 20, "B", {5, 42}}));
    EXPECT_EQ(numa.otherwise, "A");
    EXPECT_EQ(numa.interconnect, (BusConfig{.latency = 9, .bytes_per_cycle = 8, .shared = true}));
    EXPECT_EQ(machine.memories[1].node, 1U);
    EXPECT_EQ(read_machine("numa: {nodes: 1, policy: interleaved, granule: 256}", "m").numa.granule, 256U);
    EXPECT_TRUE(machine.has_nodes());
    EXPECT_EQ(machine.cores_per_node(), 2U);
    EXPECT_EQ(machine.bytes_for_pages(), std::uint64_t{2} << 40);
    EXPECT_TRUE(machine.has_link_timing());
    EXPECT_EQ(write_machine(read_machine(write_machine(machine), "again")), write_machine(machine));
}

TEST(MachineNuma, NodesLieBetweenCachesAndMemories) {
    const Topology topology(read_machine(fixed_homes, "m"));
    std::map<std::string, std::pair<unsigned, unsigned>> sharing;
    for (const Component& component : topology.components())
        sharing[component.name] = {component.copies, component.cores_per_copy};
    EXPECT_EQ(sharing.at("numa"), std::pair(2U, 2U));
    EXPECT_EQ(sharing.at("interconnect"), std::pair(1U, 4U));
    std::vector<std::string> links;
    for (const LinkInfo& link : topology.links()) links.push_back(link.name);
    std::ranges::sort(links);
    EXPECT_EQ(links,
              (std::vector<std::string>{"L1-L2", "L2-numa", "core-L1", "numa-A", "numa-B", "numa-interconnect"}));
    const std::string dot = topology.to_dot();
    for (const char* part : {"2 x numa\\n2 nodes of 2 cores each\\nhomes: fixed", "interconnect\\n9 cycles",
                             "B\\n1 TiB, node 1\\n60 cycles", " [style=dotted];\n"})
        EXPECT_NE(dot.find(part), std::string::npos) << dot;
    const Topology without_caches(
        read_machine("cores: 2\nnuma: {nodes: 2, policy: interleaved}\nmemory: {node: 1}", "m"));
    EXPECT_EQ(without_caches.links()[without_caches.core_link(false)].name, "core-numa");
}

class MachineNumaRefused : public testing::TestWithParam<Refusal> {};

TEST_P(MachineNumaRefused, InTheseWords) { EXPECT_EQ(complaints(GetParam().text), GetParam().messages); }

INSTANTIATE_TEST_SUITE_P(
    Numa, MachineNumaRefused,
    testing::Values(
        Refusal{"NodeWithoutNodes", "memory: {node: 0}\n",
                "m:1:16: error: 'memory' belongs to a node, but the machine has none; write 'numa: {nodes: 2}', for "
                "instance, or remove this"},
        Refusal{"NextIsMemory",
                "caches: [{name: L1, next: memory, size: 1K, ways: 2}]\n"
                "numa: {nodes: 1}\n",
                "m:1:27: error: 'next' of 'L1' names 'memory', which cannot be there; known are: numa"},
        Refusal{"NoDivisor", "cores: 4\nnuma: {nodes: 3, policy: interleaved}\n",
                "m:2:15: error: 4 cores cannot be parted into 3 nodes of equal size; write a divisor of 4"},
        Refusal{"CacheOfSeveralNodes",
                "cores: 4\ncaches: [{name: L1, next: numa, size: 1K, ways: 2}]\n"
                "numa: {nodes: 2, policy: interleaved}\nmemory: {node: 0}\n",
                "m:2:10: error: 'L1' is shared by 4 cores, but a node has 2, and what lies above the memories belongs "
                "to a node; write 'shared_by: 2', or a divisor of it"},
        Refusal{"NoNodeGiven", "cores: 2\nnuma: {nodes: 2, policy: interleaved}\nmemory: {latency: 5}\n",
                "m:3:9: error: 'memory' does not say which node it belongs to; write 'node: 0', for instance"},
        Refusal{"NoSuchNode", "cores: 2\nnuma: {nodes: 2, policy: interleaved}\nmemory: {node: 2}\n",
                "m:3:16: error: 'memory' belongs to node 2, but there are 2 nodes, from 0; write a number less than 2"},
        Refusal{
            "FirstTouchWithoutMemory", "cores: 2\nnuma: {nodes: 2}\nmemory: {node: 0}\n",
            "m:2:7: error: by first touch a page is at home in the memory of a node, but node 1 has none; give each "
            "node one memory, or write another 'policy'"},
        Refusal{
            "FirstTouchWithPagesOfSeveralSizes", "numa: {nodes: 1}\npages: {ranges: [{from: 0, to: 2M, size: 2M}]}\n",
            "m:2:17: error: homes are given to pages of one size by first touch; remove 'ranges', or write 'policy: "
            "interleaved' or 'policy: fixed' for 'numa'"},
        Refusal{"GranuleWithoutInterleaving", "numa: {nodes: 1, granule: 4K}\n",
                "m:1:27: error: 'granule' means nothing with 'policy: first_touch'; write 'policy: interleaved', or "
                "remove it"},
        Refusal{
            "GranuleThatCutsLines",
            "caches: [{name: L1, next: numa, size: 1K, ways: 2, line: 128}]\n"
            "numa: {nodes: 1, policy: interleaved, granule: 64}\n",
            "m:2:48: error: memories take turns every 64 bytes; write a power of two from 128, the longest line, to "
            "1 GiB"},
        Refusal{
            "RangesWithoutFixed", "numa: {nodes: 1, policy: interleaved, ranges: [], otherwise: memory}\n",
            "m:1:47: error: 'ranges' means nothing with 'policy: interleaved'; write 'policy: fixed', or remove it\n"
            "m:1:62: error: 'otherwise' means nothing with 'policy: interleaved'; write 'policy: fixed', or remove "
            "it"},
        Refusal{"RangeOfNoMemory",
                "numa: {nodes: 1, policy: fixed, ranges: [{from: 0, to: 4K, memory: memori}], otherwise: M}\n",
                "m:1:42: error: 'memori' is no memory; did you mean 'memory'? known are: memory\n"
                "m:1:89: error: 'M' is no memory; known are: memory"},
        Refusal{"RangesThatCutLinesAndOverlap",
                "numa:\n  nodes: 1\n  policy: fixed\n  ranges:\n"
                "    - {from: 0, to: 100, memory: memory}\n    - {from: 64, to: 64, memory: memory}\n",
                "m:5:7: error: the range from 0x0 to 0x64 cuts lines; its ends must be multiples of 64\n"
                "m:6:7: error: the range from 0x40 to 0x40 is empty; 'to' is the first address after it\n"
                "m:6:7: error: this range overlaps the one from 0x0 to 0x64; ranges are disjoint"},
        Refusal{"UnknownKeyOfInterconnect", "numa: {nodes: 1, interconnect: {latncy: 3}}\n",
                "m:1:33: error: unknown key 'latncy' in 'interconnect'; did you mean 'latency'? known are: "
                "latency, bytes_per_cycle, shared"},
        Refusal{"SharedInterconnectWithoutLimit", "numa: {nodes: 1, interconnect: {shared: true}}\n",
                "m:1:32: error: the interconnect is shared, but carries any number of bytes at once; write "
                "'bytes_per_cycle', or remove 'shared'"},
        Refusal{"LongInterconnect", "clock: 1 MHz\nnuma: {nodes: 1, interconnect: {latency: 1001}}\n",
                "m:2:32: error: a latency of 1001 cycles is too long; write at most 1000"},
        Refusal{"TooMuchTogether",
                "numa: {nodes: 1, policy: interleaved}\nmemories: [{name: A, size: 16T}, {name: B, size: 16T}]\n",
                "m:1:7: error: the memories have more than 16 TiB together; write smaller sizes"},
        Refusal{"NameOfNodes", "caches: [{name: numa, next: numa, size: 1K, ways: 2}]\nnuma: {nodes: 1}\n",
                "m:1:17: error: the name 'numa' is taken by the machine itself; use another one"},
        Refusal{"UnknownPolicy", "numa: {nodes: 2, policy: interleave}\n",
                "m:1:26: error: 'interleave' is not a value of 'policy'; did you mean 'interleaved'? known are: "
                "first_touch, interleaved, fixed"},
        Refusal{"NoNodes", "numa: {policy: fixed}\n",
                "m:1:7: error: 'numa' needs 'nodes', as in '{nodes: 2, policy: first_touch, interconnect: {latency: "
                "100}}'"}),
    case_name);

}  // namespace
}  // namespace cachetally
