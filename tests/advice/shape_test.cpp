// SPDX-License-Identifier: BSD-3-Clause
// Shapes by hand, and that none maps two bytes to one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <stdexcept>

#include "workloads/layouts/shape.hpp"

namespace cachetally {
namespace {

/// The new offset of each byte.
std::vector<std::uint64_t> offsets(const Shape& shape, std::uint64_t bytes) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t offset = 0; offset < bytes; ++offset) all.push_back(shape.at(offset, bytes).offset);
    return all;
}

TEST(Shape, RowsOfThreePaddedByTwo) {
    EXPECT_THAT(offsets(Shape::padded(3, 2), 8), ::testing::ElementsAre(0, 1, 2, 5, 6, 7, 10, 11));
    EXPECT_EQ(Shape::padded(3, 2).at(4, 8).bytes, 2U);
    EXPECT_EQ(Shape::padded(3, 2).at(6, 8).bytes, 2U);  // at the end
}

TEST(Shape, TransposedMatrix) {
    // a b c    a d
    // d e f -> b e
    //          c f, and what is behind stays behind
    EXPECT_THAT(offsets(Shape::transposed({2, 3, 1}), 8), ::testing::ElementsAre(0, 2, 4, 1, 3, 5, 6, 7));
    EXPECT_THAT(offsets(Shape::transposed({2, 2, 2}), 8), ::testing::ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
}

TEST(Shape, TilesAreWholeAtTheEdges) {
    // 3 x 3 in tiles of 2 x 2: four tiles of 4
    EXPECT_THAT(offsets(Shape::tiled({3, 3, 1}, 2, 2), 9), ::testing::ElementsAre(0, 1, 4, 2, 3, 6, 8, 9, 12));
    EXPECT_EQ(Shape::tiled({3, 3, 1}, 2, 2).at(0, 9).bytes, 2U);
    EXPECT_EQ(Shape::tiled({3, 3, 1}, 2, 2).at(2, 9).bytes, 1U);
}

TEST(Shape, HotFieldsApart) {
    // elements of 12: 4 cold, 4 hot, 4 cold; the cold ones follow at the next multiple of 64
    const Shape split = Shape::split(12, {{0, 4, 1}, {4, 4, 0}, {8, 4, 1}});
    EXPECT_EQ(split.at(4, 24).offset, 0U);
    EXPECT_EQ(split.at(16, 24).offset, 4U);
    EXPECT_EQ(split.at(0, 24).offset, 64U);
    EXPECT_EQ(split.at(8, 24).offset, 68U);
    EXPECT_EQ(split.at(12, 24).offset, 72U);
    EXPECT_EQ(split.at(5, 24).bytes, 3U);
}

TEST(Shape, FieldsReorderedKeepTheirAlignment) {
    // 4 of ints, 8 of a double, 4 of ints: the double first, then both others
    const Shape shape = Shape::split(16, {{0, 4, 0}, {4, 4, 0}, {8, 8, 0}}, {2, 0, 1});
    EXPECT_EQ(shape.at(8, 32).offset, 0U);
    EXPECT_EQ(shape.at(0, 32).offset, 8U);
    EXPECT_EQ(shape.at(4, 32).offset, 12U);
    EXPECT_EQ(shape.at(24, 32).offset, 16U);
}

TEST(Shape, WhatIsNoShapeIsRefused) {
    EXPECT_THROW(Shape::padded(0, 8), std::invalid_argument);
    EXPECT_THROW(Shape::tiled({0, 1, 1}, 1, 1), std::invalid_argument);
    EXPECT_THROW(Shape::tiled({1ULL << 40, 1ULL << 40, 8}, 1, 1), std::invalid_argument);
    EXPECT_THROW(Shape::split(8, {{0, 4, 0}}), std::invalid_argument);
    EXPECT_THROW(Shape::split(8, {{0, 4, 0}, {2, 6, 0}}), std::invalid_argument);
    EXPECT_THROW(Shape::split(8, {{0, 4, 0}, {4, 4, 0}}, {0, 0}), std::invalid_argument);
}

Shape random_split() {
    std::vector<Shape::Field> fields;
    std::uint64_t element = 0;
    const auto count = *rc::gen::inRange<std::size_t>(1, 8);
    for (std::size_t i = 0; i < count; ++i) {
        fields.push_back({element, *rc::gen::inRange<std::uint64_t>(1, 20), *rc::gen::inRange(0U, 2U)});
        element += fields.back().bytes;
    }
    std::vector<std::size_t> placing(count);
    std::iota(placing.begin(), placing.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) std::swap(placing[i], placing[*rc::gen::inRange<std::size_t>(i, count)]);
    return Shape::split(element, fields, placing);
}

Shape random_shape() {
    const auto small = [](std::uint64_t least, std::uint64_t end) { return *rc::gen::inRange(least, end); };
    switch (small(0, 4)) {
        case 0: return {};
        case 1: return Shape::padded(small(1, 40), small(0, 80));
        case 2: return Shape::tiled({small(1, 9), small(1, 9), small(1, 9)}, small(1, 12), small(1, 12));
        default: return random_split();
    }
}

RC_GTEST_PROP(Shape, NoTwoBytesGoToOneAndPiecesStayTogether, ()) {
    const Shape shape = random_shape();
    const auto bytes = *rc::gen::inRange<std::uint64_t>(1, 1500);
    std::vector<bool> taken(shape.bytes(bytes));
    for (std::uint64_t offset = 0; offset < bytes; ++offset) {
        const Shape::Piece piece = shape.at(offset, bytes);
        RC_ASSERT(piece.bytes >= 1U);
        RC_ASSERT(offset + piece.bytes <= bytes);
        RC_ASSERT(piece.offset < taken.size());
        RC_ASSERT(!taken[piece.offset]);
        taken[piece.offset] = true;
        for (std::uint64_t i = 1; i < piece.bytes; ++i)
            RC_ASSERT(shape.at(offset + i, bytes).offset == piece.offset + i);
    }
}

}  // namespace
}  // namespace cachetally
