// SPDX-License-Identifier: BSD-3-Clause
// Counts in HDF5: a column per counter over the phases, totals as attributes.
#include "sim/engine/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.hpp"
#include "sim/topology/validate.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

using Column = std::vector<std::uint64_t>;

void write_phase_axis(Group& group, std::size_t phases) {
    std::vector<std::uint32_t> numbers(phases);
    for (std::size_t i = 0; i < phases; ++i) numbers[i] = static_cast<std::uint32_t>(i);
    group.write("phase", numbers).set_attribute("long_name", "phase");
}

/// One group per component.
template <class Counts>
void write_components(Group& root, const std::string& name, const std::vector<std::string>& components,
                      const RunResult& run, std::vector<Counts> HierarchyCounts::*member) {
    if (components.empty()) return;
    Group all = root.create_group(name);
    all.set_attribute("names", components);
    set_nexus_class(all, "NXcollection", components.front());
    std::vector<std::string> names;
    for (const Counter<Counts>& counter : counters<Counts>()) names.emplace_back(counter.name);
    for (std::size_t i = 0; i < components.size(); ++i) {
        Group group = all.create_group(components[i]);
        write_phase_axis(group, run.phases.size());
        for (const Counter<Counts>& counter : counters<Counts>()) {
            Column column;
            for (const PhaseResult& phase : run.phases) column.push_back((phase.counts.*member)[i].*counter.value);
            Dataset dataset = group.write(counter.name, column);
            dataset.set_attribute("total", (run.counts.*member)[i].*counter.value);
            dataset.set_attribute("description", counter.meaning);
            if (*counter.unit != '\0') dataset.set_attribute("units", counter.unit);
        }
        set_axes(group, names.front(), {"phase"}, {names.begin() + 1, names.end()});
    }
}

Column read_column(const Group& group, const std::string& name, std::size_t rows) {
    Column column = group.read<std::uint64_t>(name);
    if (column.size() != rows)
        throw StorageError(fmt::format("{}: the column '{}' has {} rows for {} phases; the file is damaged",
                                       group.where(), name, column.size(), rows));
    return column;
}

template <class Counts>
void read_components(const Group& root, const std::string& name, std::vector<std::string>& components, RunResult& run,
                     std::vector<Counts> HierarchyCounts::*member) {
    if (!root.has(name)) return;
    const Group all = root.open_group(name);
    components = all.texts_attribute("names");
    (run.counts.*member).resize(components.size());
    for (PhaseResult& phase : run.phases) (phase.counts.*member).resize(components.size());
    for (std::size_t i = 0; i < components.size(); ++i) {
        const Group group = all.open_group(components[i]);
        for (const Counter<Counts>& counter : counters<Counts>()) {
            const Column column = read_column(group, counter.name, run.phases.size());
            for (std::size_t phase = 0; phase < column.size(); ++phase)
                (run.phases[phase].counts.*member)[i].*counter.value = column[phase];
            (run.counts.*member)[i].*counter.value = group.open_dataset(counter.name).whole_attribute("total");
        }
    }
}

void write_phases(Group& root, const StoredRun& stored) {
    Group group = root.create_group("phases");
    Column references, cycles, begin, end, walks, hits;
    std::vector<std::string> names;
    for (const PhaseResult& phase : stored.run.phases) {
        names.push_back(phase.name);
        references.push_back(phase.counts.references);
        cycles.push_back((phase.end - phase.begin) / stored.period);
        begin.push_back(phase.begin);
        end.push_back(phase.end);
        walks.push_back(phase.counts.page_walks);
    }
    for (const Tick time : stored.hit_times) hits.push_back(time / stored.period);
    write_phase_axis(group, names.size());
    group.write_texts("name", names).set_attribute("description", "by the program; empty: no name");
    group.write("references", references);
    group.write("cycles", cycles).set_attribute("units", "cycles");
    group.write("begin", begin).set_attribute("units", "ps");
    group.write("end", end).set_attribute("units", "ps");
    group.write("page_walks", walks);
    if (!hits.empty()) group.write("hit_cycles", hits).set_attribute("units", "cycles");
    set_axes(group, "cycles", {"phase"}, {"references", "begin", "end", "page_walks"});
}

void read_phases(const Group& root, StoredRun& stored) {
    const Group group = root.open_group("phases");
    const std::size_t phases = group.open_dataset("phase").rows();
    const Column references = read_column(group, "references", phases), begin = read_column(group, "begin", phases),
                 end = read_column(group, "end", phases), walks = read_column(group, "page_walks", phases);
    std::vector<std::string> names = read_phase_names(group);
    names.resize(phases);
    for (std::size_t i = 0; i < phases; ++i) {
        if (begin[i] > end[i])
            throw StorageError(
                fmt::format("{}: phase {} ends before it begins; the file is damaged", group.where(), i));
        PhaseResult& phase = stored.run.phases.emplace_back();
        phase.begin = begin[i];
        phase.end = end[i];
        phase.counts.references = references[i];
        phase.counts.page_walks = walks[i];
        phase.name = std::move(names[i]);
    }
    if (!group.has("hit_cycles")) return;
    for (const std::uint64_t cycles : read_column(group, "hit_cycles", phases))
        stored.hit_times.push_back(cycles * stored.period);
}

}  // namespace

ComponentNames component_names(const MachineDescription& machine) {
    ComponentNames names;
    for (const CacheConfig& cache : machine.caches) names.levels.push_back(cache.name);
    for (const TlbConfig& tlb : machine.tlbs) names.tlbs.push_back(tlb.name);
    for (const MemoryConfig& memory : machine.memories) names.memories.push_back(memory.name);
    if (machine.has_link_timing())
        for (const CacheConfig& cache : machine.caches) names.buses.push_back(cache.name + "-" + cache.next);
    if (machine.has_link_timing() && machine.has_nodes()) names.buses.emplace_back("numa-interconnect");
    if (machine.has_nodes()) names.numa = names.memories;
    if (machine.coherence.protocol != Protocol::none) names.coherence.push_back(coherent_part(machine).point);
    return names;
}

void write_run(Group& root, const StoredRun& stored) {
    const auto& [names, period, run, hit_times] = stored;
    {
        Group group = root.create_group("run");
        set_nexus_class(group, "NXcollection");
        group.set_attribute("references", run.counts.references);
        group.set_attribute("page_walks", run.counts.page_walks);
        group.set_attribute("cycles", run.end() / period);
        if (!hit_times.empty()) group.set_attribute("hit_cycles", stored.hit_time() / period);
        group.set_attribute("period", period);
        if (run.core_ends.size() > 1) group.set_attribute("quantum", run.quantum);
        group.write("core_end", std::vector<std::uint64_t>(run.core_ends)).set_attribute("units", "ps");
        number_rows(group, "core", run.core_ends.size());
    }
    write_phases(root, stored);
    write_components(root, "levels", names.levels, run, &HierarchyCounts::caches);
    write_components(root, "tlbs", names.tlbs, run, &HierarchyCounts::tlbs);
    write_components(root, "memories", names.memories, run, &HierarchyCounts::memories);
    write_components(root, "buses", names.buses, run, &HierarchyCounts::buses);
    write_components(root, "coherence", names.coherence, run, &HierarchyCounts::coherence);
    write_components(root, "numa", names.numa, run, &HierarchyCounts::numa);
}

StoredRun read_run(const Group& root) {
    StoredRun stored;
    const Group group = root.open_group("run");
    stored.period = group.whole_attribute("period");
    if (stored.period == 0)
        throw StorageError(fmt::format("{}: a cycle of 0 ps cannot be; the file is damaged", group.where()));
    stored.run.counts.references = group.whole_attribute("references");
    stored.run.counts.page_walks = group.whole_attribute("page_walks");
    if (group.has_attribute("quantum")) stored.run.quantum = group.whole_attribute("quantum");
    stored.run.core_ends = group.read<std::uint64_t>("core_end");
    for (std::size_t core = 0; core < stored.run.core_ends.size(); ++core)
        if (stored.run.core_ends[core] < core)
            throw StorageError(
                fmt::format("{}: core {} ends before it begins; the file is damaged", group.where(), core));
    read_phases(root, stored);
    read_components(root, "levels", stored.names.levels, stored.run, &HierarchyCounts::caches);
    read_components(root, "tlbs", stored.names.tlbs, stored.run, &HierarchyCounts::tlbs);
    read_components(root, "memories", stored.names.memories, stored.run, &HierarchyCounts::memories);
    read_components(root, "buses", stored.names.buses, stored.run, &HierarchyCounts::buses);
    read_components(root, "coherence", stored.names.coherence, stored.run, &HierarchyCounts::coherence);
    read_components(root, "numa", stored.names.numa, stored.run, &HierarchyCounts::numa);
    return stored;
}

std::vector<std::string> read_phase_names(const Group& phases) {
    const Dataset dataset = phases.open_dataset("name");
    std::vector<std::string> names = dataset.read_texts();
    if (dataset.has_attribute("description")) return names;
    for (std::size_t i = 0; i < names.size(); ++i)  // an older file: phases without names have their numbers
        if (names[i] == fmt::format("phase {}", i)) names[i].clear();
    return names;
}

std::vector<std::uint32_t> phases_named(std::string_view name, const std::vector<std::string>& names) {
    std::vector<std::uint32_t> found;
    std::vector<std::string_view> known;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
        if (names[i].empty()) continue;
        if (names[i] == name) found.push_back(i);
        if (std::ranges::find(known, names[i]) == known.end()) known.push_back(names[i]);
    }
    if (!found.empty()) return found;
    constexpr std::size_t most_listed = 12;
    throw std::invalid_argument(
        fmt::format("there is no phase '{}'{}", shown(name),
                    known.empty() ? "; phases have no names here, only numbers" : advice(name, known, most_listed)));
}

}  // namespace cachetally
