// SPDX-License-Identifier: BSD-3-Clause
// One set of a cache or TLB with its replacement policy, as docs/counting.md describes them.
#include "tests/differential/slow_set.hpp"
#include "sim/model/replacement/table.hpp"

#include <algorithm>
#include <stdexcept>

namespace cachetally::differential {

std::uint64_t splitmix64(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

std::uint64_t SlowRandom::draw(std::uint64_t choices) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    const std::uint64_t number = state_ * 2685821657736338717ULL;
    return ((number >> 32) * choices) >> 32;
}

SlowWay* SlowSet::find(Address block) {
    for (SlowWay& way : ways_) {
        if (way.valid && way.block == block) return &way;
    }
    return nullptr;
}

bool SlowSet::has_room() const {
    if (empty_way_ == EmptyWay::policy) return chosen_ != nullptr;
    return !std::all_of(ways_.begin(), ways_.end(), [](const SlowWay& way) { return way.valid; });
}

void SlowSet::mark(SlowWay& used) {
    used.mark = true;
    if (policy_ != replacements::bit_plru) return;
    if (!std::all_of(ways_.begin(), ways_.end(), [](const SlowWay& way) { return way.mark; })) return;
    for (SlowWay& way : ways_) way.mark = &way == &used;
}

void SlowSet::touch(SlowWay& way) {
    way.last_use = ++clock_;
    mark(way);
    point_tree_away_from(static_cast<unsigned>(&way - ways_.data()));
}

void SlowSet::use(SlowWay& way) {
    touch(way);
    way.distance = 0;
    constexpr int after_hit[] = {0, 0, 1, 1};
    way.age = after_hit[way.age];
    grow_older();
}

void SlowSet::grow_older() {
    while (std::none_of(ways_.begin(), ways_.end(), [](const SlowWay& way) { return way.age == 3; })) {
        for (SlowWay& way : ways_) ++way.age;
    }
}

int SlowSet::predicted_distance(SlowDuel& duel) const {
    if (policy_ != replacements::drrip) return 2;
    if (part_ == Part::srrip_leader && duel.selector < 1023) ++duel.selector;
    if (part_ == Part::brrip_leader && duel.selector > 0) --duel.selector;
    const bool by_srrip = part_ == Part::srrip_leader || (part_ == Part::follower && duel.selector < 512);
    if (by_srrip) return 2;
    return ++duel.brrip_insertions % 32 == 0 ? 2 : 3;
}

SlowWay& SlowSet::insert(Address block, SlowDuel& duel) {
    for (SlowWay& way : ways_) {
        if (way.valid || (empty_way_ == EmptyWay::policy && &way != chosen_)) continue;
        chosen_ = nullptr;
        way.valid = true;
        way.block = block;
        way.sectors.clear();
        touch(way);
        way.inserted = clock_;
        way.distance = predicted_distance(duel);
        way.age = 1;
        grow_older();
        return way;
    }
    throw std::logic_error("insertion into a full set");
}

unsigned SlowSet::tree_size() const {
    unsigned size = 1;
    while (size < ways_.size()) size *= 2;
    return size;
}

void SlowSet::point_tree_away_from(unsigned way) {
    unsigned first = 0;
    for (unsigned size = tree_size(); size > 1; size /= 2) {
        const bool in_right_half = way >= first + size / 2;
        tree_bit(first, size) = !in_right_half;
        if (in_right_half) first += size / 2;
    }
}

unsigned SlowSet::tree_victim() {
    unsigned first = 0;
    for (unsigned size = tree_size(); size > 1; size /= 2) {
        const bool right_half_exists = first + size / 2 < ways_.size();
        if (tree_bit(first, size) && right_half_exists) first += size / 2;
    }
    return first;
}

unsigned SlowSet::first_unmarked() const {
    unsigned way = 0;
    while (way < ways_.size() && ways_[way].mark) ++way;
    return way;
}

SlowWay& SlowSet::victim(SlowRandom& random) {
    SlowWay& way = policy_victim(random);
    chosen_ = &way;
    return way;
}

SlowWay& SlowSet::policy_victim(SlowRandom& random) {
    const auto oldest = [](auto member) {
        return [member](const SlowWay& a, const SlowWay& b) { return a.*member < b.*member; };
    };
    switch (static_cast<replacements::row::Number>(policy_)) {
        case replacements::row::lru: return *std::min_element(ways_.begin(), ways_.end(), oldest(&SlowWay::last_use));
        case replacements::row::fifo: return *std::min_element(ways_.begin(), ways_.end(), oldest(&SlowWay::inserted));
        case replacements::row::random: return ways_[random.draw(ways_.size())];
        case replacements::row::tree_plru: return ways_[tree_victim()];
        case replacements::row::bit_plru: return ways_[first_unmarked() % ways_.size()];
        case replacements::row::nru:
            if (first_unmarked() == ways_.size()) {
                for (SlowWay& way : ways_) way.mark = false;
            }
            return ways_[first_unmarked()];
        case replacements::row::srrip:
        case replacements::row::drrip:
            for (;;) {
                for (SlowWay& way : ways_) {
                    if (way.distance == 3) return way;
                }
                for (SlowWay& way : ways_) ++way.distance;
            }
        case replacements::row::qlru_h11_m1_r0_u0:
            for (SlowWay& way : ways_) {
                if (way.age == 3) return way;
            }
            break;
        default: break;
    }
    throw std::logic_error("the slow simulator does not know this replacement policy");
}

std::vector<SlowSet> slow_sets(std::uint64_t sets, unsigned ways, Replacement policy, EmptyWay empty_way) {
    std::vector<SlowSet> all(sets, SlowSet(ways, policy, empty_way));
    std::uint64_t region = sets / 32;
    if (region % 2 != 0) --region;
    if (region < 4) region = 4;
    for (std::uint64_t number = 0, first = 0; number < 32 && first + region <= sets; ++number, first += region) {
        all[first + number % region].take_part(SlowSet::Part::srrip_leader);
        all[first + region - 1 - number % region].take_part(SlowSet::Part::brrip_leader);
    }
    return all;
}

std::uint64_t slow_sliced_set(const CacheConfig& config, Address address, std::uint64_t sets) {
    static const std::vector<unsigned> bits[] = {
        {6, 10, 12, 14, 16, 17, 18, 20, 22, 24, 25, 26, 27, 28, 30, 32, 33, 35, 36},
        {7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 24, 26, 28, 29, 31, 33, 34, 35, 37},
        {8, 12, 13, 16, 19, 22, 23, 26, 27, 30, 31, 34, 35, 36, 37}};
    const std::uint64_t number = address / config.line, in_slice = sets / config.slices;
    std::uint64_t slice = 0;
    if (config.slices == 2 || config.slices == 4 || config.slices == 8) {
        for (unsigned i = 0; 1U << i < config.slices; ++i) {
            for (const unsigned bit : bits[i]) slice ^= (number * config.line >> bit & 1) << i;
        }
    } else {
        const std::uint64_t u = number / in_slice / config.slices, t = number / in_slice % config.slices,
                            s = number % in_slice;
        slice = splitmix64(u * in_slice + s) % config.slices + t;
        if (slice >= config.slices) slice -= config.slices;
    }
    return slice * in_slice + number % in_slice;
}

std::uint64_t slow_set_number(Indexing indexing, std::uint64_t number, std::uint64_t sets) {
    if (indexing == Indexing::modulo || sets == 1) return number % sets;
    std::uint64_t set = 0;
    for (; number != 0; number /= sets) set ^= number % sets;
    return set;
}

}  // namespace cachetally::differential
