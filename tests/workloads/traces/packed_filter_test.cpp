// SPDX-License-Identifier: BSD-3-Clause
// PackedFilter by hand, and against a plain description of it.
#include "workloads/traces/block.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <vector>

namespace cachetally {
namespace {

Reference load_of(Address address, std::uint16_t size = 4) { return {address, 0, size, ReferenceKind::load, 0}; }
Reference store_of(Address address, std::uint16_t size = 4) { return {address, 0, size, ReferenceKind::store, 0}; }

TEST(PackedFilter, FindsWhatRepeatsTheLastOfItsSlots) {
    PackedFilter filter;
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000)));
    EXPECT_TRUE(filter.is_redundant(load_of(0x1003c)));
    EXPECT_FALSE(filter.is_redundant(load_of(0x10040)));  // the next line
    EXPECT_TRUE(filter.is_redundant(load_of(0x10000)));   // another slot: both stay
    EXPECT_FALSE(filter.is_redundant(load_of(0x11000)));  // line slot 0, page slot 1
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000)));
    EXPECT_FALSE(filter.is_redundant(load_of(0x21080)));  // page slot 1
    EXPECT_TRUE(filter.is_redundant(load_of(0x10000)));   // page slot 0
    EXPECT_FALSE(filter.is_redundant(load_of(0x20040)));  // page slot 0, line slot 1
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000)));  // the line is redundant, its page is not
}

TEST(PackedFilter, RetainsTheFirstStoreToALine) {
    PackedFilter filter;
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000)));
    EXPECT_FALSE(filter.is_redundant(store_of(0x10000)));
    EXPECT_TRUE(filter.is_redundant(store_of(0x10008)));
    EXPECT_TRUE(filter.is_redundant(load_of(0x10000)));
    EXPECT_FALSE(filter.is_redundant(load_of(0x12000)));  // slot 0, another page slot
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000)));
    EXPECT_FALSE(filter.is_redundant(store_of(0x10000)));
    EXPECT_FALSE(filter.is_redundant(load_of(0x20040)));  // its page slot, not its line slot
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000)));  // retained, a load
    EXPECT_FALSE(filter.is_redundant(store_of(0x10000)));
}

TEST(PackedFilter, NothingAfterTheFirstLineOfAStraddlingReferenceIsRedundant) {
    PackedFilter filter;
    EXPECT_FALSE(filter.is_redundant(load_of(0x10040)));
    EXPECT_FALSE(filter.is_redundant(load_of(0x1003c, 8)));
    EXPECT_TRUE(filter.is_redundant(load_of(0x10000)));
    EXPECT_FALSE(filter.is_redundant(load_of(0x10040)));
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000, 65 * 64)));  // comes around to its own slot
    EXPECT_FALSE(filter.is_redundant(load_of(0x10000)));
}

/// In plain words: who was the last of the slot?
class PlainFilter {
public:
    bool is_redundant(const Reference& reference) {
        const Address line = reference.address / 64, page = reference.address / 4096;
        const Address last = reference.address + reference.size - 1;
        const bool same_line = lines_[line % 64] == line, same_page = pages_[page % 16] == page;
        const bool stores = reference.kind == ReferenceKind::store;
        const bool redundant = same_line && same_page && last / 64 == line && (!stores || stored_[line % 64]);
        if (!redundant) stored_[line % 64] = stores;
        lines_[line % 64] = line, pages_[page % 16] = page;
        for (Address other = line + 1; other <= last / 64; ++other) lines_[other % 64].reset();
        for (Address other = page + 1; other <= last / 4096; ++other) pages_[other % 16].reset();
        return redundant;
    }

private:
    std::map<Address, std::optional<Address>> lines_, pages_;
    std::map<Address, bool> stored_;
};

std::vector<Reference> some_references() {
    std::vector<Reference> references(*rc::gen::inRange<std::size_t>(0, 2000));
    std::uint64_t state = *rc::gen::arbitrary<std::uint32_t>() + 1U;
    for (Reference& reference : references) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        const Address spread = (state >> 20 & 3) == 0 ? 0xfffff : 0x31cf;
        const bool large = (state >> 24 & 63) == 0;
        reference = {state >> 40 & spread, 0, static_cast<std::uint16_t>(large ? 1 + (state >> 30 & 0x3fff) : 8),
                     (state >> 50 & 3) == 0 ? ReferenceKind::store : ReferenceKind::load, 0};
    }
    return references;
}

RC_GTEST_PROP(PackedFilter, DoesWhatPlainWordsSay, ()) {
    PackedFilter filter;
    PlainFilter plain;
    for (const Reference& reference : some_references())
        RC_ASSERT(filter.is_redundant(reference) == plain.is_redundant(reference));
}

}  // namespace
}  // namespace cachetally
