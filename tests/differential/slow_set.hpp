// SPDX-License-Identifier: BSD-3-Clause
// One set of a cache or TLB with its replacement policy, written for being obvious: the model that judges the engine.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/types.hpp"

namespace cachetally::differential {

/// splitmix64 of one step (Steele et al. 2014).
std::uint64_t splitmix64(std::uint64_t value);

/// xorshift64* as docs/counting.md states it.
class SlowRandom {
public:
    explicit SlowRandom(std::uint64_t seed) : state_(splitmix64(seed)) {}
    std::uint64_t draw(std::uint64_t choices);

private:
    std::uint64_t state_;
};

/// Set dueling of a cache or TLB (drrip): what all its sets share.
struct SlowDuel {
    int selector = 511;  ///< PSEL
    int brrip_insertions = 0;
};

/// A part of a line that is fetched by itself; that of a cache without sectors is the line.
struct SlowSector {
    bool dirty = false, prefetched = false;
};

struct SlowWay {
    bool valid = false;
    Address block = 0;
    std::map<Address, SlowSector> sectors;  ///< of a cache: those that are here
    std::uint64_t last_use = 0, inserted = 0;
    bool mark = false;  ///< MRU bit (bit_plru) or reference bit (nru)
    int distance = 3;   ///< re-reference prediction value (srrip, drrip)
    int age = 3;        ///< quad-age LRU
};

class SlowSet {
public:
    SlowSet(unsigned ways, Replacement policy, EmptyWay empty_way = EmptyWay::lowest)
        : ways_(ways), policy_(policy), empty_way_(empty_way) {}

    /// The way that holds a block, or null.
    SlowWay* find(Address block);
    void use(SlowWay& way);

    /// Whether insert() knows a way: an invalid one, or, where the policy alone says which, what victim() has chosen.
    bool has_room() const;

    /// Chooses the way to be emptied, which the next insertion goes to if the policy alone says which.
    SlowWay& victim(SlowRandom& random);

    /// Puts a block into the lowest invalid way, or the one chosen. There must be room.
    SlowWay& insert(Address block, SlowDuel& duel);

    const std::vector<SlowWay>& ways() const { return ways_; }

    /// What part the set takes in set dueling.
    enum class Part { srrip_leader, brrip_leader, follower };
    void take_part(Part part) { part_ = part; }

private:
    int predicted_distance(SlowDuel& duel) const;
    unsigned tree_size() const;
    bool& tree_bit(unsigned first, unsigned size) { return tree_[{first, size}]; }
    SlowWay& policy_victim(SlowRandom& random);
    void touch(SlowWay& way);  ///< what a hit and an insertion have in common
    void grow_older();         ///< the ages of quad-age LRU
    void mark(SlowWay& way);
    void point_tree_away_from(unsigned way);
    unsigned tree_victim();
    unsigned first_unmarked() const;

    std::vector<SlowWay> ways_;
    Replacement policy_;
    EmptyWay empty_way_;
    Part part_ = Part::follower;
    SlowWay* chosen_ = nullptr;  ///< by victim(), for the next insertion
    std::uint64_t clock_ = 0;
    std::map<std::pair<unsigned, unsigned>, bool> tree_;  ///< by first way and number of ways below: points right?
};

/// All sets of a cache or TLB.
std::vector<SlowSet> slow_sets(std::uint64_t sets, unsigned ways, Replacement policy,
                               EmptyWay empty_way = EmptyWay::lowest);

/// The set of a sliced cache that the line at an address belongs to.
std::uint64_t slow_sliced_set(const CacheConfig& config, Address address, std::uint64_t sets);

/// The set that a block number belongs to.
std::uint64_t slow_set_number(Indexing indexing, std::uint64_t number, std::uint64_t sets);

}  // namespace cachetally::differential
