// SPDX-License-Identifier: BSD-3-Clause
// ObjectMap beside a number for each byte.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "workloads/capture/object_map.hpp"

namespace cachetally {
namespace {

TEST(ObjectMap, AgreesWithANumberForEachByte) {
    constexpr Address begin = 0x10000 - 600, bytes = 3 * 4096;  // parts of pages at both ends
    Random random(3);
    ObjectMap map;
    std::vector<std::uint32_t> objects(bytes, 0);
    for (std::uint32_t step = 1; step <= 20000; ++step) {
        const std::uint64_t from = random.below(bytes);
        const std::uint64_t most = random.below(3) == 0 ? bytes : 40;
        const std::uint64_t count = 1 + random.below(std::min(most, bytes - from));
        if (random.below(4) == 0) {
            map.remove_all(begin + from, count);
            std::fill_n(objects.begin() + static_cast<std::ptrdiff_t>(from), count, 0);
        } else {
            map.add(begin + from, count, step);
            std::fill_n(objects.begin() + static_cast<std::ptrdiff_t>(from), count, step);
        }
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t at = random.below(bytes);
            const ObjectMap::Block& block = map.find(begin + at);
            ASSERT_TRUE(block.contains(begin + at));
            ASSERT_EQ(block.object, objects[at]) << "step " << step << " at " << at;
        }
    }
}

TEST(ObjectMap, ABlockThatIsGoneContainsNothing) {
    ObjectMap map;
    map.add(100, 50, 1);
    const ObjectMap::Block& block = map.find(120);
    EXPECT_EQ(block.object, 1U);
    map.remove_all(100, 50);
    EXPECT_FALSE(block.contains(120));
    EXPECT_EQ(map.find(120).object, 0U);
    map.add(~Address{0} - 10, 11, 2);  // to the last address
    EXPECT_EQ(map.find(~Address{0}).object, 2U);
}

TEST(ObjectMap, PartsOfABlockKnowWhereItBegan) {
    ObjectMap map;
    map.add(100, 50, 1);
    map.add(120, 10, 2);
    EXPECT_EQ(map.find(110).origin, 100U);
    EXPECT_EQ(map.find(125).origin, 120U);
    EXPECT_EQ(map.find(130).origin, 100U);
    EXPECT_EQ(map.find(130).base, 130U);
}

}  // namespace
}  // namespace cachetally
