// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/intrusion/intrusion.hpp"

#include <memory>

#include "monitor/spec_placement.hpp"

namespace cachetally {
namespace {

template <class Listener, class Make>
std::vector<std::unique_ptr<Listener>> attach(Hierarchy& hierarchy, std::size_t link, Make make) {
    std::vector<std::unique_ptr<Listener>> copies;
    for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
        copies.push_back(make(copy));
        hierarchy.listen(link, copy, *copies.back());
    }
    return copies;
}

std::int64_t difference(std::uint64_t with, std::uint64_t without) {
    return static_cast<std::int64_t>(with) - static_cast<std::int64_t>(without);
}

}  // namespace

ObservedRun observe(const Topology& topology, const MonitorSpec* monitor, const HierarchyRun& run) {
    Hierarchy hierarchy(topology);
    std::vector<std::unique_ptr<Monitor>> monitors;
    if (monitor != nullptr)
        monitors = attach<Monitor>(hierarchy, topology.link(monitor->link), [&](unsigned copy) {
            return std::make_unique<Monitor>(completed(*monitor, topology), copy, topology.machine().period);
        });
    std::vector<std::vector<std::unique_ptr<LinkTraffic>>> links;
    for (std::size_t link = 0; link < topology.links().size(); ++link)
        links.push_back(attach<LinkTraffic>(hierarchy, link, [](unsigned) { return std::make_unique<LinkTraffic>(); }));
    ObservedRun observed;
    observed.run = run(hierarchy);
    for (const auto& copies : links) {
        KindCounts& sum = observed.links.emplace_back();
        for (const auto& copy : copies)
            for (unsigned kind = 0; kind < event_kind_count; ++kind) sum[kind] += copy->counts()[kind];
    }
    if (monitor == nullptr) return observed;
    std::vector<MonitorResult> results;
    for (const auto& copy : monitors) {
        copy->finish();
        results.push_back(copy->result());
    }
    observed.monitor = merged(results);
    return observed;
}

std::vector<std::string> levels_that_miss(const MachineDescription& machine) {
    std::vector<std::string> names;
    for (const CacheConfig& cache : machine.caches) names.push_back(cache.name);
    for (const TlbConfig& tlb : machine.tlbs) names.push_back(tlb.name);
    return names;
}

std::vector<std::uint64_t> program_misses(const HierarchyCounts& counts) {
    std::vector<std::uint64_t> misses;
    for (const CacheCounts& cache : counts.caches)
        misses.push_back(cache.load_misses + cache.store_misses + cache.fetch_misses + cache.page_walk_misses);
    for (const TlbCounts& tlb : counts.tlbs) misses.push_back(tlb.misses);
    return misses;
}

Intrusion intrusion_of(const Topology& topology, const MonitorSpec& spec, const ObservedRun& without,
                       const ObservedRun& with) {
    const Tick period = topology.machine().period;
    const MonitorResult& monitor = with.monitor.value();
    Intrusion intrusion;
    intrusion.cycles = difference(with.run.end(), without.run.end()) / static_cast<std::int64_t>(period);
    intrusion.events = monitor.events;
    intrusion.records = monitor.swapouts - monitor.lost_records - monitor.resident_counters;
    intrusion.swapouts = monitor.swapouts;
    intrusion.bytes = monitor.bytes;
    intrusion.stall = monitor.stall / period;
    intrusion.lost = monitor.lost;
    intrusion.lost_records = monitor.lost_records;
    intrusion.ring_high_water = monitor.ring_high_water;
    const auto misses = program_misses(with.run.counts), before = program_misses(without.run.counts);
    for (std::size_t level = 0; level < misses.size(); ++level)
        intrusion.misses.push_back(difference(misses[level], before[level]));
    const auto traffic = traffic_of(topology, with.links, &spec, intrusion.records, with.run.counts.numa);
    const auto traffic_before = traffic_of(topology, without.links);
    for (std::size_t link = 0; link < traffic.size(); ++link)
        intrusion.traffic.push_back({difference(traffic[link].events, traffic_before[link].events),
                                     difference(traffic[link].bytes, traffic_before[link].bytes)});
    return intrusion;
}

}  // namespace cachetally
