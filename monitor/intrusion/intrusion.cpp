// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/intrusion/intrusion.hpp"

#include <memory>

#include "monitor/exact_histogram.hpp"
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

bool feeds_back(const MonitorSpec& monitor, const MachineDescription& machine, unsigned streams) {
    const RingSpec& ring = monitor.ring;
    if (ring.path == RingSpec::Path::link) return true;
    const bool never_full = ring.drain != RingSpec::Drain::periodic && ring.drain_cost == 0;
    if (ring.overflow == RingSpec::Overflow::drop && !never_full) return true;
    const bool takes_time = !never_full || ring.write_cost != 0 || machine.has_link_timing();
    return streams > 1 && takes_time;
}

ObservedRun observe(const Topology& topology, const MonitorSpec* monitor, const HierarchyRun& run,
                    const ErrorMeasure& error) {
    Hierarchy hierarchy(topology);
    std::vector<std::unique_ptr<Monitor>> monitors;
    std::vector<std::unique_ptr<ExactHistogram>> exact;
    if (monitor != nullptr) {
        const MonitorSpec spec = completed(*monitor, topology);
        const std::size_t link = topology.link(spec.link);
        monitors = attach<Monitor>(hierarchy, link, [&](unsigned copy) {
            return std::make_unique<Monitor>(spec, copy, topology.machine().period);
        });
        if (error)
            exact = attach<ExactHistogram>(hierarchy, link,
                                           [&](unsigned) { return std::make_unique<ExactHistogram>(spec); });
    }
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
    if (!error) return observed;
    std::vector<Histogram> histograms;
    for (const auto& copy : exact) histograms.push_back(copy->finish());
    observed.error = error(hierarchy, merged(histograms), observed.monitor->histogram);
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

std::int64_t extra_cycles(const Topology& topology, const RunResult& without, const RunResult& with) {
    return difference(with.end(), without.end()) / static_cast<std::int64_t>(topology.machine().period);
}

std::optional<double> slowdown_of(const Topology& topology, const RunResult& without, const RunResult& with) {
    Intrusion intrusion;
    intrusion.cycles = extra_cycles(topology, without, with);
    return intrusion.slowdown(without.end() / topology.machine().period);
}

Intrusion intrusion_of(const Topology& topology, const MonitorSpec& spec, const ObservedRun& without,
                       const ObservedRun& with) {
    const Tick period = topology.machine().period;
    const MonitorResult& monitor = with.monitor.value();
    Intrusion intrusion;
    intrusion.cycles = extra_cycles(topology, without.run, with.run);
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
