#include "sim/engine/core_path.hpp"

#include "sim/model/placed_array.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t line_without_cache = 64;

constexpr EventKind event_kind(ReferenceKind kind) { return static_cast<EventKind>(kind); }

}  // namespace

CorePath::CorePath(unsigned core, Downlink& link, Tlb* tlb, Downlink* tlb_link, PageTable& pages)
    : link_(link),
      tlb_(tlb),
      tlb_link_(tlb_link),
      pages_(pages),
      cache_(link.cache()),
      line_bytes_(cache_ != nullptr ? cache_->line_bytes() : line_without_cache),
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

void CorePath::settle(std::uint32_t block_bytes) {
    const bool watched = link_.kinds() != 0 || (tlb_link_ != nullptr && tlb_link_->kinds() != 0);
    const bool merges = link_.merges(block_bytes) && (tlb_link_ == nullptr || tlb_link_->merges(block_bytes));
    watch_ = !watched ? Watch::nobody : merges ? Watch::merged : Watch::each;
}

/// Events on a core's links that are alike and follow each other, kept back to be told as one.
class CorePath::EventRun {
public:
    explicit EventRun(CorePath& path) : path_(path) {}

    void add(const Reference& reference, Address physical, Tick time) {
        const EventKind kind = event_kind(reference.kind);
        const Address line = align_down(physical, path_.line_bytes_);
        if (path_.watch_ == Watch::merged && run_.count != 0 && kind == run_.kind && line == line_) {
            ++run_.count;
            return;
        }
        flush();
        run_ = {physical, 1, reference.site, kind, path_.core_, time};
        virtual_address_ = reference.address;
        line_ = line;
        if (path_.watch_ == Watch::each) flush();
    }

    void flush() {
        if (run_.count == 0) return;
        path_.tell(run_, virtual_address_);
        run_.count = 0;
    }

private:
    CorePath& path_;
    LinkEvent run_{.count = 0};
    Address virtual_address_ = 0;
    Address line_ = 0;
};

namespace {

/// How the loop over references finds physical addresses without changing anything; false where that cannot be.
struct SameAddress {
    bool operator()(Address address, Address& physical) const {
        physical = address;
        return true;
    }
};
struct ByTable {
    PageTable& pages;
    bool operator()(Address address, Address& physical) const {
        physical = pages.translate(address);
        return true;
    }
};
struct ByTlb {
    Tlb::Front front;
    bool operator()(Address address, Address& physical) const { return front.changes_nothing(address, physical); }
};

/// Which set of the first cache a reference belongs to.
template <class Index>
struct SetOf {
    Index index;
    bool by_virtual;
    std::uint64_t operator()(Address address, Address physical) const {
        return index.set_of(by_virtual ? address : physical);
    }
};
template <>
struct SetOf<IndexingPolicy::Field> {
    IndexingPolicy::Field index;
    std::uint64_t operator()(Address, Address physical) const { return index.set_of(physical); }
};

/// The first of the references in [next, stop) that may change something, by kind or by what the models remember.
/// `kinds` gathers how many of those before it were stores (low half) and fetches (high half).
template <class Translation, class Sets>
const Reference* skip_quick(const Reference* next, const Reference* stop, const Translation& translation,
                            const Sets& set_of, const Entry* front, Address line_mask, unsigned plain_kinds,
                            std::uint64_t& kinds) {
    static constexpr std::uint64_t weight[] = {0, 1, std::uint64_t{1} << 32};
    std::uint64_t gathered = 0;
    for (; next < stop; ++next) {
        const Address address = next->address;
        const auto kind = static_cast<unsigned>(next->kind);
        Address physical;
        if ((address & line_mask) + next->size > line_mask + 1 || (plain_kinds >> kind & 1U) == 0 ||
            !translation(address, physical))
            break;
        if (!Cache::changes_nothing(front[set_of(address, physical)], physical & ~line_mask,
                                    next->kind == ReferenceKind::store))
            break;
        gathered += weight[kind];
    }
    kinds = gathered;
    return next;
}

}  // namespace

Progress CorePath::run(std::span<const Reference> references, Tick now, Tick until, const bool& pending) {
    if (!quick_) return run_steps(references, now, until, pending);
    if (tlb_ != nullptr) return run_translated(ByTlb{tlb_->front()}, references, now, until, pending);
    if (!pages_.identity()) return run_translated(ByTable{pages_}, references, now, until, pending);
    return run_translated(SameAddress{}, references, now, until, pending);
}

template <class Translation>
Progress CorePath::run_translated(Translation translation, std::span<const Reference> references, Tick now, Tick until,
                                  const bool& pending) {
    CacheArray& array = cache_->array();
    const IndexingPolicy& index = cache_->indexing();
    if (index.is_field() && !virtually_indexed_) {
        const SetOf<IndexingPolicy::Field> sets{index.field()};
        if (auto* known = dynamic_cast<StampArray8*>(&array))
            return run_on(*known, translation, sets, references, now, until, pending);
        if (auto* known = dynamic_cast<StampArray4*>(&array))
            return run_on(*known, translation, sets, references, now, until, pending);
    }
    return run_on(array, translation, SetOf<IndexingPolicy>{index, virtually_indexed_}, references, now, until,
                  pending);
}

/// Where there is no first-level cache, or translations have to be looked up each time.
Progress CorePath::run_steps(std::span<const Reference> references, Tick now, Tick until, const bool& pending) {
    std::size_t done = 0;
    while (done < references.size() && now < until && takes(references[done].kind)) {
        now = access_lines(references[done++], now);
        if (pending) break;
    }
    return {done, now};
}

/// The loop in which a simulation spends most of its time. References of which nothing follows but counts and
/// `quick_latency_` are skipped; all others go step by step.
template <class Array, class Translation, class Sets>
Progress CorePath::run_on(Array& array, Translation translation, Sets set_of, std::span<const Reference> references,
                          Tick now, Tick until, const bool& pending) {
    const Reference* next = references.data();
    const Reference* const end = next + references.size();
    EventRun events(*this);
    while (next < end && now < until && takes(next->kind)) {
        const Reference* stop = watch_ == Watch::each ? next + 1 : stop_at(next, end, now, until);
        std::uint64_t kinds = 0;
        const Reference* const first = next;
        next = skip_quick(next, stop, translation, set_of, cache_->front(), line_bytes_ - 1, plain_kinds_, kinds);
        const auto skipped = static_cast<std::uint64_t>(next - first);
        count_hits(skipped, kinds);
        if (watch_ != Watch::nobody) [[unlikely]] {
            for (std::uint64_t i = 0; i < skipped; ++i) {
                Address physical = 0;
                translation(first[i].address, physical);
                events.add(first[i], physical, now + i * quick_latency_);
            }
        }
        now += skipped * quick_latency_;
        if (next < stop && takes(next->kind)) now = step(array, *next++, translation, set_of, events, now);
        if (pending) break;
    }
    events.flush();
    return {static_cast<std::size_t>(next - references.data()), now};
}

/// One reference that may change something.
template <class Array, class Translation, class Sets>
Tick CorePath::step(Array& array, const Reference& reference, const Translation& translation, const Sets& set_of,
                    EventRun& events, Tick now) {
    const Address address = reference.address, line_mask = line_bytes_ - 1;
    Address physical = 0;
    if (!takes_plainly(reference.kind) || (address & line_mask) + reference.size > line_bytes_ ||
        !translation(address, physical)) {
        events.flush();
        return access_lines(reference, now);
    }
    if (watch_ != Watch::nobody) events.add(reference, physical, now);
    const std::uint64_t set = set_of(address, physical);
    if (tlb_ != nullptr) tlb_->count_hits(1);
    if (cache_->hits(array, set, physical & ~line_mask, reference.kind)) {
        cache_->count_hit(reference.kind);
        return now + quick_latency_;
    }
    events.flush();
    const Tick lookup = tlb_ != nullptr ? tlb_->latency() : 0;
    return cache_
        ->request_absent(array, physical, set, {reference.site, event_kind(reference.kind), core_}, now + lookup)
        .time;
}

void CorePath::count_hits(std::uint64_t all, std::uint64_t kinds) {
    const std::uint64_t stores = kinds & 0xffffffff, fetches = kinds >> 32;
    cache_->count_hits(all - stores - fetches, stores, fetches);
    if (tlb_ != nullptr) tlb_->count_hits(all);
}

/// The first reference, at the earliest, before which the time is up.
const Reference* CorePath::stop_at(const Reference* next, const Reference* end, Tick now, Tick until) const {
    if (now >= until) return next;
    const auto left = static_cast<std::uint64_t>(end - next);
    if (quick_latency_ == 0 || until - now > left * quick_latency_) return end;
    return next + divide_round_up(until - now, quick_latency_);
}

Tick CorePath::access_lines(const Reference& reference, Tick time) {
    const EventKind kind = event_kind(reference.kind);
    const std::uint64_t rest = reference.size > 0 ? reference.size - 1U : 0;
    const Address end = reference.address + rest < rest ? ~Address{0} : reference.address + rest;
    const Address last_line = align_down(end, line_bytes_);
    Address address = reference.address;
    time = access_line(address, kind, reference.site, time);
    while (align_down(address, line_bytes_) != last_line) {
        address = align_down(address, line_bytes_) + line_bytes_;
        time = access_line(address, kind, reference.site, time);
    }
    return time;
}

Tick CorePath::access_line(Address address, EventKind kind, std::uint32_t site, Tick time) {
    const Cause cause{site, kind, core_};
    if (tlb_ != nullptr) {
        tlb_link_->notify(address, cause, time);
        time = tlb_->translate(address, pages_.page_bits(address), cause, time);
    }
    const Address physical = pages_.translate(address);
    if (!virtually_indexed_) return link_.request(physical, cause, time).time;
    link_.notify(physical, cause, time);
    return cache_->request_in(cache_->indexing().set_of(address), physical, cause, time).time;
}

void CorePath::tell(const LinkEvent& event, Address virtual_address) {
    if (tlb_link_ != nullptr && tlb_link_->wants(event.kind)) {
        LinkEvent lookup = event;
        lookup.address = virtual_address;
        tlb_link_->notify(lookup);
    }
    link_.notify({event.address, event.count, event.site, event.kind, event.core,
                  event.time + (tlb_ != nullptr ? tlb_->latency() : 0)});
}

}  // namespace cachetally
