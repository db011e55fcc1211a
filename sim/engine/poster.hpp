// SPDX-License-Identifier: BSD-3-Clause
// Poster: makes references without regard to time, the first cache by a loop of its own, all below it by posts.
// Internal to CorePath.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "sim/engine/core_path_parts.hpp"
#include "sim/model/background.hpp"
#include "sim/model/sieve.hpp"

namespace cachetally {

/// What a poster makes: references and, if not none, all their stretches; or sieved stretches alone.
struct CorePath::Work {
    std::span<const Reference> references;
    std::span<const Stretch> stretches;
    Tick now;
};

/// Lines in physical memory; the one behind them, if there is one, cannot be translated without changing something.
struct Translated {
    const BlockEvent* lines;
    std::size_t count;
};

/// The posts of the first cache, as its loop writes them.
class Outbox {
public:
    explicit Outbox(Downlink& link) : link_(link), begin_(link.posts().room(2 * Stretch::most)), out_(begin_) {}

    /// `dirty`: 1 or 0. The victim is written in any case: which it is none can predict.
    void miss(Address line, Cause cause, Address victim, std::uint64_t dirty) {
        write(line, cause, victim);
        out_ += 1 + dirty;
    }
    /// The same where `missed` and the lowest bit of `dirty` are as hard to predict: what did not happen is
    /// overwritten.
    void maybe_miss(Address line, Cause cause, Address victim, std::uint64_t missed, std::uint64_t dirty) {
        write(line, cause, victim);
        out_ += missed + (missed & dirty);
    }
    std::uint64_t written() const { return static_cast<std::uint64_t>(out_ - begin_); }
    void close() { link_.posts().set_end(out_); }

private:
    void write(Address line, Cause cause, Address victim) {
        out_[0] = {line, cause.word()};
        out_[1] = {victim | entry_bit::dirty, cause.as(EventKind::write_back).word()};
    }

    Downlink& link_;
    Posted* begin_;
    Posted* out_;
};

/// `Lookup` uses or inserts lines in the first cache's array, `Sets` finds their sets, `Translation` where they are.
/// A reference whose translation would change something, or that straddles lines, is made step by step.
template <class Lookup, class Sets, class Translation>
class CorePath::Poster {
public:
    Poster(CorePath& path, Lookup lookup, Sets set_of, Translation& translation)
        : path_(path), cache_(*path.cache_), lookup_(lookup), set_of_(set_of), translation_(translation) {}

    /// All references, while they go this way.
    Progress make(const Work& work);

    /// All references of sieved stretches.
    Tick make_sieved(std::span<const Stretch> stretches, Tick now);

private:
    /// Posts that are delivered at once: few enough to stay in a host's first-level cache.
    static constexpr std::size_t most_posts = 512;

    Tick make_stretch(const Stretch& stretch, Tick now);
    Tick make_kept(const Stretch& stretch, Tick now);
    bool make_some(const Stretch& stretch, std::size_t& made, std::size_t end, Tick& now);
    /// A position, how many kept references are before it, and whether the one there only seems settled.
    struct Ahead {
        std::size_t position, kept;
        bool unsettled;
    };
    Ahead look_ahead(const Stretch& stretch, std::size_t position, std::size_t kept) const;
    void make_again(std::uint8_t mark);
    Tick make_carefully(const Stretch& stretch, std::size_t made, Tick now);
    std::size_t make_quickly(const Reference* references, Translated physical);
    void make_lines(const Reference* references, std::span<const BlockEvent> lines);
    void make_kept_lines(std::span<const BlockEvent> lines);
    Tick step(BlockEvent line, Tick now);
    Entry front_of(std::uint64_t set) const;
    void renew_front();
    Tick count(const Stretch& stretch, Tick now);
    void tell(const Stretch& stretch);

    /// Counts of what was made step by step, as its way counts it.
    void count_step(EventKind kind) { ++stepped_[static_cast<std::size_t>(kind)]; }

    CorePath& path_;
    Cache& cache_;
    Lookup lookup_;
    Sets set_of_;
    Translation& translation_;
    std::array<std::uint32_t, 3> stepped_{};  ///< of the stretch, by kind
    std::array<BlockEvent, Stretch::most>
        physical_;  ///< lines of the kept references of a sieved stretch, for listeners
};

/// Stretch by stretch, and what lies between them one by one.
template <class Lookup, class Sets, class Translation>
Progress CorePath::Poster<Lookup, Sets, Translation>::make(const Work& work) {
    std::array<BlockEvent, Stretch::most> lines;
    auto found = work.stretches.begin();
    const Reference* next = work.references.data();
    const Reference* const end = next + work.references.size();
    Tick now = work.now;
    while (next < end) {
        Stretch stretch;
        if (work.stretches.empty()) {
            stretch = find_stretch({next, end}, path_.lines_wished(), lines.data());
        } else if (found != work.stretches.end() && found->references.data() == next) {
            stretch = *found++;
        }
        if (stretch.size() != 0) {
            now = make_stretch(stretch, now);
            next += stretch.size();
        } else if (path_.takes(next->kind)) {
            now = path_.access_lines(*next++, now);
        } else {
            break;
        }
    }
    return {static_cast<std::size_t>(next - work.references.data()), now};
}

template <class Lookup, class Sets, class Translation>
Tick CorePath::Poster<Lookup, Sets, Translation>::make_stretch(const Stretch& stretch, Tick now) {
    const Reference* const references = stretch.references.data();
    for (std::size_t made = 0; made < stretch.size(); ++made) {
        const auto physical = translation_.translate(stretch.lines.subspan(made));
        make_quickly(references + made, physical);
        if (path_.tlb_link_ != nullptr)
            path_.tlb_link_->tell(stretch.lines.subspan(made, physical.count), path_.kinds_, path_.core_);
        path_.link_.tell({physical.lines, physical.count}, path_.kinds_, path_.core_);
        made += physical.count;
        if (made == stretch.size()) break;
        count_step(stretch.lines[made].kind());
        now = path_.access_lines(references[made], now);
    }
    return count(stretch, now);
}

template <class Lookup, class Sets, class Translation>
Tick CorePath::Poster<Lookup, Sets, Translation>::make_sieved(std::span<const Stretch> stretches, Tick now) {
    for (const Stretch& stretch : stretches) {
        now = count(stretch, make_kept(stretch, now));
        if (path_.watch_ != Watch::nobody) tell(stretch);
        if (stretch.straddling == nullptr) continue;
        if (path_.tlb_ != nullptr) renew_front();
        now = path_.access_straddling(*stretch.straddling, now);
    }
    renew_front();
    return now;
}

template <class Lookup, class Sets, class Translation>
void CorePath::Poster<Lookup, Sets, Translation>::tell(const Stretch& stretch) {
    if (path_.tlb_link_ != nullptr) path_.tlb_link_->tell_sieved({stretch.marks, stretch.lines}, path_.core_);
    path_.link_.tell_sieved({stretch.marks, std::span(physical_).first(stretch.lines.size())}, path_.core_);
}

/// Makes the references that the sieve has kept. That is all, unless something else came into the sets of lines that
/// are settled.
template <class Lookup, class Sets, class Translation>
Tick CorePath::Poster<Lookup, Sets, Translation>::make_kept(const Stretch& stretch, Tick now) {
    std::size_t made = 0;
    while (path_.unsettled_ == 0 && made < stretch.lines.size()) make_some(stretch, made, stretch.lines.size(), now);
    return path_.unsettled_ == 0 ? now : make_carefully(stretch, made, now);
}

/// Makes kept references from `made` on, and counts on: up to `end`, or a step; true for that. Their slots are settled.
template <class Lookup, class Sets, class Translation>
bool CorePath::Poster<Lookup, Sets, Translation>::make_some(const Stretch& stretch, std::size_t& made, std::size_t end,
                                                            Tick& now) {
    const auto physical = translation_.translate(stretch.lines.subspan(made, end - made));
    if (path_.watch_ != Watch::nobody) std::copy_n(physical.lines, physical.count, &physical_[made]);
    if (path_.unsettled_ != 0)
        for (std::size_t i = made; i < std::min(made + physical.count + 1, end); ++i)
            path_.settle_slot(Sieve::slot_of(stretch.lines[i].block()));
    if (physical.count != 0) made += make_quickly(nullptr, physical);
    if (made == end) return false;
    const BlockEvent line = stretch.lines[made];
    count_step(line.kind());
    now = step(line, now);
    physical_[made++] = line.moved_by(path_.pages_.translate(line.block()) - line.block());
    return true;
}

/// A reference whose translation is not in the first TLB. A walk may bring entries of page tables into the sets of
/// lines that are settled.
template <class Lookup, class Sets, class Translation>
Tick CorePath::Poster<Lookup, Sets, Translation>::step(BlockEvent line, Tick now) {
    if (path_.tlb_ == nullptr) return path_.access_kept(line, now);
    const unsigned page_bits = path_.pages_.page_bits(line.block()), depth = PageTable::walk_depth(page_bits);
    std::array<unsigned, PageTable::deepest_walk> slots;
    std::array<Entry, PageTable::deepest_walk> before;
    for (unsigned level = 0; level < depth; ++level) {
        slots[level] = Sieve::slot_of(path_.pages_.entry_address(line.block(), page_bits, level));
        before[level] = front_of(slots[level]);
    }
    now = path_.access_kept(line, now);
    for (unsigned level = 0; level < depth; ++level)
        if (slots[level] != Sieve::slot_of(line.block()) && line_of(before[level]) != line_of(front_of(slots[level])))
            path_.unsettle(slots[level], before[level]);
    return now;
}

/// Goes through all references behind the first `made` that were kept, to make also those that only seemed settled.
/// After a step there may be others.
template <class Lookup, class Sets, class Translation>
Tick CorePath::Poster<Lookup, Sets, Translation>::make_carefully(const Stretch& stretch, std::size_t made, Tick now) {
    std::size_t from = 0, kept = 0;  // a position, and how many kept ones are before it
    while (true) {
        for (; kept < made; ++from) kept += sieve_mark::is_kept(stretch.marks[from]);
        bool stepped = false;
        for (Ahead ahead{from, kept, false}; !stepped;) {
            ahead = look_ahead(stretch, ahead.position, ahead.kept);
            while (made < ahead.kept && !stepped) stepped = make_some(stretch, made, ahead.kept, now);
            if (stepped) break;
            if (ahead.unsettled) {
                make_again(stretch.marks[ahead.position++]);
            } else if (ahead.position == stretch.marks.size()) {
                return now;
            }
        }
    }
}

/// From a position with so many kept references before it to the next one that only seems settled; but only over a few
/// kept ones, since each might change that. Kept ones settle their slots.
template <class Lookup, class Sets, class Translation>
auto CorePath::Poster<Lookup, Sets, Translation>::look_ahead(const Stretch& stretch, std::size_t position,
                                                             std::size_t kept) const -> Ahead {
    constexpr std::size_t few = 8;
    const std::size_t most = kept + few;
    std::uint64_t unsettled = path_.unsettled_;
    for (; position < stretch.marks.size() && kept < most; ++position) {
        const std::uint8_t mark = stretch.marks[position];
        if (sieve_mark::is_kept(mark) != 0) {
            unsettled &= ~(std::uint64_t{1} << Sieve::slot_of(stretch.lines[kept++].block()));
        } else if ((unsettled >> (mark & sieve_mark::slot) & 1) != 0) {
            return {position, kept, true};
        }
    }
    return {position, kept, false};
}

/// A reference that seemed settled. A line that was dirty and is no more will have to be stored to.
template <class Lookup, class Sets, class Translation>
void CorePath::Poster<Lookup, Sets, Translation>::make_again(std::uint8_t mark) {
    const unsigned slot = mark & sieve_mark::slot;
    const bool stores = (mark & sieve_mark::stores) != 0;
    const Entry settled = path_.settled_[slot];
    const BlockEvent line(line_of(settled), stores ? EventKind::store : EventKind::load);
    make_quickly(nullptr, {&line, 1});
    if (stores || settled == front_of(slot)) path_.settle_slot(slot);
}

/// Returns how many were made: those that are translated.
template <class Lookup, class Sets, class Translation>
std::size_t CorePath::Poster<Lookup, Sets, Translation>::make_quickly(const Reference* references,
                                                                      Translated physical) {
    const std::span lines(physical.lines, physical.count);
    if constexpr (requires { &Lookup::in_order; }) {
        references == nullptr ? make_kept_lines(lines) : make_lines(references, lines);
    } else {
        make_lines(references, lines);
    }
    if (cache_.below().posts().size() >= most_posts) path_.hand_over(path_.background_);
    return physical.count;
}

/// Counts a stretch but for what was made step by step, which was counted then; returns the time after it.
template <class Lookup, class Sets, class Translation>
Tick CorePath::Poster<Lookup, Sets, Translation>::count(const Stretch& stretch, Tick now) {
    const std::uint64_t loads = stretch.kinds.loads - stepped_[0], stores = stretch.kinds.stores - stepped_[1],
                        fetches = stretch.kinds.fetches - stepped_[2];
    stepped_ = {};
    cache_.count_requests(loads, stores, fetches);
    if (path_.tlb_ != nullptr) path_.tlb_->count_hits(loads + stores + fetches);
    return now + (loads + stores + fetches) * path_.quick_latency_;
}

/// Makes references whose lines are known. All that the loop needs is in registers; nothing here may fail, or look at
/// what others change.
template <class Lookup, class Sets, class Translation>
void CorePath::Poster<Lookup, Sets, Translation>::make_lines(const Reference* references,
                                                             std::span<const BlockEvent> lines) {
    const Cache::FirstLevel level = cache_.first_level();
    Entry* const front = level.front;
    const std::uint64_t origin = Cause(0, EventKind::load, path_.core_).word();
    std::uint64_t first_fills = 0;
    std::array<std::uint64_t, 3> misses{};
    Lookup lookup = lookup_;
    lookup.reload();
    Outbox outbox(cache_.below());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const BlockEvent reference = lines[i];
        const Address address = references != nullptr ? references[i].address : reference.bits();
        const std::uint64_t set = set_of_(address, reference.bits());
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
        outbox.miss(line, Cause::from(origin | asks), line_of(victim),
                    victim / entry_bit::dirty & level.write_back_traffic);
    }
    lookup.keep();
    outbox.close();
    const std::uint64_t missed = misses[0] + misses[1] + misses[2];
    cache_.count({.misses = misses, .evictions = missed - first_fills, .writebacks_out = outbox.written() - missed});
}

/// make_lines() for loads and stores that a sieve has kept: few of them repeat what their set was asked for last, and
/// many miss, none can predict which. Leaves the front as it was.
template <class Lookup, class Sets, class Translation>
void CorePath::Poster<Lookup, Sets, Translation>::make_kept_lines(std::span<const BlockEvent> lines) {
    const Cache::FirstLevel level = cache_.first_level();
    const Cause cause(0, EventKind::load, path_.core_);
    const std::array<Entry, 2> states{level.state[0], level.state[1]};
    const std::uint64_t write_back_traffic = level.write_back_traffic;
    std::uint64_t missed = 0, store_misses = 0, first_fills = 0;
    const auto lookup = lookup_.in_order();
    const Sets set_of = set_of_;
    Outbox outbox(cache_.below());
    for (const BlockEvent reference : lines) {
        const Address line = reference.block();
        const std::uint64_t stores = reference.bits() & 1;
        const auto [miss, old] = lookup.replace(set_of(line, line), line, states[stores]);
        missed += miss;
        store_misses += miss & stores;
        if (old == 0) [[unlikely]]
            ++first_fills;
        outbox.maybe_miss(line, cause, line_of(old), miss, old / entry_bit::dirty & write_back_traffic);
    }
    outbox.close();
    cache_.count({.misses = {missed - store_misses, store_misses, 0},
                  .evictions = missed - first_fills,
                  .writebacks_out = outbox.written() - missed});
}

/// The front of a set, as the line used last tells where make_kept_lines() has left it.
template <class Lookup, class Sets, class Translation>
Entry CorePath::Poster<Lookup, Sets, Translation>::front_of(std::uint64_t set) const {
    if constexpr (requires { &Lookup::in_order; }) {
        return Cache::front_of_latest(lookup_.in_order().latest(set));
    } else {
        return cache_.front()[set];
    }
}

template <class Lookup, class Sets, class Translation>
void CorePath::Poster<Lookup, Sets, Translation>::renew_front() {
    const std::span front(cache_.first_level().front, cache_.indexing().sets());
    for (std::size_t set = 0; set < front.size(); ++set) front[set] = front_of(set);
}

}  // namespace cachetally
