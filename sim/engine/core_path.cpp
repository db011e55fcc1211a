// SPDX-License-Identifier: BSD-3-Clause
#include "sim/engine/core_path.hpp"

#include "sim/engine/core_path_parts.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t line_without_cache = 64;

}  // namespace

CorePath::CorePath(unsigned core, RequestPort& link, Tlb* tlb, RequestPort* tlb_link, PageTable& pages)
    : link_(link),
      tlb_(tlb),
      tlb_link_(tlb_link),
      pages_(pages),
      cache_(link.cache()),
      line_bytes_(cache_ != nullptr ? cache_->transfer_bytes() : line_without_cache),
      core_(static_cast<std::uint8_t>(core)) {
    if (cache_ == nullptr) return;
    quick_latency_ = cache_->latency() + (tlb_ != nullptr ? tlb_->latency() : 0);
    virtually_indexed_ = cache_->config().virtually_indexed;
    quick_ = tlb_ == nullptr || tlb_->has_front();
}

void CorePath::take(ReferenceKind kind) {
    const unsigned bit = 1U << static_cast<unsigned>(kind);
    kinds_ |= bit;
    if (cache_ != nullptr && cache_->hits_are_plain(kind)) plain_kinds_ |= bit;
}

void CorePath::prepare(std::uint32_t block_bytes, bool timed) {
    const bool watched = link_.kinds() != 0 || (tlb_link_ != nullptr && tlb_link_->kinds() != 0);
    const bool merges =
        link_.merges(block_bytes, timed) && (tlb_link_ == nullptr || tlb_link_->merges(block_bytes, timed));
    watch_ = !watched ? Watch::nobody : merges ? Watch::merged : Watch::each;
}

namespace {

/// What is constant in the loop over references, to be kept in registers.
template <class Translation, class Sets>
struct QuickTest {
    Translation translation;
    Sets set_of;
    const Address* mru;
    Address line_mask;
    unsigned plain_kinds;

    /// Where a reference lies, as far as it could be found without changing anything.
    struct Place {
        Address physical = 0;
        std::uint64_t set = 0;
        bool known = false;  ///< of a kind whose hits are plain, within one line, and translated
    };

    /// True where nothing but counts and time comes of the reference.
    bool changes_nothing(const Reference& reference, Place& place) const {
        const Address address = reference.address;
        place.known = (address & line_mask) + reference.size <= line_mask + 1 &&
                      (plain_kinds >> static_cast<unsigned>(reference.kind) & 1U) != 0 &&
                      translation(address, place.physical);
        if (!place.known) return false;
        place.set = set_of(address, place.physical);
        return mru_is_redundant(mru[place.set], {place.physical & ~line_mask, event_kind(reference.kind)});
    }
};

/// Hits by kind: how many in all, and of these stores (low half) and fetches (high half).
struct HitCounts {
    std::uint64_t all = 0, others = 0;

    void add(ReferenceKind kind) {
        static constexpr std::uint64_t weight[] = {0, 1, std::uint64_t{1} << 32};
        ++all;
        others += weight[static_cast<unsigned>(kind)];
    }
    std::uint64_t stores() const { return others & 0xffffffff; }
    std::uint64_t fetches() const { return others >> 32; }
};

}  // namespace

Progress CorePath::run(std::span<const Reference> references, Tick now, Tick until, Injections& injections) {
    if (!quick_) return run_steps(references, now, until, injections);
    if (tlb_ != nullptr) return run_translated(ByFront{tlb_->front()}, references, now, until, injections);
    if (!pages_.identity()) return run_translated(ByTable{pages_}, references, now, until, injections);
    return run_translated(SameAddress{}, references, now, until, injections);
}

template <class Translation>
Progress CorePath::run_translated(Translation translation, std::span<const Reference> references, Tick now, Tick until,
                                  Injections& injections) {
    const IndexingPolicy& index = cache_->indexing();
    if (index.is_field() && !virtually_indexed_)
        return run_watched(translation, SetOf<IndexingPolicy::Field>{index.field()}, references, now, until,
                           injections);
    return run_watched(translation, SetOf<IndexingPolicy>{index, virtually_indexed_}, references, now, until,
                       injections);
}

template <class Translation, class Sets>
Progress CorePath::run_watched(Translation translation, Sets set_of, std::span<const Reference> references, Tick now,
                               Tick until, Injections& injections) {
    return watch_ == Watch::nobody ? run_on<false>(translation, set_of, references, now, until, injections)
                                   : run_on<true>(translation, set_of, references, now, until, injections);
}

/// Where there is no first-level cache, or translations have to be looked up each time.
Progress CorePath::run_steps(std::span<const Reference> references, Tick now, Tick until, Injections& injections) {
    std::size_t done = 0;
    while (done < references.size() && now < until && takes(references[done].kind)) {
        now = access_lines(references[done++], now, injections);
        if (injections.pending()) break;
    }
    return {done, now};
}

/// The loop in which a simulation spends most of its time. A reference of which nothing follows but counts and
/// `quick_latency_` is made by counting it; one that hits, in the array; all others go step by step.
template <bool watched, class Translation, class Sets>
Progress CorePath::run_on(Translation translation, Sets set_of, std::span<const Reference> references, Tick now,
                          Tick until, Injections& injections) {
    using Test = QuickTest<Translation, Sets>;
    const Test test{translation, set_of, cache_->mru(), line_bytes_ - 1, plain_kinds_};
    const Tick quick_latency = quick_latency_, lookup_latency = tlb_ != nullptr ? tlb_->latency() : 0;
    const Reference* next = references.data();
    const Reference* const end = next + references.size();
    EventRun events(*this);
    HitCounts hits;
    std::uint64_t lookups = 0;  ///< translated here, and not hit
    while (next < end && now < until) {
        const Reference* const stop = watched && watch_ == Watch::each ? next + 1 : stop_at(next, end, now, until);
        typename Test::Place place;
        for (; next < stop && test.changes_nothing(*next, place); ++next, now += quick_latency) {
            hits.add(next->kind);
            if (watched) events.add(*next, place.physical, now);
        }
        if (next < stop) {
            const Reference& reference = *next;
            if (!takes(reference.kind)) break;
            ++next;
            if (!place.known) {
                if (watched) events.flush();
                now = access_lines(reference, now, injections);
            } else {
                if (watched) events.add(reference, place.physical, now);
                if (cache_->hits(place.set, place.physical & ~test.line_mask, reference.kind)) {
                    hits.add(reference.kind);
                    now += quick_latency;
                } else {
                    if (watched) events.flush();
                    ++lookups;
                    const RequestInfo info{reference.site, event_kind(reference.kind), core_};
                    now = cache_->request_absent(place.physical, place.set, info, now + lookup_latency).time;
                }
            }
        }
        if (injections.pending()) [[unlikely]]
            break;  // listeners on links further down may have sent something, too
    }
    if (watched) events.flush();
    cache_->count_requests(hits.all - hits.stores() - hits.fetches(), hits.stores(), hits.fetches());
    if (tlb_ != nullptr) tlb_->count_hits(hits.all + lookups);
    return {static_cast<std::size_t>(next - references.data()), now};
}

/// The first reference, at the earliest, before which the time is up.
const Reference* CorePath::stop_at(const Reference* next, const Reference* end, Tick now, Tick until) const {
    const auto left = static_cast<std::uint64_t>(end - next);
    if (quick_latency_ == 0 || until == ~Tick{0} || until - now > left * quick_latency_) return end;
    return next + divide_round_up(until - now, quick_latency_);
}

/// `between`: what is pending after a line is carried out before the next one is asked for.
Tick CorePath::access_lines(const Reference& reference, Tick time, Injections& between) {
    const EventKind kind = event_kind(reference.kind);
    const Address last_line = align_down(last_byte(reference), line_bytes_);
    Address address = reference.address;
    time = access_line(address, kind, reference.site, time);
    while (align_down(address, line_bytes_) != last_line) {
        address = align_down(address, line_bytes_) + line_bytes_;
        if (between.pending()) time = time_sum(time, between.carry_out(core_, time));
        time = access_line(address, kind, reference.site, time);
    }
    return time;
}

Tick CorePath::access_line(Address address, EventKind kind, std::uint32_t site, Tick time) {
    const RequestInfo info{site, kind, core_};
    if (tlb_ != nullptr) {
        tlb_link_->notify(address, info, time);
        time = tlb_->translate(address, pages_.page_bits(address), info, time);
    }
    const Address physical = pages_.translate(address);
    if (!virtually_indexed_) return link_.request(physical, info, time).time;
    link_.notify(physical, info, time);
    return cache_->request_in(cache_->indexing().set_of(address), physical, info, time).time;
}

void CorePath::notify(const LinkEvent& event, Address virtual_address) {
    if (tlb_link_ != nullptr && tlb_link_->wants(event.kind)) {
        LinkEvent lookup = event;
        lookup.address = virtual_address;
        tlb_link_->notify(lookup);
    }
    link_.notify({event.address, event.count, event.site, event.kind, event.core,
                  event.time + (tlb_ != nullptr ? tlb_->latency() : 0)});
}

}  // namespace cachetally
