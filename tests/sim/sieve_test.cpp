// SPDX-License-Identifier: BSD-3-Clause
// Sieve by hand, and against a plain description of it; SlotLines against the lines of all.
#include "sim/model/sieve.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <vector>

namespace cachetally {
namespace {

Reference load(Address address, std::uint16_t size = 4) { return {address, 0, size, ReferenceKind::load, 0}; }
Reference store(Address address, std::uint16_t size = 4) { return {address, 0, size, ReferenceKind::store, 0}; }

TEST(Sieve, SettlesWhatRepeatsTheLastOfItsSlots) {
    Sieve sieve;
    EXPECT_FALSE(sieve.settles(load(0x10000)));
    EXPECT_TRUE(sieve.settles(load(0x1003c)));
    EXPECT_FALSE(sieve.settles(load(0x10040)));  // the next line
    EXPECT_TRUE(sieve.settles(load(0x10000)));   // another slot: both stay
    EXPECT_FALSE(sieve.settles(load(0x11000)));  // line slot 0, page slot 1
    EXPECT_FALSE(sieve.settles(load(0x10000)));
    EXPECT_FALSE(sieve.settles(load(0x21080)));  // page slot 1
    EXPECT_TRUE(sieve.settles(load(0x10000)));   // page slot 0
    EXPECT_FALSE(sieve.settles(load(0x20040)));  // page slot 0, line slot 1
    EXPECT_FALSE(sieve.settles(load(0x10000)));  // the line is settled, its page is not
}

TEST(Sieve, KeepsTheFirstStoreToALine) {
    Sieve sieve;
    EXPECT_FALSE(sieve.settles(load(0x10000)));
    EXPECT_FALSE(sieve.settles(store(0x10000)));
    EXPECT_TRUE(sieve.settles(store(0x10008)));
    EXPECT_TRUE(sieve.settles(load(0x10000)));
    EXPECT_FALSE(sieve.settles(load(0x12000)));  // slot 0, another page slot
    EXPECT_FALSE(sieve.settles(load(0x10000)));
    EXPECT_FALSE(sieve.settles(store(0x10000)));
    EXPECT_FALSE(sieve.settles(load(0x20040)));  // its page slot, not its line slot
    EXPECT_FALSE(sieve.settles(load(0x10000)));  // kept, a load
    EXPECT_FALSE(sieve.settles(store(0x10000)));
}

TEST(Sieve, NothingAfterTheFirstLineOfAStraddlingReferenceIsSettled) {
    Sieve sieve;
    EXPECT_FALSE(sieve.settles(load(0x10040)));
    EXPECT_FALSE(sieve.settles(load(0x1003c, 8)));
    EXPECT_TRUE(sieve.settles(load(0x10000)));
    EXPECT_FALSE(sieve.settles(load(0x10040)));
    EXPECT_FALSE(sieve.settles(load(0x10000, 65 * 64)));  // comes around to its own slot
    EXPECT_FALSE(sieve.settles(load(0x10000)));
}

/// In plain words: who was the last of the slot?
class PlainSieve {
public:
    bool settles(const Reference& reference) {
        const Address line = reference.address / 64, page = reference.address / 4096;
        const Address last = reference.address + reference.size - 1;
        const bool same_line = lines_[line % 64] == line, same_page = pages_[page % 16] == page;
        const bool stores = reference.kind == ReferenceKind::store;
        const bool settled = same_line && same_page && last / 64 == line && (!stores || stored_[line % 64]);
        if (!settled) stored_[line % 64] = stores;
        lines_[line % 64] = line, pages_[page % 16] = page;
        for (Address other = line + 1; other <= last / 64; ++other) lines_[other % 64].reset();
        for (Address other = page + 1; other <= last / 4096; ++other) pages_[other % 16].reset();
        return settled;
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

RC_GTEST_PROP(Sieve, DoesWhatPlainWordsSay, ()) {
    Sieve sieve;
    PlainSieve plain;
    for (const Reference& reference : some_references())
        RC_ASSERT(sieve.settles(reference) == plain.settles(reference));
}

RC_GTEST_PROP(SlotLines, GiveBackTheLinesOfAllReferences, ()) {
    Sieve sieve;
    SlotLines slots;
    std::vector<std::uint8_t> marks;
    std::vector<BlockEvent> kept, expected, expanded;
    const auto piece = *rc::gen::inRange<std::size_t>(1, 300);
    const auto check = [&] {
        slots.expand({marks, kept}, expanded);
        RC_ASSERT(expanded.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) RC_ASSERT(expanded[i].bits() == expected[i].bits());
        marks.clear(), kept.clear(), expected.clear();
    };
    for (const Reference& reference : some_references()) {
        const BlockEvent line(reference.address / 64 * 64, static_cast<EventKind>(reference.kind));
        const bool settled = sieve.settles(reference);
        if (Sieve::straddles(reference)) {
            check();
            slots.pass(line);
            continue;
        }
        const unsigned stores = reference.kind == ReferenceKind::store ? 0x80 : 0;
        marks.push_back(static_cast<std::uint8_t>(settled ? reference.address / 64 % 64 + stores : 0x40U));
        if (!settled) kept.push_back(line);
        expected.push_back(line);
        if (marks.size() == piece) check();
    }
    check();
}

}  // namespace
}  // namespace cachetally
