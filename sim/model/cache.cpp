// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/cache.hpp"

#include "sim/model/array_types.hpp"
#include "sim/model/cache_posts.hpp"
#include "sim/model/coherence.hpp"
#include "sim/model/page_table.hpp"

namespace cachetally {
namespace {

std::uint64_t ways_of(const CacheConfig& config) { return config.ways != 0 ? config.ways : config.size / config.line; }

std::uint64_t sets_of(const CacheConfig& config) { return config.size / config.line / ways_of(config); }

bool is_demand(EventKind kind) {
    return kind == EventKind::load || kind == EventKind::store || kind == EventKind::fetch;
}

/// Prefetchers know physical addresses only, so they stay within the smallest page.
constexpr Address prefetch_boundary = 4096;

}  // namespace

Cache::Cache(const CacheConfig& config, Tick period, bool next_to_core, CacheArray& array)
    : config_(config),
      line_mask_(config.line - 1),
      latency_(config.latency * period),
      writes_back_(config.write == WritePolicy::write_back),
      filled_by_victims_(config.inclusion == Inclusion::exclusive || config.inclusion == Inclusion::victim),
      next_to_core_(next_to_core),
      index_(config.indexing, sets_of(config), config.line),
      array_(array),
      prefetcher_(make_prefetcher(config.prefetch, config.line)) {
    const auto dirtied = static_cast<std::uint8_t>(writes_back_ ? entry_bit::dirty : 0);
    const Touch demand{true, 0, entry_bit::prefetched};
    touch_.fill(Touch{});
    touch_[index_of(EventKind::load)] = touch_[index_of(EventKind::fetch)] = demand;
    touch_[index_of(EventKind::store)] = {config.store_hit_refreshes, dirtied, entry_bit::prefetched};
    touch_[index_of(EventKind::write_back)] =
        touch_[index_of(EventKind::ring_write)] = {config.write_back_refreshes, dirtied, 0};
    if (!next_to_core) return;
    front_.assign(index_.sets(), front_bit::nothing);
    for (auto& flags : front_flags_) flags.fill(front_bit::nothing);
    for (const EventKind kind : {EventKind::load, EventKind::store, EventKind::fetch})
        for (const bool hit : {false, true}) front_flags_[hit ? 1 : 0][index_of(kind)] = front_after(kind, hit);
}

void Cache::settle() {
    const bool in_order = !filled_by_victims_ && !line_may_be_taken_ && !config_.write_back_first && !prefetcher_ &&
                          !below_.takes_clean_victims() && !is_in_node();
    for (const EventKind kind : {EventKind::load, EventKind::fetch, EventKind::page_walk, EventKind::prefetch})
        simple_[index_of(kind)] = in_order;
    simple_[index_of(EventKind::store)] = in_order && writes_back_ && config_.write_allocate;
    takes_posts_ = simple_[index_of(EventKind::store)] && config_.inclusion == Inclusion::neither &&
                   config_.write_back_miss == WriteBackMiss::allocate && config_.store_hit_refreshes;
    victims_matter_ = config_.inclusion == Inclusion::inclusive || below_.takes_clean_victims();
}

Reply Cache::request_in(std::uint64_t set, Address address, Cause cause, Tick time) {
    return request_on(array_, set, address, cause, time);
}

/// A request step by step, as docs/counting.md has it: where the order of lookup, fetch and insertion can be seen.
Reply Cache::request_in_steps(Address address, std::uint64_t set, Cause cause, Tick time) {
    const Address line = address & ~line_mask_;
    const bool store = cause.kind() == EventKind::store;
    const bool moves_up = config_.inclusion == Inclusion::exclusive && !store;
    if (store && is_in_node()) time = coherence_->store(node_, line, cause, time);
    const Entry found = array_.access(set, line, touch_[index_of(cause.kind())]);
    if (found == 0) return miss(address, set, cause, time);
    if (moves_up) array_.remove(set, line);

    Tick done = time + latency_;
    remember(set, line, cause.kind(), true);
    if (store && !writes_back_) done = pass_on(line, cause, done);
    if (prefetcher_ && is_demand(cause.kind())) {
        const bool first_use = (found & entry_bit::prefetched) != 0;
        if (first_use) ++counts_.prefetch_hits;
        train(address, cause, time, first_use);
    }
    return {done, moves_up && is_dirty(found)};
}

Reply Cache::miss(Address address, std::uint64_t set, Cause cause, Tick time) {
    ++misses_[index_of(cause.kind())];
    const Address line = address & ~line_mask_;
    const bool store = cause.kind() == EventKind::store;
    const Cause down = store ? cause.as_load_for_store() : cause;
    Reply reply{time + latency_};
    if (store && (filled_by_victims_ || !config_.write_allocate)) {
        forget(set);
        reply.time = pass_on(line, cause, reply.time);
    } else if (filled_by_victims_) {
        reply = below_.request(line, down, time + latency_);
    } else {
        const Entry state = store && writes_back_ ? entry_bit::dirty : 0;
        reply = fetch(line, set, down, time + latency_, state);
        remember(set, line, cause.kind(), false);  // before the store goes on, which may take the line away again
        if (store && !writes_back_) reply.time = std::max(reply.time, pass_on(line, cause, time + latency_));
    }
    if (prefetcher_ && is_demand(cause.kind())) train(address, cause, time, true);
    return reply;
}

Reply Cache::fetch(Address line, std::uint64_t set, Cause cause, Tick time, Entry state) {
    const Tick asked = config_.write_back_first ? make_room(set, line, cause, time) : time;
    Coherence::Transit transit(coherence_, line, false);
    const Reply reply = below_.request(line, cause, asked);
    if (reply.dirty) state |= entry_bit::dirty;
    if (is_dirty(state)) transit.comes_dirty();
    const Tick left = insert(set, line, state, cause, time);
    const Tick done = std::max(reply.time, left);
    below_.notify(line, cause.as(EventKind::fill), done);
    return {done};
}

void Cache::take_victim(Address address, Cause cause, Tick time) {
    const Address line = address & ~line_mask_;
    const std::uint64_t set = set_of_physical(line);
    const bool clean = cause.kind() == EventKind::clean_victim;
    ++requests_[index_of(cause.kind())];
    const Coherence::Transit transit(coherence_, line, !clean);
    if (array_.access(set, line, touch_[index_of(cause.kind())]) != 0) {
        if (!clean && !writes_back_) below_.send(line, cause, time);
    } else if (clean) {
        insert(set, line, 0, cause, time);
    } else {
        ++misses_[index_of(cause.kind())];
        take_missing(line, set, cause, time);
    }
    forget(set);
}

void Cache::take_record(Address address, Cause cause, Tick time) {
    if (!is_in_node()) return take_victim(address, cause, time);
    const Address line = address & ~line_mask_;
    time = coherence_->claim(node_, line, cause, time);
    take_victim(address, cause, time);
    coherence_->left(node_, line, cause, time);
}

void Cache::take_missing(Address line, std::uint64_t set, Cause cause, Tick time) {
    if (config_.write_back_miss != WriteBackMiss::bypass) {
        const Entry state = writes_back_ ? entry_bit::dirty : 0;
        if (config_.write_back_miss == WriteBackMiss::fetch) {
            fetch(line, set, cause.as(EventKind::load), time, state);
        } else {
            insert(set, line, state, cause, time);
        }
        if (writes_back_) return;
    }
    below_.send(line, cause, time);
}

void Cache::take_singly(std::span<const Posted> posts) {
    for (const Posted& post : posts) {
        const Cause cause = Cause::from(post.cause);
        if (cause.kind() == EventKind::write_back) {
            take_victim(post.address & ~entry_bit::dirty, cause, 0);
        } else {
            request(post.address, cause, 0);
        }
    }
}

Tick Cache::waited_since(const std::array<std::uint64_t, event_kind_count>& before) const {
    std::uint64_t waiting = 0;
    for (const EventKind kind : {EventKind::load, EventKind::fetch, EventKind::page_walk})
        waiting += requests_[index_of(kind)] - before[index_of(kind)];
    return waiting * latency_;
}

Tick Cache::insert(std::uint64_t set, Address line, Entry state, Cause cause, Tick time) {
    const Tick left = line_may_be_taken_ || is_in_node() ? make_room(set, line, cause, time) : time;
    const Entry victim = array_.insert(set, line, state);
    if (is_in_node()) coherence_->arrived(node_, line, is_dirty(state));
    return victim != 0 ? dispose(victim, line, cause, time) : left;
}

Tick Cache::make_room(std::uint64_t set, Address line, Cause cause, Tick time) {
    const Entry victim = array_.make_room(set);
    return victim != 0 ? dispose(victim, line, cause, time) : time;
}

Tick Cache::dispose(Entry victim, Address line, Cause cause, Tick time) {
    const Tick left = send_away(victim, line, cause, time);
    if (is_in_node()) coherence_->left(node_, line_of(victim), cause, time);
    return left;
}

Tick Cache::send_away(Entry victim, Address line, Cause cause, Tick time) {
    const Address gone = line_of(victim);
    bool dirty = is_dirty(victim);
    ++counts_.evictions;
    below_.notify({gone, 1, cause.site(), EventKind::eviction, cause.core(), time, line});
    if (config_.inclusion == Inclusion::inclusive)
        for (Cache* upper : above_) dirty |= upper->take_away(gone, config_.line, cause, time);
    if (nodes_above_ != nullptr) nodes_above_->taken(gone, config_.line);
    if (dirty) {
        if (!config_.write_back_traffic) return time;
        ++counts_.writebacks_out;
        return below_.send(gone, cause.as(EventKind::write_back), time);
    }
    return below_.takes_clean_victims() ? below_.send(gone, cause.as(EventKind::clean_victim), time) : time;
}

bool Cache::take_away(Address address, std::uint64_t bytes, Cause cause, Tick time) {
    bool dirty = false;
    for (Cache* upper : above_) dirty |= upper->take_away(address, bytes, cause, time);
    for (Address line = address; line < address + bytes; line += config_.line) {
        const std::uint64_t set = set_of_physical(line);
        const Entry removed = array_.remove(set, line);
        if (removed == 0) continue;
        forget(set);
        dirty |= is_dirty(removed);
        ++counts_.invalidations;
        below_.notify(line, cause.as(EventKind::invalidate), time);
    }
    return dirty;
}

bool Cache::clean(Address line, Cause cause, Tick time) {
    const Entry found = array_.access(set_of_physical(line), line, {.use = false, .clear = entry_bit::dirty});
    if (!is_dirty(found)) return false;
    below_.notify(line, cause.as(EventKind::flush), time);
    return true;
}

Tick Cache::pass_on(Address line, Cause cause, Tick time) {
    return below_.pass_on(line, cause.as(EventKind::store), time);
}

void Cache::train(Address address, Cause cause, Tick time, bool trigger) {
    wanted_.clear();
    prefetcher_->observe({address, address & ~line_mask_, cause.site(), trigger}, wanted_);
    for (const Address wanted : wanted_) {
        if (align_down(wanted, prefetch_boundary) != align_down(address, prefetch_boundary)) continue;
        const Address line = wanted & ~line_mask_;
        const std::uint64_t set = set_of_physical(line);
        if (array_.find(set, line) != 0) continue;
        ++counts_.prefetches_issued;
        fetch(line, set, cause.as(EventKind::prefetch), time + latency_, entry_bit::prefetched);
        forget(set);
    }
}

std::uint64_t Cache::set_of_physical(Address line) const {
    return index_.set_of(config_.virtually_indexed ? pages_->virtual_address(line) : line);
}

/// What may be repeated after an access of this kind.
Entry Cache::front_after(EventKind kind, bool hit) const {
    const bool store = kind == EventKind::store;
    if (prefetcher_ && prefetcher_->sees_every_access()) return front_bit::nothing;
    const Repetition repetition = repetition_of(config_.replacement);
    if (!(hit ? repetition.idle_after_use : repetition.idle_after_insertion)) return front_bit::nothing;
    if (store && !(hit ? config_.store_hit_refreshes : config_.write_allocate)) return front_bit::nothing;
    return store && writes_back_ ? front_bit::all : front_bit::no_store;
}

bool Cache::repetition_is_plain() const {
    for (const auto& flags : front_flags_) {
        const Entry store = flags[index_of(EventKind::store)], load = flags[index_of(EventKind::load)];
        if (store != front_bit::all || load != front_bit::no_store) return false;
    }
    return true;
}

Cache::FirstLevel Cache::first_level() {
    FirstLevel level{};
    for (unsigned kind = 0; kind < FirstLevel::kinds; ++kind) {
        level.state[kind] = kind == index_of(EventKind::store) ? entry_bit::dirty : 0;
        level.hit_flags[kind] = front_flags_[1][kind];
        level.miss_flags[kind] = front_flags_[0][kind];
    }
    level.front = front_.data();
    level.write_back_traffic = config_.write_back_traffic ? 1 : 0;
    return level;
}

void Cache::count(const FirstLevelCounts& counts) {
    for (unsigned kind = 0; kind < FirstLevel::kinds; ++kind) misses_[kind] += counts.misses[kind];
    counts_.evictions += counts.evictions;
    counts_.writebacks_out += counts.writebacks_out;
}

CacheCounts Cache::counts() const {
    CacheCounts counts = counts_;
    struct Pair {
        EventKind kind;
        std::uint64_t& requests;
        std::uint64_t& misses;
    };
    for (const Pair& pair : {Pair{EventKind::load, counts.loads, counts.load_misses},
                             Pair{EventKind::store, counts.stores, counts.store_misses},
                             Pair{EventKind::fetch, counts.fetches, counts.fetch_misses},
                             Pair{EventKind::page_walk, counts.page_walks, counts.page_walk_misses},
                             Pair{EventKind::prefetch, counts.prefetches, counts.prefetch_misses},
                             Pair{EventKind::ring_write, counts.ring_writes, counts.ring_write_misses},
                             Pair{EventKind::write_back, counts.writebacks_in, counts.writeback_misses}}) {
        pair.requests = requests_[index_of(pair.kind)];
        pair.misses = misses_[index_of(pair.kind)];
    }
    counts.clean_victims_in = requests_[index_of(EventKind::clean_victim)];
    return counts;
}

namespace {

/// Bytes of tags that a host's first-level cache is likely to hold beside all else.
constexpr std::uint64_t nearest_cache = 16384;

/// A cache whose array's type is known where requests come in: one virtual call per level.
template <class Array>
class CacheOf final : public Cache {
public:
    CacheOf(const CacheConfig& config, const ArrayGeometry& geometry, Tick period, bool next_to_core)
        : Cache(config, period, next_to_core, tags_), tags_(geometry) {}

    Reply request(Address address, Cause cause, Tick time) override {
        return request_on(tags_, set_of(address), address, cause, time);
    }

    Tick take(std::span<const Posted> posts) override {
        const auto before = requests();
        if constexpr (requires { &Array::uses_in_order; })
            if (tags_.uses_in_order() && config().write_back_refreshes) {
                const typename Array::Lookup lookup(tags_);
                const bool far = indexing().sets() * Array::most_ways * sizeof(typename Array::Packed) > nearest_cache;
                posts = far ? take_by<true>(lookup, posts) : take_by<false>(lookup, posts);
            }
        take_singly(posts);
        return waited_since(before);
    }

private:
    Array tags_;
};

}  // namespace

std::unique_ptr<Cache> make_cache(const CacheConfig& config, unsigned copy, Tick period, bool next_to_core,
                                  bool mostly_hits) {
    const bool field = !config.virtually_indexed && (config.indexing == Indexing::modulo || sets_of(config) == 1);
    const bool compact = field && !next_to_core;  // walks come in here: their addresses do not fit
    const ArrayGeometry geometry{.sets = sets_of(config),
                                 .ways = static_cast<unsigned>(ways_of(config)),
                                 .replacement = config.replacement,
                                 .seed = config.seed + copy,
                                 .mostly_hits = mostly_hits,
                                 .line_bits = compact ? log2_exact(config.line) : 0,
                                 .empty_way = config.empty_way};
    return with_array_type(geometry, [&]<class Array>(ArrayType<Array>) -> std::unique_ptr<Cache> {
        return std::make_unique<CacheOf<Array>>(config, geometry, period, next_to_core);
    });
}

}  // namespace cachetally
