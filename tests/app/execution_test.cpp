// SPDX-License-Identifier: BSD-3-Clause
// run --explain: what is told of each machine is documented, kept, and changes no count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class Execution : public ::testing::Test {
protected:
    ~Execution() override { ::unsetenv("CACHETALLY_EXECUTION"); }
    Finished call(const Words& arguments) { return cachetally(directory.path(), arguments); }
    Finished forced(const char* way, const Words& arguments) {
        ::setenv("CACHETALLY_EXECUTION", way, 1);
        Finished finished = call(arguments);
        ::unsetenv("CACHETALLY_EXECUTION");
        return finished;
    }
    TemporaryDirectory directory;
};

/// Rows "| `machine` | text |" of docs/machines.md behind the command.
std::map<std::string, std::string> documented_machines() {
    std::ifstream page(CACHETALLY_SOURCE_DIR "/docs/machines.md");
    std::map<std::string, std::string> rows;
    bool behind = false;
    for (std::string line; std::getline(page, line);) {
        behind = behind || line.starts_with("## How references are carried out");
        const std::size_t end = line.find("` | ");
        if (behind && line.starts_with("| `") && end != std::string::npos)
            rows[line.substr(3, end - 3)] = line.substr(end + 4, line.size() - end - 6);
    }
    return rows;
}

TEST_F(Execution, IsDocumentedForEveryBuiltInMachine) {
    const auto rows = documented_machines();
    std::size_t machines = 0;
    for (const auto& machine : call({"machine", "list", "--json"}).json()) {
        const std::string name = machine["name"];
        const Finished told = call({"run", "lu", "n=16", "--machine", name, "--explain"});
        ASSERT_EQ(told.status, 0) << told.err;
        ASSERT_TRUE(rows.contains(name)) << name;
        EXPECT_EQ(told.out, rows.at(name) + "\n") << name;
        ++machines;
    }
    EXPECT_EQ(rows.size(), machines);
}

TEST_F(Execution, IsKeptAndChangesNoCount) {
    const Words command{"run", "radix", "keys=3000", "--machine", "generic3", "--json"};
    auto batches = call(command).json();
    EXPECT_EQ(batches["execution"], Words{"in batches"});
    const auto kept = call(command + Words{"-o", "r.h5"}).json();
    EXPECT_EQ(kept["execution"], Words{"in batches"});
    EXPECT_EQ(call({"show", "r.h5", "--json"}).json(), kept);
    auto single = forced("reference", command).json();
    EXPECT_EQ(single["execution"], Words{"per reference: that was asked for"});
    batches.erase("execution");
    single.erase("execution");
    EXPECT_EQ(single, batches);
    EXPECT_EQ(forced("batch", command).status, 0);
    auto filtered = forced("filtered", command).json();
    EXPECT_EQ(filtered["execution"], Words{"filtered, then per reference: that was asked for"});
    filtered.erase("execution");
    EXPECT_EQ(filtered, batches);
}

TEST_F(Execution, CausesAreToldOneByOne) {
    const Finished told = call({"run", "lu", "n=16", "--machine", "generic3", "--causes", "--explain"});
    EXPECT_EQ(told.out, "per reference: a listener wants each event by itself\n");
}

TEST_F(Execution, WaysThatCannotBeAreRefused) {
    const Words coherent{"run", "lu", "n=16", "--machine", "coherent8"};
    const Finished refused = forced("batch", coherent);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("L1D is kept coherent (coherent8:"));
    EXPECT_EQ(forced("swiftly", coherent).status, 2);
    EXPECT_THAT(forced("swiftly", coherent).err,
                HasSubstr("'swiftly' is not a way to carry references out; known are: batch, filtered, reference"));
    const Words two{"run", "lu", "n=16", "processors=2", "--cores", "2", "--explain", "--json"};
    EXPECT_EQ(call(two).json()["execution"],
              Words{"cores 0 to 1: per reference: several cores make them, in the order of their times"});
}

}  // namespace
}  // namespace cachetally::testing
