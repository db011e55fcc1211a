// SPDX-License-Identifier: BSD-3-Clause
// X-Ray, 4.6, as published: right where the paper is, and wrong where its sets do not stay in L1.
#include <gtest/gtest.h>

#include <tuple>

#include "probes/suite.hpp"
#include "probes/targets/simulated.hpp"
#include "tests/probes/score_of.hpp"

namespace cachetally {
namespace {

using Found = std::tuple<double, double, double>;  ///< entries, ways, page; 0 = refused

Found tlb_sets_of(const MachineDescription& machine) {
    SimulatedTarget target(machine);
    SuiteOptions options;
    options.tests = {"tlb_sets"};
    const TestReport report = run_suite(target, options).back();
    const auto number = [&](const char* parameter) {
        const Finding* finding = report.find("TLB1", parameter);
        return finding == nullptr ? 0 : finding->value->number;
    };
    return {number("entries"), number("ways"), number("page")};
}

MachineDescription machine_with(const std::string& l1, const std::string& l2, const std::string& tlb) {
    return read_machine("name: m\ncaches:\n  - {name: L1, " + l1 +
                            ", latency: 3, next: L2}\n"
                            "  - {name: L2, " +
                            l2 + ", latency: 12, next: memory}\n" + (tlb.empty() ? "" : "tlbs:\n  - {" + tlb + "}\n") +
                            "memory: {latency: 150}\n",
                        "m.yaml");
}

constexpr const char* large_l2 = "size: 1 MiB, ways: 16";

// 5.2.3: a Pentium III (16 KiB in 4 ways of 32 bytes), and a Pentium 4, where the paper has 65 for 64.
TEST(TlbSets, ThePaperFindsWhatItStates) {
    const std::string l1 = "size: 16 KiB, ways: 4, line: 32, virtually_indexed: true";
    EXPECT_EQ(tlb_sets_of(machine_with(l1, large_l2, "name: TLB, entries: 64, ways: 4")), Found(64, 4, 4096));
    EXPECT_EQ(tlb_sets_of(load_machine("xray-pentium4xeon")), Found(64, 64, 4096));
}

TEST(TlbSets, SetsThatAreNoPowerOfTwoOfWays) {
    EXPECT_EQ(tlb_sets_of(load_machine("x86-server")), Found(96, 6, 4096));
    EXPECT_EQ(tlb_sets_of(load_machine("xray-power3")), Found(256, 2, 4096));
}

// L1 has 512 lines, and 64: the sets stay in it up to so many locations, and no further, whatever the stride.
TEST(TlbSets, WithoutATlbTheLinesOfL1AreFound) {
    EXPECT_EQ(tlb_sets_of(machine_with("size: 32 KiB, ways: 8", large_l2, "")), Found(512, 512, 4096));
    EXPECT_EQ(tlb_sets_of(machine_with("size: 4 KiB, ways: 4", large_l2, "name: TLB, entries: 128, ways: full")),
              Found(64, 64, 4096));
}

// An inclusive L2 of 4 ways below an L1 of 8: groups of 8 meet in one set of it at its way of 32 KiB, where 5 conflict;
// half of them, moved by a line, do not. The TLB's way is as long, and has 8.
TEST(TlbSets, AnInclusiveLevelOfFewerWaysMisleads) {
    const std::string l1 = "size: 32 KiB, ways: 8", second = "size: 128 KiB, ways: 4";
    const std::string tlb = "name: TLB, entries: 64, ways: 8";
    EXPECT_EQ(tlb_sets_of(machine_with(l1, second, tlb)), Found(64, 8, 4096));
    EXPECT_EQ(tlb_sets_of(machine_with(l1, second + ", inclusion: inclusive", tlb)), Found(2048, 4, 64));
}

// Entries of 4 KiB seem to be of the page at which strides begin; a first TLB that costs nothing to miss leaves its 10
// pages of a set where the sets of the second have 2.
TEST(TlbSets, WhatItGetsWrongOnPresets) {
    EXPECT_EQ(tlb_sets_of(load_machine("xray-itanium2")), Found(32, 32, 16384));
    EXPECT_EQ(tlb_sets_of(load_machine("bcm2835")), Found(10, 10, 32768));
}

TEST(TlbSets, AreMostlyRightOnRandomMachines) {
    ValidationOptions options;
    options.machines = 25;
    options.seed = 20261124;
    options.suite.tests = {"tlb_sets"};
    options.suite.robust = false;
    const ValidationResult result = run_validation(options);
    for (const char* parameter : {"entries", "ways", "page"}) {
        const Score* score = score_of(result, "tlb_sets", parameter);
        ASSERT_NE(score, nullptr);
        EXPECT_EQ(score->right + score->wrong + score->not_identifiable, 25U);
        EXPECT_GE(score->right, 22U) << parameter;
        EXPECT_GE(score->wrong, 1U) << "machine 22 has an inclusive L2 of 8 ways below an L1 of 12";
    }
}

}  // namespace
}  // namespace cachetally
