// SPDX-License-Identifier: BSD-3-Clause
// Results of machines whose cores share memory: coherence, nodes, memories near and far.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class SharedMemory : public ::testing::Test {
protected:
    Finished call(const Words& words) const { return cachetally(directory.path(), words); }
    json good_json(const Words& words) const {
        const Finished finished = call(words + Words{"--json"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished.status == 0 ? finished.json() : json();
    }
    TemporaryDirectory directory;
};

TEST_F(SharedMemory, ThePointOfCoherenceIsLeftOut) {
    const json told = good_json({"run", "lu", "n=32", "processors=2", "--machine", "coherent8"});
    EXPECT_GT(told["coherence"]["L3"]["supplies"], 0);
    EXPECT_TRUE(told["structures_exact"].contains("L2"));
    EXPECT_FALSE(told["structures_exact"].contains("L3")) << "lines that nodes supply are asked for on its links, too";
}

TEST_F(SharedMemory, NodesTellWhatIsLocalAndWhatIsRemote) {
    const json told = good_json({"run", "lu", "n=32", "processors=8", "--machine", "numa4"});
    json remote = 0;
    for (const auto& [name, memory] : told["memories"].items()) {
        const json& parts = told["numa"][name];
        EXPECT_EQ(parts["local_reads"].get<int>() + parts["remote_reads"].get<int>(), memory["reads"]) << name;
        remote = remote.get<int>() + parts["remote_reads"].get<int>() + parts["remote_writes"].get<int>();
    }
    int seen = 0;
    for (const auto& monitor : told["monitors"])
        if (monitor.value("link", "") == "numa-interconnect") seen = monitor["events"];
    EXPECT_GT(seen, 0);
    EXPECT_LE(seen, remote.get<int>()) << "default monitors do not count write-backs";
    EXPECT_THAT(call({"run", "lu", "n=32", "processors=8", "--machine", "numa4"}).out, HasSubstr("remote %"));
    EXPECT_THAT(call({"machine", "show", "numa4"}).out, HasSubstr("4 nodes of 2 cores each, homes: first_touch"));
}

/// Monitors' records are no requests of the program: with them and without, as much is remote.
TEST_F(SharedMemory, TheRemoteShareIsOfTheProgramsRequests) {
    const Words words{"run", "water", "molecules=64", "processors=8", "--machine", "numa4"};
    const auto cells_of_m0 = [&](const Words& more) {
        const std::string text = call(words + more).out;
        std::istringstream line(text.substr(text.find("\nM0 ", text.find("local reads")) + 1));
        std::string whole;
        std::getline(line, whole);
        std::istringstream cells(whole);
        return Words(std::istream_iterator<std::string>(cells), {});
    };
    const Words plain = cells_of_m0({}), alone = cells_of_m0({"--monitor", "none"});
    EXPECT_EQ(alone, (Words{"M0", "285", "211", "608", "0", "19.11"}));  // docs/numa.md
    ASSERT_EQ(plain.size(), 8U);
    EXPECT_EQ(Words(plain.begin(), plain.begin() + 5), Words(alone.begin(), alone.begin() + 5));
    EXPECT_EQ(plain.back(), alone.back());
    EXPECT_THAT(call(words).out, HasSubstr("local records"));
    EXPECT_THAT(call(words).out, ::testing::Not(HasSubstr("local walks")));
}

TEST_F(SharedMemory, LinksOfMemoriesAreInTheirOrder) {
    EXPECT_THAT(call({"machine", "show", "numa4"}).out, HasSubstr("numa-M0 numa-M1 numa-M2 numa-M3 numa-interconnect"));
}

TEST_F(SharedMemory, OneCoreOfACoherentMachineIsAsWithoutCoherence) {
    std::string without = call({"machine", "show", "coherent8", "--yaml"}).out;
    const auto line = without.find("\ncoherence:");
    ASSERT_NE(line, std::string::npos);
    without.erase(line, without.find('\n', line + 1) - line);
    write_contents(directory / "alone.yaml", without);
    const Words lu{"run", "lu", "n=32", "--cores", "1", "--monitor", "link=L2-L3", "--machine"};
    json alone = good_json(lu + Words{"alone.yaml"});
    for (const std::string host : {"engine", "systemc"}) {
        json coherent = good_json(lu + Words{"coherent8", "--host", host});
        EXPECT_FALSE(coherent.contains("coherence"));
        for (const std::string part : {"levels", "memories", "monitors", "cycles"}) {
            ASSERT_TRUE(alone.contains(part)) << part;
            EXPECT_EQ(coherent[part], alone[part]) << host << ": " << part;
        }
    }
}

}  // namespace
}  // namespace cachetally::testing
