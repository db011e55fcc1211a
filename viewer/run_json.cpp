// SPDX-License-Identifier: BSD-3-Clause
// A run as JSON.
#include <cmath>
#include <string>
#include <utility>

#include "viewer/answer.hpp"
#include "viewer/attribution_text.hpp"
#include "viewer/cores_text.hpp"
#include "viewer/remedy.hpp"
#include "viewer/reuse_text.hpp"
#include "viewer/run_view.hpp"
#include "viewer/sharing_text.hpp"

namespace cachetally {
namespace {

using Json = nlohmann::ordered_json;

/// An object of counts per component.
template <class Counts>
Json counts_of(const std::vector<std::string>& components, const std::vector<Counts>& counts) {
    Json all = Json::object();
    for (std::size_t i = 0; i < components.size(); ++i)
        for (const auto& [name, value] : named(counts[i])) all[components[i]][name] = value;
    return all;
}

Json buses_of(const StoredRun& run, const HierarchyCounts& counts) {
    Json buses = Json::object();
    for (std::size_t i = 0; i < run.names.buses.size(); ++i) {
        const BusCounts& bus = counts.buses[i];
        buses[run.names.buses[i]] = {{"transfers", bus.transfers},
                                     {"bytes", bus.bytes},
                                     {"busy_cycles", bus.busy / run.period},
                                     {"waited_cycles", bus.waited / run.period}};
    }
    return buses;
}

/// A key that is not there yet: names of monitors and data structures may repeat.
std::string free_key(const Json& object, const std::string& name) {
    std::string key = name;
    for (unsigned number = 2; object.contains(key); ++number) key = name + "#" + std::to_string(number);
    return key;
}

Json phases_of(const MonitorSummary& monitor) {
    Json phases = Json::array();
    for (std::size_t i = 0; i < monitor.events_per_phase.size(); ++i)
        phases.push_back({{"events", monitor.events_per_phase[i]}, {"swapouts", monitor.swapouts_per_phase[i]}});
    return phases;
}

Json listeners_of(const RunView& view) {
    Json all = Json::array();
    for (const auto& [name, link, spec, table] : view.listeners) {
        Json units = Json::object(), rows = Json::array();
        for (const ListenerTable::Column& column : table.columns) units[column.name] = column.unit;
        for (const ListenerTable::Row& row : table.rows) {
            Json& json = rows.emplace_back(Json{{table.columns.front().name, row.label}});
            for (std::size_t i = 0; i < row.numbers.size(); ++i) json[table.columns.at(i + 1).name] = row.numbers[i];
        }
        all.push_back({{"name", name}, {"link", link}, {"spec", spec}, {"units", units}, {"rows", rows}});
    }
    return all;
}

Json monitors_of(const RunView& view) {
    Json monitors = Json::object();
    for (const MonitorSummary& monitor : view.monitors) {
        Json& json = monitors[free_key(monitors, monitor.name)];
        json = {{"link", monitor.link},
                {"spec", monitor.spec},
                {"events", monitor.events},
                {"swapouts", monitor.swapouts},
                {"lost", monitor.lost},
                {"lost_records", monitor.lost_records},
                {"resident", monitor.resident},
                {"resident_counters", monitor.resident_counters},
                {"error", monitor.error ? Json(*monitor.error) : Json(nullptr)},
                {"bytes_per_event", monitor.bytes_per_event()},
                {"ring_capacity", monitor.ring_capacity},
                {"ring_high_water", monitor.ring_high_water},
                {"stall_cycles", monitor.stall_cycles},
                {"phases", phases_of(monitor)}};
        if (monitor.events_per_function.empty()) continue;
        Json& functions = json["functions"] = Json::object();
        for (const auto& [index, events] : monitor.events_per_function)
            functions[free_key(functions, view.function(index))] = events;
    }
    return monitors;
}

/// Whole numbers stay whole.
Json number(double value) {
    if (value == std::floor(value) && value < 9e15) return static_cast<std::uint64_t>(value);
    return value;
}

Json to_json(const Tally& tally) {
    return {{"accesses", number(tally.accesses)},
            {"misses", number(tally.misses)},
            {"hits", number(tally.hits())},
            {"miss_rate", tally.miss_rate()}};
}

std::vector<std::string> structure_keys(const StructureTable& table) {
    std::vector<std::string> keys;
    Json taken = Json::object();
    for (const Region& region : table.regions) {
        keys.push_back(free_key(taken, region.name));
        taken[keys.back()] = true;
    }
    keys.push_back(free_key(taken, "(elsewhere)"));
    return keys;
}

Json structures_of(const StructureTable& table, const std::vector<std::string>& keys) {
    Json structures = Json::object();
    for (std::size_t i = 0; i < table.regions.size(); ++i)
        structures[keys[i]] = {
            {"base", table.regions[i].base}, {"bytes", table.regions[i].bytes}, {"levels", Json::object()}};
    for (std::size_t level = 0; level < table.levels.size(); ++level) {
        const std::vector<Tally> totals = table.totals(level);
        for (std::size_t i = 0; i < totals.size(); ++i)
            if (i < table.regions.size() || totals[i] != Tally{})
                structures[keys[i]]["levels"][table.levels[level].name] = to_json(totals[i]);
    }
    return structures;
}

Json causes_of(const RunView& view, const std::vector<std::string>& keys) {
    Json causes = Json::object();
    for (const LevelCauses& level : view.causes) {
        Json& json = causes[level.level] = {{"misses", Json::array()}, {"evictions", Json::array()}};
        for (const StructureCauses& row : level.misses) {
            Json misses = {{"structure", keys[row.structure]}, {"phase", row.phase}};
            if (level.by_core) misses["core"] = row.core;
            for (unsigned cause = 0; cause < miss_cause_count; ++cause)
                misses[to_string(static_cast<MissCause>(cause))] = row.misses[cause];
            json["misses"].push_back(std::move(misses));
        }
        for (const Evictions& row : level.evictions)
            json["evictions"].push_back(
                {{"by", keys[row.by]}, {"victim", keys[row.victim]}, {"phase", row.phase}, {"count", row.count}});
    }
    return causes;
}

Json phases_of(const RunView& view, const std::vector<std::string>& keys) {
    Json phases = Json::array();
    for (const PhaseResult& phase : view.counts.run.phases)
        phases.push_back({{"name", phase.name},
                          {"references", phase.counts.references},
                          {"cycles", (phase.end - phase.begin) / view.counts.period},
                          {"page_walks", phase.counts.page_walks},
                          {"levels", counts_of(view.counts.names.levels, phase.counts.caches)},
                          {"tlbs", counts_of(view.counts.names.tlbs, phase.counts.tlbs)},
                          {"memories", counts_of(view.counts.names.memories, phase.counts.memories)},
                          {"buses", buses_of(view.counts, phase.counts)},
                          {"structures", Json::object()}});
    for (std::size_t i = 0; i < view.counts.hit_times.size(); ++i)
        phases[i]["hit_cycles"] = view.counts.hit_times[i] / view.counts.period;
    for (std::size_t i = 0; i < phases.size() && !view.counts.names.coherence.empty(); ++i)
        phases[i]["coherence"] = counts_of(view.counts.names.coherence, view.counts.run.phases[i].counts.coherence);
    for (std::size_t i = 0; i < phases.size() && !view.counts.names.numa.empty(); ++i)
        phases[i]["numa"] = counts_of(view.counts.names.numa, view.counts.run.phases[i].counts.numa);
    for (const StructureTable::Level& level : view.structures.levels)
        for (const StructureTally& row : level.tallies)
            if (row.phase < phases.size())
                phases[row.phase]["structures"][keys[row.structure]][level.name] = to_json(row.tally);
    return phases;
}

}  // namespace

nlohmann::ordered_json RunTitle::json() const {
    Json result = {{"input", input}, {"settings", settings}, {"machine", machine}, {"complete", complete}};
    if (!complete) result["incomplete"] = incomplete;
    if (lines) result["text"] = {{"lines", lines->lines}, {"skipped", lines->skipped}};
    return result;
}

nlohmann::ordered_json to_json(const RunView& view) {
    const RunResult& run = view.counts.run;
    const ComponentNames& names = view.counts.names;
    const std::vector<std::string> keys = structure_keys(view.structures);
    Json exact = Json::object();
    for (const StructureTable::Level& level : view.structures.levels) exact[level.name] = level.exact;
    Json json = view.title.json();
    const std::string level = answered_level(view);
    json["answer"] = answer(view, level);
    if (std::string told = remedy(view, level); !told.empty()) json["remedy"] = std::move(told);
    if (!view.execution.empty()) json["execution"] = view.execution;
    json["references"] = run.counts.references;
    json["cycles"] = view.cycles();
    if (!view.counts.hit_times.empty()) json["hit_cycles"] = view.counts.hit_time() / view.counts.period;
    if (run.core_ends.size() > 1) json["quantum_ps"] = run.quantum;
    json["levels"] = counts_of(names.levels, run.counts.caches);
    json["tlbs"] = counts_of(names.tlbs, run.counts.tlbs);
    json["page_walks"] = run.counts.page_walks;
    json["memories"] = counts_of(names.memories, run.counts.memories);
    json["buses"] = buses_of(view.counts, run.counts);
    if (!names.coherence.empty()) json["coherence"] = counts_of(names.coherence, run.counts.coherence);
    if (!names.numa.empty()) json["numa"] = counts_of(names.numa, run.counts.numa);
    json["monitors"] = monitors_of(view);
    json["structures"] = structures_of(view.structures, keys);
    json["structures_exact"] = std::move(exact);
    json["phases"] = phases_of(view, keys);
    if (!view.causes.empty()) json["causes"] = causes_of(view, keys);
    if (!view.attribution.empty()) json["attribution"] = attribution_json(view.attribution);
    if (!view.sharing.empty()) json["sharing"] = sharing_json(view);
    if (!view.cores.empty()) json["cores"] = cores_json(view.cores, keys);
    if (!view.reuse.empty()) json["reuse"] = reuse_json(view.reuse);
    if (!view.listeners.empty()) json["listeners"] = listeners_of(view);
    if (view.check)
        json["check"] = {{"passed", view.check->passed},
                         {"meaning", view.check->meaning},
                         {"residual", view.check->residual},
                         {"bound", view.check->bound}};
    return json;
}

}  // namespace cachetally
