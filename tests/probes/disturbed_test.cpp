// SPDX-License-Identifier: BSD-3-Clause
// What disturbs some runs and not others: targets that do so on purpose, run by run.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

/// A machine each of whose runs is changed by a function of its number, arena and string.
class ChangedTarget final : public ProbeTarget {
public:
    using Change = std::function<void(std::uint64_t number, const Arena&, const Chase&, Measurement&)>;

    explicit ChangedTarget(Change change, const MachineDescription& machine = load_machine("generic3"),
                           bool large_pages = true)
        : target_(machine, uncounted(large_pages)), change_(std::move(change)) {}

    void keep_to(const Budget& budget) override { target_.keep_to(budget); }
    const Capabilities& capabilities() const override { return target_.capabilities(); }
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override { return target_.make_arena(bytes, page); }
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override {
        std::vector<std::uint64_t> ascending(chase.offsets.begin(), chase.offsets.end());
        std::ranges::sort(ascending);
        if (std::ranges::adjacent_find(ascending) != ascending.end())
            throw ProbeError("an offset is in a chase twice, which no real one can be");
        Measurement found = target_.run(arena, chase, effort);
        found.cycles *= 1 + 1e-4 * static_cast<double>(number_ % 7);  // small noise
        change_(number_++, arena, chase, found);
        return found;
    }
    Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) override {
        return target_.prime_and_probe(arena, both, effort);
    }
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) override {
        return target_.latencies(arena, chase, warm_up, samples);
    }
    void release(const Arena& arena) override { target_.release(arena); }
    ProbeCost cost() const override { return target_.cost(); }
    std::uint64_t number() const { return number_; }

private:
    static SimulatedOptions uncounted(bool large_pages) {
        SimulatedOptions options;
        if (!large_pages) options.large_pages.clear();
        options.no_events = "hidden";
        return options;
    }

    SimulatedTarget target_;
    Change change_;
    std::uint64_t number_ = 0;
};

const Offsets few{0, 4096, 8192, 12288};

/// Runs of `few`, counted by themselves, changed by this.
ChangedTarget::Change of_few(std::function<void(std::uint64_t number, Measurement&)> change) {
    return [change = std::move(change), number = std::uint64_t{0}](std::uint64_t, const Arena&, const Chase& chase,
                                                                   Measurement& found) mutable {
        if (chase.offsets.size() == few.size()) change(number++, found);
    };
}

struct Metered {
    explicit Metered(const ChangedTarget::Change& change) : target(change), meter(target, 1) {
        arena = target.make_arena(1 << 20, meter.page());
        hit = meter.settled(arena, {0});
    }
    ChangedTarget target;
    Meter meter;
    Arena arena;
    double hit;
};

TEST(Disturbed, ABeginThatScattersIsMeasuredAgain) {
    ChangedTarget target([](std::uint64_t number, const Arena&, const Chase&, Measurement& found) {
        if (number < 40 && number % 2 == 0) found.cycles *= 1.3;  // two rounds, and a part of the third
    });
    EXPECT_LT(Meter(target, 1).noise(), 0.01);
    // A machine that always scatters so is one with so much noise.
    ChangedTarget loud([](std::uint64_t number, const Arena&, const Chase&, Measurement& found) {
        found.cycles *= number % 3 == 0 ? 1 : 1.3;
    });
    EXPECT_GT(Meter(loud, 1).noise(), 0.25);
}

TEST(Disturbed, DisturbedRunsDoNotDecide) {
    Metered quiet(of_few([](std::uint64_t number, Measurement& found) {
        found.conditions.disturbed = number % 4 != 0;
        if (found.conditions.disturbed) found.cycles *= number % 4 == 1 ? 0.5 : 3;
    }));
    EXPECT_NEAR(quiet.meter.settled(quiet.arena, few), quiet.hit, 0.01 * quiet.hit);
    // Where all are, one of them counts all the same.
    Metered all(of_few([](std::uint64_t, Measurement& found) { found.conditions.disturbed = true; }));
    EXPECT_NEAR(all.meter.settled(all.arena, few), all.hit, 0.01 * all.hit);
}

/// The report of l1 where another hardware thread uses the core in these runs.
TestReport l1_shared_in(const std::function<bool(std::uint64_t number)>& shared) {
    ChangedTarget target([&](std::uint64_t number, const Arena&, const Chase&, Measurement& found) {
        found.conditions.core_shared = shared(number);
    });
    SuiteOptions suite;
    suite.tests = {"l1"};
    suite.published = false;
    return run_suite(target, suite).back();
}

TEST(Disturbed, AnswersAreRefusedWhereTheCoreWasSharedInMoreThanATwentiethOfTheRuns) {
    const TestReport seldom = l1_shared_in([](std::uint64_t number) { return number % 21 == 0; });
    const TestReport often = l1_shared_in([](std::uint64_t number) { return number % 19 == 0; });
    ASSERT_NE(seldom.find("L1", "capacity"), nullptr);
    ASSERT_EQ(seldom.findings.size(), often.findings.size());
    for (const Finding& finding : often.findings) {
        EXPECT_FALSE(finding.value) << finding.parameter;
        EXPECT_NE(finding.reason.find("runs another hardware thread used the core"), std::string::npos);
    }
}

TEST(Disturbed, ATestIsAskedAgainWhereTheCoreWasSharedForAWhile) {
    const std::uint64_t runs = l1_shared_in([](std::uint64_t) { return false; }).cost.runs;
    EXPECT_NE(l1_shared_in([&](std::uint64_t number) { return number < runs; }).find("L1", "capacity"), nullptr);
    EXPECT_NE(l1_shared_in([&](std::uint64_t number) { return number < 2 * runs; }).find("L1", "capacity"), nullptr);
    EXPECT_EQ(l1_shared_in([&](std::uint64_t number) { return number < 4 * runs; }).find("L1", "capacity"), nullptr);
}

TEST(Disturbed, AClockThatWasMisjudgedOnceIsNotTheLeastTime) {
    Metered low(of_few([](std::uint64_t number, Measurement& found) { found.cycles *= number == 2 ? 0.98 : 1; }));
    EXPECT_NEAR(low.meter.settled(low.arena, few), low.hit, 0.003 * low.hit);
    // But the only run that nothing lengthened is.
    Metered high(of_few([](std::uint64_t number, Measurement& found) {
        found.cycles *= number == 2 ? 1 : 1.1 + 0.03 * static_cast<double>(number);
    }));
    EXPECT_NEAR(high.meter.settled(high.arena, few), high.hit, 0.003 * high.hit);
}

TEST(Disturbed, TimesThatAreComparedChangeTogether) {
    const auto slower = [](std::uint64_t number, Measurement& found) { found.cycles *= number < 5 ? 1 : 1.02; };
    Offsets other = few;
    other.change().front() = 64;
    Metered together(of_few(slower));
    const auto [one, two] = together.meter.settled_in_turn(together.arena, few, other);
    EXPECT_NEAR(one, two, 0.005 * one);
    Metered apart(of_few(slower));
    const double before = apart.meter.settled(apart.arena, few);
    EXPECT_GT(apart.meter.settled(apart.arena, other), 1.015 * before) << "one after the other they differ";
}

TEST(Disturbed, WhatIsLessThanAMissIsNotLonger) {
    const auto longer_by = [](double more, unsigned first) {  // cycles per load, of the first runs and of others
        return Metered(of_few([=](std::uint64_t number, Measurement& found) {
            if (number < first) found.cycles += more;
        }));
    };
    const auto takes_longer = [](Metered metered, double least_rise) {
        return metered.meter.takes_longer(metered.arena, few, metered.hit, least_rise);
    };
    EXPECT_TRUE(takes_longer(longer_by(0.1, ~0U), 0));
    EXPECT_FALSE(takes_longer(longer_by(0.1, ~0U), 1));
    EXPECT_TRUE(takes_longer(longer_by(1, 3), 1)) << "three that are clear are enough";
    EXPECT_FALSE(takes_longer(longer_by(0.3, 5), 1)) << "where they are doubtful, more are made";
    EXPECT_TRUE(takes_longer(longer_by(0.3, ~0U), 1));
}

TestReport l1_of(ChangedTarget& target) {
    SuiteOptions options;
    options.tests = {"l1"};
    options.published = false;
    return run_suite(target, options).back();
}

void expect_l1_of_generic3(const TestReport& report) {
    EXPECT_EQ(finding(report, "L1", "capacity").value.value_or(Value{}).number, 32768);
    EXPECT_EQ(finding(report, "L1", "ways").value.value_or(Value{}).number, 8);
    EXPECT_EQ(finding(report, "L1", "line").value.value_or(Value{}).number, 64);
}

// Who shares L1 takes a line now and then: of a few hundred laps each costs a round of the set.
TEST(Disturbed, L1IsFoundWhereOthersTakeSomeOfItsLines) {
    ChangedTarget target([](std::uint64_t, const Arena&, const Chase& chase, Measurement& found) {
        if (chase.offsets.size() > 1) found.cycles += 0.5 / static_cast<double>(chase.offsets.size());
    });
    expect_l1_of_generic3(l1_of(target));
}

/// Whether half of two full sets lie a line of 64 bytes beyond the other half.
bool is_shifted(const Chase& chase) {
    const std::uint64_t first = std::ranges::min(chase.offsets);
    return chase.offsets.size() == 16 && std::ranges::max(chase.offsets) - first > 15 * 4096 &&
           std::ranges::any_of(chase.offsets, [&](std::uint64_t offset) { return (offset - first) % 4096 == 64; });
}

// On the arena where it is looked for first, sets that are half a line apart, seem to be too full.
TEST(Disturbed, TheLineOfL1IsAskedForOnNewArenas) {
    std::uint32_t first = 0;
    ChangedTarget target([&](std::uint64_t, const Arena& arena, const Chase& chase, Measurement& found) {
        if (!is_shifted(chase)) return;
        if (first == 0) first = arena.id;
        if (arena.id == first) found.cycles *= 2;
    });
    expect_l1_of_generic3(l1_of(target));
    EXPECT_NE(first, 0U);
}

// What was found once only is no answer: later attempts find other lines.
TEST(Disturbed, L1ThatIsFoundOtherwiseIsRefused) {
    std::uint32_t last = 0;
    std::uint64_t arenas = 0;  // used: five until the line is asked for again
    ChangedTarget target([&](std::uint64_t, const Arena& arena, const Chase& chase, Measurement& found) {
        if (arena.id != last) ++arenas;
        last = arena.id;
        if (is_shifted(chase) && arenas > 5) found.cycles *= 2;
    });
    const TestReport report = l1_of(target);
    EXPECT_FALSE(finding(report, "L1", "line").value) << arenas;
}

// Conflicts are told from translation by the same pages without conflicts, in a chase that can be real.
TEST(Disturbed, L1IsFoundOnSmallPagesWithATlbThatIsFull) {
    MachineDescription machine = load_machine("generic3");
    machine.tlbs[0].entries = 4;
    machine.tlbs[0].ways = 4;
    ChangedTarget target([](std::uint64_t, const Arena&, const Chase&, Measurement&) {}, machine, false);
    expect_l1_of_generic3(l1_of(target));
}

// A hypervisor gives small pages for large ones.
TEST(Disturbed, LargePagesThatAreTranslatedInPiecesTellNothingOfLevels) {
    ChangedTarget target([](std::uint64_t, const Arena& arena, const Chase& chase, Measurement& found) {
        if (arena.page == 4096) return;
        std::set<std::uint64_t> pieces;
        for (const std::uint64_t offset : chase.offsets) pieces.insert(offset / 4096);
        if (pieces.size() > 64) found.cycles += 7;
    });
    SuiteOptions options;
    options.tests = {"levels"};
    options.published = false;
    const TestReport report = run_suite(target, options).back();
    EXPECT_NE(finding(report, "", "capacity").reason.find("in pieces"), std::string::npos);
}

}  // namespace
}  // namespace cachetally
