// SPDX-License-Identifier: BSD-3-Clause
// The hash of the counter array against a map, far beyond its intended load and with keys that look like empty places.
#include "monitor/keyed_array.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/random.hpp"

namespace cachetally {
namespace {

TEST(SlotTable, AgreesWithAMapWhenFullBucketsSpill) {
    for (const std::uint64_t most : {1U, 3U, 16U, 200U}) {
        SlotTable table(most);
        std::map<std::uint64_t, std::uint32_t> map;
        Random random(most);
        for (std::uint32_t i = 0; i < 20000; ++i) {
            const std::uint64_t key = random.below(80) - 3;  // also the largest of all keys
            const auto found = map.find(key);
            ASSERT_EQ(table.find(key), found == map.end() ? SlotTable::none : found->second);
            if (found == map.end()) {
                table.insert(key, i);
                map[key] = i;
            } else {
                table.remove(key);
                map.erase(found);
            }
            if (random.below(2000) == 0) {
                table.clear();
                map.clear();
            }
        }
    }
}

}  // namespace
}  // namespace cachetally
