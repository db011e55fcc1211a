// SPDX-License-Identifier: BSD-3-Clause
// TLBs that coalesce pages: in which way references are made, and that each of them counts alike.
#include <gmock/gmock.h>

#include "cachetally/topology.hpp"
#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"

namespace cachetally::differential {
namespace {

/// A first TLB over a second one, which entries of so many pages stand in.
MachineDescription two_tlbs(unsigned first, unsigned second, Mapping mapping) {
    MachineDescription machine = read_machine(
        "name: two\ncaches:\n  - {name: L1, size: 4 KiB, ways: 1, latency: 3, next: memory}\n"
        "tlbs:\n  - {name: DTLB, entries: 32, ways: 2, next: STLB, latency: 1}\n"
        "  - {name: STLB, entries: 128, ways: 4, latency: 7}\nmemory: {latency: 100}\n",
        "two.yaml");
    machine.tlbs[0].coalesces = first;
    machine.tlbs[1].coalesces = second;
    machine.pages.mapping = mapping;
    return machine;
}

/// Runs of pages in ascending order, and pages all over.
std::vector<CoreProgram> runs_of_pages() {
    std::vector<Reference> references;
    const auto make = [&](Address page, Address line) {
        references.push_back({.address = page * 4096 + line * 64, .size = 8, .kind = ReferenceKind::load});
    };
    for (Address i = 0; i < 12000; ++i) {
        make(i / 2 % 700, i % 64);
        if (i % 3 == 0) make(i * 2654435761 % 900, i % 7);
        make(3, i % 2);
    }
    return {{{references, {Control::Kind::end, 0}}}};
}

ExecutionPlan::Core plan_of(const MachineDescription& machine) {
    return Hierarchy(Topology(machine)).plan().cores.at(0);
}

TEST(CoalescingTlbs, ReferencesTakeTheFastestWayThatTheirFramesAllow) {
    EXPECT_EQ(plan_of(two_tlbs(4, 8, Mapping::identity)).execution, Execution::batched);
    const ExecutionPlan::Core below = plan_of(two_tlbs(1, 8, Mapping::random));
    EXPECT_EQ(below.execution, Execution::filtered);
    EXPECT_EQ(below.reason, "STLB coalesces pages (two.yaml:6)");
    const ExecutionPlan::Core first = plan_of(two_tlbs(4, 1, Mapping::contiguous));
    EXPECT_EQ(first.execution, Execution::one_by_one);
    EXPECT_EQ(first.reason, "DTLB coalesces pages (two.yaml:5)");
    MachineDescription sizes = two_tlbs(4, 1, Mapping::identity);
    sizes.pages.ranges = {{std::uint64_t{1} << 21, std::uint64_t{1} << 22, std::uint64_t{1} << 21, {}}};
    EXPECT_EQ(plan_of(sizes).execution, Execution::one_by_one);
}

TEST(CoalescingTlbs, CountAlikeInEveryWay) {
    const std::vector<CoreProgram> programs = runs_of_pages();
    for (const auto& [first, second] : {std::pair{4U, 1U}, {1U, 4U}, {2U, 8U}, {8U, 2U}, {16U, 16U}})
        for (const Mapping mapping : {Mapping::identity, Mapping::contiguous, Mapping::random, Mapping::coloured}) {
            const MachineDescription machine = two_tlbs(first, second, mapping);
            const Outcome expected = simulate(machine, programs, 0);
            for (const Execution fastest : {Execution::batched, Execution::filtered, Execution::one_by_one})
                EXPECT_EQ(
                    difference(machine, expected, run_engine(machine, programs, 0, Driving::unwatched, {}, fastest),
                               Driving::unwatched),
                    "");
        }
}

std::uint64_t misses(const Outcome& outcome) {
    std::uint64_t sum = 0;
    for (const TlbCounts& tlb : outcome.counts.tlbs) sum += tlb.misses;
    return sum;
}

// Else the cases above and the random ones would say nothing: groups come to lie together, in some mappings.
TEST(CoalescingTlbs, CoalesceWhereFramesFollowPages) {
    const std::vector<CoreProgram> programs = runs_of_pages();
    const auto misses_with = [&](unsigned pages, Mapping mapping) {
        return misses(simulate(two_tlbs(pages, pages, mapping), programs, 0));
    };
    EXPECT_LT(2 * misses_with(4, Mapping::identity), misses_with(1, Mapping::identity));
    EXPECT_LT(misses_with(4, Mapping::contiguous), misses_with(1, Mapping::contiguous));
    EXPECT_LT(misses_with(4, Mapping::identity), misses_with(4, Mapping::contiguous));
}

// With identity, entries of N pages are those of pages that are N times as large.
TEST(CoalescingTlbs, WithIdentityReachAsLargerPagesDo) {
    const std::vector<CoreProgram> programs = runs_of_pages();
    for (const unsigned pages : {2U, 4U, 8U, 16U}) {
        MachineDescription larger = two_tlbs(1, 1, Mapping::identity);
        larger.pages.size = std::uint64_t{4096} * pages;
        const Outcome expected = simulate(larger, programs, 0);
        const Outcome actual = simulate(two_tlbs(pages, pages, Mapping::identity), programs, 0);
        EXPECT_EQ(actual.counts.tlbs, expected.counts.tlbs);
    }
}

}  // namespace
}  // namespace cachetally::differential
