// SPDX-License-Identifier: BSD-3-Clause
// Time on links and in memory banks, from docs/timing.md.
#include <algorithm>

#include "tests/differential/slow_machine.hpp"

namespace cachetally::differential {
namespace {

/// The place that is free first; null where there are any number of places.
Tick* first_free(std::vector<Tick>& places) {
    return places.empty() ? nullptr : &*std::min_element(places.begin(), places.end());
}

}  // namespace

SlowCache* SlowMachine::cache_copy(const std::string& name, unsigned copy) {
    for (SlowCache& cache : caches_)
        if (cache.config->name == name && cache.copy == copy) return &cache;
    return nullptr;
}

SlowBus& SlowMachine::bus_of(const SlowCache& cache) {
    return buses_[{cache.index, cache.config->bus.shared ? 0 : cache.copy}];
}

/// Begin and end.
std::pair<Tick, Tick> SlowMachine::carry(SlowBus& bus, const BusConfig& config, Tick time, std::uint64_t bytes) {
    ++bus.counts.transfers;
    bus.counts.bytes += bytes;
    if (config.bytes_per_cycle == 0) return {time, time};
    Tick cycles = bytes / config.bytes_per_cycle;
    if (bytes % config.bytes_per_cycle != 0) ++cycles;
    Tick begin = time;
    while (begin < bus.free) begin += machine_.period;
    bus.free = begin + cycles * machine_.period;
    bus.counts.busy += cycles * machine_.period;
    bus.counts.waited += begin - time;
    return {begin, bus.free};
}

Answer SlowMachine::arrive_in_time(SlowCache& above, const std::string& name, Request request) {
    const CacheConfig& config = *above.config;
    const Tick travel = config.bus.latency * machine_.period;
    const bool goes_down = request.kind == EventKind::store || request.kind == EventKind::write_back ||
                           request.kind == EventKind::clean_victim || request.kind == EventKind::ring_write;
    Tick* const place = first_free(goes_down ? above.write_buffer : above.misses);
    Tick entered = request.time;
    while (place != nullptr && entered < *place) entered += machine_.period;
    if (goes_down) {
        const Tick sent =
            carry(bus_of(above), config.bus, entered, request.kind == EventKind::store ? 8 : block_bytes(config))
                .second;
        if (place != nullptr) *place = sent;
        request.time = sent + travel;
        arrive_now(name, request);
        return {entered, false};
    }
    request.time = entered + travel;
    const auto supplied = cross(above, request);
    Answer answer = supplied ? *supplied : arrive_now(name, request);
    answer.time = carry(bus_of(above), config.bus, answer.time, block_bytes(config)).second;
    if (place != nullptr) *place = answer.time;
    return answer;
}

/// A record enters the component below its link. It shares the bus of the link, not the cache's write buffer.
void SlowMachine::write_into(const std::string& below, Request record, const std::string& above, unsigned copy) {
    if (SlowCache* cache = cache_copy(above, copy))
        record.time = carry(bus_of(*cache), cache->config->bus, record.time, 16).second +
                      cache->config->bus.latency * machine_.period;
    arrive_now(below, record);
}

/// Over each bus that lies on the way.
void SlowMachine::write_past_caches(const Request& record, const std::string& above, const std::string& below,
                                    unsigned copy) {
    Request travelling = record;
    SlowCache* first = cache_copy(above, copy);
    if (above == "core" || above == "walker") first = cache_of(below, copy);
    for (SlowCache* cache = first; cache != nullptr;
         cache = cache_of(cache->config->next,
                          cache->copy * (cache->config->shared_by != 0 ? cache->config->shared_by : machine_.cores)))
        travelling.time = carry(bus_of(*cache), cache->config->bus, travelling.time, 16).second +
                          cache->config->bus.latency * machine_.period;
    if (machine_.has_nodes()) return record_leaves_node(node_of_link(above, below, copy), travelling);
    memory_arrives(machine_.memories.front().name, travelling);
}

/// Who is no event on a link makes no conflict there.
Tick SlowMachine::bank_begins(std::size_t memory, const Request& request) {
    const MemoryConfig& config = machine_.memories[memory];
    if (config.bank_busy == 0) return request.time;
    Tick& free = bank_free_[{memory, request.address / config.interleave % config.banks}];
    if (request.over && free > request.time) {
        Request conflict = request;
        conflict.kind = EventKind::bank_conflict;
        notify(request.over->first, request.over->second, conflict);
    }
    Tick begin = request.time;
    while (begin < free) begin += machine_.period;
    free = begin + config.bank_busy * machine_.period;
    return begin;
}

/// Buses are counted where anything takes time of its own.
HierarchyCounts SlowMachine::counts() const {
    HierarchyCounts counts = counts_;
    if (!machine_.has_link_timing()) return counts;
    counts.buses.resize(machine_.caches.size());
    if (machine_.has_nodes()) counts.buses.resize(machine_.caches.size() + 1);
    for (const auto& [node, bus] : interconnect_) counts.buses.back() = counts.buses.back() + bus.counts;
    for (const auto& [place, bus] : buses_) counts.buses[place.first] = counts.buses[place.first] + bus.counts;
    return counts;
}

}  // namespace cachetally::differential
