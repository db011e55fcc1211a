// Which histograms tell the accesses and misses of which level.
#include <algorithm>
#include <map>

#include "app/simulation.hpp"
#include "sim/topology/coherent_part.hpp"

namespace cachetally::app {
namespace {

constexpr std::uint32_t demand = bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);

/// Histograms of the links, exact or from monitors.
class Histograms {
public:
    Histograms(const Topology& topology, const Outcome& outcome) : topology_(topology), outcome_(outcome) {}

    /// Demand requests (those of `kinds`) on a link; null where they were not counted.
    const Histogram* find(std::size_t link, std::uint32_t kinds) {
        if (!outcome_.links.empty()) return from_exact(link, kinds);
        return kinds == demand ? from_monitors(topology_.links()[link].name) : nullptr;
    }

    /// Whether all that find() gave were exact.
    bool exact() const { return exact_; }
    void begin() { exact_ = true; }

private:
    const Histogram* from_exact(std::size_t link, std::uint32_t kinds) {
        const auto [place, fresh] = sums_.try_emplace({link, kinds});
        if (!fresh) return place->second.found;
        std::vector<const Histogram*> parts;
        for (const auto& [kind, histogram] : outcome_.links[link].kinds)
            if ((bit(kind) & kinds) != 0) parts.push_back(&histogram);
        place->second.found = parts.size() == 1 ? parts.front() : &place->second.sum;
        if (parts.size() > 1) place->second.sum = sum_of(parts);
        return place->second.found;
    }

    static Histogram sum_of(const std::vector<const Histogram*>& parts) {
        std::vector<HistogramRow> rows;
        for (const Histogram* part : parts) rows.insert(rows.end(), part->rows().begin(), part->rows().end());
        return {parts.front()->unit_bytes(), std::move(rows)};
    }

    /// That of a monitor that counted all demand requests, phase by phase, and lost none.
    const Histogram* from_monitors(const std::string& link) {
        const MonitorOutcome* best = nullptr;
        for (const MonitorOutcome& monitor : outcome_.monitors) {
            const MonitorSpec& spec = monitor.spec;
            const bool whole = spec.link == link && spec.kinds == demand && spec.ranges.empty() && spec.cores.empty() &&
                               spec.start && (spec.barriers || outcome_.run.phases.size() == 1);
            if (!whole || (monitor.result.lost != 0 && !monitor.exact)) continue;
            if (best == nullptr || better(monitor, *best)) best = &monitor;
        }
        if (best == nullptr) return nullptr;
        exact_ = exact_ && is_exact(*best);
        return best->exact ? &*best->exact : &best->result.histogram;
    }

    static bool is_exact(const MonitorOutcome& monitor) { return monitor.exact || error_known_zero(monitor.spec); }
    static bool better(const MonitorOutcome& a, const MonitorOutcome& b) {
        if (is_exact(a) != is_exact(b)) return is_exact(a);
        return a.spec.units_per_key() < b.spec.units_per_key();
    }

    const Topology& topology_;
    const Outcome& outcome_;
    struct Sum {
        const Histogram* found = nullptr;
        Histogram sum;
    };
    std::map<std::pair<std::size_t, std::uint32_t>, Sum> sums_;
    bool exact_ = true;
};

/// Requests below a level that are its misses: what a write-through level passes on is no miss.
std::uint32_t miss_kinds(const Topology& topology, const Component& component) {
    if (component.kind != Component::Kind::cache) return demand;
    const CacheConfig& cache = topology.machine().caches[component.index];
    return cache.write == WritePolicy::write_through ? demand & ~bit(EventKind::store) : demand;
}

/// A level of which no link tells what was asked of it, or what missed.
bool is_hidden(const Topology& topology, const Component& component) {
    if (component.kind != Component::Kind::cache) return false;
    const MachineDescription& machine = topology.machine();
    const CacheConfig& cache = machine.caches[component.index];
    // All stores go on, whether they missed or not, and no line is fetched for them.
    if (cache.write == WritePolicy::write_through && !cache.write_allocate) return true;
    // Lines are fetched for write-backs, too.
    const auto is_above = [&](const CacheConfig& other) { return other.next == cache.name; };
    if (cache.write_back_miss == WriteBackMiss::fetch && std::ranges::any_of(machine.caches, is_above)) return true;
    // What another node supplies has been asked for on the same links (docs/coherence.md).
    return machine.coherence.protocol != Protocol::none && coherent_part(machine).point == cache.name;
}

/// False where a histogram is missing.
bool collect(LevelInput& input, std::size_t component, const Topology& topology, Histograms& histograms) {
    const Component& level = topology.components()[component];
    if (is_hidden(topology, level)) return false;
    input.name = level.name;
    for (std::size_t id = 0; id < topology.links().size(); ++id) {
        const LinkInfo& link = topology.links()[id];
        const bool above = link.to == component, below = link.from == component;
        if (!above && !below) continue;
        if (topology.components()[link.from].kind == Component::Kind::walker) continue;
        const Histogram* histogram = histograms.find(id, above ? demand : miss_kinds(topology, level));
        if (histogram == nullptr) return false;
        if (!histogram->empty()) (above ? input.above : input.below).push_back(histogram);
    }
    return true;
}

/// Components of a kind as the machine file has them.
std::vector<std::size_t> in_machine_order(const Topology& topology, Component::Kind kind) {
    std::vector<std::size_t> ids;
    for (std::size_t id = 0; id < topology.components().size(); ++id)
        if (topology.components()[id].kind == kind) ids.push_back(id);
    std::ranges::sort(ids, {}, [&](std::size_t id) { return topology.components()[id].index; });
    return ids;
}

}  // namespace

LevelsByLine levels_by_line(const Topology& topology, const Outcome& outcome) {
    LevelsByLine levels;
    Histograms histograms(topology, outcome);
    for (const auto wanted : {Component::Kind::cache, Component::Kind::tlb})
        for (const std::size_t id : in_machine_order(topology, wanted)) {
            LevelInput input;
            histograms.begin();
            if (!collect(input, id, topology, histograms)) continue;
            const bool tlb = wanted == Component::Kind::tlb;
            levels.lines.push_back(level_lines(input, tlb ? AddressMap() : outcome.virtual_address));
            levels.exact.push_back(histograms.exact());
        }
    return levels;
}

StructureTable structures_of(const LevelsByLine& levels, const std::vector<Region>& regions) {
    StructureTable table;
    table.regions = regions;
    for (std::size_t i = 0; i < levels.lines.size(); ++i)
        table.levels.push_back({levels.lines[i].level, levels.exact[i], by_structure(levels.lines[i], regions)});
    return table;
}

}  // namespace cachetally::app
