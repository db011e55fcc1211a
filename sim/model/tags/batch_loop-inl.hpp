// SPDX-License-Identifier: BSD-3-Clause
// A batch of requests of a cache that hits, misses and writes back in the plain way: many at a time, in a loop that
// knows the type of its array. The other way is Cache::request(), one by one. Compiled once per instruction set.
#if defined(CACHETALLY_BATCH_LOOP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CACHETALLY_BATCH_LOOP_INL
#undef CACHETALLY_BATCH_LOOP_INL
#else
#define CACHETALLY_BATCH_LOOP_INL
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "sim/model/cache_array.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

/// How far the tags of an array are from a host's processor, and so the references of a program from the array.
enum class Distance : std::uint8_t {
    near,    ///< next to the core: most requests hit
    middle,  ///< whether they hit cannot be predicted
    far,     ///< and the tags are to be fetched ahead
};

/// Uses or inserts the lines of a batch by `tags`, writes what goes down, and returns its end. What may go down is
/// written whether it does or not, and then perhaps overwritten: a branch would cost more.
template <Distance distance, bool placed, class Tags>
BlockEvent* handle_plainly(Tags tags, const ArrayBatch& batch, BatchCounts& counts) {
    constexpr unsigned ahead = 10;
    constexpr auto write_back = static_cast<Address>(EventKind::write_back);
    constexpr auto store = static_cast<Address>(EventKind::store);
    const Address traffic = batch.write_back_traffic ? 1 : 0, line_mask = batch.line_mask;
    const BlockEvent* const begin = batch.requests.data();
    const std::size_t size = batch.requests.size();
    BlockEvent* out = batch.out;
    [[maybe_unused]] std::uint16_t* out_position = batch.out_positions;
    KindLanes requests, misses;
    std::uint64_t first_fills = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (distance == Distance::far) tags.expect(begin[std::min(i + ahead, size - 1)].bits() & line_mask);
        const Address bits = begin[i].bits(), line = bits & line_mask, kind = bits & (BlockEvent::alignment - 1);
        requests.add(kind, 1);
        static_assert(store == 1 && write_back == 6 && entry_bit::dirty == 2);
        const Entry dirties = std::uint64_t{0x84} >> kind & entry_bit::dirty;
        const auto [miss, old] = tags.replace(line, dirties);
        if (distance == Distance::near && miss == 0) continue;
        misses.add(kind, miss);
        static_assert(EventKind::load == EventKind{0});
        *out = BlockEvent(line, static_cast<EventKind>(kind ^ Address{kind == store}));  // lines for stores are loaded
        if constexpr (placed) *out_position = batch.positions[i];
        const Address asked = miss & Address{kind != write_back};
        out += asked;
        const Address dirty = miss & traffic & (old / entry_bit::dirty);
        *out = BlockEvent(tags.line_of_old(old, line), EventKind::write_back);
        out += dirty;
        if constexpr (placed) {
            out_position += asked;
            *out_position = batch.positions[i];
            out_position += dirty;
        }
        if ((old & entry_bit::valid) == 0) [[unlikely]]
            ++first_fills;
    }
    tags.keep();
    counts = {requests, misses, first_fills};
    return out;
}

/// The same, where it is known at run time alone whether positions are asked for.
template <Distance distance, class Tags>
BlockEvent* handle_at(Tags tags, const ArrayBatch& batch, BatchCounts& counts) {
    return batch.positions == nullptr ? handle_plainly<distance, false>(tags, batch, counts)
                                      : handle_plainly<distance, true>(tags, batch, counts);
}

/// CacheArray::replace_all() by tags of a known type.
template <class Tags>
std::size_t replace_each(Tags tags, std::span<const BlockEvent> accesses, Address line_mask, std::uint16_t* missing) {
    std::uint16_t* out = missing;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        *out = static_cast<std::uint16_t>(i);
        out += tags.replace(accesses[i].bits() & line_mask, 0).miss;
    }
    tags.keep();
    return static_cast<std::size_t>(out - missing);
}

/// Any array as a batch loop sees it, by its own members.
template <class Array>
class ArrayTags {
public:
    ArrayTags(Array& array, const IndexingPolicy& index) : array_(array), index_(index) {}

    void expect(Address) const {}
    void keep() const {}
    ReplaceResult replace(Address line, Entry state) {
        const Touch touch{.use = true, .set = static_cast<std::uint8_t>(state)};
        return array_.replace(index_.set_of(line), line, touch, state);
    }
    Address line_of_old(Entry old, Address) const { return line_of(old); }

private:
    Array& array_;
    const IndexingPolicy& index_;
};

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
