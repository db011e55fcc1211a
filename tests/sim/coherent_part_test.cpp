// SPDX-License-Identifier: BSD-3-Clause
// Coherence in machine files: what is read, which caches it concerns, what is refused; and the example of its page.
#include <fstream>
#include <sstream>

#include "sim/topology/validate.hpp"
#include "tests/sim/machine_refusal.hpp"

namespace cachetally {
namespace {

TEST(CoherentPart, IsReadAndWrittenWithEveryKey) {
    const std::string text =
        "cores: 4\ncaches:\n  - {name: L1, next: memory, shared_by: 2, size: 1 KiB, ways: 2}\n"
        "coherence: {protocol: moesi, by: directory, latency: 1, forward: 2, supply: 3}\n";
    const MachineDescription machine = read_machine(text, "m");
    EXPECT_EQ(machine.coherence.protocol, Protocol::moesi);
    EXPECT_EQ(machine.coherence.by, CoherenceBy::directory);
    EXPECT_EQ(machine.coherence.latency, 1U);
    EXPECT_EQ(machine.coherence.forward, 2U);
    EXPECT_EQ(machine.coherence.supply, 3U);
    EXPECT_EQ(write_machine(machine), text);
    EXPECT_EQ(write_machine(read_machine("coherence: {protocol: none}\n", "m")), "{}\n");
}

TEST(CoherentPart, IsWhatSomeCoresHaveAndWhereItMeets) {
    const CoherentPart part = coherent_part(load_machine("coherent8"));
    EXPECT_EQ(part.caches, (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_EQ(part.below, (std::vector<std::size_t>{3}));
    EXPECT_EQ(part.point, "L3");
    EXPECT_EQ(part.nodes, 8U);
}

/// A series of runs on one to many cores begins with a machine on which coherence has nothing to do.
TEST(CoherentPart, OneNodeIsAsWithoutCoherence) {
    MachineDescription machine = load_machine("coherent8");
    machine.cores = 1;
    EXPECT_EQ(Topology(machine).machine().coherence.protocol, Protocol::none);
    machine.cores = 2;
    EXPECT_EQ(Topology(machine).machine().coherence.protocol, Protocol::mesi);
    for (CacheConfig& cache : machine.caches)
        if (cache.shared_by != 0) cache.shared_by = 2;
    EXPECT_EQ(Topology(machine).machine().coherence.protocol, Protocol::none);
}

TEST(CoherentPart, TheMachineOfItsPageIsReal) {
    std::ifstream file(CACHETALLY_SOURCE_DIR "/docs/coherence.md");
    std::stringstream page;
    page << file.rdbuf();
    const std::string text = page.str(), begin = "```yaml\n";
    const auto from = text.find(begin) + begin.size();
    EXPECT_EQ(complaints(text.substr(from, text.find("```", from) - from)), "");
}

struct CoherenceRefusal {
    std::string name, text, messages;  ///< as of Refusal
    friend void PrintTo(const CoherenceRefusal& refusal, std::ostream* out) { *out << refusal.text; }
};

class CoherenceRefused : public testing::TestWithParam<CoherenceRefusal> {};

TEST_P(CoherenceRefused, InTheseWords) { EXPECT_EQ(complaints(GetParam().text), GetParam().messages); }

const std::string over_memory = "cores: 4\ncoherence: {protocol: mesi}\ncaches:\n";
const std::string l1 = "  - {name: L1, next: L2, shared_by: 1, size: 1K, ways: 2}\n";

INSTANTIATE_TEST_SUITE_P(
    Machines, CoherenceRefused,
    testing::Values(
        CoherenceRefusal{"NoProtocol", "coherence: {by: snooping}\n",
                         "m:1:12: error: 'coherence' needs 'protocol', as in '{protocol: mesi, by: directory}'"},
        CoherenceRefusal{
            "UnknownProtocol", "coherence: {protocol: mosi}\n",
            "m:1:23: error: 'mosi' is not a value of 'protocol'; did you mean 'mesi'? known are: none, mesi, moesi"},
        CoherenceRefusal{
            "NoneWithSettings", "coherence: {protocol: none, supply: 3}\n",
            "m:1:37: error: 'supply' means nothing with 'protocol: none'; write mesi or moesi, or remove it"},
        CoherenceRefusal{
            "ForwardBySnooping", "coherence: {protocol: mesi, forward: 3}\n",
            "m:1:38: error: nothing is forwarded where all nodes snoop; remove 'forward', or write 'by: directory'"},
        CoherenceRefusal{
            "NothingPrivate", over_memory + "  - {name: L1, next: memory, size: 1K, ways: 2}\n",
            "m:2:12: error: no cache belongs to some of the cores only, so there is nothing to keep coherent; remove "
            "'coherence', or write a 'shared_by' of fewer cores for the levels next to them"},
        CoherenceRefusal{"TooLong",
                         "clock: 1 MHz\ncores: 4\ncoherence: {protocol: mesi, supply: 2000}\ncaches:\n"
                         "  - {name: L1, next: memory, shared_by: 1, size: 1K, ways: 2}\n",
                         "m:3:37: error: a latency of 2000 cycles is too long; write at most 1000"},
        CoherenceRefusal{
            "Clusters", over_memory + l1 + "  - {name: L2, next: memory, shared_by: 2, size: 2K, ways: 2}\n",
            "m:5:41: error: 'L2' is shared by 2 cores and 'L1' by 1, but coherence is kept between nodes at one "
            "level; write the same number for both, or 'shared_by: all' for the lower one"},
        CoherenceRefusal{
            "Lines", over_memory + l1 + "  - {name: L2, next: memory, shared_by: 1, size: 2K, ways: 2, line: 128}\n",
            "m:5:69: error: 'L2' has lines of 128 bytes and 'L1' of 64, but coherence is kept by lines of one length; "
            "write 64"},
        CoherenceRefusal{
            "VanishingVictims",
            over_memory + "  - {name: L1, next: memory, shared_by: 1, size: 1K, ways: 2, write_back_traffic: false}\n",
            "m:4:83: error: dirty victims of 'L1' must reach the other nodes; write 'write_back_traffic: true'"},
        CoherenceRefusal{
            "WriteThrough",
            over_memory + "  - {name: L1, next: memory, shared_by: 1, size: 1K, ways: 2, write: write_through}\n",
            "m:4:70: error: 'L1' is the last level of a node and keeps what its cores have stored; write 'write: "
            "write_back'"},
        CoherenceRefusal{
            "NoAllocate",
            over_memory + "  - {name: L1, next: memory, shared_by: 1, size: 1K, ways: 2, write_allocate: false}\n",
            "m:4:79: error: 'L1' is the last level of a node and keeps what its cores have stored; write "
            "'write_allocate: true'"},
        CoherenceRefusal{"StoresPassOut",
                         over_memory +
                             "  - {name: L1, next: L2, shared_by: 1, size: 1K, ways: 2, write: write_through}\n"
                             "  - {name: L2, next: memory, shared_by: 1, size: 2K, ways: 2, inclusion: victim}\n",
                         "m:4:66: error: 'L2' is filled by victims only and would pass the stores of 'L1' out of the "
                         "node; write 'write: write_back' and 'write_allocate: true' here"},
        CoherenceRefusal{
            "TwoPoints",
            over_memory + "  - {name: L1D, next: L2, serves: data, shared_by: 1, size: 1K, ways: 2}\n"
                          "  - {name: L1I, next: memory, serves: fetch, shared_by: 1, size: 1K, ways: 2}\n"
                          "  - {name: L2, next: memory, size: 2K, ways: 2}\n",
            "m:5:23: error: 'L1I' leads to 'memory', but 'L1D' to 'L2'; coherence is kept where all ways meet: write "
            "'next: L2'"},
        CoherenceRefusal{
            "ExclusivePoint",
            over_memory + l1 + "  - {name: L2, next: memory, size: 2K, ways: 2, inclusion: exclusive}\n",
            "m:5:60: error: 'L2' gives a line to one node alone, but several may read it; write 'inclusion: victim', "
            "which keeps it"},
        CoherenceRefusal{
            "BesideThePoint",
            over_memory + "  - {name: L1D, next: L2, serves: data, shared_by: 1, size: 1K, ways: 2}\n"
                          "  - {name: L1I, next: L2, serves: fetch, shared_by: all, size: 1K, ways: 2}\n"
                          "  - {name: L2, next: memory, size: 2K, ways: 2}\n",
            "m:5:53: error: 'L1I' is shared by all cores, but lies beside 'L2', where caches are kept coherent; write "
            "'shared_by: 1'"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace cachetally
