#include "app/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cachetally::app {
namespace {

Json levels_of(const MachineDescription& machine, const HierarchyCounts& counts) {
    Json levels = Json::object();
    for (std::size_t i = 0; i < machine.caches.size(); ++i)
        for (const auto& [name, value] : named(counts.caches[i])) levels[machine.caches[i].name][name] = value;
    return levels;
}

Json tlbs_of(const MachineDescription& machine, const HierarchyCounts& counts) {
    Json tlbs = Json::object();
    for (std::size_t i = 0; i < machine.tlbs.size(); ++i)
        tlbs[machine.tlbs[i].name] = {{"accesses", counts.tlbs[i].accesses}, {"misses", counts.tlbs[i].misses}};
    return tlbs;
}

Json memories_of(const MachineDescription& machine, const HierarchyCounts& counts) {
    Json memories = Json::object();
    for (std::size_t i = 0; i < machine.memories.size(); ++i) {
        const MemoryCounts& memory = counts.memories[i];
        memories[machine.memories[i].name] = {{"reads", memory.reads},
                                              {"writes", memory.writes},
                                              {"page_walks", memory.page_walks},
                                              {"ring_writes", memory.ring_writes}};
    }
    return memories;
}

Json monitors_of(const Outcome& outcome, Tick period) {
    Json monitors = Json::object();
    for (const MonitorOutcome& monitor : outcome.monitors) {
        const MonitorResult& result = monitor.result;
        monitors[monitor.spec.label()] = {{"spec", to_string(monitor.spec)},
                                          {"events", result.events},
                                          {"swapouts", result.swapouts},
                                          {"lost", result.lost},
                                          {"resident", result.resident},
                                          {"error", monitor.error},
                                          {"bytes_per_event", result.bytes_per_event()},
                                          {"ring_high_water", result.ring_high_water},
                                          {"stall_cycles", result.stall / period}};
    }
    return monitors;
}

/// All demand accesses of a level, and those that missed.
struct Demand {
    explicit Demand(const CacheCounts& counts)
        : accesses(counts.loads + counts.stores + counts.fetches),
          misses(counts.load_misses + counts.store_misses + counts.fetch_misses) {}
    std::uint64_t accesses, misses;
};

double percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string level_table(const MachineDescription& machine, const HierarchyCounts& counts) {
    std::string text = fmt::format("{:<10} {:>14} {:>14} {:>8} {:>14} {:>14} {:>14}\n", "level", "accesses", "misses",
                                   "miss %", "stores", "write-backs in", "evictions");
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
        const CacheCounts& cache = counts.caches[i];
        const Demand demand(cache);
        text += fmt::format("{:<10} {:>14} {:>14} {:>8.3f} {:>14} {:>14} {:>14}\n", machine.caches[i].name,
                            demand.accesses, demand.misses, percent(demand.misses, demand.accesses), cache.stores,
                            cache.writebacks_in, cache.evictions);
    }
    for (std::size_t i = 0; i < machine.tlbs.size(); ++i)
        text += fmt::format("{:<10} {:>14} {:>14} {:>8.3f}\n", machine.tlbs[i].name, counts.tlbs[i].accesses,
                            counts.tlbs[i].misses, percent(counts.tlbs[i].misses, counts.tlbs[i].accesses));
    for (std::size_t i = 0; i < machine.memories.size(); ++i)
        text += fmt::format("{:<10} {:>14} reads {:>8} writes {:>8} page walks {:>8} monitor records\n",
                            machine.memories[i].name, counts.memories[i].reads, counts.memories[i].writes,
                            counts.memories[i].page_walks, counts.memories[i].ring_writes);
    return text;
}

std::string monitor_table(const Outcome& outcome) {
    std::string text =
        fmt::format("{:<16} {:>9} {:>11} {:>14} {:>14} {:>10} {:>10} {:>9} {:>11}\n", "monitor", "counters",
                    "granularity", "events", "swap-outs", "resident", "lost", "error %", "bytes/event");
    for (const MonitorOutcome& monitor : outcome.monitors)
        text += fmt::format("{:<16} {:>9} {:>11} {:>14} {:>14} {:>10} {:>10} {:>9.3f} {:>11.4f}\n",
                            monitor.spec.label(), monitor.spec.counters, to_string(monitor.spec.granularity),
                            monitor.result.events, monitor.result.swapouts, monitor.result.resident,
                            monitor.result.lost, 100 * monitor.error, monitor.result.bytes_per_event());
    return text;
}

std::string phase_table(const MachineDescription& machine, const RunResult& run) {
    std::string text = fmt::format("{:>5} {:>14} {:>14}", "phase", "references", "cycles");
    for (const CacheConfig& cache : machine.caches) text += fmt::format(" {:>14}", cache.name + " misses");
    text += '\n';
    for (std::size_t i = 0; i < run.phases.size(); ++i) {
        const PhaseResult& phase = run.phases[i];
        text +=
            fmt::format("{:>5} {:>14} {:>14}", i, phase.counts.references, (phase.end - phase.begin) / machine.period);
        for (const CacheCounts& cache : phase.counts.caches) text += fmt::format(" {:>14}", Demand(cache).misses);
        text += '\n';
    }
    return text;
}

}  // namespace

Json to_json(const Topology& topology, const Outcome& outcome) {
    const MachineDescription& machine = topology.machine();
    const RunResult& run = outcome.run;
    Json phases = Json::array();
    for (const PhaseResult& phase : run.phases)
        phases.push_back({{"references", phase.counts.references},
                          {"cycles", (phase.end - phase.begin) / machine.period},
                          {"levels", levels_of(machine, phase.counts)},
                          {"tlbs", tlbs_of(machine, phase.counts)}});
    Json json = {{"machine", machine.name},
                 {"complete", run.complete},
                 {"references", run.counts.references},
                 {"cycles", run.end() / machine.period},
                 {"levels", levels_of(machine, run.counts)},
                 {"tlbs", tlbs_of(machine, run.counts)},
                 {"page_walks", run.counts.page_walks},
                 {"memories", memories_of(machine, run.counts)},
                 {"monitors", monitors_of(outcome, machine.period)},
                 {"phases", phases}};
    if (!run.failure.empty()) json["failure"] = run.failure;
    return json;
}

std::string to_table(const Topology& topology, const Outcome& outcome) {
    const MachineDescription& machine = topology.machine();
    const RunResult& run = outcome.run;
    const std::uint64_t cycles = run.end() / machine.period;
    std::string text = fmt::format(
        "{} references on {}: {} cycles, {:.3f} per reference\n\n", run.counts.references, machine.name, cycles,
        run.counts.references == 0 ? 0.0 : static_cast<double>(cycles) / static_cast<double>(run.counts.references));
    text += level_table(machine, run.counts);
    if (!outcome.monitors.empty()) text += '\n' + monitor_table(outcome);
    if (run.phases.size() > 1) text += '\n' + phase_table(machine, run);
    return text;
}

}  // namespace cachetally::app
