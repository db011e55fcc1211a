// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/cache/cache.hpp"

#include <bit>

#include "sim/model/coherence/coherence.hpp"
#include "sim/model/tlb/page_table.hpp"

namespace cachetally {
namespace {

std::uint64_t ways_of(const CacheConfig& config) { return config.ways != 0 ? config.ways : config.size / config.line; }

std::uint64_t sets_of(const CacheConfig& config) { return config.size / config.line / ways_of(config); }

bool is_demand(EventKind kind) {
    return kind == EventKind::load || kind == EventKind::store || kind == EventKind::fetch;
}

/// Prefetchers know physical addresses only, so they stay within the smallest page.
constexpr Address prefetch_boundary = 4096;

ArrayGeometry geometry_of(const CacheConfig& config, unsigned copy) {
    const bool field = !config.virtually_indexed && (config.indexing == Indexing::modulo || sets_of(config) == 1);
    return {.sets = sets_of(config),
            .ways = static_cast<unsigned>(ways_of(config)),
            .replacement = config.replacement,
            .seed = config.seed + copy,
            .line_bits = field ? log2_exact(config.line) : 0,
            .empty_way = config.empty_way};
}

}  // namespace

Cache::Cache(const CacheConfig& config, unsigned copy, Tick period, bool next_to_core)
    : config_(config),
      line_mask_(config.line - 1),
      block_mask_(config.transfer() - 1),
      latency_(config.latency * period),
      writes_back_(config.write == WritePolicy::write_back),
      filled_by_victims_(filled_by_victims(config.inclusion)),
      next_to_core_(next_to_core),
      index_(config.indexing, sets_of(config), config.line, config.slices),
      array_(make_cache_array(geometry_of(config, copy))),
      prefetcher_(row_of(config.prefetch.kind).make(config.prefetch, config.transfer())) {
    if (config.sector != 0) sectors_.emplace(config.line, config.sector);
    const auto dirtied = static_cast<std::uint8_t>(writes_back_ ? entry_bit::dirty : 0);
    const Touch demand{true, 0, entry_bit::prefetched};
    touch_.fill(Touch{});
    touch_[index_of(EventKind::load)] = touch_[index_of(EventKind::fetch)] = demand;
    touch_[index_of(EventKind::store)] = {config.store_hit_refreshes, dirtied, entry_bit::prefetched};
    touch_[index_of(EventKind::write_back)] =
        touch_[index_of(EventKind::ring_write)] = {config.write_back_refreshes, dirtied, 0};
    below_.bring_fills();
    if (!next_to_core) return;
    mru_.assign(index_.sets(), mru_bit::nothing);
    for (auto& flags : mru_flags_) flags.fill(mru_bit::nothing);
    for (const EventKind kind : {EventKind::load, EventKind::store, EventKind::fetch})
        for (const bool hit : {false, true}) mru_flags_[hit ? 1 : 0][index_of(kind)] = mru_after(kind, hit);
}

void Cache::prepare() {
    const bool in_order = !filled_by_victims_ && !line_may_be_taken_ && !config_.write_back_first && !prefetcher_ &&
                          !below_.takes_clean_victims() && !is_in_node() && !sectors_;
    for (const EventKind kind : {EventKind::load, EventKind::fetch, EventKind::page_walk, EventKind::prefetch})
        simple_[index_of(kind)] = in_order;
    simple_[index_of(EventKind::store)] = in_order && writes_back_ && config_.write_allocate;
    is_plain_ = why_not_plain().what == nullptr;
    victims_matter_ = config_.inclusion == Inclusion::inclusive || below_.takes_clean_victims();
}

Cache::NotPlain Cache::why_not_plain() const {
    if (filled_by_victims_) return {"is filled by victims of the level above", "inclusion"};
    if (takes_from_above() && !can_log()) return {"is inclusive", "inclusion"};
    if (line_may_be_taken_ && !loss_is_logged_) return {"loses lines to an inclusive level below", "inclusion", true};
    if (below_.takes_clean_victims()) return {"hands clean victims down, too", "inclusion", true};
    if (is_in_node()) return {"is kept coherent"};
    if (sectors_) return {"fetches sectors of lines", "sector"};
    if (prefetcher_) return {"has a prefetcher", "prefetch"};
    if (!writes_back_) return {"writes through", "write"};
    if (!config_.write_allocate) return {"does not allocate on stores", "write_allocate"};
    if (config_.write_back_first) return {"writes victims back before it fetches", "write_back_first"};
    if (config_.write_back_miss != WriteBackMiss::allocate)
        return {"does not simply allocate write-backs that miss", "write_back_miss"};
    if (!config_.store_hit_refreshes) return {"does not count stores that hit as uses", "store_hit_refreshes"};
    if (!config_.write_back_refreshes) return {"does not count write-backs that hit as uses", "write_back_refreshes"};
    if (below_.wants(EventKind::eviction)) return {"has a listener to its evictions"};
    if (below_.fills_are_ordered()) return {"has a listener to its fills and other events"};
    return {};
}

/// A request step by step, as docs/counting.md has it: where the order of lookup, fetch and insertion can be seen.
Reply Cache::request_in_steps(Address address, std::uint64_t set, RequestInfo info, Tick time) {
    const Address block = block_of(address);
    const bool store = info.kind() == EventKind::store;
    const bool moves_up = config_.inclusion == Inclusion::exclusive && !store;
    if (store && is_in_node()) time = coherence_->store(node_, block, info, time);
    const Entry found = look_up(set, block, touch_[index_of(info.kind())]);
    if (found == 0) return miss(address, set, info, time);
    if (moves_up) array_->remove(set, block);

    Tick done = time + latency_;
    remember(set, block, info.kind(), true);
    if (store && !writes_back_) done = pass_on(block, info, done);
    if (prefetcher_ && is_demand(info.kind())) {
        const bool first_use = (found & entry_bit::prefetched) != 0;
        if (first_use) ++counts_.prefetch_hits;
        train(address, info, time, first_use);
    }
    return {done, moves_up && is_dirty(found)};
}

Reply Cache::miss(Address address, std::uint64_t set, RequestInfo info, Tick time) {
    ++misses_[index_of(info.kind())];
    const Address block = block_of(address);
    const bool store = info.kind() == EventKind::store;
    const RequestInfo down = store ? info.as_load_for_store() : info;
    Reply reply{time + latency_};
    if (store && (filled_by_victims_ || !config_.write_allocate)) {
        forget(set);
        reply.time = pass_on(block, info, reply.time);
    } else if (filled_by_victims_) {
        reply = below_.request(block, down, time + latency_);
    } else {
        const Entry state = store && writes_back_ ? entry_bit::dirty : 0;
        reply = fetch(block, set, down, time + latency_, state);
        remember(set, block, info.kind(), false);  // before the store goes on, which may take the line away again
        if (store && !writes_back_) reply.time = std::max(reply.time, pass_on(block, info, time + latency_));
    }
    if (prefetcher_ && is_demand(info.kind())) train(address, info, time, true);
    return reply;
}

Reply Cache::fetch(Address block, std::uint64_t set, RequestInfo info, Tick time, Entry state) {
    const Tick asked = config_.write_back_first ? make_room(set, block, info, time) : time;
    Coherence::Transit transit(coherence_, block, false);
    const Reply reply = below_.request(block, info, asked);
    if (reply.dirty) state |= entry_bit::dirty;
    if (is_dirty(state)) transit.comes_dirty();
    const Tick left = insert(set, block, state, info, time);
    const Tick done = std::max(reply.time, left);
    below_.notify(block, info.as(EventKind::fill), done);
    return {done};
}

void Cache::take_victim(Address address, RequestInfo info, Tick time) {
    const Address block = block_of(address);
    const std::uint64_t set = set_of_physical(block & ~line_mask_);
    const bool clean = info.kind() == EventKind::clean_victim;
    ++requests_[index_of(info.kind())];
    const Coherence::Transit transit(coherence_, block, !clean);
    if (look_up(set, block, touch_[index_of(info.kind())]) != 0) {
        if (!clean && !writes_back_) below_.send(block, info, time);
    } else if (clean) {
        insert(set, block, 0, info, time);
    } else {
        ++misses_[index_of(info.kind())];
        take_missing(block, set, info, time);
    }
    forget(set);
}

void Cache::take_record(Address address, RequestInfo info, Tick time) {
    if (!is_in_node()) return take_victim(address, info, time);
    const Address line = address & ~line_mask_;
    time = coherence_->claim(node_, line, info, time);
    take_victim(address, info, time);
    coherence_->left(node_, line, info, time);
}

void Cache::take_missing(Address block, std::uint64_t set, RequestInfo info, Tick time) {
    if (config_.write_back_miss != WriteBackMiss::bypass) {
        const Entry state = writes_back_ ? entry_bit::dirty : 0;
        if (config_.write_back_miss == WriteBackMiss::fetch) {
            fetch(block, set, info.as(EventKind::load), time, state);
        } else {
            insert(set, block, state, info, time);
        }
        if (writes_back_) return;
    }
    below_.send(block, info, time);
}

Tick Cache::insert(std::uint64_t set, Address block, Entry state, RequestInfo info, Tick time) {
    const Address line = block & ~line_mask_;
    if (sectors_) {
        sectors_->insert(block, state);
        if (array_->find(set, line) != 0) return time;
    }
    const Tick left = line_may_be_taken_ || is_in_node() ? make_room(set, line, info, time) : time;
    const Entry victim = array_->insert(set, line, state);
    if (is_in_node()) coherence_->arrived(node_, line, is_dirty(state));
    return victim != 0 ? dispose(victim, line, info, time) : left;
}

Tick Cache::make_room(std::uint64_t set, Address block, RequestInfo info, Tick time) {
    const Address line = block & ~line_mask_;
    if (sectors_ && array_->find(set, line) != 0) return time;
    const Entry victim = array_->make_room(set);
    return victim != 0 ? dispose(victim, line, info, time) : time;
}

Tick Cache::dispose(Entry victim, Address line, RequestInfo info, Tick time) {
    const Tick left = send_away(victim, line, info, time);
    if (is_in_node()) coherence_->left(node_, line_of(victim), info, time);
    return left;
}

Tick Cache::send_away(Entry victim, Address line, RequestInfo info, Tick time) {
    const Address gone = line_of(victim);
    ++counts_.evictions;
    below_.notify({gone, 1, info.site(), EventKind::eviction, info.core(), time, line});
    std::uint64_t dirty = dirty_blocks(victim, info, time);
    if (nodes_above_ != nullptr) nodes_above_->taken(gone, config_.line);
    if (dirty != 0) {
        Tick left = time;
        for (; dirty != 0 && config_.write_back_traffic; dirty &= dirty - 1) {
            const Address block = gone + static_cast<Address>(std::countr_zero(dirty)) * config_.transfer();
            ++counts_.writebacks_out;
            left = std::max(left, below_.send(block, info.as(EventKind::write_back), time));
        }
        return left;
    }
    return below_.takes_clean_victims() ? below_.send(gone, info.as(EventKind::clean_victim), time) : time;
}

/// Of a victim, when an inclusive level has taken it away from above: bit i is its block i.
std::uint64_t Cache::dirty_blocks(Entry victim, RequestInfo info, Tick time) {
    const Address gone = line_of(victim);
    std::uint64_t dirty = sectors_ ? sectors_->remove(gone) : is_dirty(victim) ? 1 : 0;
    if (config_.inclusion != Inclusion::inclusive) return dirty;
    for (unsigned i = 0; i < config_.line / config_.transfer(); ++i)
        for (Cache* upper : above_)
            if (upper->back_invalidate(gone + Address{i} * config_.transfer(), config_.transfer(), info, time))
                dirty |= std::uint64_t{1} << i;
    return dirty;
}

bool Cache::back_invalidate(Address address, std::uint64_t bytes, RequestInfo info, Tick time) {
    bool dirty = false;
    for (Cache* upper : above_) dirty |= upper->back_invalidate(address, bytes, info, time);
    for (Address line = address; line < address + bytes; line += config_.line) {
        const std::uint64_t set = set_of_physical(line);
        const Entry removed = array_->remove(set, line);
        if (removed == 0) continue;
        forget(set);
        for (Disturbances* each : disturbances_) each->lost.push_back(line);
        dirty |= sectors_ ? sectors_->remove(line) != 0 : is_dirty(removed);
        ++counts_.invalidations;
        below_.notify(line, info.as(EventKind::invalidate), time);
    }
    return dirty;
}

bool Cache::clean(Address line, RequestInfo info, Tick time) {
    const Entry found = array_->access(set_of_physical(line), line, {.use = false, .clear = entry_bit::dirty});
    if (!is_dirty(found)) return false;
    below_.notify(line, info.as(EventKind::flush), time);
    return true;
}

Tick Cache::pass_on(Address block, RequestInfo info, Tick time) {
    return below_.pass_on(block, info.as(EventKind::store), time);
}

void Cache::train(Address address, RequestInfo info, Tick time, bool trigger) {
    wanted_.clear();
    prefetcher_->observe(
        {address, block_of(address), sites_ == nullptr ? info.site() : sites_->code(info.site()), trigger}, wanted_);
    for (const Address wanted : wanted_) {
        if (align_down(wanted, prefetch_boundary) != align_down(address, prefetch_boundary)) continue;
        const Address block = block_of(wanted);
        const std::uint64_t set = set_of_physical(block & ~line_mask_);
        if (holds(set, block)) continue;
        ++counts_.prefetches_issued;
        fetch(block, set, info.as(EventKind::prefetch), time + latency_, entry_bit::prefetched);
        forget(set);
    }
}

std::uint64_t Cache::set_of_physical(Address line) const {
    return index_.set_of(config_.virtually_indexed ? pages_->virtual_address(line) : line);
}

/// What may be repeated after an access of this kind.
Entry Cache::mru_after(EventKind kind, bool hit) const {
    const bool store = kind == EventKind::store;
    if (sectors_) return mru_bit::nothing;  // others of the line may be missing
    if (prefetcher_ && prefetcher_->sees_every_access()) return mru_bit::nothing;
    const Repetition repetition = row_of(config_.replacement).repetition;
    if (!(hit ? repetition.idle_after_use : repetition.idle_after_insertion)) return mru_bit::nothing;
    if (store && !(hit ? config_.store_hit_refreshes : config_.write_allocate)) return mru_bit::nothing;
    return store && writes_back_ ? mru_bit::all : mru_bit::no_store;
}

bool Cache::repetition_is_plain() const {
    for (const auto& flags : mru_flags_) {
        const Entry store = flags[index_of(EventKind::store)], load = flags[index_of(EventKind::load)];
        if (store != mru_bit::all || load != mru_bit::no_store) return false;
    }
    return true;
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

}  // namespace cachetally
