// SPDX-License-Identifier: BSD-3-Clause
// Grids against lists written by hand: which points there are, in which order, with which machine, workload and
// monitor.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "cachetally/topology.hpp"
#include "campaign/grid.hpp"
#include "campaign/point_file.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* small_machine =
    "clock: 1 GHz\n"
    "caches:\n"
    "  - {name: L1, next: L2, size: 1 KiB, ways: 2, line: 64}\n"
    "  - {name: L2, next: memory, size: 8 KiB, ways: 4, line: 64, replacement: random}\n"
    "memory: {name: memory, latency: 100}\n";

Grid grid_of(const std::string& text) {
    CampaignInputs inputs;
    inputs.machines["small"] = {"", small_machine, "0"};
    inputs.machines["other"] = {"", std::string("name: other\n") + small_machine, "1"};
    inputs.traces["t.ct.h5"] = inputs.traces["./t.ct.h5"] = {"/nowhere/t.ct.h5", "", "2"};
    return {parse_campaign_file(text, "c.yaml"), inputs};
}

/// "small lu L2.size=16 KiB n=8 counters=2", a point after the other.
std::vector<std::string> points_of(const Grid& grid) {
    std::vector<std::string> all;
    for (std::uint64_t point = 0; point < grid.points(); ++point) {
        const Grid::Place place = grid.place(point);
        std::vector<std::string> words{grid.machine_name(place), grid.workload_name(place)};
        const std::vector<std::string> values = grid.values(place);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!values[i].empty()) words.push_back(grid.parameters()[i].name + "=" + values[i]);
        if (!grid.file().seeds.empty()) words.push_back(fmt::format("seed {}", grid.seed(place)));
        all.push_back(fmt::format("{}", fmt::join(words, " ")));
    }
    return all;
}

std::string error_of(const std::string& text) {
    try {
        grid_of(text);
        return "no error";
    } catch (const FileError& error) {
        return error.what();
    }
}

TEST(Grid, AllCombinationsTheMonitorFastest) {
    const Grid grid = grid_of(
        "machines: [small, {machine: other, set: {L2.size: [16 KiB, 32 KiB]}}]\n"
        "workloads: [{run: lu, set: {n: [16, 32]}}, {trace: t.ct.h5}]\n"
        "monitors: [none, {set: {counters: [2, 4]}}]\n");
    EXPECT_THAT(points_of(grid),
                ElementsAre("small lu L2.size=8 KiB n=16", "small lu L2.size=8 KiB n=16 counters=2",
                            "small lu L2.size=8 KiB n=16 counters=4", "small lu L2.size=8 KiB n=32",
                            "small lu L2.size=8 KiB n=32 counters=2", "small lu L2.size=8 KiB n=32 counters=4",
                            "small t.ct.h5 L2.size=8 KiB", "small t.ct.h5 L2.size=8 KiB counters=2",
                            "small t.ct.h5 L2.size=8 KiB counters=4", "other lu L2.size=16 KiB n=16",
                            "other lu L2.size=16 KiB n=16 counters=2", "other lu L2.size=16 KiB n=16 counters=4",
                            "other lu L2.size=16 KiB n=32", "other lu L2.size=16 KiB n=32 counters=2",
                            "other lu L2.size=16 KiB n=32 counters=4", "other t.ct.h5 L2.size=16 KiB",
                            "other t.ct.h5 L2.size=16 KiB counters=2", "other t.ct.h5 L2.size=16 KiB counters=4",
                            "other lu L2.size=32 KiB n=16", "other lu L2.size=32 KiB n=16 counters=2",
                            "other lu L2.size=32 KiB n=16 counters=4", "other lu L2.size=32 KiB n=32",
                            "other lu L2.size=32 KiB n=32 counters=2", "other lu L2.size=32 KiB n=32 counters=4",
                            "other t.ct.h5 L2.size=32 KiB", "other t.ct.h5 L2.size=32 KiB counters=2",
                            "other t.ct.h5 L2.size=32 KiB counters=4"));
    EXPECT_THAT(grid.levels(), ElementsAre("L1", "L2"));
    for (const Parameter& parameter : grid.parameters()) EXPECT_TRUE(parameter.is_number) << parameter.name;
}

TEST(Grid, WhatPointsShareBelongsTogether) {
    const Grid grid =
        grid_of("machines: [small]\nworkloads: [lu, radix]\nseeds: 3-4\nmonitors: [none, {set: {counters: 1-3}}]\n");
    std::vector<std::uint64_t> ends;
    for (std::uint64_t at = 0; at < grid.points(); at = ends.back()) ends.push_back(grid.group_end(at));
    EXPECT_THAT(ends, ElementsAre(4, 8, 12, 16));
    EXPECT_THAT(bundles_of(grid, 1), ElementsAre(0, 4, 8, 12, 16));
    EXPECT_THAT(bundles_of(grid, 5), ElementsAre(0, 8, 16));
    EXPECT_THAT(bundles_of(grid, 9), ElementsAre(0, 12, 16));
}

TEST(Grid, ConditionsOnNumbersProductsAndWords) {
    const std::string lists =
        "machines: [{machine: small, set: {L1.size: [1 KiB, 4 KiB]}}, {machine: other, set: {L2.ways: 2}}]\n"
        "workloads: [lu]\nmonitors: [{set: {counters: [2, 4, 8], granularity: [1, 2, dynamic:4]}}]\n";
    EXPECT_EQ(grid_of(lists).points(), 27);
    EXPECT_EQ(grid_of(lists + "where: L1.size > 1K\n").points(), 9);
    EXPECT_EQ(grid_of(lists + "where: [machine == small, granularity == dynamic:4]\n").points(), 6);
    // 2*1, 2*2, 4*1 are at most 4; what is no number cannot be multiplied, and keeps such conditions
    EXPECT_EQ(grid_of(lists + "where: [counters * granularity <= 4, granularity != dynamic:4]\n").points(), 9);
    EXPECT_EQ(grid_of(lists + "where: L1.size * 4 < L2.size\n").points(), 18);  // 8 KiB as stated
    EXPECT_EQ(grid_of(lists + "where: L1.size * 8 <= L2.size\n").points(), 18);
    EXPECT_EQ(grid_of(lists + "where: [L1.size * 8 <= L2.size, L2.ways == 2]\n").points(), 9);
    const std::string clocks = "machines: [{machine: small, set: {clock: [900 MHz, 1 GHz, 3 GHz]}}]\nworkloads: [lu]\n";
    EXPECT_EQ(grid_of(clocks + "where: clock > 1000 MHz\n").points(), 1);
    EXPECT_EQ(grid_of(lists + "where: clock >= 1 GHz\n").points(), 27);  // as stated
}

TEST(Grid, NothingLeftIsAnError) {
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [lu]\nseeds: 1-2\nwhere: seed > 2\n"),
                HasSubstr("c.yaml:4:8: error: the conditions leave no point"));
}

TEST(Grid, DrawnPointsAreSomeOfAllAndTheSameForASeed) {
    const std::string lists = "machines: [small]\nworkloads: [{run: lu, set: {n: 16-115}}]\nseeds: 1-10\n";
    const std::vector<std::string> all = points_of(grid_of(lists));
    const std::vector<std::string> drawn = points_of(grid_of(lists + "draw: {points: 50, seed: 7}\n"));
    EXPECT_EQ(drawn.size(), 50U);
    EXPECT_EQ(std::set<std::string>(drawn.begin(), drawn.end()).size(), 50U);
    const std::set<std::string> known(all.begin(), all.end());
    for (const std::string& point : drawn) EXPECT_TRUE(known.contains(point)) << point;
    EXPECT_EQ(points_of(grid_of(lists + "draw: {points: 50, seed: 7}\n")), drawn);
    EXPECT_NE(points_of(grid_of(lists + "draw: {points: 50, seed: 8}\n")), drawn);
    // of a thousand points, half of 500 drawn ones are of the first half, give or take five standard deviations
    std::size_t low = 0;
    const Grid half = grid_of(lists + "draw: {points: 500, seed: 1}\n");
    for (std::uint64_t i = 0; i < half.points(); ++i) low += *campaign_number(half.values(half.place(i))[0]) < 66;
    EXPECT_EQ(half.points(), 500U);
    EXPECT_NEAR(static_cast<double>(low), 250, 40);
}

TEST(Grid, DrawsFromMorePointsThanCanBeListed) {
    const Grid grid = grid_of(
        "machines: [small]\nworkloads: [{run: radix, set: {keys: 1-30000}}]\nseeds: 1-50000\n"
        "where: keys < 100\ndraw: {points: 20, seed: 1}\n");
    EXPECT_EQ(grid.points(), 20U);
    for (std::uint64_t i = 0; i < 20; ++i) EXPECT_LT(*campaign_number(grid.values(grid.place(i))[0]), 100);
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [{run: radix, set: {keys: 1-30000}}]\nseeds: 1-50000\n"),
                HasSubstr("1,500,000,000 points; at most 10,000,000"));
}

TEST(Grid, SettingsReachMachinesKernelsAndMonitors) {
    const Grid grid = grid_of(
        "machines: [{machine: small, set: {L2.size: 16 KiB, L2.latency: 7, cores: 2, memory.latency: 50}}]\n"
        "workloads: [{run: radix, set: {keys: 300}}]\nmonitors: [{set: {link: L1-L2, drain: watermark:8}}]\nseeds: "
        "[5]\n");
    const Grid::Place place = grid.place(0);
    const MachineDescription machine = grid.machine(place);
    EXPECT_EQ(machine.caches[1].size, 16U << 10);
    EXPECT_EQ(machine.caches[1].latency, 7U);
    EXPECT_EQ(machine.caches[0].size, 1U << 10);
    EXPECT_EQ(machine.cores, 2U);
    EXPECT_EQ(machine.memories[0].latency, 50U);
    EXPECT_EQ(machine.caches[1].seed, read_machine(small_machine, "small").caches[1].seed + 5);
    EXPECT_THAT(grid.workload(place).settings, ElementsAre("keys=300", "seed=5"));
    EXPECT_EQ(grid.monitor_settings(place), "drain=watermark,watermark=8,seed=5");
    EXPECT_EQ(grid.monitor_link(place), "L1-L2");
    EXPECT_EQ(grid.monitor_text(place), "link=L1-L2,drain=watermark,watermark=8,seed=5");
}

TEST(Grid, ALinkThatIsNotStatedIsThatOfTheCore) {
    const Grid grid =
        grid_of("machines: [small]\nworkloads: [lu]\nmonitors: [{set: {counters: 8}}, {set: {link: L1-L2}}, none]\n");
    EXPECT_THAT(points_of(grid), ElementsAre("small lu counters=8 link=core-L1", "small lu link=L1-L2", "small lu"));
}

TEST(Grid, TheExampleOfTheDocsIsOne) {
    std::ifstream file(CACHETALLY_SOURCE_DIR "/docs/campaigns.md");
    const std::string page((std::istreambuf_iterator<char>(file)), {});
    const std::size_t begin = page.find("```yaml\n") + 8;
    CampaignInputs inputs;
    inputs.machines["generic3"] = {"", load_machine("generic3").text, "0"};
    inputs.traces["gzip.ct.h5"] = {"/nowhere/gzip.ct.h5", "", "1"};
    const Grid grid(parse_campaign_file(page.substr(begin, page.find("```", begin) - begin), "sizes.yaml"), inputs);
    EXPECT_GT(grid.points(), 100U);
    for (std::uint64_t point = 0; point < grid.points(); point += 7) {
        const WorkloadPoint workload = grid.workload(grid.place(point));
        if (workload.is_trace) continue;
        const auto program = make_workload(workload.name, workload.settings);
        EXPECT_GT(program->expected_references(), 1.5 * static_cast<double>(grid.file().warmup)) << workload.name;
    }
}

TEST(Grid, MachinesOfOneFileDoNotLeakIntoEachOther) {
    const Grid grid = grid_of(
        "machines: [{machine: small, set: {L2.size: [16 KiB, 32 KiB], L2.latency: 7}}, small, other]\n"
        "workloads: [lu]\nmonitors: [none, {set: {counters: 2}}]\n");
    std::vector<std::uint64_t> sizes, latencies;
    for (const std::size_t machine : {0, 1, 2, 3, 1, 0, 3}) {
        const CacheConfig level = grid.machine({machine, 0, 0, 0}).caches[1];
        sizes.push_back(level.size >> 10);
        latencies.push_back(level.latency);
    }
    const std::uint64_t stated = read_machine(small_machine, "small").caches[1].latency;
    EXPECT_THAT(sizes, ElementsAre(16, 32, 8, 8, 32, 16, 8));
    EXPECT_THAT(latencies, ElementsAre(7, 7, stated, stated, 7, 7, stated));
    EXPECT_EQ(grid.monitor_text({2, 0, 0, 0}), "none");
    EXPECT_EQ(grid.monitor_text({2, 0, 0, 1}), "link=core-L1,counters=2");
}

TEST(Grid, HashesDifferByAllThatDeterminesAResult) {
    const auto hash = [](const std::string& text) { return grid_of(text).hash(0); };
    const std::string machines = "machines: [small]\n", workloads = "workloads: [{run: lu, set: {n: 16}}]\n";
    const std::string first = hash(machines + workloads);
    EXPECT_EQ(hash("name: other\n" + workloads + machines), first) << "names and order are not among it";
    std::set<std::string> all{first};
    for (const std::string& other : {"machines: [{machine: small, set: {L2.size: 16 KiB}}]\n" + workloads,
                                     machines + "workloads: [{run: lu, set: {n: 17}}]\n",
                                     machines + "workloads: [{trace: t.ct.h5}]\n", machines + workloads + "count: 5\n",
                                     machines + workloads + "warmup: 5\n", machines + workloads + "seeds: 1\n",
                                     machines + workloads + "slowdown: true\nmonitors: [{set: {counters: 2}}]\n",
                                     machines + workloads + "monitors: [{set: {counters: 2}}]\n",
                                     machines + workloads + "monitors: [{set: {counters: 2, link: L1-L2}}]\n"})
        EXPECT_TRUE(all.insert(hash(other)).second) << other;
}

TEST(Grid, KeysOfTheNamesOfOtherColumnsAreToldByTheirKind) {
    const Grid grid = grid_of(
        "machines: [small]\nworkloads: [{run: ocean, set: {cycles: [1, 2], n: 64}}]\n"
        "monitors: [{set: {seed: [5, 6]}}]\n");
    EXPECT_EQ(points_of(grid)[3], "small ocean workload.cycles=2 n=64 monitor.seed=6");
    EXPECT_EQ(grid.workload(grid.place(3)).settings[0], "cycles=2");
}

TEST(Grid, ErrorsNameThePlace) {
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [loo]\n"), HasSubstr("c.yaml:2:13: error: there is no kernel "
                                                                             "'loo'; did you mean 'lu'"));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [{run: lu, set: {m: 8}}]\n"), HasSubstr("c.yaml:2:13"));
    EXPECT_THAT(error_of("machines: [{machine: small, set: {L3.size: 1 KiB}}]\nworkloads: [lu]\n"),
                HasSubstr("the machine has no 'L3'"));
    EXPECT_THAT(error_of("machines: [{machine: small, set: {L2.size: 100}}]\nworkloads: [lu]\n"),
                HasSubstr("small with L2.size=100:4:36: error: "));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [lu]\nmonitors: [{set: {counter: 8}}]\n"),
                HasSubstr("did you mean 'counters'"));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [lu]\nmonitor: [none]\n"),
                HasSubstr("c.yaml:3:1: error: unknown key 'monitor' in a campaign file; did you mean 'monitors'"));
    EXPECT_THAT(
        error_of("machines: [small]\nworkloads: [lu]\nwhere: size > 2\n"),
        HasSubstr(
            "c.yaml:3:8: error: 'size > 2': 'size' is neither a number nor what points differ by or machines state"));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [lu]\nwhere: seed\n"), HasSubstr("'seed' is no condition"));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [{run: lu, set: {n: [8, 8]}}]\n"),
                HasSubstr("'n' has the value '8' twice; keep"));
    EXPECT_THAT(error_of("machines: [{machine: small, set: {L2.size: [16384, 16 KiB]}}]\nworkloads: [lu]\n"),
                HasSubstr("'L2.size' has the value '16 KiB' twice, also as '16384'; keep one"));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [{trace: t.ct.h5}, {trace: ./t.ct.h5}]\n"),
                HasSubstr("'./t.ct.h5' is 't.ct.h5' in other words; keep one"));
    EXPECT_EQ(error_of("machines: [small]\nworkloads: [radix]\nseeds: [9007199254740991, 9007199254740992]\n"),
              "no error");
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [radix]\nseeds: [9007199254740992, 9007199254740993]\n"),
                HasSubstr("c.yaml:3:8: error: 'seeds': 9007199254740993 is above 2^53 = 9007199254740992"));
    EXPECT_THAT(error_of("machines: [small, {machine: other, set: {cores: 2}}]\nworkloads: [lu, {run: lu, set: "
                         "{processors: [2, 4]}}]\n"),
                HasSubstr("c.yaml:2:17: error: 'lu' runs on 4 processors, and no machine has more than 2 cores; give "
                          "machines more, as in 'set: {cores: 4}'"));
    EXPECT_THAT(error_of("machines: [small, small]\nworkloads: [lu]\n"), HasSubstr("c.yaml:1:19: error: this is in the "
                                                                                   "list already"));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [lu]\nmonitors: [none, {set: {link: L1-L9}}]\n"),
                HasSubstr("c.yaml:3:18: error: "));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [lu]\nslowdown: true\n"),
                HasSubstr("'slowdown' is of monitors"));
    for (const auto& [text, error] : {
             std::pair("machines: [small, {machine: small, set: {L2.size: [16 KiB, 8192]}}]\nworkloads: [lu]\n",
                       "c.yaml:1:19: error: 'small L2.size=8192' is 'small' in other words; keep one"),
             {"machines: [small]\nworkloads: [lu, {run: lu, set: {n: 64-128}}]\n",
              "c.yaml:2:17: error: 'lu n=128' is 'lu' in other words"},
             {"machines: [small]\nworkloads: [lu]\nmonitors: [{set: {counters: 8}}, {set: {link: core-L1, counters: "
              "8}}]\n",
              "c.yaml:3:34: error: 'link=core-L1 counters=8' is 'counters=8' in other words"},
             {"machines: [small]\nworkloads: [{run: lu, set: {n: [8, 16]}}]\n",
              "c.yaml:2:13: error: lu: block=16 is larger than n; make it at most n; or leave it out by a condition"},
         })
        EXPECT_THAT(error_of(text), HasSubstr(error));
    EXPECT_EQ(
        error_of("machines: [small]\nworkloads: [{run: lu, set: {n: [8, 16], block: [8, 16]}}]\nwhere: block <= n\n"),
        "no error");
    EXPECT_THAT(error_of("workloads: [lu]\n"), HasSubstr("a campaign file needs 'machines'"));
    EXPECT_THAT(error_of("machines: [small]\nworkloads: [{trace: t.ct.h5, set: {n: 1}}]\n"),
                HasSubstr("a trace has no options"));
}

}  // namespace
}  // namespace cachetally::testing
