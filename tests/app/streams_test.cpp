// SPDX-License-Identifier: BSD-3-Clause
// Traces of several streams, and machines of several cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/traces.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(Traces, AKernelAndItsTraceGiveTheSame) {
    const Finished packed = call({"trace", "convert", "radix", "radix.ct.h5", "keys=2000", "processors=2"});
    ASSERT_EQ(packed.status, 0) << packed.err;
    const std::vector<std::string> on{"--cores", "2", "--machine", "generic3", "--json"};
    std::vector<std::string> run{"run", "radix", "keys=2000", "processors=2"}, replay{"replay", "radix.ct.h5"};
    run.insert(run.end(), on.begin(), on.end());
    replay.insert(replay.end(), on.begin(), on.end());
    const auto left = call(run).json(), right = call(replay).json();
    for (const char* part : {"references", "cycles", "levels", "tlbs", "monitors", "phases"})
        EXPECT_EQ(left[part], right[part]) << part;
    EXPECT_GT(left["phases"].size(), 3U);
    const auto info = call({"trace", "info", "radix.ct.h5", "--json"}).json();
    EXPECT_EQ(info["cores"], 2);
    EXPECT_EQ(info["references"], left["references"]);
    EXPECT_EQ(info["phases"], left["phases"].size());
    EXPECT_GT(info["regions"].size(), 1U);
}

TEST_F(Traces, MoreStreamsThanCores) {
    ASSERT_EQ(call({"trace", "convert", "radix", "radix.ct.h5", "keys=100", "processors=3"}).status, 0);
    const Finished finished = call({"replay", "radix.ct.h5", "-m", "m.yaml"});
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("--cores 3"));
    EXPECT_EQ(finished.out, "");
}

TEST_F(Traces, KernelsOnFewerCoresThanAskedForAreTold) {
    const std::vector<std::string> lu{"run", "lu", "n=32", "--cores", "4", "-m", "coherent8"};
    const std::string warning =
        "lu runs on 1 of 4 cores, the others make no references; to use all, write processors=4";
    EXPECT_THAT(call(lu).err, HasSubstr(warning));
    std::vector<std::string> all = lu;
    all.emplace_back("processors=4");
    EXPECT_EQ(call(all).err, "");
}

TEST_F(Traces, OneStreamOnSeveralCoresIsToldOnce) {
    write_contents(directory / "t.lackey", lackey);
    const std::string warning =
        "warning: t.lackey has one stream of references, and the machine 'coherent8' has 8 cores: core 0";
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"replay", "t.lackey"},
          {"sweep", "t.lackey", "--slowdown", "--counters", "2", "--granularity", "1"},
          {"intrusion", "t.lackey"},
          {"trackers", "t.lackey"}}) {
        const Finished finished = call(words + std::vector<std::string>{"-m", "coherent8"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        const std::size_t place = finished.err.find(warning);
        EXPECT_NE(place, std::string::npos) << words.front();
        EXPECT_EQ(finished.err.find(warning, place + 1), std::string::npos) << words.front();
    }
    EXPECT_EQ(call({"replay", "t.lackey", "-m", "generic3"}).err, "");
    EXPECT_EQ(call({"run", "lu", "n=8", "block=4", "-m", "coherent8"}).err, "");  // of one processor on purpose
}

TEST_F(Traces, FewerStreamsThanCores) {
    put("two.din", din);
    const Finished finished = call({"replay", "two.din", "-m", "m.yaml", "--cores", "3", "--json"});
    EXPECT_EQ(finished.status, 0) << finished.err;  // the others stay idle
    EXPECT_EQ(finished.json()["references"], 6);
}

}  // namespace
}  // namespace cachetally::testing
