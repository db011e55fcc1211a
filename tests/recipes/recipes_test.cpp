// SPDX-License-Identifier: BSD-3-Clause
// The examples of CONTRIBUTING.md's recipes, registered by a row each, and found by name as users name them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cachetally/run.hpp"
#include "monitor/counter_array.hpp"
#include "monitor/hardware_cost.hpp"
#include "monitor/listeners/listener.hpp"
#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/validation.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/topology/names.hpp"
#include "workloads/kernels/source.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally {

TestReport one_line(Meter& meter, const Context& context);

namespace {

MachineDescription machine(const std::string& settings) {
    return read_machine(
        "name: m\ncores: 1\nclock: 1 GHz\ncaches:\n  - {name: L1, next: memory, shared_by: 1, size: 1K, "
        "ways: 2, latency: 3, " +
            settings + "}\nmemory: {latency: 100}\n",
        "m.yaml");
}

Reference load(Address address) { return {address, 0, 8, ReferenceKind::load, 0}; }

TEST(Recipes, ReplacementPolicy) {
    EXPECT_EQ(name_of(machine("replacement: mru").caches.front().replacement), "mru");
    const auto policy = machine("replacement: mru, empty_way: policy").caches.front().replacement;
    const auto array = make_cache_array({.ways = 4, .replacement = policy});
    for (const Address line : {64, 128, 192, 256}) EXPECT_EQ(array->insert(0, line, 0), 0U);
    array->access(0, 128, {});
    EXPECT_EQ(line_of(array->insert(0, 320, 0)), 128U);
    EXPECT_EQ(line_of(array->insert(0, 384, 0)), 320U);
}

TEST(Recipes, AnErrorNamesTheRow) {
    try {
        machine("replacement: mry");
        FAIL();
    } catch (const MachineError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'mru'? known are: lru, "));
    }
}

TEST(Recipes, Prefetcher) {
    Hierarchy hierarchy(Topology(machine("prefetch: next_but_one")));
    hierarchy.access(0, load(64), 0);
    EXPECT_EQ(hierarchy.counts().caches.front().prefetches_issued, 1U);
    hierarchy.access(0, load(192), 1000000);
    EXPECT_EQ(hierarchy.counts().caches.front().load_misses, 1U);
}

TEST(Recipes, IndexingFunction) {
    const Indexing indexing = machine("indexing: fibonacci").caches.front().indexing;
    const IndexingPolicy index(indexing, 8, 64);
    EXPECT_EQ(index.set_of(0), 0U);
    EXPECT_EQ(index.set_of(64), 4U);   // 0x9e... begins with 100
    EXPECT_EQ(index.set_of(128), 1U);  // twice that begins with 001
}

TEST(Recipes, TraceFormat) {
    const auto path = std::filesystem::path(testing::TempDir()) / "recipe.rw";
    std::ofstream(path) << "r 1f00\nw 40\n";
    const TraceInfo info = trace_info(path);
    EXPECT_EQ(name_of(info.format), "rw");
    EXPECT_EQ(info.loads, 1U);
    EXPECT_EQ(info.stores, 1U);
    const std::vector<std::string> names = trace_format_names();
    EXPECT_THAT(std::vector(names.begin(), names.begin() + 4), testing::ElementsAre("auto", "lackey", "din", "rw"));
    EXPECT_EQ(names.back(), "packed");
    std::filesystem::remove(path);
}

TEST(Recipes, Kernel) {
    const std::vector<std::string> settings{"n=100", "processors=1"};
    WorkloadSource source(make_workload("sum", settings));
    Hierarchy hierarchy(Topology(machine("replacement: lru")));
    EXPECT_EQ(run(hierarchy, source).counts.references, 200U);
    EXPECT_TRUE(source.workload().check().passed());
}

ProbeTest one_line_row() {
    return {.name = "one_line",
            .source = "ours",
            .meaning = "latency of L1 by one location",
            .robust = one_line,
            .level = "L1",
            .parameter = "latency"};
}

/// Adds the test of the example, once in this process.
void add_one_line() {
    if (std::ranges::find(probe_tests(), "one_line", &ProbeTest::name) == probe_tests().end()) add_test(one_line_row());
}

TEST(Recipes, ProbeTest) {
    add_one_line();
    SimulatedTarget target(machine("replacement: lru"));
    SuiteOptions options;
    options.tests = {"one_line"};
    const auto reports = run_suite(target, options);
    ASSERT_EQ(reports.size(), 1U);
    ASSERT_NE(reports.front().find("L1", "latency"), nullptr);
    EXPECT_NEAR(reports.front().find("L1", "latency")->value->number, 3, 0.01);
}

/// What add_test() says of a row.
std::string refusal_of(ProbeTest row) {
    try {
        add_test(std::move(row));
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

TEST(AddTest, RefusesWhatCannotBeATest) {
    add_one_line();
    const auto changed = [](auto change) {
        ProbeTest row = one_line_row();
        row.name = "another";
        change(row);
        return refusal_of(row);
    };
    EXPECT_EQ(refusal_of(one_line_row()), "add_test: there is a test 'one_line' already; choose another name");
    EXPECT_EQ(changed([](ProbeTest& row) { row.name = "l1"; }),
              "add_test: there is a test 'l1' already; choose another name");
    EXPECT_EQ(changed([](ProbeTest& row) { row.name = "One line"; }),
              "add_test: 'One line' cannot be the name of a test; write one of a-z, 0-9 and _");
    EXPECT_EQ(changed([](ProbeTest& row) { row.robust = nullptr; }),
              "add_test: 'another' has neither a published nor a robust variant; give one");
    EXPECT_EQ(changed([](ProbeTest& row) { row.parts = 0; }),
              "add_test: 'another' may spend 0 parts of a budget; give 1 or more");
    EXPECT_THAT(changed([](ProbeTest& row) { row.goes_by = {"levles"}; }),
                testing::HasSubstr("'another': goes_by: there is no test 'levles'; did you mean 'levels'?"));
    EXPECT_THAT(changed([](ProbeTest& row) { row.counterparts = {"l0"}; }), testing::HasSubstr("counterparts: "));
    EXPECT_EQ(std::ranges::count(probe_tests(), "another", &ProbeTest::name), 0);
}

TEST(AddTest, WrongNamesListIt) {
    add_one_line();
    SuiteOptions options;
    options.tests = {"one_lime"};
    try {
        left_out_of(options);
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'one_line'?"));
        EXPECT_THAT(error.what(), testing::HasSubstr("l1, "));
    }
}

/// A test that finds 40 things in each of three boxes, where there are 41, 42 and no third one; and what others know.
void add_boxes() {
    const auto boxes = [](Meter&, const Context&) {
        TestReport report;
        report.answer("box 1", "things", std::uint64_t{40}, "things", "by hand");
        report.answer("box 2", "things", std::uint64_t{40}, "things", "by hand");
        report.answer("box 3", "things", std::uint64_t{40}, "things", "by hand");
        report.answer("box 1", "weight", std::uint64_t{5}, "g", "by hand");
        report.answer("L1", "capacity", std::uint64_t{512}, "bytes", "by hand");
        return report;
    };
    const auto truth = [](const MachineDescription&) {
        return std::vector<Fact>{{"box 1", "things", {41, ""}, 0, 0.025},
                                 {"box 2", "things", {42, ""}, 0, 0.025},
                                 {"L1", "capacity", {512, ""}}};
    };
    if (std::ranges::find(probe_tests(), "boxes", &ProbeTest::name) == probe_tests().end())
        add_test({.name = "boxes", .meaning = "things in boxes", .robust = boxes, .truth = truth});
}

// 40 is within 2.5 % of 41, not of 42; there is no box 3; nobody knows weights; of L1, which has 1 KiB, the test's own
// truth counts.
TEST(AddTest, IsScoredByItsOwnTruth) {
    add_boxes();
    ValidationOptions campaign;
    campaign.machines = 3;
    campaign.given.assign(3, {"m.yaml", machine("replacement: lru")});
    campaign.suite.tests = {"boxes"};
    campaign.suite.published = false;
    campaign.program = "my program";
    const ValidationResult result = run_validation(campaign);
    ASSERT_EQ(result.scores.size(), 3U);
    EXPECT_EQ(result.scores[0].parameter, "capacity");
    EXPECT_EQ(result.scores[0].right, 3U);
    EXPECT_EQ(result.scores[1].parameter, "things");
    EXPECT_EQ(result.scores[1].right, 3U);
    EXPECT_EQ(result.scores[1].wrong, 6U);
    EXPECT_EQ(result.scores[2].parameter, "weight");
    EXPECT_EQ(result.scores[2].right + result.scores[2].wrong + result.scores[2].not_identifiable, 0U);
    ASSERT_EQ(result.failures.size(), 3U);
    EXPECT_THAT(result.failures.front().replay,
                testing::StartsWith("'my program' probe boxes --robust --machine m.yaml"));
}

TEST(Recipes, EvictionPolicy) {
    const MonitorSpec spec = parse_monitor("link=core-L1,line=64,counters=2,eviction=newest");
    const auto array = make_counter_array(spec);
    std::vector<SwapOut> out;
    for (const std::uint64_t key : {1, 2, 3, 1, 4}) array->add(key, 1, out);
    EXPECT_THAT(out, testing::ElementsAre(SwapOut{2, 1, 1, 1}, SwapOut{3, 1, 1, 1}));
    EXPECT_GT(hardware_cost(spec).order_bits, 0U);
}

/// Two phases: two loads and a store, then a load.
ListenerTable phases_of(std::string_view text) {
    const ListenerSpec spec = parse_listener(text);
    const auto listener = spec.row.make(spec.base, spec.values);
    Injector injector;
    listener->on_event({.address = 0, .count = 2, .kind = EventKind::load}, injector);
    listener->on_event({.address = 0, .kind = EventKind::store}, injector);
    listener->on_control({Control::Kind::barrier, 0}, 0, injector);
    listener->on_event({.address = 64, .kind = EventKind::load}, injector);
    return listener->table();
}

TEST(Recipes, Listener) {
    const ListenerTable table = phases_of("phases,link=core-L1,line=64");
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_THAT(table.rows[0].numbers, testing::ElementsAre(3, 1));
    EXPECT_THAT(table.rows[1].numbers, testing::ElementsAre(1, 0));
    EXPECT_EQ(phases_of("phases,most=1").rows.size(), 1U);
    EXPECT_THAT(listeners_in_words(), testing::HasSubstr("phases (events of each phase; most: rows, default 100)"));
}

std::string without_indent(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(' ');
    return begin == std::string::npos ? "" : line.substr(begin);
}

// Code in the guide is that of the example, which another test builds (tests/installed).
TEST(ProbeAuthors, TheGuideShowsTheExample) {
    const std::string root = CACHETALLY_SOURCE_DIR;
    std::vector<std::string> example;
    std::ifstream source(root + "/examples/own_test/reach.cpp"), guide(root + "/docs/probe-authors.md");
    for (std::string line; std::getline(source, line);) example.push_back(without_indent(line));
    bool shown = false;
    unsigned lines = 0;
    for (std::string line; std::getline(guide, line);) {
        if (line == "## The file") shown = true;
        if (!shown || !line.starts_with("    ") || without_indent(line) == "...") continue;
        EXPECT_THAT(example, testing::Contains(without_indent(line)));
        ++lines;
    }
    EXPECT_GT(lines, 15U);
}

}  // namespace
}  // namespace cachetally
