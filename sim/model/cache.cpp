#include "sim/model/cache.hpp"

#include "sim/model/page_table.hpp"

namespace cachetally {
namespace {

ArrayGeometry geometry_of(const CacheConfig& config, unsigned copy) {
    const std::uint64_t lines = config.size / config.line;
    const std::uint64_t ways = config.ways != 0 ? config.ways : lines;
    return {lines / ways,    static_cast<unsigned>(ways), config.line,
            config.indexing, config.replacement,          config.seed + copy};
}

bool is_demand(EventKind kind) {
    return kind == EventKind::load || kind == EventKind::store || kind == EventKind::fetch;
}

/// What tracing prefetchers is bounded by: they know physical addresses only, so they stay within the smallest page.
constexpr Address prefetch_boundary = 4096;

struct RequestCounters {
    std::uint64_t CacheCounts::*all;
    std::uint64_t CacheCounts::*misses;
};

/// By EventKind, requests and victims.
constexpr RequestCounters counters[] = {
    {&CacheCounts::loads, &CacheCounts::load_misses},
    {&CacheCounts::stores, &CacheCounts::store_misses},
    {&CacheCounts::fetches, &CacheCounts::fetch_misses},
    {&CacheCounts::page_walks, &CacheCounts::page_walk_misses},
    {&CacheCounts::prefetches, &CacheCounts::prefetch_misses},
    {&CacheCounts::ring_writes, &CacheCounts::ring_write_misses},
    {&CacheCounts::writebacks_in, &CacheCounts::writeback_misses},
};
constexpr const RequestCounters& counters_of(EventKind kind) { return counters[static_cast<unsigned>(kind)]; }

}  // namespace

Cache::Cache(const CacheConfig& config, unsigned copy, Tick period)
    : config_(config),
      latency_(config.latency * period),
      writes_back_(config.write == WritePolicy::write_back),
      filled_by_victims_(config.inclusion == Inclusion::exclusive || config.inclusion == Inclusion::victim),
      array_(make_cache_array(geometry_of(config, copy))),
      prefetcher_(make_prefetcher(config.prefetch, config.line)) {
    const Entry dirtied = writes_back_ ? entry_bit::dirty : 0;
    demand_ = {true, 0, entry_bit::prefetched};
    store_ = {config.store_hit_refreshes, dirtied, entry_bit::prefetched};
    write_back_ = {config.write_back_refreshes, dirtied, 0};
}

Reply Cache::request(const Request& request) {
    const Address line = align_down(request.address, config_.line);
    const Address where = config_.virtually_indexed ? request.where : line;
    const bool demand = is_demand(request.kind);
    const bool store = request.kind == EventKind::store;
    ++(counts_.*counters_of(request.kind).all);

    const bool moves_up = config_.inclusion == Inclusion::exclusive && !store;
    const Entry found = moves_up ? array_->remove(where, line)
                                 : array_->access(where, line,
                                                  store    ? store_
                                                  : demand ? demand_
                                                           : Touch{});
    if (found == 0) return miss(request, line, where);

    if (store && !writes_back_) pass_on(request, line);
    if (prefetcher_ && demand) [[unlikely]] {
        const bool first_use = (found & entry_bit::prefetched) != 0;
        if (first_use) ++counts_.prefetch_hits;
        train(request, line, first_use);
    }
    return {request.time + latency_, moves_up && is_dirty(found), true};
}

Reply Cache::miss(const Request& request, Address line, Address where) {
    ++(counts_.*counters_of(request.kind).misses);
    const bool store = request.kind == EventKind::store;
    Reply reply{request.time + latency_};
    if (store && (filled_by_victims_ || !config_.write_allocate)) {
        pass_on(request, line);
    } else {
        Request down{line, line, request.site, store ? EventKind::load : request.kind, request.core, reply.time};
        if (filled_by_victims_) {
            reply = below_.request(down);
        } else {
            reply = fetch(down, where, store && writes_back_ ? entry_bit::dirty : 0);
            if (store && !writes_back_) pass_on(request, line);
        }
    }
    if (prefetcher_ && is_demand(request.kind)) [[unlikely]]
        train(request, line, true);
    reply.hit = false;
    return reply;
}

Reply Cache::fetch(const Request& down, Address where, Entry state) {
    if (config_.write_back_first) make_room(where, down);
    Reply reply = below_.request(down);
    insert(where, down.address, state | (reply.dirty ? entry_bit::dirty : 0), down);
    below_.notify({down.address, 1, down.site, EventKind::fill, down.core, reply.time});
    reply.dirty = false;
    return reply;
}

void Cache::take_victim(const Request& request) {
    const Address line = align_down(request.address, config_.line);
    const Address where = where_of(line);
    const bool clean = request.kind == EventKind::clean_victim;
    ++(clean ? counts_.clean_victims_in : counts_.*counters_of(request.kind).all);
    const Request down{line, line, request.site, request.kind, request.core, request.time};

    if (array_->access(where, line, clean ? Touch{} : write_back_) != 0) {
        if (!clean && !writes_back_) below_.send(down);
    } else if (clean) {
        insert(where, line, 0, down);
    } else {
        ++(counts_.*counters_of(request.kind).misses);
        take_missing(down, where);
    }
    forget_paths();
}

void Cache::take_missing(const Request& victim, Address where) {
    if (config_.write_back_miss != WriteBackMiss::bypass) {
        const Entry state = writes_back_ ? entry_bit::dirty : 0;
        if (config_.write_back_miss == WriteBackMiss::fetch) {
            Request load = victim;
            load.kind = EventKind::load;
            fetch(load, where, state);
        } else {
            insert(where, victim.address, state, victim);
        }
        if (writes_back_) return;
    }
    below_.send(victim);
}

void Cache::insert(Address where, Address line, Entry state, const Request& cause) {
    if (line_may_be_taken_) make_room(where, cause);
    const Entry victim = array_->insert(where, line, state);
    if (victim != 0) dispose(victim, cause);
}

void Cache::make_room(Address where, const Request& cause) {
    const Entry victim = array_->make_room(where);
    if (victim != 0) dispose(victim, cause);
}

void Cache::dispose(Entry victim, const Request& cause) {
    const Address line = line_of(victim);
    bool dirty = is_dirty(victim);
    ++counts_.evictions;
    if (config_.inclusion == Inclusion::inclusive)
        for (Cache* upper : above_) dirty |= upper->take_away(line, config_.line, cause);
    Request victim_request{line, line, cause.site, EventKind::write_back, cause.core, cause.time};
    if (dirty) {
        if (!config_.write_back_traffic) return;
        ++counts_.writebacks_out;
        below_.send(victim_request);
    } else if (below_.takes_clean_victims()) {
        victim_request.kind = EventKind::clean_victim;
        below_.send(victim_request);
    }
}

bool Cache::take_away(Address address, std::uint64_t bytes, const Request& cause) {
    bool dirty = false;
    for (Address line = address; line < address + bytes; line += config_.line) {
        for (Cache* upper : above_) dirty |= upper->take_away(line, config_.line, cause);
        const Entry removed = array_->remove(where_of(line), line);
        if (removed == 0) continue;
        dirty |= is_dirty(removed);
        ++counts_.invalidations;
        below_.notify({line, 1, cause.site, EventKind::invalidate, cause.core, cause.time});
    }
    forget_paths();
    return dirty;
}

void Cache::pass_on(const Request& request, Address line) {
    below_.request({line, line, request.site, EventKind::store, request.core, request.time + latency_});
}

void Cache::train(const Request& request, Address line, bool trigger) {
    wanted_.clear();
    prefetcher_->observe({request.address, line, request.site, trigger}, wanted_);
    for (const Address address : wanted_) {
        if (align_down(address, prefetch_boundary) != align_down(request.address, prefetch_boundary)) continue;
        const Address target = align_down(address, config_.line);
        const Address where = where_of(target);
        if (array_->find(where, target) != 0) continue;
        ++counts_.prefetches_issued;
        fetch({target, target, request.site, EventKind::prefetch, request.core, request.time + latency_}, where,
              entry_bit::prefetched);
        forget_paths();
    }
}

Address Cache::where_of(Address line) const { return config_.virtually_indexed ? pages_->virtual_address(line) : line; }

void Cache::forget_paths() {
    for (LastAccess* path : paths_) path->forget();
}

bool Cache::loads_repeat(EventKind kind, bool hit) const {
    if (prefetcher_ && prefetcher_->sees_every_access()) return false;
    if (!hit) return (kind != EventKind::store || config_.write_allocate) && insertion_is_use(config_.replacement);
    return kind != EventKind::store || config_.store_hit_refreshes;
}

bool Cache::stores_repeat(EventKind kind, bool hit) const {
    if (kind != EventKind::store || !writes_back_) return false;
    if (prefetcher_ && prefetcher_->sees_every_access()) return false;
    return hit || (config_.write_allocate && insertion_is_use(config_.replacement));
}

}  // namespace cachetally
