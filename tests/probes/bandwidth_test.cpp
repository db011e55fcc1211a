// SPDX-License-Identifier: BSD-3-Clause
// Spans that are read, written and copied, and the test that does it: bytes per cycle worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "cachetally/probe_meter.hpp"
#include "probes/suite.hpp"
#include "probes/targets/native.hpp"
#include "probes/targets/native_stream.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {
namespace {

/// A load takes 4 cycles in L1, 16 and `link` in L2, 100 more in memory.
MachineDescription streaming(const std::string& link) {
    return read_machine("name: streaming\ncaches:\n  - {name: L1, size: 4 KiB, ways: 4, latency: 4, next: L2" + link +
                            "}\n  - {name: L2, size: 128 KiB, ways: 8, latency: 12, next: memory}\n"
                            "memory: {latency: 100}\n",
                        "streaming.yaml");
}

const std::string bus_of_eight = ", outstanding_misses: 32, bus: {bytes_per_cycle: 8}";

double bytes_per_cycle(ProbeTarget& target, Streaming::Kind kind, std::uint64_t bytes) {
    const Arena arena = target.make_arena(1 << 20, 4096);
    return Streaming::block / target.stream(arena, {kind, bytes}, {2, 8}).cycles;
}

TEST(Streams, TakeWhatABusCarries) {
    SimulatedTarget target(streaming(bus_of_eight));
    using enum Streaming::Kind;
    EXPECT_NEAR(bytes_per_cycle(target, read, 32 << 10), 8, 0.02);
    EXPECT_NEAR(bytes_per_cycle(target, write, 32 << 10), 4, 0.02) << "each line comes, and goes dirty";
    EXPECT_NEAR(bytes_per_cycle(target, copy, 32 << 10), 16.0 / 3, 0.02) << "two lines come, one goes";
    for (const Streaming::Kind kind : {read, write, copy})
        EXPECT_NEAR(bytes_per_cycle(target, kind, 2048), 64, 1) << "in L1: a line per cycle";
}

TEST(Streams, TakeWhatPlacesAllow) {
    // 12 cycles in one of three places: four per line
    SimulatedTarget target(streaming(", outstanding_misses: 3"));
    EXPECT_NEAR(bytes_per_cycle(target, Streaming::Kind::read, 32 << 10), 16, 0.05);
}

TEST(Streams, WhatCannotBeDoneIsRefused) {
    SimulatedTarget target(streaming(bus_of_eight)), unbounded(streaming(""));
    const Arena arena = target.make_arena(8192, 4096), other = unbounded.make_arena(8192, 4096);
    for (const std::uint64_t bytes : {0U, 100U, 1024U, 10240U})
        EXPECT_THROW(target.stream(arena, {Streaming::Kind::read, bytes}, {}), ProbeError) << bytes;
    EXPECT_THROW(unbounded.stream(other, {Streaming::Kind::read, 2048}, {}), ProbeError);
    target.keep_to({.most_cycles = 20});
    EXPECT_THROW(target.stream(arena, {Streaming::Kind::read, 8192}, {}), BudgetSpent);
}

TestReport bandwidth(ProbeTarget& target) {
    SuiteOptions suite;
    suite.tests = {"bandwidth"};
    suite.published = false;
    return run_suite(target, suite).back();
}

TEST(Bandwidth, IsWhatTheMachineSays) {
    const MachineDescription machine = streaming(bus_of_eight);
    SimulatedOptions options;
    options.largest_arena = 8 << 20;
    SimulatedTarget target(machine, options);
    TestReport report = bandwidth(target);
    judge(report, machine);
    ASSERT_EQ(report.findings.size(), 9U);
    for (const char* level : {"L2", "memory"}) {
        const Finding* found = report.find(level, "read_bandwidth");
        ASSERT_NE(found, nullptr) << level;
        EXPECT_EQ(found->verdict, Verdict::right) << level << ' ' << found_in_words(*found);
        EXPECT_EQ(found->truth->number, 8) << level;
    }
    const Finding *written = report.find("L2", "write_bandwidth"), *first = report.find("L1", "read_bandwidth");
    ASSERT_TRUE(written != nullptr && first != nullptr);
    EXPECT_NEAR(written->value->number, 4, 0.1);
    EXPECT_EQ(first->verdict, Verdict::unknown);
    ASSERT_EQ(report.curves.size(), 3U);
    EXPECT_EQ(report.curves.front().unit, "bytes per cycle");
    EXPECT_GT(report.curves.front().cycles.front(), 60);
    EXPECT_NEAR(report.curves.front().cycles.back(), 8, 0.1);
}

TEST(Bandwidth, OfMemoryIsRefusedWhereCachesAnswer) {
    SimulatedOptions options;
    options.largest_arena = 96 << 10;
    options.large_pages.clear();
    SimulatedTarget target(streaming(bus_of_eight), options);
    const TestReport report = bandwidth(target);
    EXPECT_NE(report.find("L1", "read_bandwidth"), nullptr);
    EXPECT_EQ(report.find("memory", "read_bandwidth"), nullptr);
}

TEST(Bandwidth, IsRefusedWhereNothingBoundsIt) {
    SimulatedTarget target(streaming(""));
    const TestReport report = bandwidth(target);
    ASSERT_EQ(report.findings.size(), 1U);
    EXPECT_EQ(report.findings.front().reason, target.capabilities().no_streams);
}

/// Streams that are disturbed seem twice as quick; so many of them are.
class DisturbedStreams final : public ProbeTarget {
public:
    explicit DisturbedStreams(unsigned disturbed) : target_(streaming(bus_of_eight), quiet()), left_(disturbed) {}
    const Capabilities& capabilities() const override { return target_.capabilities(); }
    void keep_to(const Budget& budget) override { target_.keep_to(budget); }
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override { return target_.make_arena(bytes, page); }
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override {
        return target_.run(arena, chase, effort);
    }
    Measurement stream(const Arena& arena, const Streaming& stream, const Effort& effort) override {
        Measurement found = target_.stream(arena, stream, effort);
        if (left_ == 0) return found;
        --left_;
        found.conditions.disturbed = true;
        found.cycles /= 2;
        return found;
    }
    std::vector<double> latencies(const Arena&, const Chase&, unsigned, unsigned) override { return {}; }
    void release(const Arena& arena) override { target_.release(arena); }
    ProbeCost cost() const override { return target_.cost(); }

private:
    static SimulatedOptions quiet() {
        SimulatedOptions options;
        options.noise = noise_named("quiet");
        return options;
    }
    SimulatedTarget target_;
    unsigned left_;
};

TEST(Bandwidth, DisturbedSamplesDoNotCount) {
    const auto cycles = [](unsigned disturbed) {
        DisturbedStreams target(disturbed);
        Meter meter(target, 1);
        return meter.time_of_stream(meter.arena_up_to(1 << 20, meter.page()), {Streaming::Kind::read, 32 << 10}, 8);
    };
    for (const unsigned disturbed : {0U, 3U}) {
        ASSERT_TRUE(cycles(disturbed)) << disturbed;
        EXPECT_NEAR(*cycles(disturbed), 8, 0.1) << disturbed;
    }
    EXPECT_FALSE(cycles(1000));
}

TEST(StreamLoops, ReadWriteAndCopyEveryByte) {
    alignas(4096) static std::array<std::byte, 4 * stream_grain> memory;
    const auto word = [&](std::size_t i) {
        std::uint64_t value = 0;
        std::memcpy(&value, &memory[i * sizeof(value)], sizeof(value));
        return value;
    };
    constexpr std::size_t words = stream_grain / sizeof(std::uint64_t);
    write_bytes(memory.data(), stream_grain, 7);
    for (std::size_t i = 0; i < 4 * words; ++i) EXPECT_EQ(word(i), i < words ? 7U : 0U) << i;
    EXPECT_EQ(read_bytes(memory.data(), 2 * stream_grain), 7 * words);
    StreamWork copy(memory.data(), {Streaming::Kind::copy, 4 * stream_grain});
    EXPECT_EQ(copy.lap(), 64U);
    copy.go_on(copy.lap() / 2);  // the first quarter to the third
    for (std::size_t i = 0; i < 4 * words; ++i) EXPECT_EQ(word(i), i / words % 2 == 0 ? 7U : 0U) << i;
    write_bytes(memory.data() + stream_grain, stream_grain, 9);
    copy.go_on(copy.lap() / 2);
    for (std::size_t i = 0; i < 4 * words; ++i) EXPECT_EQ(word(i), i / words % 2 == 0 ? 7U : 9U) << i;
}

class NativeStreams : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            target.emplace(NativeOptions{64 << 20, true});
        } catch (const ProbeError& error) {
            GTEST_SKIP() << error.what();
        }
    }
    /// The most of a few trials.
    double bandwidth_of(Streaming::Kind kind, std::uint64_t bytes) {
        const Arena arena = target->make_arena(bytes, target->capabilities().page_sizes.front());
        double most = 0;
        for (unsigned i = 0; i < 3; ++i)
            most = std::max(most, Streaming::block / target->stream(arena, {kind, bytes}, {1, 1, 1e5}).cycles);
        return most;
    }
    std::optional<NativeTarget> target;
};

/// No first level is smaller, and no processor has twice as much bandwidth to what lies behind as to it.
TEST_F(NativeStreams, OfTheFirstLevelAreNoSlowerThanThoseOfMemory) {
    for (const Streaming::Kind kind : {Streaming::Kind::read, Streaming::Kind::write, Streaming::Kind::copy}) {
        const double first = bandwidth_of(kind, 4 << 10), memory = bandwidth_of(kind, 64 << 20);
        EXPECT_GT(memory, 0) << name_of(kind);
        EXPECT_GT(first, 0.8 * memory) << name_of(kind);
    }
}

TEST_F(NativeStreams, LeaveNoChaseBehind) {
    const Arena arena = target->make_arena(4 << 10, target->capabilities().page_sizes.front());
    const Offsets string = random_string(4 << 10, 64, 1);
    for (unsigned i = 0; i < 2; ++i) {
        EXPECT_GT(target->run(arena, {string}, {1, 4}).cycles, 0);
        target->stream(arena, {Streaming::Kind::write, 4 << 10}, {1, 1});
    }
}

}  // namespace
}  // namespace cachetally
