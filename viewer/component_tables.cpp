// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/component_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
std::string memory_line(const std::string& name, const MemoryCounts& memory) {
    std::string text = fmt::format("{}: {}, {}", without_controls(name), counted(memory.reads, "read"),
                                   counted(memory.writes, "write"));
    if (memory.page_walks != 0) text += ", " + counted(memory.page_walks, "page walk read");
    if (memory.ring_writes != 0) text += ", " + counted(memory.ring_writes, "monitor record");
    return text + '\n';
}

std::string bus_table(const StoredRun& run, const HierarchyCounts& counts, const TextOptions& options) {
    if (run.names.buses.empty() || !options.level.empty()) return "";
    TextTable table({{"bus", to_left}, {"transfers"}, {"bytes"}, {"busy cycles"}, {"waited cycles"}});
    for (std::size_t i = 0; i < run.names.buses.size(); ++i) {
        const BusCounts& bus = counts.buses[i];
        table.add({run.names.buses[i], count_cell(bus.transfers), count_cell(bus.bytes),
                   count_cell(bus.busy / run.period), count_cell(bus.waited / run.period)});
    }
    return '\n' + table.text(options.width);
}

std::string coherence_table(const ComponentNames& names, const HierarchyCounts& counts, const TextOptions& options) {
    if (names.coherence.empty() || !options.level.empty()) return "";
    TextTable table({{"coherence at", to_left},
                     {"reads"},
                     {"exclusive"},
                     {"upgrades"},
                     {"supplied"},
                     {"wb"},
                     {"invalidated"},
                     {"downgraded"},
                     {"messages"}});
    for (std::size_t i = 0; i < names.coherence.size(); ++i) {
        const CoherenceCounts& nodes = counts.coherence[i];
        table.add({names.coherence[i], count_cell(nodes.reads), count_cell(nodes.exclusive_reads),
                   count_cell(nodes.upgrades), count_cell(nodes.supplies), count_cell(nodes.write_backs),
                   count_cell(nodes.invalidations), count_cell(nodes.downgrades), count_cell(nodes.messages)});
    }
    return '\n' + table.text(options.width);
}

/// Page walks and monitors' records have columns where there are any; the remote share is of the program's requests.
std::string numa_table(const ComponentNames& names, const HierarchyCounts& counts, const TextOptions& options) {
    if (names.numa.empty() || !options.level.empty()) return "";
    struct Requests {
        const char* name;
        std::uint64_t NumaCounts::*local;
        std::uint64_t NumaCounts::*remote;
        bool always = false;
    };
    std::vector<Requests> shown = {
        {"local reads", &NumaCounts::local_reads, &NumaCounts::remote_reads, true},
        {"local writes", &NumaCounts::local_writes, &NumaCounts::remote_writes, true},
        {"local walks", &NumaCounts::local_page_walks, &NumaCounts::remote_page_walks},
        {"local records", &NumaCounts::local_ring_writes, &NumaCounts::remote_ring_writes},
    };
    std::erase_if(shown, [&](const Requests& each) {
        return !each.always && std::ranges::all_of(counts.numa, [&](const NumaCounts& memory) {
            return memory.*each.local + memory.*each.remote == 0;
        });
    });
    std::vector<TextTable::Column> columns{{"memory", to_left}};
    for (const Requests& each : shown) {
        columns.push_back({each.name});
        columns.push_back({"remote", TextTable::Align::right, true});
    }
    columns.push_back({"remote %"});
    TextTable table(std::move(columns));
    for (std::size_t i = 0; i < names.numa.size(); ++i) {
        const NumaCounts& memory = counts.numa[i];
        std::vector<Cell> row{names.numa[i]};
        for (const Requests& each : shown) {
            row.push_back(count_cell(memory.*each.local));
            row.push_back(count_cell(memory.*each.remote));
        }
        const std::uint64_t remote = memory.remote_reads + memory.remote_writes;
        row.push_back(percent_text(remote, memory.local_reads + memory.local_writes + remote));
        table.add(std::move(row));
    }
    return '\n' + table.text(options.width);
}

std::string level_table(const ComponentNames& names, const HierarchyCounts& counts, const TextOptions& options) {
    TextTable table({{"level", to_left},
                     {"accesses"},
                     {"misses"},
                     {"miss %"},
                     {"stores"},
                     {"wb in"},
                     {"wb misses"},
                     {"wb out"},
                     {"evictions"}});
    for (std::size_t i = 0; i < names.levels.size(); ++i) {
        if (!wanted(names.levels[i], options.level)) continue;
        const CacheCounts& cache = counts.caches[i];
        const Demand demand(cache);
        table.add({names.levels[i], count_cell(demand.accesses), count_cell(demand.misses),
                   percent_text(demand.misses, demand.accesses), count_cell(cache.stores),
                   count_cell(cache.writebacks_in), count_cell(cache.writeback_misses),
                   count_cell(cache.writebacks_out), count_cell(cache.evictions)});
    }
    for (std::size_t i = 0; i < names.tlbs.size(); ++i)
        if (wanted(names.tlbs[i], options.level))
            table.add({names.tlbs[i], count_cell(counts.tlbs[i].accesses), count_cell(counts.tlbs[i].misses),
                       percent_text(counts.tlbs[i].misses, counts.tlbs[i].accesses)});
    std::string text = '\n' + table.text(options.width);
    for (std::size_t i = 0; i < names.memories.size(); ++i)
        if (options.level.empty()) text += memory_line(names.memories[i], counts.memories[i]);
    return text;
}

}  // namespace cachetally
