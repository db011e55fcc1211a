// SPDX-License-Identifier: BSD-3-Clause
// Which blocks of allocations a capture keeps.
#include <gtest/gtest.h>

#include "workloads/capture/captured_sites.hpp"
#include "workloads/capture/ring.h"

namespace cachetally {
namespace {

/// Allocates and frees.
class Heap {
public:
    void allocate(Address base, std::uint64_t bytes, Address caller) {
        const std::uint64_t words[] = {base, bytes, 1, caller};
        sites_.take(CT_ALLOCATED, words, {});
    }
    void release(Address base) {
        const std::uint64_t words[] = {base};
        sites_.take(CT_RELEASED, words, {});
    }
    std::vector<ObjectBlock> blocks() const { return sites_.object_blocks(); }
    /// The object of what a caller allocates.
    std::uint32_t object(Address base) { return table_[sites_.of_data(1, base)].object; }

private:
    SiteTable table_;
    CapturedSites sites_{table_};
};

TEST(ObjectBlocks, OfEachCallerByObject) {
    Heap heap;
    heap.allocate(0x1000, 64, 0x400000);
    heap.allocate(0x2000, 32, 0x400100);
    heap.allocate(0x1040, 16, 0x400000);
    const std::uint32_t a = heap.object(0x1000), b = heap.object(0x2000);
    EXPECT_EQ(heap.blocks(), (std::vector<ObjectBlock>{{a, 0x1000, 64}, {a, 0x1040, 16}, {b, 0x2000, 32}}));
}

TEST(ObjectBlocks, OneThatGrowsInPlaceOrComesAgainIsOne) {
    Heap heap;
    heap.allocate(0x1000, 64, 0x400000);
    const std::uint32_t a = heap.object(0x1000);
    heap.release(0x1000);
    heap.allocate(0x1000, 96, 0x400000);
    heap.release(0x1000);
    heap.allocate(0x1000, 16, 0x400000);
    EXPECT_EQ(heap.blocks(), (std::vector<ObjectBlock>{{a, 0x1000, 96}}));
}

TEST(ObjectBlocks, NoneOfManyAndOfThoseThatOverlap) {
    Heap heap;
    heap.allocate(0x1000, 64, 0x400000);
    heap.release(0x1000);
    heap.allocate(0x0ff0, 64, 0x400000);
    EXPECT_TRUE(heap.blocks().empty());
    heap.release(0x0ff0);
    heap.allocate(0x1020, 64, 0x400100);
    heap.release(0x1020);
    heap.allocate(0x1030, 64, 0x400100);
    EXPECT_TRUE(heap.blocks().empty());
    for (unsigned i = 0; i < 64; ++i) heap.allocate(0x10000 + i * 64, 64, 0x400200);
    EXPECT_EQ(heap.blocks().size(), 64U);
    heap.allocate(0x20000, 64, 0x400200);
    EXPECT_TRUE(heap.blocks().empty());
}

}  // namespace
}  // namespace cachetally
