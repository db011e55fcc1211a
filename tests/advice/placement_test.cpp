// SPDX-License-Identifier: BSD-3-Clause
// Placements: nothing changed is the plain run, no two bytes meet, and references that come apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "cachetally/run.hpp"
#include "tests/advice/listed.hpp"
#include "tests/differential/random_machine.hpp"
#include "workloads/layouts/placement.hpp"

namespace cachetally {
namespace {

using testing::Listed;
using testing::load;

std::vector<Reference> placed(const Listed& program, const Placement& placement) {
    PlacedSource source(testing::opener(program)(), StructureFinder(program.regions),
                        std::make_shared<const Placement>(placement));
    std::vector<Reference> all;
    for (Control control; control.kind != Control::Kind::end;) {
        const Batch batch = source.next(0);
        all.insert(all.end(), batch.references.begin(), batch.references.end());
        control = batch.control;
    }
    return all;
}

std::vector<std::pair<Address, std::uint64_t>> places(const std::vector<Reference>& references) {
    std::vector<std::pair<Address, std::uint64_t>> all;
    for (const Reference& reference : references) all.emplace_back(reference.address, reference.size);
    return all;
}

using Places = std::vector<std::pair<Address, std::uint64_t>>;
constexpr Address area = Address{1} << 42;  // the first for changed structures

// A at 0x1000: rows of 16, padded by 16, and moved up by 64
TEST(Placement, ReferencesComeApartWhereTheirBytesDo) {
    const Listed program{{{load(0x1000), load(0x100c), load(0x1010), load(0xffc), load(0x101c), load(0x2000)}},
                         {{"A", 0x1000, 32, 8}}};
    const Placement placement({}, {}, {{0, {{0x1000, 32}}, Shape::padded(16, 16), 64, 1}});
    EXPECT_EQ(places(placed(program, placement)), (Places{{area + 0x1040, 8},
                                                          {area + 0x104c, 4},
                                                          {area + 0x1060, 4},
                                                          {area + 0x1060, 8},
                                                          {0xffc, 8},  // no reference to A
                                                          {area + 0x106c, 4},
                                                          {0x1020, 4},
                                                          {0x2000, 8}}));
}

TEST(Placement, ExtentsKeepTheirDistancesAndAlignment) {
    const Listed program{{{load(0x1008), load(0x1108)}}, {{"A", 0x1008, 16, 8}, {"A", 0x1108, 16, 8}}};
    const std::vector<Extent> extents{{0x1008, 16}, {0x1108, 16}};
    EXPECT_EQ(places(placed(program, Placement({}, {}, {{0, extents}}))),
              (Places{{area + 0x1008, 8}, {area + 0x1108, 8}}));
    EXPECT_EQ(places(placed(program, Placement({}, {}, {{0, extents, {}, 0, 64}}))),
              (Places{{area + 0x1040, 8}, {area + 0x1140, 8}}));
}

TEST(Placement, SegmentsMoveAsAWholeAndWhatIsInNoneStays) {
    const Listed program{{{load(0x1ffc), load(0x2ffc), load(0x9000)}}, {}};
    const Placement placement({{0x2000, 0x1000, 16}}, {0x100}, {});
    EXPECT_EQ(places(placed(program, placement)),
              (Places{{0x1ffc, 4}, {0x2100, 4}, {0x30fc, 4}, {0x3000, 4}, {0x9000, 8}}));
}

TEST(Placement, ChangedStructuresMoveWithTheirArena) {
    const Listed program{{{load(0x2008)}}, {{"A", 0x2000, 64, 8}}};
    const Placement placement({{0x2000, 0x1000, 16}}, {0x110}, {{0, {{0x2000, 64}}}});
    EXPECT_EQ(places(placed(program, placement)), (Places{{area + 0x2118, 8}}));
}

// What lies within A's extent and is B's moves as A does, the rest of B does not; of C's claim to it nothing is left.
TEST(Placement, WhatLiesBetweenMovesAlong) {
    const StructureChange a{0, {{0x1000, 64}}, Shape::padded(16, 16), 0, 1, 1}, c{2, {{0x1020, 64}}, {}, 0, 1, 1};
    const Placement placement({}, {}, {a, c});
    EXPECT_EQ(placement.at(0, 0x1010).address, area + 0x1020);
    EXPECT_EQ(placement.at(1, 0x1018).address, area + 0x1028);
    EXPECT_EQ(placement.at(1, 0x1030).address, area + 0x1060);
    EXPECT_EQ(placement.at(1, 0x1040).address, 0x1040U);
    EXPECT_EQ(placement.at(2, 0x1020).address, 2 * area + 0x1020);
}

TEST(Placement, AStructureIsChangedOnce) {
    const StructureChange change{0, {{0x1000, 64}}};
    EXPECT_THROW(Placement({}, {}, {change, change}), std::invalid_argument);
}

TEST(Placement, TheEndOfTheAddressSpace) {
    const Listed program{{{load(~Address{0} - 3), load(0)}}, {}};
    EXPECT_EQ(placed(program, Placement({}, {}, {})), program.cores[0]);
}

/// Structures, and references in, across and between them.
Listed random_program(unsigned cores, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    Listed program;
    Address base = 0x10000 + below(64);
    for (unsigned i = 0; i < 4; ++i) {
        program.regions.push_back({std::string(1, static_cast<char>('A' + i)), base, 1 + below(600), 8});
        base += program.regions.back().bytes + below(300);
    }
    program.cores.resize(cores);
    for (std::vector<Reference>& references : program.cores)
        for (unsigned i = 0; i < 600; ++i)
            references.push_back({.address = 0x10000 - 64 + below(base + 128 - 0x10000),
                                  .site = static_cast<std::uint32_t>(below(5)),
                                  .size = static_cast<std::uint16_t>(1 + below(40)),
                                  .kind = static_cast<ReferenceKind>(below(3))});
    return program;
}

std::vector<Segment> segments_of(std::uint64_t seed) {
    return seed % 2 == 0 ? std::vector<Segment>{{0x10000, 0x1000, 16}}
                         : std::vector<Segment>{{0x10000, 0x100, 16}, {0x10100, 0x1000, 4096}};
}

RC_GTEST_PROP(Placement, NothingChangedIsThePlainRun, ()) {
    const auto choose = [](std::uint64_t bound) { return *rc::gen::inRange<std::uint64_t>(0, bound); };
    const MachineDescription machine = differential::random_machine(choose);
    const Topology topology(machine);
    const Listed program = random_program(machine.cores, choose(1000000));
    const auto open = testing::opener(program);
    Hierarchy plain(topology), other(topology);
    const auto source = open();
    const RunResult expected = run(plain, *source);
    const std::vector<Segment> segments = segments_of(choose(2));
    PlacedSource same(
        open(), StructureFinder(program.regions),
        std::make_shared<const Placement>(segments, recorded_layout(segments), std::vector<StructureChange>()));
    const RunResult found = run(other, same);
    RC_ASSERT(found.counts == expected.counts);
    RC_ASSERT(found.core_ends == expected.core_ends);
}

RC_GTEST_PROP(Placement, NoTwoBytesMeet, ()) {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, 1000000);
    const Listed program = random_program(1, seed);
    const StructureFinder finder(program.regions);
    const std::vector<Segment> segments = segments_of(seed);
    std::vector<StructureChange> changes;
    for (std::uint32_t i = 0; i < program.regions.size(); ++i) {
        const Region& region = program.regions[i];
        const Shape shapes[] = {
            {}, Shape::padded(24, 8), Shape::transposed({3, 7, 4}), Shape::split(8, {{0, 4, 1}, {4, 4, 0}})};
        if ((seed >> i) % 2 == 0) continue;
        changes.push_back({i, {{region.base, region.bytes}}, shapes[(seed + i) % 4], seed % 512, 1U << seed % 8});
    }
    const Placement placement(segments, random_layout(segments, seed), changes);
    std::set<Address> taken;
    for (Address address = 0x10000; address < 0x11000; ++address) {
        const Placement::Piece piece = placement.at(finder.find(load(address)), address);
        RC_ASSERT(piece.bytes >= 1U);
        RC_ASSERT(taken.insert(piece.address).second);
    }
}

RC_GTEST_PROP(Layouts, KeepOrderAlignmentAndDistance, ()) {
    const auto number = [](std::uint64_t least, std::uint64_t end) { return *rc::gen::inRange(least, end); };
    std::vector<Segment> segments;
    Address base = number(0, 1U << 30);
    const auto count = number(1, 12);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (number(0, 4) == 0) base = std::max(base, (Address{1} << 46) + (number(0, 1000) << 12));
        segments.push_back({base, number(1, 1U << 20), number(0, 2) == 0 ? std::uint64_t{16} : 4096});
        base += segments.back().bytes + number(0, 1U << 20);
    }
    const std::uint64_t seed = number(0, 1000);
    const MemoryLayout layout = random_layout(segments, seed);
    RC_ASSERT(layout == random_layout(segments, seed));
    for (std::size_t i = 0; i < segments.size(); ++i) {
        RC_ASSERT(layout[i] % segments[i].unit == 0);
        if (i > 0)
            RC_ASSERT(segments[i].base + layout[i] >= segments[i - 1].base + segments[i - 1].bytes + layout[i - 1]);
    }
}

TEST(Layouts, SeedsMakeThemDiffer) {
    const std::vector<Segment> segments{{0x1000, 0x1000, 16}, {0x7ffff0000000, 0x1000, 16}};
    std::set<std::uint64_t> low, high;
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
        const MemoryLayout layout = random_layout(segments, seed);
        low.insert(layout[0] % 64);
        high.insert(layout[1] % 64);
        EXPECT_LT(layout[0], std::uint64_t{1} << 26);
        EXPECT_GE(layout[1], std::uint64_t{0} - (std::uint64_t{1} << 26));
    }
    EXPECT_THAT(low, ::testing::ElementsAre(0, 16, 32, 48));
    EXPECT_THAT(high, ::testing::ElementsAre(0, 16, 32, 48));
}

TEST(Layouts, WithoutRoomNothingMoves) {
    const std::vector<Segment> segments{{0, ~std::uint64_t{0} - 4096, 16}};
    EXPECT_EQ(random_layout(segments, 3), recorded_layout(segments));
}

}  // namespace
}  // namespace cachetally
