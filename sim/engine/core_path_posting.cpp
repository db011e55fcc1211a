// CorePath without regard to time: the first cache by a loop of its own, all below it by posts.
#include <algorithm>

#include "sim/engine/core_path_parts.hpp"
#include "sim/model/background.hpp"
#include "sim/model/stamp_array.hpp"

namespace cachetally {
namespace {

/// Posts that are delivered at once: few enough to stay in a host's first-level cache.
constexpr std::size_t most_posts = 512;

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
static_assert(StampArray<1>::Lookup::fewest_uses >= Stretch::most &&
              StampArray<2>::Lookup::fewest_uses >= Stretch::most);

/// How the lines of a stretch are found in physical memory, from `from` on: where they are then, and how many. The next
/// one's translation would change something.
struct Translated {
    const BlockEvent* lines;
    std::size_t count;
};

struct AsIs {
    Translated translate(const Stretch& stretch, std::size_t from) const {
        return {stretch.lines + from, stretch.size() - from};
    }
};

class ByPages {
public:
    explicit ByPages(const PageTable& pages) : pages_(pages) {}

    Translated translate(const Stretch& stretch, std::size_t from) {
        std::size_t count = 0;
        for (Address physical = 0; from + count < stretch.size(); ++count) {
            const BlockEvent line = stretch.lines[from + count];
            if (!pages_.knows(line.bits(), physical)) break;
            physical_[count] = line.moved_by(physical - line.bits());
        }
        return {physical_.data(), count};
    }

private:
    const PageTable& pages_;
    std::array<BlockEvent, Stretch::most> physical_;
};

/// The posts of the first cache, as its loop writes them.
class Outbox {
public:
    explicit Outbox(Downlink& link) : link_(link), begin_(link.posts().room(2 * Stretch::most)), out_(begin_) {}

    /// `dirty`: 1 or 0. The victim is written in any case: which it is none can predict.
    void miss(Address line, Cause cause, Address victim, std::uint64_t dirty) {
        out_[0] = {line, cause.word()};
        out_[1] = {victim | entry_bit::dirty, cause.as(EventKind::write_back).word()};
        out_ += 1 + dirty;
    }
    std::uint64_t written() const { return static_cast<std::uint64_t>(out_ - begin_); }
    void close() { link_.posts().set_end(out_); }

private:
    Downlink& link_;
    Posted* begin_;
    Posted* out_;
};

}  // namespace

/// By the first TLB, as far as it hits; its lookups are counted and told.
template <class Pages>
class CorePath::ByTlb {
public:
    ByTlb(CorePath& path, Pages pages) : path_(path), pages_(pages) {}

    Translated translate(const Stretch& stretch, std::size_t from) {
        const std::span lines(stretch.lines + from, stretch.size() - from);
        const std::size_t count = pages_.look_up(lines, physical_.data());
        path_.tlb_->count_hits(count);
        path_.tlb_link_->tell(lines.first(count), path_.kinds_, path_.core_);
        return {physical_.data(), count};
    }

private:
    CorePath& path_;
    Pages pages_;
    std::array<BlockEvent, Stretch::most> physical_;
};

namespace {

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

struct CorePath::Work {
    std::span<const Reference> references;
    std::span<const Stretch> stretches;
    Tick now;
};

Progress CorePath::run_posting(std::span<const Reference> references, std::span<const Stretch> stretches, Tick now,
                               Background* background) {
    const Work work{references, stretches, now};
    background_ = background;
    const SetOf<IndexingPolicy> any{cache_->indexing(), virtually_indexed_};
    CacheArray& array = cache_->array();
    if (cache_->indexing().is_field() && !virtually_indexed_)
        if (auto* known = dynamic_cast<StampArray<2>*>(&array))
            return post_translated(StampArray<2>::Lookup(*known),
                                   SetOf<IndexingPolicy::Field>{cache_->indexing().field()}, work);
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
            return post_by(lookup, set_of, ByTlb(*this, KnownPages(*tlb_, *known, pages_)), work);
        return post_by(lookup, set_of, ByTlb(*this, AnyPages(*tlb_, pages_)), work);
    }
    if (!pages_.identity()) return post_by(lookup, set_of, ByPages(pages_), work);
    return post_by(lookup, set_of, AsIs{}, work);
}

/// Stretch by stretch, and what lies between them one by one, while it goes this way.
template <class Lookup, class Sets, class Translation>
Progress CorePath::post_by(Lookup lookup, Sets set_of, Translation translation, const Work& work) {
    std::array<BlockEvent, Stretch::most> lines;
    auto found = work.stretches.begin();
    const Reference* next = work.references.data();
    const Reference* const end = next + work.references.size();
    Tick now = work.now;
    while (next < end) {
        Stretch stretch{};
        if (work.stretches.empty()) {
            stretch = find_stretch({next, end}, lines_wished(), lines.data());
        } else if (found != work.stretches.end() && found->references.data() == next) {
            stretch = *found++;
        }
        if (stretch.size() != 0) {
            now = post_stretch(lookup, set_of, translation, stretch, now);
            next += stretch.size();
        } else if (takes(next->kind)) {
            now = access_lines(*next++, now);
        } else {
            break;
        }
    }
    return {static_cast<std::size_t>(next - work.references.data()), now};
}

/// Makes the references of a stretch; where a translation would change something, one by one.
template <class Lookup, class Sets, class Translation>
Tick CorePath::post_stretch(Lookup lookup, Sets set_of, Translation& translation, const Stretch& stretch, Tick now) {
    for (std::size_t made = 0; made < stretch.size(); ++made) {
        const auto [lines, count] = translation.translate(stretch, made);
        post_lines(lookup, set_of, stretch.references.subspan(made, count), lines);
        const Stretch::Kinds kinds = stretch.kinds_of(made, made + count);
        cache_->count_requests(kinds.loads, kinds.stores, kinds.fetches);
        now += static_cast<Tick>(count) * quick_latency_;
        made += count;
        if (cache_->below().posts().size() >= most_posts) hand_over(background_);
        if (made < stretch.size()) now = access_lines(stretch.references[made], now);
    }
    return now;
}

/// Makes references whose lines are known. All that the loop needs is in registers; nothing here may fail, or look at
/// what others change.
template <class Lookup, class Sets>
void CorePath::post_lines(Lookup lookup, Sets set_of, std::span<const Reference> references, const BlockEvent* lines) {
    const Cache::FirstLevel level = cache_->first_level();
    Entry* const front = level.front;
    const std::uint64_t origin = Cause(0, EventKind::load, core_).word();
    std::uint64_t first_fills = 0;
    std::array<std::uint64_t, 3> misses{};
    lookup.reload();
    Outbox outbox(cache_->below());
    for (std::size_t i = 0; i < references.size(); ++i) {
        const BlockEvent reference = lines[i];
        const std::uint64_t set = set_of(references[i].address, reference.bits());
        if (Cache::changes_nothing(front[set], reference)) [[likely]]
            continue;
        const Address line = reference.block();
        const auto kind = static_cast<std::size_t>(reference.kind());
        if (Entry found = 0; lookup.use(set, line, level.state[kind], found)) {
            front[set] = Cache::front_of_hit(line, level.hit_flags[kind], found);
            continue;
        }
        const Entry victim = lookup.insert(set, line, level.state[kind]);
        front[set] = line | level.miss_flags[kind];
        ++misses[kind];
        if (victim == 0) [[unlikely]]
            ++first_fills;
        const std::uint64_t asks = kind & static_cast<std::uint64_t>(EventKind::fetch);  // a store asks with a load
        outbox.miss(line, Cause::from(std::uint64_t{references[i].site} << 32 | origin | asks), line_of(victim),
                    victim / entry_bit::dirty & level.write_back_traffic);
    }
    lookup.keep();
    outbox.close();
    const std::uint64_t missed = misses[0] + misses[1] + misses[2];
    cache_->count({.misses = misses, .evictions = missed - first_fills, .writebacks_out = outbox.written() - missed});
    link_.tell({lines, references.size()}, kinds_, core_);
}

}  // namespace cachetally
