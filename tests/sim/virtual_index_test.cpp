// SPDX-License-Identifier: BSD-3-Clause
// Virtually indexed first levels: translation changes the set only if it changes bits that choose it.
#include <gtest/gtest.h>

#include "cachetally/topology.hpp"

namespace cachetally {
namespace {

/// Of so many sets of two lines of 64 bytes, with pages of 4 KiB.
MachineDescription machine_of(unsigned sets, const std::string& index, const std::string& mapping = "random") {
    return read_machine("name: m\ncores: 1\ncaches:\n  - {name: L1, next: memory, ways: 2, line: 64, size: " +
                            std::to_string(sets * 128) + ", " + index + "}\npages: {mapping: " + mapping +
                            "}\nmemory: {latency: 100}\n",
                        "m.yaml");
}

TEST(VirtualIndex, IsThePhysicalOneWhereTheSetsOfAWayFillAPage) {
    EXPECT_FALSE(machine_of(64, "virtually_indexed: false").is_indexed_by_pages({}));
    const auto by_pages = [](const MachineDescription& machine) {
        return machine.is_indexed_by_pages(machine.caches.front());
    };
    EXPECT_FALSE(by_pages(machine_of(64, "virtually_indexed: true")));
    EXPECT_TRUE(by_pages(machine_of(128, "virtually_indexed: true")));
    EXPECT_FALSE(by_pages(machine_of(128, "virtually_indexed: true", "identity")));
    EXPECT_TRUE(by_pages(machine_of(48, "virtually_indexed: true")));  // modulo 48 depends on all bits
    EXPECT_TRUE(by_pages(machine_of(64, "virtually_indexed: true, indexing: xor_hash")));
    EXPECT_TRUE(by_pages(machine_of(64, "virtually_indexed: true, indexing: sliced, slices: 4")));
    EXPECT_FALSE(by_pages(machine_of(1, "virtually_indexed: true, indexing: xor_hash")));
}

}  // namespace
}  // namespace cachetally
