// SPDX-License-Identifier: BSD-3-Clause
// The stamps of the fast LRU array run full after 2^28 uses; with short stamps that is soon. Against the slow set.
#include <gtest/gtest.h>

#include "sim/model/stamp_array.hpp"
#include "tests/differential/slow_set.hpp"

namespace cachetally::differential {
namespace {

template <unsigned padded_ways>
void compare(unsigned ways) {
    constexpr unsigned sets = 3;
    StampArray<padded_ways / 4, std::uint16_t> array({sets, ways, Replacement::lru, 0, true});
    std::vector<SlowSet> slow(sets, SlowSet(ways, Replacement::lru));
    SlowRandom random(ways), unused(0);
    for (unsigned i = 0; i < 100'000; ++i) {
        // Few sets in the long run, so that stamps of one set grow old.
        const std::uint64_t set = random.draw(1000) == 0 ? 2 : random.draw(2);
        const Address line = (random.draw(ways + 2) + 1) * 64;
        SlowWay* way = slow[set].find(line);
        const bool found = array.access(set, line, {}) != 0;
        ASSERT_EQ(found, way != nullptr) << "access " << i;
        if (random.draw(50) == 0) {
            ASSERT_EQ(array.remove(set, line) != 0, found);
            if (way != nullptr) way->valid = false;
        } else if (way != nullptr) {
            slow[set].use(*way);
        } else {
            Address victim = 0;
            if (!slow[set].has_room()) {
                SlowWay& leaving = slow[set].victim(unused);
                victim = leaving.block;
                leaving.valid = false;
            }
            slow[set].insert(line);
            ASSERT_EQ(line_of(array.insert(set, line, 0)), victim) << "access " << i;
        }
    }
}

TEST(StampArray, StaysExactWhenStampsAreRenumbered) {
    for (const unsigned ways : {1U, 3U, 4U}) compare<4>(ways);
    for (const unsigned ways : {5U, 8U}) compare<8>(ways);
}

}  // namespace
}  // namespace cachetally::differential
