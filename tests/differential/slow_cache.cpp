// SPDX-License-Identifier: BSD-3-Clause
// Caches of the reference simulator: docs/counting.md, from "An access at a cache" to "Inclusive levels".
#include <algorithm>
#include <stdexcept>

#include "sim/model/indexing/table.hpp"
#include "tests/differential/slow_machine.hpp"

namespace cachetally::differential {
namespace {

bool filled_by_victims(const CacheConfig& config) {
    return config.inclusion == Inclusion::exclusive || config.inclusion == Inclusion::victim;
}

Address line_start(const SlowCache& cache, Address address) {
    return address / cache.config->line * cache.config->line;
}

Address block_start(const SlowCache& cache, Address address) {
    return address / block_bytes(*cache.config) * block_bytes(*cache.config);
}

SlowSector* sector_of(SlowWay* way, Address block) {
    if (way == nullptr) return nullptr;
    const auto found = way->sectors.find(block);
    return found == way->sectors.end() ? nullptr : &found->second;
}

unsigned copy_of(unsigned shared_by, unsigned cores, unsigned core) { return core / (shared_by ? shared_by : cores); }

Request down(const Request& request, EventKind kind, Address address) {
    return {kind, address, request.core, request.site, request.time, std::nullopt};
}

void count_request(CacheCounts& counts, EventKind kind, bool missed) {
    const std::uint64_t miss = missed ? 1 : 0;
    switch (kind) {
        case EventKind::load: ++counts.loads, counts.load_misses += miss; break;
        case EventKind::store: ++counts.stores, counts.store_misses += miss; break;
        case EventKind::fetch: ++counts.fetches, counts.fetch_misses += miss; break;
        case EventKind::page_walk: ++counts.page_walks, counts.page_walk_misses += miss; break;
        case EventKind::prefetch: ++counts.prefetches, counts.prefetch_misses += miss; break;
        case EventKind::ring_write: ++counts.ring_writes, counts.ring_write_misses += miss; break;
        case EventKind::write_back: ++counts.writebacks_in, counts.writeback_misses += miss; break;
        case EventKind::clean_victim: ++counts.clean_victims_in; break;
        default: break;
    }
}

bool is_demand(EventKind kind) {
    return kind == EventKind::load || kind == EventKind::store || kind == EventKind::fetch;
}

}  // namespace

unsigned block_bytes(const CacheConfig& config) { return config.sector != 0 ? config.sector : config.line; }

void SlowMachine::notify(const std::string& link, unsigned copy, const Request& request) {
    events_.push_back({link, copy, request.kind, request.address, request.core, request.site, request.by});
    const bool counted = request.kind == EventKind::load || request.kind == EventKind::store;
    if (!records_ || records_->link != link || records_->copy != copy || !counted) return;
    if (++watched_events_ % records_->every == 0) ++records_due_;
}

void SlowMachine::notify_below(const SlowCache& cache, EventKind kind, Address address, const Request& cause,
                               Address by) {
    Request event = down(cause, kind, address);
    event.by = by;
    notify(cache.config->name + "-" + cache.config->next, cache.copy, event);
}

SlowCache* SlowMachine::cache_of(const std::string& name, unsigned core) {
    for (SlowCache& cache : caches_) {
        if (cache.config->name != name) continue;
        if (cache.copy == copy_of(cache.config->shared_by, machine_.cores, core)) return &cache;
    }
    return nullptr;
}

SlowSet& SlowMachine::set_of(SlowCache& cache, Address address, std::optional<Address> virtual_address) {
    Address indexed = address;
    if (cache.config->virtually_indexed) {
        indexed = virtual_address ? *virtual_address : pages_.virtual_address(address);
    }
    if (cache.config->indexing == indexings::sliced)
        return cache.sets[slow_sliced_set(*cache.config, indexed, cache.sets.size())];
    return cache.sets[slow_set_number(cache.config->indexing, indexed / cache.config->line, cache.sets.size())];
}

Tick SlowMachine::memory_arrives(const std::string& name, const Request& request) {
    for (std::size_t i = 0; i < machine_.memories.size(); ++i) {
        if (machine_.memories[i].name != name) continue;
        MemoryCounts& counts = counts_.memories[i];
        switch (request.kind) {
            case EventKind::store:
            case EventKind::write_back: ++counts.writes; break;
            case EventKind::page_walk: ++counts.page_walks; break;
            case EventKind::ring_write: ++counts.ring_writes; break;
            default: ++counts.reads; break;
        }
        return bank_begins(i, request) + machine_.memories[i].latency * machine_.period;
    }
    throw std::logic_error("no component " + name);
}

Answer SlowMachine::arrive(const std::string& above, unsigned above_copy, const std::string& name,
                           const Request& arriving) {
    Request told = arriving;
    told.over = {above + "-" + name, above_copy};
    notify(told.over->first, above_copy, told);
    SlowCache* upper = cache_copy(above, above_copy);
    return upper != nullptr ? arrive_in_time(*upper, name, told) : arrive_now(name, told);
}

/// From a cache by its blocks, else by 8 bytes.
Answer SlowMachine::numa_arrives(const Request& request) {
    const std::string above = request.over->first.substr(0, request.over->first.find('-'));
    std::uint64_t bytes = 8;
    for (const CacheConfig& cache : machine_.caches)
        if (cache.name == above) bytes = block_bytes(cache);
    return {leave_node(node_of_link(above, "numa", request.over->second), bytes, request), false};
}

Answer SlowMachine::arrive_now(const std::string& name, const Request& arriving) {
    SlowCache* cache = cache_of(name, arriving.core);
    const bool is_victim = arriving.kind == EventKind::write_back || arriving.kind == EventKind::clean_victim ||
                           arriving.kind == EventKind::ring_write;
    if (cache == nullptr && name == "numa") return numa_arrives(arriving);
    if (cache == nullptr) return {memory_arrives(name, arriving), false};
    if (!is_victim) return request(*cache, arriving);
    victim_arrives(*cache, arriving);
    return {};
}

Answer SlowMachine::send_down(SlowCache& cache, const Request& request) {
    return arrive(cache.config->name, cache.copy, cache.config->next, request);
}

bool SlowMachine::below_takes_clean_victims(const SlowCache& cache) const {
    return std::any_of(machine_.caches.begin(), machine_.caches.end(), [&](const CacheConfig& other) {
        return other.name == cache.config->next && filled_by_victims(other);
    });
}

Answer SlowMachine::request(SlowCache& cache, const Request& arrived) {
    const CacheConfig& config = *cache.config;
    Request request = arrived;
    if (request.kind == EventKind::store) request.time = own(cache, request, false);
    SlowSet& set = set_of(cache, request.address, request.virtual_address);
    SlowWay* way = set.find(line_start(cache, request.address));
    const Address block = block_start(cache, request.address);
    SlowSector* sector = sector_of(way, block);
    count_request(counts_of(cache), request.kind, sector == nullptr);
    Request looked_up = request;
    looked_up.time += config.latency * machine_.period;
    Answer answer{looked_up.time, false};
    bool first_hit_on_prefetched = false;
    const bool missed = sector == nullptr;
    const bool is_store = request.kind == EventKind::store;
    if (way != nullptr && (!is_store || config.store_hit_refreshes)) set.use(*way);
    if (missed) {
        answer = miss(cache, looked_up);
    } else {
        if (is_demand(request.kind) && sector->prefetched) {
            first_hit_on_prefetched = true;
            sector->prefetched = false;
            ++counts_of(cache).prefetch_hits;
        }
        if (is_store && config.write == WritePolicy::write_back) sector->dirty = true;
        if (is_store && config.write == WritePolicy::write_through) {
            answer.time = send_down(cache, down(looked_up, EventKind::store, block)).time;
        } else if (!is_store && config.inclusion == Inclusion::exclusive) {
            answer.dirty = sector->dirty;
            way->valid = false;
        }
    }
    if (is_demand(request.kind)) prefetch(cache, looked_up, missed, first_hit_on_prefetched);
    return answer;
}

/// What comes from below this level, and whether what goes up is dirty. The request was looked up already.
Answer SlowMachine::miss(SlowCache& cache, const Request& request) {
    const CacheConfig& config = *cache.config;
    const Address block = block_start(cache, request.address);
    const bool is_store = request.kind == EventKind::store;
    if (is_store && (!config.write_allocate || filled_by_victims(config))) {
        return {send_down(cache, down(request, EventKind::store, block)).time, false};
    }
    if (filled_by_victims(config)) {
        Request passed = down(request, request.kind, block);
        passed.for_store = request.for_store;
        return send_down(cache, passed);
    }
    Answer answer{fetch_block(cache, request, false).time, false};
    if (is_store && config.write == WritePolicy::write_through) {
        answer.time = std::max(answer.time, send_down(cache, down(request, EventKind::store, block)).time);
    }
    return answer;
}

/// Requests the block from below and inserts it, in the order that the level is configured for.
Answer SlowMachine::fetch_block(SlowCache& cache, const Request& request, bool prefetched) {
    const CacheConfig& config = *cache.config;
    const Address block = block_start(cache, request.address), line = line_start(cache, request.address);
    const bool writes = request.kind == EventKind::store || request.kind == EventKind::write_back ||
                        request.kind == EventKind::ring_write;
    Request asked = down(request, writes ? EventKind::load : request.kind, block);
    asked.for_store = request.kind == EventKind::store || (request.for_store && !prefetched && !writes);
    SlowSet& set = set_of(cache, line, {});
    if (config.write_back_first && set.find(line) == nullptr && !set.has_room())
        asked.time = make_room(cache, down(request, request.kind, line));
    moving_.push_back({block, false});
    Answer below = send_down(cache, asked);
    const bool dirty = below.dirty || (writes && config.write == WritePolicy::write_back);
    moving_.back().dirty = dirty;
    below.time = std::max(below.time, insert(cache, block, dirty, prefetched, request));
    moving_.pop_back();
    notify_below(cache, EventKind::fill, block, request);
    return below;
}

/// A line leaves the set that the cause's address belongs to. Returns when it has left.
Tick SlowMachine::make_room(SlowCache& cache, const Request& cause) {
    SlowWay& way = set_of(cache, cause.address, {}).victim(cache.random);
    const SlowWay victim = way;
    way.valid = false;
    if (!victim.valid) return cause.time;
    const Tick gone = send_away(cache, victim, cause);
    left(cache, victim.block, cause);
    return gone;
}

Tick SlowMachine::send_away(SlowCache& cache, const SlowWay& victim, const Request& cause) {
    const Address line = victim.block;
    std::vector<Address> dirty;
    ++counts_of(cache).evictions;
    notify_below(cache, EventKind::eviction, line, cause, line_start(cache, cause.address));
    const unsigned bytes = block_bytes(*cache.config);
    for (Address block = line; block < line + cache.config->line; block += bytes) {
        const auto here = victim.sectors.find(block);
        bool is_dirty = here != victim.sectors.end() && here->second.dirty;
        if (cache.config->inclusion == Inclusion::inclusive && take_away_above(cache, block, bytes, cause))
            is_dirty = true;
        if (is_dirty) dirty.push_back(block);
    }
    if (cache.config->inclusion == Inclusion::inclusive && !in_node(cache)) taken(line, cache.config->line);
    Tick all_left = cause.time;
    for (const Address block : dirty) {
        if (!cache.config->write_back_traffic) break;
        ++counts_of(cache).writebacks_out;
        all_left = std::max(all_left, send_down(cache, down(cause, EventKind::write_back, block)).time);
    }
    if (!dirty.empty()) return all_left;
    if (below_takes_clean_victims(cache)) {
        return send_down(cache, down(cause, EventKind::clean_victim, line)).time;
    }
    return cause.time;
}

/// Returns when a line that had to make room has left.
Tick SlowMachine::insert(SlowCache& cache, Address block, bool dirty, bool prefetched, const Request& cause) {
    const Address line = line_start(cache, block);
    SlowSet& set = set_of(cache, line, {});
    Tick left_at = cause.time;
    if (SlowWay* way = set.find(line)) {  // the line is here, but not this sector of it
        way->sectors[block] = {dirty, prefetched};
        return left_at;
    }
    if (!set.has_room()) left_at = make_room(cache, down(cause, cause.kind, line));
    SlowWay& way = set.insert(line, cache.duel);
    way.sectors[block] = {dirty, prefetched};
    inserted(cache, line, dirty);
    return left_at;
}

bool SlowMachine::take_away_above(SlowCache& cache, Address line, std::uint64_t bytes, const Request& cause) {
    bool dirty = false;
    for (SlowCache& above : caches_) {
        if (above.config->next != cache.config->name) continue;
        const unsigned cores_per_copy = above.config->shared_by != 0 ? above.config->shared_by : machine_.cores;
        if (cache_of(cache.config->name, above.copy * cores_per_copy) != &cache) continue;
        if (back_invalidate(above, line, bytes, cause)) dirty = true;
    }
    return dirty;
}

bool SlowMachine::back_invalidate(SlowCache& cache, Address first, std::uint64_t bytes, const Request& cause) {
    bool dirty = take_away_above(cache, first, bytes, cause);
    for (Address line = first; line < first + bytes; line += cache.config->line) {
        SlowWay* way = set_of(cache, line, {}).find(line);
        if (way == nullptr) continue;
        for (const auto& [block, sector] : way->sectors) dirty = dirty || sector.dirty;
        way->valid = false;
        ++counts_of(cache).invalidations;
        notify_below(cache, EventKind::invalidate, line, cause);
    }
    return dirty;
}

void SlowMachine::victim_arrives(SlowCache& cache, const Request& arrived) {
    const Address line = block_start(cache, arrived.address);
    const bool record = arrived.kind == EventKind::ring_write;
    Request request = arrived;
    if (record) request.time = own(cache, request, true);
    moving_.push_back({line, request.kind != EventKind::clean_victim});
    take_victim(cache, line, request);
    moving_.pop_back();
    if (record) left(cache, line, request);
}

void SlowMachine::take_victim(SlowCache& cache, Address block, const Request& request) {
    const CacheConfig& config = *cache.config;
    SlowSet& set = set_of(cache, line_start(cache, block), {});
    SlowWay* way = set.find(line_start(cache, block));
    SlowSector* sector = sector_of(way, block);
    count_request(counts_of(cache), request.kind, sector == nullptr);
    const bool clean = request.kind == EventKind::clean_victim;
    const bool write_through = config.write == WritePolicy::write_through;
    if (way != nullptr && (clean || config.write_back_refreshes)) set.use(*way);
    if (sector != nullptr) {
        if (!clean && !write_through) sector->dirty = true;
    } else if (clean) {
        insert(cache, block, false, false, request);
    } else if (config.write_back_miss == WriteBackMiss::allocate) {
        insert(cache, block, !write_through, false, request);
    } else if (config.write_back_miss == WriteBackMiss::fetch) {
        fetch_block(cache, request, false);
    }
    const bool bypassed = !clean && sector == nullptr && config.write_back_miss == WriteBackMiss::bypass;
    if (bypassed || (!clean && write_through)) send_down(cache, down(request, request.kind, block));
}

void SlowMachine::prefetch(SlowCache& cache, const Request& demand, bool missed, bool first_hit_on_prefetched) {
    const auto wanted = cache.prefetcher.after(demand.address, demand.site, missed || first_hit_on_prefetched);
    for (const Address address : wanted) {
        const Address line = line_start(cache, address), block = block_start(cache, address);
        if (sector_of(set_of(cache, line, {}).find(line), block) != nullptr) continue;
        ++counts_of(cache).prefetches_issued;
        fetch_block(cache, down(demand, EventKind::prefetch, block), true);
    }
}

}  // namespace cachetally::differential
