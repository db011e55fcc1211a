// SPDX-License-Identifier: BSD-3-Clause
// Levels on pages that may lie anywhere, by the share of lines that stay.
#include "probes/ours/retention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "cachetally/machine.hpp"
#include "probes/recording/recorded_target.hpp"
#include "probes/recording/recorder.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

constexpr double kib = 1024;

/// Pages drawn for colours one by one, and what these keep.
double retained_by_drawing(unsigned colours, unsigned ways, unsigned pages) {
    constexpr unsigned draws = 4000;
    Random random(7);
    double kept = 0;
    for (unsigned draw = 0; draw < draws; ++draw) {
        std::vector<unsigned> of_colour(colours);
        for (unsigned page = 0; page < pages; ++page) ++of_colour[random.below(colours)];
        for (const unsigned all : of_colour) kept += std::min(all, ways);
    }
    return kept / draws / pages;
}

TEST(Retention, SharesAreThoseOfPagesThatAreDrawn) {
    for (const unsigned ways : {1U, 4U, 8U})
        for (const unsigned pages : {16U, 64U, 300U}) {
            const double capacity = 16 * ways * 4 * kib;
            EXPECT_NEAR(share_retained({capacity, ways}, pages * 4 * kib, 4 * kib),
                        retained_by_drawing(16, ways, pages), 0.003)
                << ways << ' ' << pages;
        }
}

TEST(Retention, FarBeyondACapacityItsShareStays) {
    for (const unsigned ways : {0U, 2U, 16U}) {
        EXPECT_NEAR(share_retained({512 * kib, ways}, 8192 * kib, 4 * kib), 1.0 / 16, 1e-5) << ways;
        EXPECT_LE(share_retained({512 * kib, ways}, 512 * kib, 4 * kib), 1) << ways;
    }
    EXPECT_EQ((share_retained({512 * kib, 0}, 256 * kib, 4 * kib)), 1) << "a sharp level keeps all that it holds";
    EXPECT_EQ((share_retained({16 * kib, 8}, 16 * kib, 4 * kib)), 1) << "a way within a page has no colours";
}

/// What levels of these shapes and latencies would show.
std::vector<RetentionPoint> times_of(const L1Geometry& l1, const std::vector<RetentionLevel>& below, double memory) {
    std::vector<RetentionPoint> points;
    for (double bytes = 64 * kib; bytes < 64 * kib * kib; bytes *= 1.3) {
        const double of_l1 = std::min(1.0, static_cast<double>(l1.capacity) / bytes);
        double cycles = l1.latency * of_l1, above = of_l1;
        for (const RetentionLevel& level : below) {
            const double stays = share_retained(level.shape, bytes, 4 * kib);
            cycles += level.latency * (stays - above);
            above = stays;
        }
        points.push_back({bytes, cycles + memory * (1 - above)});
    }
    return points;
}

TEST(Retention, FitsFindTheLevelsThatMadeTheTimes) {
    const L1Geometry l1{32 << 10, 64, 8, 4};
    RetentionLevel l2{{1024 * kib, 8}}, l3{{8192 * kib, 16}};
    l2.latency = 14;
    l3.latency = 50;
    const auto fit = fit_retention(times_of(l1, {l2, l3}, 300), l1, 4 * kib, 0.002);
    ASSERT_TRUE(fit);
    ASSERT_EQ(fit->levels.size(), 2U);
    EXPECT_NEAR(fit->levels[0].shape.capacity, 1024 * kib, 0.01 * 1024 * kib);
    EXPECT_NEAR(fit->levels[1].shape.capacity, 8192 * kib, 0.01 * 8192 * kib);
    EXPECT_EQ(fit->levels[0].shape.ways, 8U);
    EXPECT_NEAR(fit->levels[0].latency, 14, 0.1);
    EXPECT_NEAR(fit->levels[1].latency, 50, 0.3);
    EXPECT_LT(fit->levels[0].low, 1024 * kib);
    EXPECT_GT(fit->levels[0].high, 1024 * kib);
    EXPECT_FALSE(fit_retention({}, l1, 4 * kib, 0.002));
}

SimulatedOptions small_pages_alone(std::uint64_t seed = 1) {
    SimulatedOptions options;
    options.large_pages.clear();
    options.seed = seed;
    return options;
}

/// Half a full cache of four lines that replaces the oldest: the last four of eight stay.
TEST(PrimeAndProbe, OfEightLinesTheLastFourStay) {
    const MachineDescription machine = read_machine(
        "name: four\ncaches:\n  - {name: L1, size: 256, ways: 4, line: 64, latency: 4, next: memory}\n"
        "memory: {latency: 100}\n",
        "four.yaml");
    SimulatedTarget target(machine);
    const Arena arena = target.make_arena(4096, 4096);
    const Offsets prime{0, 64, 128, 192, 256, 320, 384, 448}, late{288, 352, 416, 480}, all = moved(prime, 32);
    const auto cycles = [&](const Offsets& probe, unsigned parts, unsigned used) {
        return target.prime_and_probe(arena, {{prime}, {probe}, parts, used}, {1, 2}).cycles;
    };
    EXPECT_EQ(cycles(late, 4, 4), 4) << "one line of each part";
    EXPECT_EQ(cycles(late, 1, 1), 4) << "all in one";
    EXPECT_EQ(cycles(all, 8, 8), (4 * 4 + 4 * 104) / 8.0);
    EXPECT_EQ(cycles(all, 8, 4), 104) << "the first four alone";
    // In one part each miss takes the oldest of those that stayed: none is left when its turn comes.
    EXPECT_EQ(cycles(all, 1, 1), 104);
    EXPECT_THROW(cycles(all, 9, 9), ProbeError);
    EXPECT_THROW(cycles(all, 4, 5), ProbeError);
    EXPECT_THROW(cycles(all, 0, 0), ProbeError);
    EXPECT_EQ(target.prime_and_probe(arena, {{prime}, {late}, 4, 4}, {1, 2}).laps, 8U);
}

TEST(PrimeAndProbe, IsRecordedAndReplayed) {
    SimulatedTarget target(load_machine("generic3"));
    Recorder recorder(target, "generic3");
    const Arena arena = recorder.make_arena(1 << 20, 4096);
    const Offsets prime = random_string(1 << 20, 64, 1), probe = moved(page_sample_string(1 << 20, 4096, 64, 8, 2), 32);
    const auto asked = [&](ProbeTarget& of, unsigned used) {
        return of
            .prime_and_probe(arena, {{prime}, {probe}, 64, used, used == 3 ? Renewal::loaded : Renewal::none, 8},
                             {0, 1})
            .cycles;
    };
    const double one = asked(recorder, 3), other = asked(recorder, 64);
    RecordedTarget replay(recorder.recording());
    replay.make_arena(1 << 20, 4096);
    EXPECT_EQ(asked(replay, 64), other);
    EXPECT_EQ(asked(replay, 3), one);
    EXPECT_THROW(asked(replay, 5), ProbeError);
    SimulatedTarget again(load_machine("generic3"));
    const Recording repeated = rerun(recorder.recording(), again, "again");
    ASSERT_EQ(repeated.runs.size(), 2U);
    EXPECT_EQ(repeated.runs[0].measurement.cycles, one);
    EXPECT_EQ(repeated.runs[1].measurement.cycles, other);
}

TEST(Retention, LevelsAreFoundWithoutLargePages) {
    for (const char* name : {"generic3", "intel-t9600"}) {
        const TestReport report = robust(load_machine(name), "levels", small_pages_alone());
        expect_none_wrong(report);
        EXPECT_EQ(finding(report, "L2", "capacity").verdict, Verdict::right) << name;
        EXPECT_EQ(finding(report, "L2", "latency").verdict, Verdict::right) << name;
        EXPECT_EQ(finding(report, "", "levels").verdict, Verdict::right) << name;
    }
}

// Whatever a set replaces, it keeps as many lines as it has ways.
TEST(Retention, CapacitiesDoNotDependOnThePolicy) {
    for (const char* policy : {"lru", "fifo", "random", "tree_plru", "srrip"}) {
        const MachineDescription machine =
            read_machine(std::string("name: any\ncaches:\n  - {name: L1, size: 32 KiB, ways: 8, latency: 3, next: L2}\n"
                                     "  - {name: L2, size: 1 MiB, ways: 8, latency: 12, replacement: ") +
                             policy +
                             ", next: memory}\npages: {size: 4 KiB, mapping: contiguous}\n"
                             "tlbs:\n  - {name: T, entries: 64, ways: full}\nmemory: {latency: 150}\n",
                         "any.yaml");
        const TestReport report = robust(machine, "levels", small_pages_alone());
        expect_none_wrong(report);
        if (policy == std::string("random")) continue;  // of which L1 keeps lines that L2 has not
        EXPECT_EQ(finding(report, "L2", "capacity").verdict, Verdict::right) << policy;
    }
}

TEST(Retention, WithNoiseTheNumberOfLevelsIsRefused) {
    SimulatedOptions options = small_pages_alone();
    options.noise = noise_named("realistic");
    options.no_events = "hidden";
    MachineDescription machine = load_machine("generic3");
    machine.caches.back().size = 1 << 20;
    EXPECT_THAT(finding(robust(machine, "levels", options), "", "levels").reason,
                ::testing::HasSubstr("no large pages"));
}

TEST(Retention, PagesMuchLargerThanL1AreRefused) {
    const MachineDescription machine = read_machine(
        "name: small\ncaches:\n  - {name: L1, size: 2 KiB, ways: 4, latency: 3, next: L2}\n"
        "  - {name: L2, size: 64 KiB, ways: 8, latency: 12, next: memory}\n"
        "pages: {size: 4 KiB, mapping: contiguous}\nmemory: {latency: 150}\n",
        "small.yaml");
    const TestReport report = robust(machine, "levels", small_pages_alone());
    EXPECT_THAT(finding(report, "", "levels").reason, ::testing::HasSubstr("much larger than L1"));
}

}  // namespace
}  // namespace cachetally
