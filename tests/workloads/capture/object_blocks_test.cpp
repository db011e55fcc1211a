// SPDX-License-Identifier: BSD-3-Clause
// Which blocks of allocations a capture keeps, and where their elements begin.
#include <gtest/gtest.h>

#include "workloads/capture/captured_sites.hpp"
#include "workloads/capture/ring.h"

namespace cachetally {
namespace {

/// Allocates and frees.
class Heap {
public:
    /// `element`: bytes of the elements of all, whose words are told apart; 0: none.
    explicit Heap(std::uint64_t element = 0) : sites_(table_, fields_of(element)) {}
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
    std::string field(Address address) { return sites_.field_names()[table_[sites_.of_data(1, address)].field]; }

private:
    static FieldOptions fields_of(std::uint64_t element) {
        FieldOptions fields;
        if (element != 0) fields.elements.push_back({"heap", "", element});
        return fields;
    }

    SiteTable table_;
    CapturedSites sites_;
};

TEST(ObjectBlocks, AreAloneWhereNoOtherObjectHadTheirMemory) {
    Heap heap;
    heap.allocate(0x1000, 64, 0xa);
    heap.allocate(0x2000, 64, 0xb);
    heap.release(0x1000);
    heap.allocate(0x1000, 32, 0xa);  // its own again
    heap.allocate(0x3000, 64, 0xc);
    heap.release(0x2000);
    heap.allocate(0x2030, 64, 0xc);  // part of what 0xb had
    std::vector<bool> alone;
    for (const ObjectBlock& block : heap.blocks()) alone.push_back(block.alone);
    EXPECT_EQ(alone, (std::vector{true, false, false, false})) << "0xa, 0xb, and both of 0xc";
}

TEST(ObjectBlocks, OfEachCallerByObject) {
    Heap heap;
    heap.allocate(0x1000, 64, 0x400000);
    heap.allocate(0x2000, 32, 0x400100);
    heap.allocate(0x1040, 16, 0x400000);
    const std::uint32_t a = heap.object(0x1000), b = heap.object(0x2000);
    EXPECT_EQ(heap.blocks(),
              (std::vector<ObjectBlock>{{a, 0x1000, 64, true}, {a, 0x1040, 16, true}, {b, 0x2000, 32, true}}));
}

TEST(ObjectBlocks, OneThatGrowsInPlaceOrComesAgainIsOne) {
    Heap heap;
    heap.allocate(0x1000, 64, 0x400000);
    const std::uint32_t a = heap.object(0x1000);
    heap.release(0x1000);
    heap.allocate(0x1000, 96, 0x400000);
    heap.release(0x1000);
    heap.allocate(0x1000, 16, 0x400000);
    EXPECT_EQ(heap.blocks(), (std::vector<ObjectBlock>{{a, 0x1000, 96, true}}));
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

// new T[3], of 24 bytes, with and without a destructor; of 32 bytes, of which two are aligned to 16.
TEST(ObjectBlocks, ElementsBeginBehindTheirNumber) {
    Heap heap(24);
    heap.allocate(0x1000, 72, 0x400000);
    heap.allocate(0x2000, 8 + 72, 0x400000);
    EXPECT_EQ(heap.field(0x1000), "+0");
    EXPECT_EQ(heap.field(0x1000 + 24 + 8), "+8");
    EXPECT_EQ(heap.field(0x2000), "(before the elements)");
    EXPECT_EQ(heap.field(0x2008), "+0");
    EXPECT_EQ(heap.field(0x2008 + 24 + 16), "+16");
    heap.allocate(0x3000, 8, 0x400000);  // shorter than an element
    EXPECT_EQ(heap.field(0x3000), "+0");
    Heap aligned(32);
    aligned.allocate(0x1000, 16 + 64, 0x400000);
    EXPECT_EQ(aligned.field(0x1008), "(before the elements)");
    EXPECT_EQ(aligned.field(0x1010), "+0");
}

}  // namespace
}  // namespace cachetally
