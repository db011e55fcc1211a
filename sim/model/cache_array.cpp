// The two ways to hold a set: in order of recency (lru, fifo), or in place with a policy's state beside it (the
// others).
#include "sim/model/cache_array.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "sim/model/indexing.hpp"
#include "sim/model/replacement.hpp"
#include "sim/model/set_scan.hpp"

namespace cachetally {
namespace {

/// Zeroed tags, aligned for whole-vector access and, where there are many, on huge pages: sets are visited at random.
class TagStore {
public:
    explicit TagStore(std::uint64_t count) {
        const std::size_t alignment = count * sizeof(Entry) >= huge ? huge : 64;
        const std::size_t bytes = divide_round_up(count * sizeof(Entry), alignment) * alignment;
        tags_.reset(static_cast<Entry*>(std::aligned_alloc(alignment, bytes)));
        if (!tags_) throw std::bad_alloc();
        if (alignment == huge) madvise(tags_.get(), bytes, MADV_HUGEPAGE);  // a hint: nothing depends on it
        std::memset(tags_.get(), 0, bytes);
    }
    Entry* operator+(std::uint64_t offset) const { return tags_.get() + offset; }

private:
    static constexpr std::size_t huge = std::size_t{2} << 20;
    struct Free {
        void operator()(Entry* tags) const { std::free(tags); }
    };
    std::unique_ptr<Entry[], Free> tags_;
};

constexpr unsigned groups_of(unsigned ways) { return (ways + scan_width - 1) / scan_width; }

/// Entries of a set in order of recency (lru) or insertion (fifo), latest first, invalid ones last. A set of up to
/// 4 * fixed_groups ways is handled by straight-line code; fixed_groups = 0 takes any number.
template <unsigned fixed_groups>
class OrderedArray final : public CacheArray {
public:
    explicit OrderedArray(const ArrayGeometry& geometry)
        : index_(geometry.indexing, geometry.sets, geometry.block),
          ways_(geometry.ways),
          groups_count_(groups_of(geometry.ways)),
          reorder_(geometry.replacement == Replacement::lru),
          tags_(geometry.sets * stride()) {}

    Entry access(Address where, Address line, Touch touch) override {
        Entry* set = set_at(where);
        const unsigned position = find_tag(set, groups(), line | entry_bit::valid);
        if (position >= stride()) return 0;
        const Entry found = set[position];
        const Entry changed = (found & ~touch.clear) | touch.set;
        if (touch.use && reorder_) {
            move_to_front(set, position, changed);
        } else if (changed != found) {
            set[position] = changed;
        }
        return found;
    }

    Entry insert(Address where, Address line, Entry state) override {
        Entry* set = set_at(where);
        const Entry victim = set[ways_ - 1];
        move_to_front(set, ways_ - 1, line | state | entry_bit::valid);
        return victim;
    }

    Entry make_room(Address where) override {
        Entry& last = set_at(where)[ways_ - 1];
        const Entry victim = last;
        last = 0;
        return victim;
    }

    Entry remove(Address where, Address line) override {
        Entry* set = set_at(where);
        const unsigned position = find_tag(set, groups(), line | entry_bit::valid);
        if (position >= stride()) return 0;
        const Entry removed = set[position];
        std::memmove(set + position, set + position + 1, (ways_ - 1 - position) * sizeof(Entry));
        set[ways_ - 1] = 0;
        return removed;
    }

    Entry find(Address where, Address line) const override {
        const Entry* set = set_at(where);
        const unsigned position = find_tag(set, groups(), line | entry_bit::valid);
        return position >= stride() ? 0 : set[position];
    }

private:
    unsigned groups() const { return fixed_groups != 0 ? fixed_groups : groups_count_; }
    unsigned stride() const { return groups() * scan_width; }
    Entry* set_at(Address where) const { return tags_ + index_.set_of(where) * stride(); }

    IndexingPolicy index_;
    unsigned ways_, groups_count_;
    bool reorder_;
    TagStore tags_;
};

/// Entries stay in their ways; the policy keeps its own state.
template <class Policy>
class PlacedArray final : public CacheArray {
public:
    explicit PlacedArray(const ArrayGeometry& geometry)
        : index_(geometry.indexing, geometry.sets, geometry.block),
          ways_(geometry.ways),
          groups_(groups_of(geometry.ways)),
          policy_(geometry.sets, geometry.ways, geometry.seed),
          tags_(geometry.sets * stride()) {}

    Entry access(Address where, Address line, Touch touch) override {
        const std::uint64_t set = index_.set_of(where);
        Entry* tags = tags_ + set * stride();
        const unsigned way = find_tag(tags, groups_, line | entry_bit::valid);
        if (way >= stride()) return 0;
        const Entry found = tags[way];
        tags[way] = (found & ~touch.clear) | touch.set;
        if (touch.use) policy_.used(set, way);
        return found;
    }

    Entry insert(Address where, Address line, Entry state) override {
        const std::uint64_t set = index_.set_of(where);
        Entry* tags = tags_ + set * stride();
        unsigned way = first_invalid(tags);
        if (way == ways_) way = policy_.victim(set);
        const Entry victim = tags[way];
        tags[way] = line | state | entry_bit::valid;
        policy_.inserted(set, way);
        return victim;
    }

    Entry make_room(Address where) override {
        const std::uint64_t set = index_.set_of(where);
        Entry* tags = tags_ + set * stride();
        if (first_invalid(tags) < ways_) return 0;
        const unsigned way = policy_.victim(set);
        const Entry victim = tags[way];
        tags[way] = 0;
        return victim;
    }

    Entry remove(Address where, Address line) override {
        Entry* tags = tags_ + index_.set_of(where) * stride();
        const unsigned way = find_tag(tags, groups_, line | entry_bit::valid);
        if (way >= stride()) return 0;
        const Entry removed = tags[way];
        tags[way] = 0;
        return removed;
    }

    Entry find(Address where, Address line) const override {
        const Entry* tags = tags_ + index_.set_of(where) * stride();
        const unsigned way = find_tag(tags, groups_, line | entry_bit::valid);
        return way >= stride() ? 0 : tags[way];
    }

private:
    unsigned stride() const { return groups_ * scan_width; }

    unsigned first_invalid(const Entry* tags) const {
        unsigned way = 0;
        while (way < ways_ && tags[way] != 0) ++way;
        return way;
    }

    IndexingPolicy index_;
    unsigned ways_, groups_;
    Policy policy_;
    TagStore tags_;
};

std::unique_ptr<CacheArray> make_ordered(const ArrayGeometry& geometry) {
    switch (groups_of(geometry.ways)) {
        case 1:
            return std::make_unique<OrderedArray<1>>(geometry);
        case 2:
            return std::make_unique<OrderedArray<2>>(geometry);
        case 3:
            return std::make_unique<OrderedArray<3>>(geometry);
        case 4:
            return std::make_unique<OrderedArray<4>>(geometry);
        default:
            return std::make_unique<OrderedArray<0>>(geometry);
    }
}

}  // namespace

std::unique_ptr<CacheArray> make_cache_array(const ArrayGeometry& geometry) {
    switch (geometry.replacement) {
        case Replacement::lru:
        case Replacement::fifo:
            return make_ordered(geometry);
        case Replacement::tree_plru:
            return std::make_unique<PlacedArray<TreePlru>>(geometry);
        case Replacement::bit_plru:
            return std::make_unique<PlacedArray<BitPlru>>(geometry);
        case Replacement::random:
            return std::make_unique<PlacedArray<RandomReplacement>>(geometry);
        case Replacement::nru:
            return std::make_unique<PlacedArray<Nru>>(geometry);
        case Replacement::srrip:
            return std::make_unique<PlacedArray<Srrip>>(geometry);
    }
    return nullptr;
}

}  // namespace cachetally
