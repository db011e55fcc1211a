// SPDX-License-Identifier: BSD-3-Clause
// Monitors on the links of machines: which kinds can happen where, defaults, names, what is refused.
#include "monitor/spec_placement.hpp"

#include <gtest/gtest.h>

namespace cachetally {
namespace {

Topology machine(const std::string& rest) {
    return Topology(
        read_machine("name: m\ncaches:\n"
                     "  - {name: L1D, next: L2, serves: data, size: 1 KiB, ways: 2, line: 32}\n"
                     "  - {name: L1I, next: L2, serves: fetch, size: 1 KiB, ways: 2}\n"
                     "  - {name: L2, next: memory, size: 8 KiB, ways: 2}\n"
                     "tlbs:\n  - {name: T, serves: data, entries: 4, ways: full}\n" +
                         rest,
                     "m.yaml"));
}

std::uint32_t kinds_on(const Topology& topology, std::string_view link, std::vector<std::string> senders = {}) {
    return possible_kinds(topology, senders)[topology.link(link)];
}

constexpr std::uint32_t load = bit(EventKind::load), store = bit(EventKind::store), fetch = bit(EventKind::fetch),
                        walk = bit(EventKind::page_walk), fill = bit(EventKind::fill),
                        write_back = bit(EventKind::write_back), record = bit(EventKind::ring_write);

TEST(Placement, KindsThatCanHappen) {
    const Topology topology = machine("");
    EXPECT_EQ(kinds_on(topology, "core-L1D"), load | store);
    EXPECT_EQ(kinds_on(topology, "core-L1I"), fetch);
    EXPECT_EQ(kinds_on(topology, "core-T"), load | store);
    EXPECT_EQ(kinds_on(topology, "T-walker"), load | store);
    EXPECT_EQ(kinds_on(topology, "walker-L1D"), walk);
    EXPECT_EQ(kinds_on(topology, "L1D-L2"), load | walk | fill | write_back);
    EXPECT_EQ(kinds_on(topology, "L1I-L2"), fetch | fill);
    EXPECT_EQ(kinds_on(topology, "L2-memory"), load | fetch | walk | fill | write_back);
    EXPECT_EQ(kinds_on(topology, "core-L1D", {"core-L1D"}), load | store);
    EXPECT_EQ(kinds_on(topology, "L1D-L2", {"core-L1D"}), load | walk | fill | write_back);
}

TEST(Placement, RecordsThatAreNotKeptAreSeenFurtherDown) {
    const Topology topology(
        read_machine("name: m\ncaches:\n  - {name: L1, next: L2, size: 1 KiB, ways: 2, write_back_miss: bypass}\n"
                     "  - {name: L2, next: memory, size: 8 KiB, ways: 2}\n",
                     "m.yaml"));
    EXPECT_EQ(kinds_on(topology, "core-L1", {"core-L1"}) & record, 0U);
    EXPECT_EQ(kinds_on(topology, "L1-L2", {"core-L1"}) & record, record);
    EXPECT_EQ(kinds_on(topology, "L1-L2", {"L1-L2"}) & record, 0U);
    EXPECT_EQ(kinds_on(topology, "L2-memory", {"core-L1"}) & record, 0U);
}

TEST(Placement, BankConflictsHappenWhereBanksAreBusy) {
    const Topology busy = machine("pages: {walk: {through: memory}}\nmemory: {latency: 10, banks: 4, bank_busy: 20}\n");
    const std::uint32_t conflict = bit(EventKind::bank_conflict);
    EXPECT_EQ(kinds_on(busy, "L2-memory"), load | fetch | fill | write_back | conflict);
    EXPECT_EQ(kinds_on(busy, "walker-memory"), walk | conflict);
    EXPECT_EQ(kinds_on(busy, "L1D-L2") & conflict, 0U);
}

TEST(Placement, KindsOfCoherence) {
    const std::uint32_t lost = bit(EventKind::invalidate), cleaned = bit(EventKind::flush),
                        changed = bit(EventKind::coherence);
    MachineDescription description = load_machine("coherent8");
    const Topology mesi(description);
    EXPECT_EQ(kinds_on(mesi, "core-L1D"), load | store);
    EXPECT_EQ(kinds_on(mesi, "L1D-L2"), load | fill | write_back | lost | cleaned);
    EXPECT_EQ(kinds_on(mesi, "L1I-L2"), fetch | fill | lost);
    EXPECT_EQ(kinds_on(mesi, "L2-L3"), load | fetch | fill | write_back | lost | cleaned | changed);
    description.coherence.protocol = Protocol::moesi;
    EXPECT_EQ(kinds_on(Topology(description), "L2-L3"), load | fetch | fill | write_back | lost | changed);
}

TEST(Placement, KindsAndLinesOfNodes) {
    const char* const nodes =
        "cores: 2\ncaches: [{name: L1, next: numa, size: 1K, ways: 2, line: 128, shared_by: 1}]\n"
        "numa: {nodes: 2, policy: interleaved}\nmemories: [{name: A, node: 0}, {name: B, node: 1, bank_busy: 3}]\n";
    const Topology topology(read_machine(nodes, "m"));
    EXPECT_EQ(kinds_on(topology, "L1-numa"), load | fetch | fill | write_back);
    EXPECT_EQ(kinds_on(topology, "numa-interconnect"), load | fetch | write_back);
    EXPECT_EQ(kinds_on(topology, "numa-A"), load | fetch | write_back);
    EXPECT_EQ(kinds_on(topology, "numa-B"), load | fetch | write_back | bit(EventKind::bank_conflict));
    MonitorSpec spec;
    for (const char* link : {"numa-A", "numa-interconnect"}) {
        spec.link = link;
        EXPECT_EQ(completed(spec, topology).line, 128U);
    }
}

TEST(Placement, OneOnEachLinkByDefault) {
    const Topology topology = machine("");
    const std::vector<MonitorSpec> specs = placed(default_monitors(topology), topology);
    ASSERT_EQ(specs.size(), topology.links().size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
        EXPECT_EQ(specs[i].link, topology.links()[i].name);
        EXPECT_EQ(specs[i].kinds, specs[i].link == "walker-L1D" ? walk : load | store | fetch);
        EXPECT_NE(specs[i].kinds & kinds_on(topology, specs[i].link), 0U);
    }
}

TEST(Placement, Lines) {
    const Topology topology = machine("");
    for (const auto& [link, line] : {std::pair{"core-L1D", 32U},
                                     {"walker-L1D", 32U},
                                     {"L1D-L2", 64U},
                                     {"L2-memory", 64U},
                                     {"core-T", 4096U},
                                     {"T-walker", 4096U}})
        EXPECT_EQ(completed(parse_monitor(std::string("link=") + link), topology).line, line) << link;
    EXPECT_EQ(completed(parse_monitor("link=core-T,line=64"), topology).line, 64U);
    const Topology sectors(
        read_machine("caches:\n"
                     "  - {name: L1, next: L2, size: 1K, ways: 2, sector: 32}\n"
                     "  - {name: L2, next: memory, size: 8K, ways: 2, line: 128, sector: 64}\n",
                     "m"));
    EXPECT_EQ(completed(parse_monitor("link=L1-L2"), sectors).line, 128U);
    EXPECT_EQ(completed(parse_monitor("link=L2-memory"), sectors).line, 64U);
}

std::string refusal(const std::vector<std::string>& texts) {
    std::vector<MonitorSpec> specs;
    for (const std::string& text : texts) specs.push_back(parse_monitor(text));
    try {
        placed(specs, machine(""));
    } catch (const SpecError& error) {
        return error.what();
    }
    return "";
}

TEST(Placement, RefusesWhatCouldSeeNothing) {
    EXPECT_EQ(refusal({"link=core-L1I,kinds=load"}),
              "monitor 'link=core-L1I,kinds=load': a monitor of load would see nothing on 'core-L1I'; what happens "
              "there is: fetch (write kinds=fetch)");
    EXPECT_EQ(refusal({"link=core-L1D,cores=7"}),
              "monitor 'link=core-L1D,cores=7': there is no core 7; the machine has one, number 0");
    EXPECT_NE(refusal({"link=L1D-L3"}).find("has no link 'L1D-L3'; did you mean 'L1D-L2'?"), std::string::npos);
    EXPECT_EQ(refusal({"link=core-L1D,kinds=all"}), "");
}

TEST(Placement, NamesDiffer) {
    const Topology topology = machine("");
    const MonitorSpec spec = parse_monitor("link=core-L1D"), other = parse_monitor("link=L1D-L2,name=core-L1D#2");
    const auto specs = placed({spec, other, spec, spec}, topology);
    EXPECT_EQ(specs[0].label(), "core-L1D");
    EXPECT_EQ(specs[2].label(), "core-L1D#3");
    EXPECT_EQ(specs[3].label(), "core-L1D#4");
    EXPECT_NE(refusal({"link=core-L1D,name=a", "link=L1D-L2,name=a"}).find("'a' is the name of several"),
              std::string::npos);
}

TEST(Placement, MachineFilesAreToldEveryPlace) {
    const Topology topology = machine(
        "monitors:\n"
        "  - {link: core-L9}\n"
        "  - {link: core-L1D, cores: 3}\n"
        "  - {link: core-L1D, counters: 16}\n");
    try {
        monitors_of(topology);
        FAIL();
    } catch (const MachineError& error) {
        ASSERT_EQ(error.diagnostics().size(), 2U);
        EXPECT_EQ(std::string(error.what()).rfind("m.yaml:9:12: error: machine 'm' has no link 'core-L9'", 0), 0U)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("\nm.yaml:10:29: error: there is no core 3"), std::string::npos)
            << error.what();
    }
    try {
        monitors_of(machine("monitors:\n  - {counters: 0}\n  - {counters: 4}\n"));
        FAIL();
    } catch (const MachineError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "m.yaml:9:16: error: counters: 0 is out of range; write 1 to 4194304\n"
                  "m.yaml:10:5: error: a monitor needs the 'link' that it watches, e.g. link: core-L1D");
    }
}

}  // namespace
}  // namespace cachetally
