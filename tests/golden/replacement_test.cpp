// SPDX-License-Identifier: BSD-3-Clause
// Access this, expect that victim. All accesses are stores, so that each victim is seen as a write-back.
#include <gtest/gtest.h>

#include "sim/model/indexing/table.hpp"
#include "sim/model/replacement/table.hpp"
#include "sim/topology/names.hpp"
#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

std::string victims_of(Replacement policy, unsigned ways, std::string_view accesses) {
    CacheConfig config = cache("L1", "memory", ways);
    config.replacement = policy;
    return victims(config, accesses);
}

// The hit on A makes B the oldest use, then C.
TEST(Replacement, Lru) { EXPECT_EQ(victims_of(Replacement::lru, 4, "ABCDAEF"), "BC"); }

// The hit on A does not matter.
TEST(Replacement, Fifo) { EXPECT_EQ(victims_of(replacements::fifo, 4, "ABCDAEF"), "AB"); }

// Bits (root, left, right), 0 = left. After ABCD in ways 0-3: 0,0,0. A: 1,1,0. E: right half, way 2 = C; then 0,1,1.
// F: left half, way 1 = B; then 1,0,1. G: right half, way 3 = D.
TEST(Replacement, TreePlru) { EXPECT_EQ(victims_of(replacements::tree_plru, 4, "ABCDAEFG"), "CBD"); }

// Three ways in a tree of four. After ABC: root 0, left 0, right 1 (to way 3, which is not there). A: root 1, left 1.
// D: right half points to way 3, so way 2 = C; root 0. E: left half, way 1 = B; root 1. F: way 2 again = D.
TEST(Replacement, TreePlruOfThreeWays) { EXPECT_EQ(victims_of(replacements::tree_plru, 3, "ABCADEF"), "CBD"); }

// D is the last to set its bit, so that only D's stays. E: way 0 = A; bits 0, 3. B: bits 0, 1, 3. F: way 2 = C; all
// are set, so that only way 2 stays. G: way 0 = E.
TEST(Replacement, BitPlru) { EXPECT_EQ(victims_of(replacements::bit_plru, 4, "ABCDEBFG"), "ACE"); }

// All bits are set after ABCD. E: all cleared, way 0 = A; bit 0. F: way 1 = B. C: bit 2. G: way 3 = D. Now all are
// set again. H: all cleared, way 0 = E.
TEST(Replacement, Nru) { EXPECT_EQ(victims_of(replacements::nru, 4, "ABCDEFCGH"), "ABDE"); }

// Values after ABCDA: 0 2 2 2. E: 1 3 3 3, way 1 = B, inserted with 2: 1 2 3 3. F: C. G: D: 1 2 2 2. H: 2 3 3 3, way 1
// = E.
TEST(Replacement, Srrip) { EXPECT_EQ(victims_of(replacements::srrip, 4, "ABCDAEFGH"), "BCDE"); }

// Ages: ABCD leave 1 1 1 1, which grow to 3 3 3 3. A: 1, A: 0. E: way 1 = B, F: C, G: D: 0 1 1 1, grown to 2 3 3 3. H:
// way 1 = E: 2 1 3 3. A: 1. I: way 2 = F, J: way 3 = G: 1 1 1 1, grown to 3 3 3 3. K: way 0 = A.
TEST(Replacement, QlruH11M1R0U0) {
    EXPECT_EQ(victims_of(replacements::qlru_h11_m1_r0_u0, 4, "ABCDAAEFGHAIJK"), "BCDEFGA");
}

// Hits alone make all grow older: ABCD twice leave 3 3 3 3. AA: 0. E: B, F: C, G: D: 2 3 3 3. H: E.
TEST(Replacement, QlruGrowsOlderOnHits) {
    EXPECT_EQ(victims_of(replacements::qlru_h11_m1_r0_u0, 4, "ABCDABCDAAEFGH"), "BCDE");
}

std::string victims_by_drrip(std::string_view accesses) {
    CacheConfig config = cache("L1", "memory", 2, 4);
    config.replacement = replacements::drrip;
    return victims(config, accesses);
}

// Of four sets, 0 (A E I M Q) leads for SRRIP and 3 (D H L P T) for BRRIP. Values of DH are 3 3: L: D, 3 3; P: L; T: P.
// Of AE 2 2: I: 3 3, A; 2 3. M: E. Q: 2 2, 3 3, I.
TEST(Drrip, LeadersKeepToTheirPolicies) {
    EXPECT_EQ(victims_by_drrip("DHLPT"), "DLP");
    EXPECT_EQ(victims_by_drrip("AEIMQ"), "AEI");
}

// The counter is 511: set 1 (B F J N R) follows SRRIP; 512 after A: BRRIP; 511 after D. A hit on A does not count.
TEST(Drrip, OthersFollowTheCounter) {
    EXPECT_EQ(victims_by_drrip("BFJNR"), "BFJ");
    EXPECT_EQ(victims_by_drrip("ABFJNR"), "BJN");
    EXPECT_EQ(victims_by_drrip("ADBFJNR"), "BFJ");
    EXPECT_EQ(victims_by_drrip("ADABFJNR"), "BFJ");
}

void insert(Drrip& policy, std::uint64_t set, unsigned times) {
    for (unsigned i = 0; i < times; ++i) policy.inserted(set, 0);
}

/// In a set that is still as at first: the second of two ways is the victim only if its value is the larger.
bool inserts_by_srrip(Drrip policy, std::uint64_t set) {
    policy.inserted(set, 0);
    return policy.victim(set) == 1;
}

// Up from 511 to 1023, no further; 512 down: 511. Then down to 0, no further; 511 up: still SRRIP, one more: BRRIP.
// None of the insertions that are looked at is a 32nd one of BRRIP: they are the 513th and the 1513th.
TEST(Drrip, TheCounterStaysAtItsLimits) {
    Drrip policy(4, 2, 0);
    insert(policy, 0, 600);
    insert(policy, 3, 511);
    insert(policy, 3, 1);
    EXPECT_TRUE(inserts_by_srrip(policy, 1));
    insert(policy, 0, 1);
    EXPECT_FALSE(inserts_by_srrip(policy, 1));
    insert(policy, 3, 1000);
    insert(policy, 0, 511);
    EXPECT_TRUE(inserts_by_srrip(policy, 1));
    insert(policy, 0, 1);
    EXPECT_FALSE(inserts_by_srrip(policy, 1));
}

// Way 0 of set 3 has 3 after 31 insertions and is the victim; the 32nd gives it 2.
TEST(Drrip, BrripInsertsNearOnceIn32) {
    Drrip policy(4, 2, 0);
    for (unsigned i = 1; i <= 96; ++i) {
        policy.inserted(3, 0);
        EXPECT_EQ(policy.victim(3), i % 32 == 0 ? 1U : 0U) << i;
    }
}

/// Which sets lead, by what one insertion into each does: the counter's step, or a value of 3.
std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> leaders(std::uint64_t sets, std::uint64_t follower) {
    std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> found;
    for (std::uint64_t set = 0; set < sets; ++set) {
        Drrip policy(sets, 2, 0);
        if (!inserts_by_srrip(policy, set)) found.second.push_back(set);
        policy.inserted(set, 0);
        if (!inserts_by_srrip(policy, follower)) found.first.push_back(set);
    }
    return found;
}

// Qureshi et al. 2007: set 0 and each 33rd; set 31 and each 31st.
TEST(Drrip, LeadersOf1024SetsAreThoseOfQureshi) {
    const auto [srrip, brrip] = leaders(1024, 1);
    ASSERT_EQ(srrip.size(), 32U);
    ASSERT_EQ(brrip.size(), 32U);
    for (std::uint64_t i = 0; i < 32; ++i) {
        EXPECT_EQ(srrip[i], 33 * i);
        EXPECT_EQ(brrip[i], 31 * (i + 1));
    }
}

using Sets = std::vector<std::uint64_t>;

// 10 sets: regions 0-3 and 4-7; 3 sets: none. 200 sets: 32 regions of 6, so that 192 to 199 only follow.
TEST(Drrip, LeadersOfAnyNumberOfSets) {
    EXPECT_EQ(leaders(10, 1), std::pair(Sets({0, 5}), Sets({3, 6})));
    EXPECT_EQ(leaders(3, 1), std::pair(Sets(), Sets()));
    const auto [srrip, brrip] = leaders(200, 1);
    EXPECT_EQ(srrip.size(), 32U);
    EXPECT_EQ(srrip.back(), 6 * 31 + 1U);
    EXPECT_EQ(brrip.size(), 32U);
    EXPECT_EQ(brrip.back(), 6 * 31 + 4U);
}

// Draws of 4 with seed 1: 1 3 1 0 (worked out with an independent program). Way 1 = B, 3 = D, 1 = E, 0 = A.
TEST(Replacement, Random) { EXPECT_EQ(victims_of(replacements::random, 4, "ABCDEFGH"), "BDEA"); }

std::string victims_by_policy(Replacement policy, unsigned ways, std::string_view accesses) {
    CacheConfig config = cache("L1", "memory", ways);
    config.replacement = policy;
    config.empty_way = EmptyWay::policy;
    return victims(config, accesses);
}

// Bits (root, left, right). A: way 0; 1,1,0. B: way 2; 0,1,1. C: way 1; 1,0,1. D: way 3; 0,0,0. A: 1,1,0. E: way 2 = B;
// 0,1,1. F: way 1 = C; 1,0,1. G: way 3 = D.
TEST(EmptyWay, TreePlruPointsToTheNextOne) {
    EXPECT_EQ(victims_by_policy(replacements::tree_plru, 4, "ABCDAEFG"), "BCD");
}

// A, B, C in ways 0, 2, 1; 1,0,1. B: 0,0,1. D: way 0 = A, though way 3 is empty.
TEST(EmptyWay, TreePlruMayPointToALine) {
    EXPECT_EQ(victims_by_policy(replacements::tree_plru, 4, "ABCBD"), "A");
    EXPECT_EQ(victims_of(replacements::tree_plru, 4, "ABCBD"), "");
}

// The draws below: A in way 1, B in way 3, C in way 1 = A, D in way 0.
TEST(EmptyWay, RandomDrawsAmongAllWays) { EXPECT_EQ(victims_by_policy(replacements::random, 4, "ABCD"), "A"); }

// All values are 3 at first: A in way 0, then the lowest that is still 3.
TEST(EmptyWay, SrripFillsTheLowestFirst) { EXPECT_EQ(victims_by_policy(replacements::srrip, 4, "ABCDAEFGH"), "BCDE"); }

// The same: the lowest that is still 3.
TEST(EmptyWay, QlruFillsTheLowestFirst) {
    EXPECT_EQ(victims_by_policy(replacements::qlru_h11_m1_r0_u0, 4, "ABCDAAEFGHAIJK"), "BCDEFGA");
}

TEST(Replacement, OneWayOfAnyPolicy) {
    for (std::size_t policy = 0; policy < names_of<Replacement>().size(); ++policy) {
        EXPECT_EQ(victims_of(static_cast<Replacement>(policy), 1, "ABBAC"), "ABA") << policy;
    }
}

// The second store to A is a use by default, so that B leaves; without it A does.
TEST(Replacement, StoreHitsMayNotRefresh) {
    CacheConfig config = cache("L1", "memory", 2);
    EXPECT_EQ(victims(config, "ABAC"), "B");
    config.store_hit_refreshes = false;
    EXPECT_EQ(victims(config, "ABAC"), "A");
}

// Line 6 = 01 10 in fields of two bits: set 01 ^ 10 = 3, where line 3 goes too. By modulo 6 meets 2.
TEST(Indexing, XorHashFoldsTheLineNumber) {
    CacheConfig config = cache("L1", "memory", 1, 4);
    EXPECT_EQ(victims(config, "GCD"), "G");  // lines 6, 2, 3: line 2 pushes 6 out
    EXPECT_EQ(victims(config, "GD"), "");
    config.indexing = indexings::xor_hash;
    EXPECT_EQ(victims(config, "GC"), "");
    EXPECT_EQ(victims(config, "GD"), "G");
}

// Two slices of two sets. Of address bits 6 and 10 each turns the slice, bits 7 and 8 do not: C (bit 7) meets A; Q
// (line 16, bit 10) is in the other slice; R (17, both bits) is in the first again, but in its odd set, alone; B and D
// meet.
TEST(Indexing, SlicedByParitiesOfAddressBits) {
    CacheConfig config = cache("L1", "memory", 1, 4);
    config.indexing = indexings::sliced;
    config.slices = 2;
    EXPECT_EQ(victims(config, "AC"), "A");
    EXPECT_EQ(victims(config, "ABQR"), "");
    EXPECT_EQ(victims(config, "ABQRD"), "B");
}

// Eight slices of one set: bits 6, 7 and 8 number them. Bit 12 turns slices by 1 and 4 = to slice 5, bit 13 by 2 and 4
// = to 6, bit 17 by 1 and 2 = to 3.
TEST(Indexing, SlicedInEight) {
    CacheConfig config = cache("L1", "memory", 1, 8);
    config.indexing = indexings::sliced;
    config.slices = 8;
    EXPECT_EQ(victims(config, "ABCDEFGH"), "");
    const auto evicted = [&](const char* last) {
        const Result result = play(machine({config}), std::string("S0 S40 S80 Sc0 S100 S140 S180 S1c0 ") + last);
        return letters(result, "L1-memory", "write_back");
    };
    EXPECT_EQ(evicted("S1000"), "F");
    EXPECT_EQ(evicted("S2000"), "G");
    EXPECT_EQ(evicted("S20000"), "D");
    EXPECT_EQ(evicted("S23000"), "A");
}

// Three slices of one set. splitmix64(0) = 0xe220a8397b1dcdaf is 1 modulo 3: lines 0, 1, 2 go to slices 1, 2, 0.
// splitmix64(1) = 0x910a2dec89025cc1 is 2: lines 3, 4, 5 go to 2, 0, 1.
TEST(Indexing, SlicedInThree) {
    CacheConfig config = cache("L1", "memory", 1, 3);
    config.indexing = indexings::sliced;
    config.slices = 3;
    EXPECT_EQ(victims(config, "ABC"), "");
    EXPECT_EQ(victims(config, "ABCDEF"), "BCA");
}

// 0, 3 and 6 share a set of three; 1 and 2 have their own.
TEST(Indexing, ModuloTakesAnyNumberOfSets) {
    EXPECT_EQ(victims(cache("L1", "memory", 1, 3), "ABCD"), "A");
    EXPECT_EQ(victims(cache("L1", "memory", 1, 3), "ABCDG"), "AD");
}

}  // namespace
}  // namespace cachetally::golden
