// SPDX-License-Identifier: BSD-3-Clause
// Which level prefetches what: lines worked out by hand from docs/counting.md, and machines of every kind.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "known_levels.hpp"
#include "probes/ours/prefetch_model.hpp"
#include "robust.hpp"

namespace cachetally {
namespace {

using Lines = std::vector<int>;

/// Of a block of 64 lines, those that the only level has after some loads.
Lines present(const PrefetchGuess& guess, const BlockLines& loads) {
    const std::vector<std::uint8_t> found = where_lines_are(guess, loads, 64);
    Lines lines;
    for (int line = 0; line < 64; ++line)
        if (found[static_cast<std::size_t>(line)] == 0) lines.push_back(line);
    return lines;
}

PrefetchGuess only_level(const char* kind, int degree, int distance) { return {kind, 0, degree, distance, {1}}; }

TEST(PrefetchModel, BringsWhatTheDocsSay) {
    EXPECT_EQ(present(only_level("none", 1, 1), {8, 9}), (Lines{8, 9}));
    EXPECT_EQ(present(only_level("next_line", 2, 3), {8}), (Lines{8, 11, 12}));
    EXPECT_EQ(present(only_level("next_line", 1, 1), {8, 9, 9}), (Lines{8, 9, 10})) << "the first hit triggers, alone";
    EXPECT_EQ(present(only_level("next_line", 2, 1), {62}), (Lines{62, 63})) << "not beyond the block";
    EXPECT_EQ(present(only_level("adjacent_line", 1, 1), {9}), (Lines{8, 9}));
    EXPECT_EQ(present(only_level("stream", 1, 4), {8, 9, 10}), (Lines{8, 9, 10, 14}));
    EXPECT_EQ(present(only_level("stream", 2, 1), {20, 19, 18}), (Lines{16, 17, 18, 19, 20}));
    EXPECT_EQ(present(only_level("stream", 1, 1), {8, 11, 14, 17}), (Lines{8, 11, 14, 17})) << "no run begins";
    EXPECT_EQ(present(only_level("stride", 1, 2), {8, 11, 14}), (Lines{8, 11, 14}));
    EXPECT_EQ(present(only_level("stride", 1, 2), {8, 11, 14, 17}), (Lines{8, 11, 14, 17, 23}));
}

TEST(PrefetchModel, LowerLevelsFetchTheirOwnLines) {
    // The second level has lines twice as long, and brings the next one; the third level has that, too.
    const PrefetchGuess guess{"next_line", 1, 1, 1, {1, 2, 2}};
    const std::vector<std::uint8_t> found = where_lines_are(guess, {8}, 32);
    EXPECT_EQ(found[8], 0);
    EXPECT_EQ(found[9], 1);
    EXPECT_EQ(found[10], 1);
    EXPECT_EQ(found[11], 1);
    EXPECT_EQ(found[12], 3) << "memory";
    EXPECT_EQ(found[7], 3);
}

/// Three levels, of which one has a prefetcher; lines of the last may be longer.
MachineDescription machine_with(const std::string& prefetch, int level, int last_line = 64) {
    const auto key = [&](int of) { return of == level ? ", prefetch: " + prefetch : ""; };
    return read_machine(fmt::format("name: three\ncaches:\n"
                                    "  - {{name: L1, size: 16 KiB, ways: 4, latency: 3, next: L2{}}}\n"
                                    "  - {{name: L2, size: 128 KiB, ways: 8, latency: 12, next: L3{}}}\n"
                                    "  - {{name: L3, size: 1 MiB, ways: 16, latency: 30, line: {}, next: memory{}}}\n"
                                    "memory: {{latency: 150}}\n",
                                    key(1), key(2), last_line, key(3)),
                        "three.yaml");
}

TestReport tried_prefetch_kinds(const MachineDescription& machine, SimulatedOptions options = {}) {
    return by_known_levels(machine, prefetch_kinds_robust, std::move(options));
}

std::string kind_of(const TestReport& report, int level) {
    const Finding& found = finding(report, fmt::format("L{}", level), "prefetch");
    return found.value ? found.value->word : "";
}

TEST(Prefetchers, AreFoundInTheirLevel) {
    for (const char* kind : {"next_line", "stride", "stream"})
        for (const int level : {1, 2, 3})
            for (const auto& [degree, distance] :
                 {std::pair(1, 1), std::pair(2, 1), std::pair(1, 4), std::pair(2, 3)}) {
                SCOPED_TRACE(fmt::format("{} of L{}, degree {}, distance {}", kind, level, degree, distance));
                const std::string keys = fmt::format("{{kind: {}, degree: {}, distance: {}}}", kind, degree, distance);
                const TestReport report = tried_prefetch_kinds(machine_with(keys, level));
                const std::string name = fmt::format("L{}", level);
                for (int each = 1; each <= 3; ++each)
                    EXPECT_EQ(kind_of(report, each), each < level ? "none" : each == level ? kind : "");
                EXPECT_EQ(finding(report, name, "prefetch_degree").value->number, degree);
                EXPECT_EQ(finding(report, name, "prefetch_distance").value->number, distance);
                expect_none_wrong(report);
            }
}

TEST(Prefetchers, AreNotSeenWhereThereAreNone) {
    const TestReport report = tried_prefetch_kinds(machine_with("none", 1));
    EXPECT_EQ(kind_of(report, 1), "none");
    EXPECT_EQ(kind_of(report, 2), "none");
    EXPECT_EQ(kind_of(report, 3), "none");
    expect_none_wrong(report);
}

// By what l1 and levels find.
TEST(Prefetchers, AreFoundByTheSuite) {
    const TestReport report = robust(machine_with("{kind: stream, distance: 4}", 2), "prefetch_kinds");
    EXPECT_EQ(kind_of(report, 2), "stream");
    expect_none_wrong(report);
}

// Pairs of lines may be longer lines.
TEST(Prefetchers, PairsMayBeLongerLines) {
    for (const TestReport& report :
         {tried_prefetch_kinds(machine_with("none", 1, 128)), tried_prefetch_kinds(machine_with("adjacent_line", 3))}) {
        EXPECT_EQ(kind_of(report, 2), "none");
        EXPECT_EQ(kind_of(report, 3), "");
        expect_none_wrong(report);
    }
    EXPECT_EQ(kind_of(tried_prefetch_kinds(machine_with("adjacent_line", 3, 128)), 3), "adjacent_line");
}

TEST(Prefetchers, OfLongerLinesAreFound) {
    for (const char* kind : {"next_line", "stride", "stream"}) {
        const TestReport report = tried_prefetch_kinds(machine_with(kind, 3, 128));
        EXPECT_EQ(kind_of(report, 3), kind);
        expect_none_wrong(report);
    }
}

// Two prefetchers are none of the kinds.
TEST(Prefetchers, WhatIsNoneOfTheKindsIsRefused) {
    MachineDescription machine = machine_with("next_line", 2);
    machine.caches[2].prefetch = machine.caches[1].prefetch;
    machine.caches[2].prefetch.distance = 7;
    const TestReport report = tried_prefetch_kinds(machine);
    EXPECT_EQ(kind_of(report, 2), "");
    EXPECT_EQ(kind_of(report, 3), "");
}

TEST(Prefetchers, AreFoundByScatteredTimes) {
    SimulatedOptions noisy;
    noisy.noise = noise_named("realistic");
    const TestReport report = tried_prefetch_kinds(machine_with("stream", 3), noisy);
    EXPECT_EQ(kind_of(report, 3), "stream");
    expect_none_wrong(report);
}

}  // namespace
}  // namespace cachetally
