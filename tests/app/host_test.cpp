// SPDX-License-Identifier: BSD-3-Clause
// run and replay on SystemC: the same as on the engine, in print and in files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/file.hpp"
#include "tests/app/program.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class Hosts : public ::testing::Test {
protected:
    void SetUp() override {
        if (thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer does not follow SystemC's coroutines";
    }
    Finished on(const std::string& host, Words words) const {
        words.insert(words.end(), {"--host", host});
        return cachetally(directory.path(), words);
    }
    TemporaryDirectory directory;
};

TEST_F(Hosts, TellTheSameOfTimeOnLinks) {
    write_contents(directory / "m.yaml",
                   "cores: 2\nclock: 1 GHz\nmemory: {bank_busy: 20}\n"
                   "caches: [{name: L1, next: memory, size: 1K, ways: 2, bus: {bytes_per_cycle: 8}}]\n");
    const Words words{"run",       "radix", "keys=512", "radix=64", "processors=2",
                      "--quantum", "1us",   "-m",       "m.yaml",   "--json"};
    const Finished engine = on("engine", words);
    EXPECT_EQ(engine.status, 0) << engine.err;
    EXPECT_EQ(on("systemc", words).out, engine.out);
}

TEST_F(Hosts, TellTheSame) {
    const std::vector<Words> runs{
        {"run", "radix", "keys=512", "radix=64", "processors=4", "--cores", "4", "--quantum", "1us", "--json"},
        {"run", "lu", "n=32", "block=8", "--quantum", "1us"},
        // cores that wait for the same record of a full ring meet in time
        {"run", "radix", "keys=2048", "radix=64", "processors=4", "--cores", "4", "--monitor",
         "link=L3-memory,counters=1,capacity=2,drain_cost=150", "--json"},
        {"run", "lu", "n=16", "block=8", "--monitor", "link=core-L1D,counters=4,write_cost=3,path=link", "--json"},
        {"run", "stream", "n=1000", "--max-references", "500", "--quantum", "1us", "--json"}};
    for (const Words& words : runs) {
        const Finished engine = on("engine", words), systemc = on("systemc", words);
        EXPECT_EQ(systemc.status, 0) << systemc.err;
        EXPECT_EQ(systemc.err, "");
        EXPECT_EQ(systemc.out, engine.out);
    }
}

TEST_F(Hosts, WriteTheSameFiles) {
    const Words words{"run", "radix", "keys=512", "radix=64", "processors=2", "--cores", "2", "--quantum", "1us"};
    for (const std::string host : {"engine", "systemc"}) {
        Words run = words;
        run.insert(run.end(), {"-o", host + ".h5"});
        ASSERT_EQ(on(host, run).status, 0);
        EXPECT_EQ(InputFile(directory / (host + ".h5")).root().open_group("run").whole_attribute("quantum"),
                  1'000'000U);
    }
    const auto told = [&](const std::string& file) {
        return cachetally(directory.path(), {"show", file, "--json"}).json();
    };
    EXPECT_EQ(told("engine.h5"), told("systemc.h5"));
    EXPECT_EQ(told("systemc.h5")["quantum_ps"], 1'000'000);
}

// One core goes nowhere ahead of others.
TEST_F(Hosts, RecordNoQuantumOfOneCore) {
    const Finished run = on("engine", {"run", "stream", "n=100", "--quantum", "1us", "--json"});
    EXPECT_FALSE(run.json().contains("quantum_ps"));
}

TEST_F(Hosts, ReplayTraces) {
    ASSERT_EQ(cachetally(directory.path(), {"trace", "convert", "radix", "t.ct.h5", "keys=5000"}).status, 0);
    const Words replay{"replay", "t.ct.h5", "--quantum", "1us", "--json"};
    EXPECT_EQ(on("systemc", replay).out, on("engine", replay).out);
}

TEST_F(Hosts, AreTwo) {
    const Finished run = on("verilator", {"run", "stream"});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, HasSubstr("engine"));
}

}  // namespace
}  // namespace cachetally::testing
