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
#include <array>
#include <bit>
#include <cstring>

#include "sim/model/tags/cache_array.hpp"
#include "sim/model/tags/set_ops-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cachetally::HWY_NAMESPACE {

/// The bits that any of the addresses of accesses has.
inline Address bits_of_all(std::span<const BlockEvent> accesses) {
    const hn::ScalableTag<Address> tag;
    const auto* const begin = reinterpret_cast<const Address*>(accesses.data());
    auto bits = hn::Zero(tag);
    std::size_t i = 0;
    for (; i + hn::Lanes(tag) <= accesses.size(); i += hn::Lanes(tag)) bits = hn::Or(bits, hn::LoadU(tag, begin + i));
    alignas(64) std::array<Address, hn::MaxLanes(tag)> lanes;  // NOLINT: filled by the next line
    hn::Store(bits, tag, lanes.data());
    Address all = 0;
    for (const Address lane : lanes) all |= lane;
    for (; i < accesses.size(); ++i) all |= begin[i];
    return all;
}

/// What stands for the old entry where the line was there: a state that no entry has.
inline constexpr Entry was_there = entry_bit::dirty;  // and not valid

/// How an array's words become victims' addresses: shifted, and or-ed with bits of the request's address.
struct VictimFormat {
    int shift = 0;
    Address shared = 0;
};

/// The state bits that a request adds: stores and write-backs make lines dirty.
HWY_INLINE Entry dirties_of(Address request) {
    static_assert(entry_bit::dirty == 2 && EventKind::store == EventKind{1} && EventKind::write_back == EventKind{6});
    return std::uint64_t{0x84} >> (request & (BlockEvent::alignment - 1)) & entry_bit::dirty;
}

#if HWY_TARGET != HWY_SCALAR
/// Moves the lanes of a vector that are wanted to its front.
class Packing {
public:
    using Tag = hn::ScalableTag<std::uint64_t>;
    static constexpr std::size_t lanes = hn::MaxLanes(Tag());

    /// hn::Compress() of this version of Highway copies its tables to the stack first.
    explicit Packing(hn::Mask<Tag> wanted) {
        std::uint64_t bits = 0;
        hn::StoreMaskBits(Tag(), wanted, reinterpret_cast<std::uint8_t*>(&bits));
        order_ = hn::Shr(hn::Set(Tag(), packing[bits]), hn::Load(Tag(), digit_shifts.data()));
        count_ = static_cast<std::size_t>(std::popcount(bits));
    }
    std::size_t count() const { return count_; }

    /// Writes a whole vector, whose first count() lanes have a meaning.
    template <class Vector>
    HWY_INLINE void store(Vector values, void* target) const {
        const auto order = hn::IndicesFromVec(Tag(), hn::And(order_, hn::Set(Tag(), lanes - 1)));
        hn::StoreU(hn::TableLookupLanes(values, order), Tag(), static_cast<std::uint64_t*>(target));
    }

private:
    /// By the bits of the lanes that are wanted: where each lane comes from, as hexadecimal digits.
    static constexpr auto packing = [] {
        std::array<std::uint64_t, std::size_t{1} << lanes> made{};
        for (std::uint64_t wanted = 0; wanted < made.size(); ++wanted)
            for (std::uint64_t lane = 0, to = 0; lane < lanes; ++lane)
                if ((wanted >> lane & 1) != 0) made[wanted] |= lane << 4 * to++;
        return made;
    }();
    alignas(64) static constexpr auto digit_shifts = [] {
        std::array<std::uint64_t, lanes> made{};
        for (std::size_t lane = 0; lane < lanes; ++lane) made[lane] = 4 * lane;
        return made;
    }();

    hn::Vec<Tag> order_;
    std::size_t count_;
};

/// A batch in which a request that repeats the line of the one before it is merged with that one: it hits, and changes
/// nothing but that the line may become dirty. For policies to which a repeated use is none.
class MergedRequests {
public:
    /// Whether so many requests repeat lines that merging pays.
    static bool pays(const ArrayBatch& batch) {
        const Tag tag;
        const auto* const begin = reinterpret_cast<const Address*>(batch.requests.data());
        std::size_t repeats = 0;
        for (std::size_t i = 0; i + lanes < batch.requests.size(); i += lanes)
            repeats +=
                hn::CountTrue(tag, same(hn::LoadU(tag, begin + i), hn::LoadU(tag, begin + i + 1), batch.line_mask));
        return repeats != 0 && repeats * 4 >= batch.requests.size();
    }

    /// Of three requests to a line, two are merged.
    explicit MergedRequests(const ArrayBatch& batch) {
        const Tag tag;
        const std::size_t size = batch.requests.size();
        alignas(64) std::array<Address, 2 + KindLanes::most + 1 + lanes> all;  // NOLINT: filled by the next lines
        std::memcpy(all.data() + 2, batch.requests.data(), size * sizeof(Address));
        all[1] = ~all[2];
        all[0] = all[2];
        for (std::size_t i = size + 2; i <= size + 2 + lanes; ++i) all[i] = ~all[size + 1];
        const auto one = hn::Set(tag, 1);
        auto repeats = hn::Zero(tag);
        for (std::size_t i = 0; i < size; i += lanes) {
            const Address* const at = all.data() + 2 + i;
            const auto previous = hn::LoadU(tag, at - 1), bits = hn::LoadU(tag, at), next = hn::LoadU(tag, at + 1);
            const auto again = same(bits, previous, batch.line_mask);
            const auto merged = hn::AndNot(same(previous, hn::LoadU(tag, at - 2), batch.line_mask), again);
            const auto takes_next = hn::AndNot(again, same(next, bits, batch.line_mask));
            const auto kind = hn::And(bits, hn::Set(tag, BlockEvent::alignment - 1));
            const auto in_batch = hn::FirstN(tag, size - i);
            repeats =
                hn::Add(repeats, hn::IfThenElseZero(hn::And(merged, in_batch), hn::Shl(one, hn::ShiftLeft<3>(kind))));
            const Packing packing(hn::AndNot(merged, in_batch));
            packing.store(bits, requests_.data() + size_);
            packing.store(hn::Or(dirties_of(bits), hn::IfThenElseZero(takes_next, dirties_of(next))),
                          dirties_.data() + size_);
            size_ += packing.count();
        }
        repeats_ = KindLanes(hn::GetLane(hn::SumOfLanes(tag, repeats)));
    }

    std::span<const BlockEvent> requests() const { return {requests_.data(), size_}; }
    const Entry* dirties() const { return dirties_.data(); }
    KindLanes repeats() const { return repeats_; }

private:
    using Tag = Packing::Tag;
    using Vector = hn::Vec<Tag>;
    static constexpr std::size_t lanes = Packing::lanes;

    static HWY_INLINE hn::Mask<Tag> same(Vector a, Vector b, Address line_mask) {
        return hn::Eq(hn::And(hn::Xor(a, b), hn::Set(Tag(), line_mask)), hn::Zero(Tag()));
    }
    static HWY_INLINE Vector dirties_of(Vector requests) {
        const Tag tag;
        const auto kind = hn::And(requests, hn::Set(tag, BlockEvent::alignment - 1));
        const auto writes = hn::Or(hn::Eq(kind, hn::Set(tag, static_cast<Address>(EventKind::store))),
                                   hn::Eq(kind, hn::Set(tag, static_cast<Address>(EventKind::write_back))));
        return hn::IfThenElseZero(writes, hn::Set(tag, entry_bit::dirty));
    }

    std::array<BlockEvent, KindLanes::most + lanes> requests_;  // NOLINT: filled by the constructor
    std::array<Entry, KindLanes::most + lanes> dirties_;        // NOLINT
    std::size_t size_ = 0;
    KindLanes repeats_;
};
#endif

/// Uses or inserts the lines of a batch by `tags`; writes the old entries, as they stand in the array, or was_there.
/// `ahead`: how many requests ahead tags are fetched into the host's caches; 0 if they are there. `dirties`: by
/// request.
template <unsigned ahead, class Tags, class Dirties>
HWY_INLINE void replace_lines(Tags& tags, std::span<const BlockEvent> requests, Entry* HWY_RESTRICT old,
                              Dirties dirties) {
    const BlockEvent* const begin = requests.data();
    const std::size_t size = requests.size();
    for (std::size_t i = 0; i < size; ++i) {
        if constexpr (ahead != 0) tags.expect(begin[std::min(i + ahead, size - 1)].bits());
        const Address bits = begin[i].bits();
        const auto [miss, entry] = tags.replace(bits, dirties(i, bits));
        old[i] = choose(miss != 0, entry, was_there);
    }
    tags.keep();
}

/// The requests that misses send down, in order: one for the line, unless it was written back, then one for its victim,
/// if that is dirty.
class Sender {
public:
    Sender(const ArrayBatch& batch, const Entry* old, VictimFormat format)
        : batch_(batch), old_(old), format_(format), dirty_(batch.write_back_traffic ? dirty_miss : never) {}

    BlockEvent* send(BatchCounts& counts) {
        const std::size_t size = batch_.requests.size();
        if (batch_.positions != nullptr) {
            send_each<true>(0, size);
        } else {
            send_each<false>(send_vectors(size), size);
        }
        counts = {requests_, misses_, first_fills_};
        return out_;
    }

private:
    using Tag = hn::ScalableTag<std::uint64_t>;
    static constexpr std::size_t lanes = hn::MaxLanes(Tag());
    static constexpr Address kinds = BlockEvent::alignment - 1;
    static constexpr auto write_back = static_cast<Address>(EventKind::write_back);
    static constexpr auto store = static_cast<Address>(EventKind::store);
    static_assert(EventKind::load == EventKind{0});
    static constexpr Entry states = entry_bit::valid | entry_bit::dirty, dirty_miss = states, never = 4;

    /// What goes down is written whether it does or not, and then perhaps overwritten: a branch would cost more.
    template <bool placed>
    HWY_INLINE void send_each(std::size_t from, std::size_t to) {
        const BlockEvent* const begin = batch_.requests.data();
        BlockEvent* out = out_;
        [[maybe_unused]] std::uint16_t* out_position = batch_.out_positions;
        for (std::size_t i = from; i < to; ++i) {
            const Address bits = begin[i].bits(), kind = bits & kinds;
            const Entry old = old_[i], state = old & states;
            requests_.add(kind, 1);
            if (state == was_there) continue;
            misses_.add(kind, 1);
            first_fills_ += Address{state == 0};
            const Address asked{kind != write_back}, dirty{state == dirty_};
            // Lines for stores are loaded.
            *out = BlockEvent(bits & batch_.line_mask, static_cast<EventKind>(kind ^ Address{kind == store}));
            if constexpr (placed) *out_position = batch_.positions[i];
            out += asked;
            const Address victim = (old & ~entry_bit::all) << format_.shift | (bits & format_.shared);
            *out = BlockEvent(victim, EventKind::write_back);
            out += dirty;
            if constexpr (placed) {
                out_position += asked;
                *out_position = batch_.positions[i];
                out_position += dirty;
            }
        }
        out_ = out;
    }

#if HWY_TARGET == HWY_SCALAR
    std::size_t send_vectors(std::size_t) { return 0; }
#else
    /// Whole vectors of requests; returns how many requests these are.
    std::size_t send_vectors(std::size_t size) {
        const Tag tag;
        const auto* const begin = reinterpret_cast<const std::uint64_t*>(batch_.requests.data());
        // Lanes 0, 2, 4 ... hold the first half of the requests and 1, 3, 5 ... the others, since each two lanes are
        // interleaved by themselves.
        const auto order = hn::SetTableIndices(tag, spread.data());
        const auto one = hn::Set(tag, 1), kind_bits = hn::Set(tag, kinds);
        const auto nothing = hn::Set(tag, store);  // is never sent
        auto requests = hn::Zero(tag), misses = hn::Zero(tag);
        std::size_t i = 0;
        for (; i + lanes <= size; i += lanes) {
            const auto bits = hn::TableLookupLanes(hn::LoadU(tag, begin + i), order);
            const auto old = hn::TableLookupLanes(hn::LoadU(tag, old_ + i), order);
            const auto kind = hn::And(bits, kind_bits), state = hn::And(old, hn::Set(tag, states));
            const auto lane_of_kind = hn::Shl(one, hn::ShiftLeft<3>(kind));
            const auto hit = hn::Eq(state, hn::Set(tag, was_there));
            requests = hn::Add(requests, lane_of_kind);
            if (hn::AllTrue(tag, hit)) continue;
            misses = hn::Add(misses, hn::IfThenZeroElse(hit, lane_of_kind));
            first_fills_ += hn::CountTrue(tag, hn::Eq(state, hn::Zero(tag)));
            const auto line =
                hn::Or(hn::And(bits, hn::Set(tag, batch_.line_mask)), hn::IfThenZeroElse(hn::Eq(kind, nothing), kind));
            const auto unasked = hn::Or(hit, hn::Eq(kind, hn::Set(tag, write_back)));
            const auto victim = hn::Or(hn::ShiftLeftSame(hn::AndNot(hn::Set(tag, entry_bit::all), old), format_.shift),
                                       hn::And(bits, hn::Set(tag, format_.shared)));
            const auto clean = hn::Ne(state, hn::Set(tag, dirty_));
            const auto first = hn::IfThenElse(unasked, nothing, line);
            const auto second = hn::IfThenElse(clean, nothing, hn::Or(victim, hn::Set(tag, write_back)));
            put(hn::InterleaveLower(tag, first, second), nothing);
            put(hn::InterleaveUpper(tag, first, second), nothing);
        }
        requests_ = KindLanes(hn::GetLane(hn::SumOfLanes(tag, requests)));
        misses_ = KindLanes(hn::GetLane(hn::SumOfLanes(tag, misses)));
        return i;
    }

    template <class Vector>
    HWY_INLINE void put(Vector events, Vector nothing) {
        const Packing packing(hn::Ne(events, nothing));
        packing.store(events, out_);
        out_ += packing.count();
    }

    alignas(64) static constexpr auto spread = [] {
        std::array<std::uint64_t, lanes> made{};
        for (std::size_t lane = 0; lane < lanes; ++lane) made[lane] = lane / 2 + (lane % 2) * (lanes / 2);
        return made;
    }();
#endif

    const ArrayBatch& batch_;
    const Entry* old_;
    VictimFormat format_;
    Entry dirty_;  ///< the state of a victim that is written back
    BlockEvent* out_ = batch_.out;
    KindLanes requests_, misses_;
    std::uint64_t first_fills_ = 0;
};

/// CacheArray::handle() by tags of a known type. `merges`: a repeated use is none.
template <unsigned ahead, bool merges = false, class Tags>
BlockEvent* handle_by(Tags tags, const ArrayBatch& batch, BatchCounts& counts) {
    alignas(64) std::array<Entry, KindLanes::most> old;  // NOLINT: filled by the next line
    const VictimFormat format = tags.victim_format(batch.line_mask);
#if HWY_TARGET != HWY_SCALAR
    if (merges && batch.positions == nullptr && MergedRequests::pays(batch)) {
        const MergedRequests merged(batch);
        replace_lines<ahead>(tags, merged.requests(), old.data(),
                             [&](std::size_t i, Address) { return merged.dirties()[i]; });
        ArrayBatch rest = batch;
        rest.requests = merged.requests();
        BlockEvent* const end = Sender(rest, old.data(), format).send(counts);
        counts.requests.add(merged.repeats());
        return end;
    }
#endif
    replace_lines<ahead>(tags, batch.requests, old.data(), [](std::size_t, Address bits) { return dirties_of(bits); });
    return Sender(batch, old.data(), format).send(counts);
}

/// CacheArray::replace_all() by tags of a known type.
template <class Tags>
std::size_t replace_each(Tags tags, std::span<const BlockEvent> accesses, std::uint16_t* missing) {
    std::uint16_t* out = missing;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        *out = static_cast<std::uint16_t>(i);
        out += tags.replace(accesses[i].bits(), 0).miss;
    }
    tags.keep();
    return static_cast<std::size_t>(out - missing);
}

/// CacheArray::holds_any() by an array of a known type.
template <class Array>
bool holds_one_of(const Array& array, std::span<const Address> lines, Address offset, const IndexingPolicy& index) {
    Entry found = 0;
    for (const Address line : lines) found |= array.Array::find(index.set_of(line + offset), line + offset);
    return found != 0;
}

/// Any array as a batch loop sees it, by its own members.
template <class Array>
class ArrayTags {
public:
    ArrayTags(Array& array, const IndexingPolicy& index, Address line_mask)
        : array_(array), index_(index), line_mask_(line_mask) {}

    void keep() const {}
    ReplaceResult replace(Address address, Entry state) {
        const Address line = address & line_mask_;
        const Touch touch{.use = true, .set = static_cast<std::uint8_t>(state)};
        return array_.replace(index_.set_of(line), line, touch, state);
    }
    VictimFormat victim_format(Address) const { return {}; }

private:
    Array& array_;
    const IndexingPolicy& index_;
    Address line_mask_;
};

}  // namespace cachetally::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
