// SPDX-License-Identifier: BSD-3-Clause
// CorePath without regard to time: the first cache by a loop of its own, all below it by posts.
#include <algorithm>

#include "sim/engine/poster.hpp"
#include "sim/model/background.hpp"
#include "sim/model/ordered_array.hpp"
#include "sim/model/stamp_array.hpp"

namespace cachetally {
namespace {

/// An array of which nothing more is known.
struct AnyLookup {
    CacheArray& array;
    bool use(std::uint64_t set, Address line, Entry state, Entry& found) {
        found = array.access(set, line, {true, static_cast<std::uint8_t>(state), 0});
        return found != 0;
    }
    Entry insert(std::uint64_t set, Address line, Entry state) { return array.insert(set, line, state); }
    void keep() const {}
    void reload() {}
};

/// One whose sets are in the order of use.
template <unsigned groups>
struct OrderedLookup : AnyLookup {
    OrderedArray<groups>& ordered;
    explicit OrderedLookup(OrderedArray<groups>& known) : AnyLookup{known}, ordered(known) {}
    auto in_order() const { return typename OrderedArray<groups>::Lookup(ordered); }
};

static_assert(StampArray<1>::Lookup::fewest_uses >= Stretch::most &&
              StampArray<2>::Lookup::fewest_uses >= Stretch::most);

struct AsIs {
    Translated translate(std::span<const BlockEvent> lines) const { return {lines.data(), lines.size()}; }
};

class ByPages {
public:
    explicit ByPages(const PageTable& pages) : pages_(pages) {}

    Translated translate(std::span<const BlockEvent> lines) {
        std::size_t count = 0;
        for (Address physical = 0; count < lines.size(); ++count) {
            if (!pages_.knows(lines[count].bits(), physical)) break;
            physical_[count] = lines[count].moved_by(physical - lines[count].bits());
        }
        return {physical_.data(), count};
    }

private:
    const PageTable& pages_;
    std::array<BlockEvent, Stretch::most> physical_;
};

/// By the first TLB, as far as it hits.
template <class Pages>
class ByTlb {
public:
    explicit ByTlb(Pages pages) : pages_(pages) {}

    Translated translate(std::span<const BlockEvent> lines) {
        return {physical_.data(), pages_.look_up(lines, physical_.data())};
    }

private:
    Pages pages_;
    std::array<BlockEvent, Stretch::most> physical_;
};

/// Pages of a TLB whose array's type is known: looked up only where it is not known where they are.
class KnownPages {
public:
    KnownPages(Tlb& tlb, StampArray<1>& array, PageTable& pages) : tlb_(tlb), pages_(pages), lookup_(array) {}

    /// A function of its own, so that all that the loop needs is in registers.
    [[gnu::noinline]] std::size_t look_up(std::span<const BlockEvent> lines, BlockEvent* physical) {
        const unsigned page_bits = tlb_.front_bits();
        Tlb::Place* const places = tlb_.all_places();
        lookup_.reload();
        StampArray<1>::Lookup lookup = lookup_;
        std::size_t i = 0;
        for (; i < lines.size(); ++i) {
            const Address number = lines[i].bits() >> page_bits;
            Tlb::Place& place = places[number % Tlb::places];
            if (place.number != number && !find(place, number, lines[i].bits())) [[unlikely]]
                break;
            lookup.use_at(place.place);
            physical[i] = lines[i].moved_by(place.offset);
        }
        lookup.keep();
        return i;
    }

private:
    [[gnu::noinline]] bool find(Tlb::Place& place, Address number, Address address) {
        const Tlb::Front front = tlb_.front();
        const std::uint32_t found = lookup_.place_of(front.set_of(address), front.page_of(address));
        if (found == StampArray<1>::Lookup::nowhere) return false;
        place = {number, pages_.translate(address) - address, found};
        return true;
    }

    Tlb& tlb_;
    PageTable& pages_;
    StampArray<1>::Lookup lookup_;
};

/// Pages of any TLB.
class AnyPages {
public:
    AnyPages(Tlb& tlb, PageTable& pages) : tlb_(tlb), pages_(pages) {}

    std::size_t look_up(std::span<const BlockEvent> lines, BlockEvent* physical) {
        const BlockEvent* const begin = physical;
        const Tlb::Front front = tlb_.front();
        for (const BlockEvent line : lines) {
            const Address address = line.bits();
            Tlb::LastPage& last = front.last(address);
            if (!front.changes_nothing(last, address)) {
                if (tlb_.array().access(front.set_of(address), front.page_of(address), {}) == 0) break;
                last = {front.number_of(address), pages_.translate(address) - address};
            }
            *physical++ = line.moved_by(last.offset);
        }
        return static_cast<std::size_t>(physical - begin);
    }

private:
    Tlb& tlb_;
    PageTable& pages_;
};

}  // namespace

Progress CorePath::run_posting(std::span<const Reference> references, std::span<const Stretch> stretches, Tick now,
                               Background* background) {
    const Work work{references, stretches, now};
    background_ = background;
    const SetOf<IndexingPolicy> any{cache_->indexing(), virtually_indexed_};
    CacheArray& array = cache_->array();
    if (cache_->indexing().is_field() && !virtually_indexed_) {
        const SetOf<IndexingPolicy::Field> field{cache_->indexing().field()};
        if (auto* known = dynamic_cast<StampArray<2>*>(&array))
            return post_translated(StampArray<2>::Lookup(*known), field, work);
        if (auto* known = dynamic_cast<OrderedArray<1>*>(&array); known != nullptr && known->replaces_in_order())
            return post_translated(OrderedLookup(*known), field, work);
        if (auto* known = dynamic_cast<OrderedArray<2>*>(&array); known != nullptr && known->replaces_in_order())
            return post_translated(OrderedLookup(*known), field, work);
    }
    return post_translated(AnyLookup{array}, any, work);
}

void CorePath::hand_over(Background* background) {
    if (background != nullptr) {
        background->deliver(cache_->below());
    } else {
        waited_ += cache_->below().deliver();
    }
}

template <class Lookup, class Sets>
Progress CorePath::post_translated(Lookup lookup, Sets set_of, const Work& work) {
    if (tlb_ != nullptr) {
        if (auto* known = dynamic_cast<StampArray<1>*>(&tlb_->array()))
            return post_by(lookup, set_of, ByTlb(KnownPages(*tlb_, *known, pages_)), work);
        return post_by(lookup, set_of, ByTlb(AnyPages(*tlb_, pages_)), work);
    }
    if (!pages_.identity()) return post_by(lookup, set_of, ByPages(pages_), work);
    return post_by(lookup, set_of, AsIs{}, work);
}

template <class Lookup, class Sets, class Translation>
Progress CorePath::post_by(Lookup lookup, Sets set_of, Translation translation, const Work& work) {
    Poster poster(*this, lookup, set_of, translation);
    return work.references.empty() ? Progress{0, poster.make_sieved(work.stretches, work.now)} : poster.make(work);
}

void CorePath::unsettle(unsigned slot, Entry front) {
    if (is_unsettled(slot)) return;
    settled_[slot] = front;
    unsettled_ |= std::uint64_t{1} << slot;
}

/// Of which listeners are told elsewhere.
Tick CorePath::access_kept(BlockEvent line, Tick now) {
    const Address address = line.block();
    const Cause cause{0, line.kind(), core_};
    if (tlb_ != nullptr) now = tlb_->translate(address, pages_.page_bits(address), cause, now);
    return cache_->request(pages_.translate(address), cause, now).time;
}

/// Afterwards the first line is settled, and the others' slots are empty; walks may have come into any set.
Tick CorePath::access_straddling(const Reference& reference, Tick now) {
    const Address first = align_down(reference.address, Sieve::line_bytes);
    const Address last = align_down(reference.address + (reference.size - 1U), Sieve::line_bytes);
    const BlockEvent line(first, event_kind(reference.kind));
    if (tlb_ == nullptr) {
        now = access_lines(reference, now);
        link_.follow_sieved(line.moved_by(pages_.translate(first) - first));
        return now;
    }
    const Entry* const front = cache_->front();
    std::array<Entry, Sieve::lines> before;
    std::copy_n(front, before.size(), before.begin());
    now = access_lines(reference, now);
    const Address physical = pages_.translate(first);
    settle_slot(Sieve::slot_of(first));
    before[Sieve::slot_of(first)] = physical | front_bit::all;
    for (Address i = 1; i <= (last - first) / Sieve::line_bytes && i < Sieve::lines; ++i) {
        const unsigned slot = Sieve::slot_of(first + i * Sieve::line_bytes);
        before[slot] = front[slot];
    }
    for (unsigned slot = 0; slot < Sieve::lines; ++slot)
        if (line_of(before[slot]) != line_of(front[slot])) unsettle(slot, before[slot]);
    if (tlb_link_ != nullptr) tlb_link_->follow_sieved(line);
    link_.follow_sieved(line.moved_by(physical - first));
    return now;
}

}  // namespace cachetally
