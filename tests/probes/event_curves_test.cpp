// SPDX-License-Identifier: BSD-3-Clause
// The six figures of Dongarra et al. 2004, by hand from the paper's three cases: C the capacity, b the block, a the
// ways.
#include <gtest/gtest.h>

#include <algorithm>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {
namespace {

constexpr double element_bytes = 8, kibibyte = 1024;

/// What is drawn of the paper's machine: the preset, whose L3 is that of X-Ray's Itanium 2, with the paper's.
const TestReport& itanium() {
    static const TestReport report = [] {
        MachineDescription machine = load_machine("xray-itanium2");
        machine.caches[2].size = 3 << 19, machine.caches[2].ways = 12;
        SimulatedOptions options;
        options.floating_point = load_machine("xray-itanium2-fp");
        options.floating_point->caches[1].size = 3 << 19, options.floating_point->caches[1].ways = 12;
        SimulatedTarget target(machine, options);
        SuiteOptions suite;
        suite.tests = {"events"};
        suite.robust = false;
        return run_suite(target, suite).back();
    }();
    return report;
}

const Curve* find_curve(const std::string& name) {
    const auto found = std::ranges::find(itanium().curves, name, &Curve::name);
    return found == itanium().curves.end() ? nullptr : &*found;
}

/// Arrays that fit miss nothing; of others each block is a miss (case 1, with a stride of one element).
void expect_sizes(const std::string& name, double capacity, double block) {
    const Curve* curve = find_curve(name);
    ASSERT_NE(curve, nullptr) << name;
    EXPECT_EQ(curve->x.front(), kibibyte);
    EXPECT_EQ(curve->x.back(), 8 * 1024 * kibibyte);
    EXPECT_EQ(curve->unit, "misses");
    for (std::size_t i = 0; i < curve->x.size(); ++i)
        EXPECT_NEAR(curve->cycles[i], curve->x[i] <= capacity ? 0 : element_bytes / block, 1e-4) << name << curve->x[i];
}

/// Cases 1 to 3.
void expect_strides(const std::string& name, double array, double block, double ways) {
    const Curve* curve = find_curve(name);
    ASSERT_NE(curve, nullptr) << name;
    EXPECT_EQ(curve->x_unit, "bytes per load");
    ASSERT_EQ(curve->x.back(), array) << name;
    for (std::size_t i = 0; i < curve->x.size(); ++i) {
        const double stride = curve->x[i];
        EXPECT_NEAR(curve->cycles[i], stride >= array / ways ? 0 : std::min(1., stride / block), 1e-3)
            << name << ' ' << stride;
    }
}

TEST(EventCurves, Figure1ArraysOfIntegers) {
    expect_sizes("size int L1_misses", 16 * kibibyte, 64);
    expect_sizes("size int L2_misses", 256 * kibibyte, 128);
    expect_sizes("size int L3_misses", 1.5 * 1024 * kibibyte, 128);
}

TEST(EventCurves, Figure2ArraysOfReals) {
    EXPECT_EQ(find_curve("size fp L1_misses"), nullptr) << "they bypass L1 and its TLB";
    EXPECT_EQ(find_curve("size fp TLB1_misses"), nullptr);
    EXPECT_EQ(find_curve("block L1 fp cycles"), nullptr);
    expect_sizes("size fp L2_misses", 256 * kibibyte, 128);
    expect_sizes("size fp L3_misses", 1.5 * 1024 * kibibyte, 128);
}

TEST(EventCurves, Figure3TlbsByArrays) {
    expect_sizes("size int TLB1_misses", 128 * kibibyte, 4096);
    expect_sizes("size int TLB2_misses", 2 * 1024 * kibibyte, 16384);
}

// Twice the 128 KiB of the first TLB; 4 ways, and 32 entries in one set.
TEST(EventCurves, Figure4StridesInL1) {
    expect_strides("block L1 int L1_misses", 256 * kibibyte, 64, 4);
    expect_strides("block L1 int TLB1_misses", 256 * kibibyte, 4096, 32);
}

// Twice the 2 MiB of the second TLB; 8 ways, and 128 entries in one set.
TEST(EventCurves, Figures5And6StridesInL2) {
    for (const std::string kind : {"int", "fp"}) {
        expect_strides("block L2 " + kind + " L2_misses", 4 * 1024 * kibibyte, 128, 8);
        expect_strides("block L2 " + kind + " TLB2_misses", 4 * 1024 * kibibyte, 16384, 128);
    }
}

// Of 8 elements of a line in L2 7 hit L1 in 2 cycles, and one takes 6; real ones all take 6.
TEST(EventCurves, TimesAreThoseOfTheLevels) {
    const Curve *integer = find_curve("size int cycles"), *real = find_curve("size fp cycles");
    ASSERT_NE(integer, nullptr);
    ASSERT_NE(real, nullptr);
    ASSERT_EQ(integer->x[5], 32 * kibibyte);
    EXPECT_NEAR(integer->cycles[5], (7 * 2 + 6) / 8., 1e-3);
    EXPECT_NEAR(real->cycles[5], 6 + 4, 1e-3) << "the TLB of L2 adds 4";
}

// All that section 3 states, of which ways of L3 are none: 12 would be found as 8, as strides are powers of two.
TEST(EventCurves, StandBesideWhatThePaperReadsOffThem) {
    const auto expect = [](const char* level, const char* parameter, double published) {
        const Finding* found = itanium().find(level, parameter);
        ASSERT_NE(found, nullptr) << level << parameter;
        EXPECT_EQ(found->value->number, published) << level << parameter;
    };
    expect("L1", "capacity", 16 * kibibyte), expect("L1", "line", 64), expect("L1", "ways", 4);
    expect("L2", "capacity", 256 * kibibyte), expect("L2", "line", 128), expect("L2", "ways", 8);
    expect("L3", "capacity", 1536 * kibibyte);
    expect("TLB1", "entries", 32), expect("TLB1", "page", 4 * kibibyte), expect("TLB1", "ways", 32);
    expect("TLB2", "entries", 128), expect("TLB2", "page", 16 * kibibyte), expect("TLB2", "ways", 128);
}

TEST(EventCurves, RobustEventsDrawNone) {
    SimulatedTarget target(load_machine("bcm2835"));
    SuiteOptions suite;
    suite.tests = {"events"};
    suite.published = false;
    EXPECT_TRUE(run_suite(target, suite).back().curves.empty());
}

}  // namespace
}  // namespace cachetally
