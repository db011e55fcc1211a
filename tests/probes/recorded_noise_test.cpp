// SPDX-License-Identifier: BSD-3-Clause
// Noise of a recorded machine: what is taken from the recording, and what simulated times become by it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "probes/recording/recorded_noise.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/validation.hpp"
#include "storage/file.hpp"

namespace cachetally {
namespace {

std::shared_ptr<const RecordedNoise> noise_of(const std::string& name) {
    const InputFile file(std::string(CACHETALLY_SOURCE_DIR) + "/tests/probes/recordings/" + name);
    return std::make_shared<const RecordedNoise>(read_recording(file.root()));
}

double quantile(std::vector<double> all, double share) {
    std::ranges::sort(all);
    const double at = share * static_cast<double>(all.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const double beyond = low + 1 < all.size() ? all[low + 1] - all[low] : 0;
    return all[low] + (at - static_cast<double>(low)) * beyond;
}

std::vector<double> slowdowns(const std::vector<RecordedNoise::Question>& questions) {
    std::vector<double> all;
    for (const auto& question : questions)
        for (const auto& run : question) all.push_back(run.slowdown);
    return all;
}

constexpr double shares[] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};

struct OfRecording {
    const char* name;
    std::size_t quick_runs, other_runs;
    double quick[std::size(shares)], others[std::size(shares)];
};

class NoiseOfRecording : public ::testing::TestWithParam<OfRecording> {};

// Quantiles by numpy, from columns that h5dump wrote: times over the median of those of the same arena, string and
// effort that are within 3 % of the least that another one agrees with; of questions below and from 1.1 times the
// quickest on.
TEST_P(NoiseOfRecording, SlowdownsHaveTheQuantilesThatNumpyFinds) {
    const auto noise = noise_of(GetParam().name);
    EXPECT_EQ(noise->runs(), GetParam().quick_runs + GetParam().other_runs);
    std::set<const std::vector<RecordedNoise::Question>*> quick, others;
    for (double cycles = 1; cycles < 1e13; cycles *= 2) {
        quick.insert(&noise->like(1, cycles));
        for (double relative = 1.2; relative < 1e4; relative *= 2) others.insert(&noise->like(relative, cycles));
    }
    const auto check = [](const auto& kinds, std::size_t count, const double* expected) {
        std::vector<double> all;
        for (const auto* kind : kinds) {
            EXPECT_GE(runs_of(*kind), 64U);
            std::ranges::copy(slowdowns(*kind), std::back_inserter(all));
        }
        EXPECT_EQ(all.size(), count);
        for (std::size_t i = 0; i < std::size(shares); ++i)
            EXPECT_NEAR(quantile(all, shares[i]), expected[i], 0.002 * expected[i]) << shares[i];
    };
    check(quick, GetParam().quick_runs, GetParam().quick);
    check(others, GetParam().other_runs, GetParam().others);
}

TEST_P(NoiseOfRecording, DrawsAreDistributedAsTheRuns) {
    const auto noise = noise_of(GetParam().name);
    for (const auto& [relative, cycles] : {std::pair(1.0, 1e5), {2.5, 1e5}, {3.0, 1e6}, {30.0, 1e8}}) {
        const std::vector<double> recorded = slowdowns(noise->like(relative, cycles));
        NoiseDraws draws(noise, 5);
        std::vector<double> drawn;
        for (unsigned i = 0; i < 300'000; ++i) {
            if (i % 5 == 0) draws.begin();
            drawn.push_back(draws.next(relative, cycles).slowdown);
        }
        for (const double share : shares) {
            const double value = quantile(recorded, share);
            const auto below = [&](const std::vector<double>& all) {
                return static_cast<double>(std::ranges::count_if(all, [&](double each) { return each <= value; })) /
                       static_cast<double>(all.size());
            };
            EXPECT_NEAR(below(drawn), below(recorded), 0.01) << relative << ' ' << cycles << ' ' << share;
        }
    }
}

// The tests compare times with each other: what disturbs nothing has to stay what it is.
TEST_P(NoiseOfRecording, HalfOfTheRunsOfAQuietChaseTakeTheTimeThatItTakes) {
    SimulatedOptions options;
    options.recorded = noise_of(GetParam().name);
    SimulatedTarget noisy(load_machine("generic3"), options), quiet(load_machine("generic3"));
    const Arena here = noisy.make_arena(4096, 4096), there = quiet.make_arena(4096, 4096);
    const Effort effort{4, 256, 74e3};
    const double exact = quiet.run(there, {Offsets{0}}, effort).cycles;
    std::vector<double> times;
    std::uint64_t dropped = 0;
    for (unsigned i = 0; i < 10'000; ++i) {
        const Measurement found = noisy.run(here, {Offsets{i / 5 % 2 * 64}}, effort);  // five trials of each question
        times.push_back(found.cycles);
        dropped += found.conditions.dropped;
        EXPECT_LE(found.quantiles.least, found.quantiles.most);
    }
    EXPECT_NEAR(quantile(times, 0.5), exact, 0.005 * exact);
    EXPECT_GT(quantile(times, 1), 1.1 * exact);
    EXPECT_GT(dropped, 0U);
    EXPECT_GT(noisy.cost().cycles, 1.01 * 10'000 * 74e3);
}

INSTANTIATE_TEST_SUITE_P(All, NoiseOfRecording,
                         ::testing::Values(OfRecording{"zen4-vm-1.h5",
                                                       3570,
                                                       3980,
                                                       {0.9937, 0.99775, 0.99831, 1, 1.00022, 1.01316, 1.16085},
                                                       {0.98634, 0.99715, 0.99984, 1.00003, 1.0066, 1.29325, 2.35899}},
                                           OfRecording{"zen4-vm-2.h5",
                                                       4875,
                                                       5315,
                                                       {0.98348, 0.99307, 0.99998, 1.00186, 1.02146, 1.07107, 1.69063},
                                                       {0.98638, 0.99504, 1, 1.00043, 1.09947, 1.68425, 3.18496}}),
                         [](const auto& made) { return made.index == 0 ? "Zen4Vm1" : "Zen4Vm2"; });

// Trials of a question are those of one that was recorded, in their order; other questions are others.
TEST(RecordedNoise, TrialsFollowEachOtherAsTheRunsDid) {
    const auto noise = noise_of("zen4-vm-2.h5");
    const auto& questions = noise->like(1, 1e5);
    NoiseDraws draws(noise, 7);
    std::set<const RecordedNoise::Run*> begins;
    for (unsigned i = 0; i < 200; ++i) {
        draws.begin();
        const RecordedNoise::Run* run = &draws.next(1, 1e5);
        begins.insert(run);
        const auto question = std::ranges::find_if(questions, [&](const RecordedNoise::Question& each) {
            return !std::less()(run, each.data()) && std::less()(run, each.data() + each.size());
        });
        ASSERT_NE(question, questions.end());
        for (std::size_t j = 1; j < 2 * question->size(); ++j) {
            const RecordedNoise::Run* next = &draws.next(1, 1e5);
            EXPECT_EQ(next, run == &question->back() ? &question->front() : run + 1);
            run = next;
        }
    }
    EXPECT_GT(begins.size(), 150U);
}

TEST(RecordedNoise, EqualSeedsDisturbEqually) {
    const auto noise = noise_of("zen4-vm-1.h5");
    const auto times = [&](std::uint64_t seed) {
        SimulatedOptions options;
        options.recorded = noise;
        options.seed = seed;
        SimulatedTarget target(load_machine("generic3"), options);
        const Arena arena = target.make_arena(1 << 16, 2 << 20);
        std::vector<double> all;
        for (unsigned i = 0; i < 100; ++i) all.push_back(target.run(arena, {random_string(1 << 15, 64, 3)}, {}).cycles);
        return all;
    };
    EXPECT_EQ(times(3), times(3));
    EXPECT_NE(times(3), times(4));
}

/// So many questions of one load, each of which takes 100, 101, 180 and 60 cycles; the third time a sample in four is
/// lost.
Recording by_hand(unsigned questions) {
    Recording recording;
    recording.capabilities.timer_quantum = 50;
    recording.arenas.push_back({{0, 4096, 4096, true}});
    const Offsets one{0};
    for (unsigned i = 0; i < questions; ++i)
        for (const double cycles : {100.0, 101.0, 180.0, 60.0}) {
            RecordedRun run{.string = recording.strings.find_or_add(Chase(one)), .effort = {1 + i, 10, 0}};
            run.measurement.cycles = cycles;
            run.measurement.quantiles = {cycles, cycles, cycles, 2 * cycles, 3 * cycles};
            run.measurement.laps = 10;
            run.measurement.conditions.samples = 6;
            run.measurement.conditions.dropped = cycles == 180 ? 2 : 0;
            recording.runs.push_back(run);
        }
    return recording;
}

// 60 cycles agree with no other time, and are too few for a misjudged clock: the only quiet run.
TEST(RecordedNoise, IsWhatRunsTakeOverTheQuietOnes) {
    Recording recording = by_hand(70);
    const auto lonely = slowdowns(RecordedNoise(recording).like(1, 1000));
    EXPECT_EQ(std::set<double>(lonely.begin(), lonely.end()), (std::set<double>{1, 100.0 / 60, 101.0 / 60, 3}));
    std::erase_if(recording.runs, [](const RecordedRun& run) { return run.measurement.cycles == 60; });
    EXPECT_THROW(RecordedNoise{recording}, ProbeError);  // 210 runs
    recording = by_hand(100);
    std::erase_if(recording.runs, [](const RecordedRun& run) { return run.measurement.cycles == 60; });
    const RecordedNoise noise(recording);
    EXPECT_EQ(noise.runs(), 300U);
    EXPECT_EQ(noise.timer_quantum(), 50);
    ASSERT_EQ(noise.like(1, 1000).size(), 100U);
    const RecordedNoise::Question& runs = noise.like(1, 1000).front();
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_DOUBLE_EQ(runs[0].slowdown, 100 / 100.5);
    EXPECT_DOUBLE_EQ(runs[1].slowdown, 101 / 100.5);
    EXPECT_DOUBLE_EQ(runs[2].slowdown, 180 / 100.5);
    EXPECT_DOUBLE_EQ(runs[2].lost(), 1.0 / 3);
    EXPECT_DOUBLE_EQ(runs[2].quantiles.upper_quartile, 2);
    EXPECT_EQ(runs[0].lost(), 0);
}

// Of three trials one takes 180 cycles for 100.5 and, as a sample in four is dropped, a third of that more.
TEST(RecordedNoise, DroppedSamplesTakeTime) {
    Recording recording = by_hand(100);
    std::erase_if(recording.runs, [](const RecordedRun& run) { return run.measurement.cycles == 60; });
    SimulatedOptions options;
    options.recorded = std::make_shared<const RecordedNoise>(recording);
    SimulatedTarget noisy(load_machine("generic3"), options), quiet(load_machine("generic3"));
    quiet.run(quiet.make_arena(4096, 4096), {Offsets{0}}, {1, 10});
    const Arena arena = noisy.make_arena(4096, 4096);
    for (unsigned trial = 0; trial < 3; ++trial) noisy.run(arena, {Offsets{0}}, {1, 10});
    EXPECT_NEAR(noisy.cost().cycles, quiet.cost().cycles * (100 + 101 + 180 / 0.75) / 100.5, 1e-6);
}

TEST(RecordedNoise, RunsThatWereMadeTwiceOrWarmNothingSayNothing) {
    Recording recording = by_hand(100);
    for (std::size_t i = 0; i < recording.runs.size(); i += 4) recording.runs[i].effort.warm_up = 0;
    for (std::size_t i = 1; i < recording.runs.size(); i += 4) recording.runs[i].end = RecordedRun::End::budget_spent;
    EXPECT_THROW(RecordedNoise{recording}, ProbeError);
}

TEST(RecordedNoise, SingleLoadsAndWhatStaysAreRefused) {
    SimulatedOptions options;
    options.recorded = noise_of("zen4-vm-1.h5");
    SimulatedTarget target(load_machine("generic3"), options);
    EXPECT_FALSE(target.capabilities().latencies);
    EXPECT_NEAR(target.capabilities().timer_quantum, 74.2, 0.1);
    const Arena arena = target.make_arena(4096, 4096);
    const Offsets one{0};
    EXPECT_THROW(target.latencies(arena, {one}, 1, 4), ProbeError);
    EXPECT_THROW(target.prime_and_probe(arena, {{one}, {one}}, {1, 1}), ProbeError);
}

TEST(RecordedNoise, CampaignsRepeatItByTheNameOfItsFile) {
    ValidationOptions options;
    options.machines = 1;
    options.seed = 6;
    options.noise = "a host.h5";
    options.recorded_noise = noise_of("zen4-vm-1.h5");
    options.suite.tests = {"l1"};
    options.suite.published = false;
    const ValidationResult result = run_validation(options);
    for (const Score& score : result.scores) EXPECT_EQ(score.wrong, 0U) << score.parameter;
    EXPECT_NE(replay_command(options, 0).find("--noise 'a host.h5'"), std::string::npos);
}

}  // namespace
}  // namespace cachetally
