// CorePath without regard to time: the first cache by a loop of its own, all below it by posts.
#include "sim/engine/core_path_parts.hpp"
#include "sim/model/stamp_array.hpp"

namespace cachetally {
namespace {

/// Posts that are delivered at once: few enough to stay in a host's first-level cache.
constexpr std::size_t most_posts = 512;

/// An array of which nothing more is known.
struct AnyLookup {
    CacheArray& array;
    Entry use(std::uint64_t set, Address line, Entry state) {
        return array.access(set, line, {true, static_cast<std::uint8_t>(state), 0});
    }
    Entry insert(std::uint64_t set, Address line, Entry state) { return array.insert(set, line, state); }
    void keep() const {}
    void reload() {}
    std::uint64_t uses_left() const { return ~std::uint64_t{0}; }
};

/// What a loop over references looks up by kind.
struct ByKind {
    std::array<std::uint64_t, 3> room;  ///< bytes of a line, or 0 where hits are not plain
    /// What is added to a sum from which stores (low half) and fetches (high half) are told.
    std::array<std::uint64_t, 3> weight{0, 1, std::uint64_t{1} << 32};
    /// Only stores mind whether stores may be repeated.
    std::array<Entry, 3> ignored{front_bit::store, 0, front_bit::store};

    ByKind(unsigned plain_kinds, std::uint64_t line_bytes) {
        for (unsigned kind = 0; kind < 3; ++kind) room[kind] = (plain_kinds >> kind & 1U) != 0 ? line_bytes : 0;
    }
};

/// How a loop over references comes to physical addresses; false where it cannot without changing anything.
template <class Translation>
struct AsItGoes : Translation {
    static constexpr bool checked = false;
};

/// By translations made before, of references known to lie within a line and to be of a kind whose hits are plain.
struct Made {
    static constexpr bool checked = true;
    const Address* physical_of;
    const Reference* first;
};

/// The posts of the first cache, as its loop writes them.
class Outbox {
public:
    explicit Outbox(Downlink& link)
        : link_(link),
          begin_(link.posts().room(most_posts + 2)),
          out_(begin_),
          enough_(link.posts().all().data() + most_posts) {}

    /// `dirty`: 1 or 0. The victim is written in any case: which it is none can predict.
    void miss(Address line, Cause cause, Address victim, std::uint64_t dirty) {
        out_[0] = {line, cause.word()};
        out_[1] = {victim | entry_bit::dirty, cause.as(EventKind::write_back).word()};
        out_ += 1 + dirty;
    }
    bool full() const { return out_ >= enough_; }

    std::uint64_t written() const { return static_cast<std::uint64_t>(out_ - begin_); }
    void close() { link_.posts().set_end(out_); }

private:
    Downlink& link_;
    Posted* begin_;
    Posted* out_;
    const Posted* enough_;
};

}  // namespace

Progress CorePath::run_posting(std::span<const Reference> references, Tick now) {
    struct Posting {
        CorePath& path;
        explicit Posting(CorePath& p) : path(p) { path.post(true); }
        ~Posting() { path.post(false); }
    };
    const Posting posting(*this);
    try {
        const SetOf<IndexingPolicy> any{cache_->indexing(), virtually_indexed_};
        CacheArray& array = cache_->array();
        Progress progress;
        if (cache_->indexing().is_field() && !virtually_indexed_ && dynamic_cast<StampArray<2>*>(&array) != nullptr) {
            const SetOf<IndexingPolicy::Field> field{cache_->indexing().field()};
            StampArray<2>::Lookup lookup(dynamic_cast<StampArray<2>&>(array));
            progress = post_translated(lookup, field, references, now);
        } else {
            progress = post_translated(AnyLookup{array}, any, references, now);
        }
        progress.time += cache_->below().deliver(progress.time);
        return progress;
    } catch (...) {
        cache_->below().deliver(now);  // what came before the failure is to be counted
        throw;
    }
}

template <class Lookup, class Sets>
Progress CorePath::post_translated(Lookup lookup, Sets set_of, std::span<const Reference> references, Tick now) {
    const auto run = [&]<class Translation>(Translation translation) {
        return watch_ == Watch::nobody ? post_on<false>(lookup, translation, set_of, references, now)
                                       : post_on<true>(lookup, translation, set_of, references, now);
    };
    if (tlb_ != nullptr) {
        auto* known = dynamic_cast<StampArray<1>*>(&tlb_->array());
        const auto made = [&](auto tlb_lookup) {
            return watch_ == Watch::nobody ? post_by_tlb<false>(lookup, tlb_lookup, set_of, references, now)
                                           : post_by_tlb<true>(lookup, tlb_lookup, set_of, references, now);
        };
        return known != nullptr ? made(StampArray<1>::Lookup(*known)) : made(AnyLookup{tlb_->array()});
    }
    if (!pages_.identity()) return run(AsItGoes<ByTable>{{pages_}});
    return run(AsItGoes<SameAddress>{});
}

template <bool watched, class Lookup, class Translation, class Sets>
Progress CorePath::post_on(Lookup lookup, Translation translation, Sets set_of, std::span<const Reference> references,
                           Tick now) {
    const Reference* next = references.data();
    const Reference* const end = next + references.size();
    EventRuns events(*this);
    while (next < end) {
        const Reference* const begin = next;
        next = post_stretch<watched>(lookup, translation, set_of, next, end, now, events);
        now += static_cast<Tick>(next - begin) * quick_latency_;
        if (cache_->below().posts().size() >= most_posts) {
            now += cache_->below().deliver(now);
        } else if (next < end && next == begin) {
            if (!takes(next->kind)) break;
            now = access_lines(*next++, now);
        }
    }
    return {static_cast<std::size_t>(next - references.data()), now};
}

/// As post_on(), with translations made some way ahead of the loop: two short loops are quicker than a long one.
template <bool watched, class Lookup, class TlbLookup, class Sets>
Progress CorePath::post_by_tlb(Lookup lookup, TlbLookup tlb_lookup, Sets set_of, std::span<const Reference> references,
                               Tick now) {
    const Reference* next = references.data();
    const Reference* const end = next + references.size();
    EventRuns events(*this);
    std::array<Address, most_ahead> physical_of;
    while (next < end) {
        const Made made{physical_of.data(), next};
        const Reference* const ready = translate_ahead(tlb_lookup, next, end, physical_of);
        while (next < ready) {
            const Reference* const begin = next;
            next = post_stretch<watched>(lookup, made, set_of, next, ready, now, events);
            now += static_cast<Tick>(next - begin) * quick_latency_;
            if (cache_->below().posts().size() >= most_posts) now += cache_->below().deliver(now);
        }
        if (ready == end || ready - made.first == most_ahead) continue;
        if (!takes(next->kind)) break;
        now = access_lines(*next++, now);
    }
    return {static_cast<std::size_t>(next - references.data()), now};
}

/// Translates references that hit in the first TLB and lie within a line, up to the first other.
template <class TlbLookup>
const Reference* CorePath::translate_ahead(TlbLookup lookup, const Reference* next, const Reference* end,
                                           std::span<Address, most_ahead> physical_of) {
    const ByKind by_kind(plain_kinds_, line_bytes_);
    const Address line_mask = line_bytes_ - 1;
    const Tlb::Front front = tlb_->front();
    lookup.reload();
    const Reference* const begin = next;
    const std::uint64_t most = std::min<std::uint64_t>(lookup.uses_left(), most_ahead);
    if (static_cast<std::uint64_t>(end - begin) > most) end = begin + most;
    Address* physical = physical_of.data();
    for (; next < end; ++next, ++physical) {
        const Address address = next->address;
        if ((address & line_mask) + next->size > by_kind.room[static_cast<std::size_t>(next->kind)]) [[unlikely]]
            break;
        if (front.changes_nothing(address, *physical)) continue;
        if (lookup.use(front.set_of(address), front.page_of(address), 0) == 0) break;
        *physical = pages_.translate(address);
        front.remember(address, *physical);
    }
    lookup.keep();
    tlb_->count_hits(static_cast<std::uint64_t>(next - begin));
    return next;
}

/// Makes references up to one that is not plainly a hit or miss, or until there is enough to deliver. All that the loop
/// needs is in registers; nothing here may fail, or look at what others change.
template <bool watched, class Lookup, class Translation, class Sets>
const Reference* CorePath::post_stretch(Lookup lookup, Translation translation, Sets set_of, const Reference* next,
                                        const Reference* end, Tick now, EventRuns& events) {
    const Cache::FirstLevel level = cache_->first_level();
    const ByKind by_kind(plain_kinds_, line_bytes_);
    const Address line_mask = line_bytes_ - 1;
    Entry* const front = level.front;
    const std::uint64_t origin = Cause(0, EventKind::load, core_).word();
    std::uint64_t others = 0, first_fills = 0;
    std::array<std::uint64_t, 3> misses{};
    lookup.reload();
    Outbox outbox(cache_->below());
    const Reference* const begin = next;
    const std::uint64_t most = lookup.uses_left();
    if (static_cast<std::uint64_t>(end - begin) > most) end = begin + most;
    for (; next < end; ++next) {
        const Address address = next->address;
        const auto kind = static_cast<std::size_t>(next->kind);
        Address physical = 0;
        if constexpr (Translation::checked) {
            physical = translation.physical_of[next - translation.first];
        } else if ((address & line_mask) + next->size > by_kind.room[kind] || !translation(address, physical)) {
            break;
        }
        others += by_kind.weight[kind];
        if (watched) events.add(*next, physical, now);
        const Address line = physical & ~line_mask;
        const std::uint64_t set = set_of(address, physical);
        if (((front[set] ^ line) | by_kind.ignored[kind]) == front_bit::load_and_store) continue;
        if (const Entry found = lookup.use(set, line, level.state[kind]); found != 0) {
            front[set] = line | level.hit_flags[kind] | (found & entry_bit::dirty);
            continue;
        }
        const Entry victim = lookup.insert(set, line, level.state[kind]);
        front[set] = line | level.miss_flags[kind];
        ++misses[kind];
        if (victim == 0) [[unlikely]]
            ++first_fills;
        const std::uint64_t asks = kind & static_cast<std::uint64_t>(EventKind::fetch);  // a store asks with a load
        outbox.miss(line, Cause::from(std::uint64_t{next->site} << 32 | origin | asks), line_of(victim),
                    victim / entry_bit::dirty & level.write_back_traffic);
        if (outbox.full()) [[unlikely]] {
            ++next;
            break;
        }
    }
    if (watched) events.flush();
    lookup.keep();
    outbox.close();
    const std::uint64_t made = static_cast<std::uint64_t>(next - begin), stores = others & 0xffffffff,
                        fetches = others >> 32, missed = misses[0] + misses[1] + misses[2];
    cache_->count({.requests = {made - stores - fetches, stores, fetches},
                   .misses = misses,
                   .evictions = missed - first_fills,
                   .writebacks_out = outbox.written() - missed});
    return next;
}

}  // namespace cachetally
