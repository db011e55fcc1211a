// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/spec_placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "monitor/spec.hpp"
#include "sim/model/tlb/page_table.hpp"
#include "sim/topology/names.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

std::uint32_t miss_kinds(const Topology& topology, const Component& component) {
    if (component.kind != Component::Kind::cache) return demand_kinds;
    const CacheConfig& cache = topology.machine().caches[component.index];
    return cache.write == WritePolicy::write_through ? demand_kinds & ~bit(EventKind::store) : demand_kinds;
}

bool is_hidden(const Topology& topology, const Component& component) {
    if (component.kind != Component::Kind::cache) return false;
    const MachineDescription& machine = topology.machine();
    const CacheConfig& cache = machine.caches[component.index];
    if (cache.write == WritePolicy::write_through && !cache.write_allocate) return true;
    const auto is_above = [&](const CacheConfig& other) { return other.next == cache.name; };
    if (cache.write_back_miss == WriteBackMiss::fetch && std::ranges::any_of(machine.caches, is_above)) return true;
    return machine.coherence.protocol != Protocol::none && coherent_part(machine).point == cache.name;
}

std::function<bool(Address)> pages_held(const MachineDescription& machine, const TlbConfig& tlb) {
    if (tlb.page_sizes.empty()) return {};
    const auto pages = std::make_shared<const PageTable>(machine.pages, 0);
    return [pages, tlb](Address address) { return holds_pages(tlb, std::uint64_t{1} << pages->page_bits(address)); };
}

LevelLinks links_of(const Topology& topology, std::size_t component) {
    const Component& level = topology.components()[component];
    LevelLinks found{level.name, level.kind == Component::Kind::tlb, {}, {}, 0, {}};
    if (level.kind == Component::Kind::cache) found.line_bytes = topology.machine().caches[level.index].line;
    if (found.tlb) found.holds = pages_held(topology.machine(), topology.machine().tlbs[level.index]);
    for (std::size_t id = 0; id < topology.links().size(); ++id) {
        const LinkInfo& link = topology.links()[id];
        if (topology.components()[link.from].kind == Component::Kind::walker) continue;
        if (link.to == component) found.above.push_back({id, demand_kinds});
        if (link.from == component) found.below.push_back({id, miss_kinds(topology, level)});
    }
    return found;
}

}  // namespace

bool holds_pages(const TlbConfig& tlb, std::uint64_t page_bytes) {
    return tlb.page_sizes.empty() || std::ranges::find(tlb.page_sizes, page_bytes) != tlb.page_sizes.end();
}

std::vector<LevelLinks> level_links(const Topology& topology) {
    std::vector<LevelLinks> levels;
    for (const auto wanted : {Component::Kind::cache, Component::Kind::tlb}) {
        std::vector<std::size_t> ids;
        for (std::size_t id = 0; id < topology.components().size(); ++id) {
            const Component& component = topology.components()[id];
            if (component.kind == wanted && !is_hidden(topology, component)) ids.push_back(id);
        }
        std::ranges::sort(ids, {}, [&](std::size_t id) { return topology.components()[id].index; });
        for (const std::size_t id : ids) levels.push_back(links_of(topology, id));
    }
    return levels;
}

namespace {

using Kind = Component::Kind;
using Conflict = std::optional<SpecConflict>;

constexpr std::uint32_t smallest_page = 4096, line_without_caches = 64;

/// What goes on where it is at home; the others are consequences of it.
constexpr std::uint32_t requests = demand_kinds | bit(EventKind::page_walk) | bit(EventKind::prefetch) |
                                   bit(EventKind::ring_write) | bit(EventKind::write_back);

std::uint32_t kinds_served(Serves serves) {
    if (serves == Serves::data) return bit(EventKind::load) | bit(EventKind::store);
    return serves == Serves::fetch ? bit(EventKind::fetch) : demand_kinds;
}

/// Goes down the machine: what arrives at a component tells what can leave it (docs/counting.md, "Events on links").
class KindFinder {
public:
    KindFinder(const Topology& topology, std::span<const std::string> senders)
        : topology_(topology), machine_(topology.machine()), senders_(senders) {}

    std::vector<std::uint32_t> find() {
        std::vector<std::uint32_t> kinds;
        std::vector<std::uint32_t> arriving(topology_.components().size(), 0);
        for (const LinkInfo& link : topology_.links()) {  // uppermost components first
            kinds.push_back(on(link, arriving[link.from]));
            if (kinds.back() != 0 && has_busy_banks(topology_.components()[link.to]))
                kinds.back() |= bit(EventKind::bank_conflict);
            arriving[link.to] |= kinds.back() | sent_by(link);
        }
        return kinds;
    }

private:
    /// Records are no events on the link whose monitor sends them.
    std::uint32_t sent_by(const LinkInfo& link) const {
        const bool into_cache = topology_.components()[link.to].kind == Kind::cache;
        const bool sends =
            into_cache && !link.virtual_addresses && std::ranges::find(senders_, link.name) != senders_.end();
        return sends ? bit(EventKind::ring_write) : 0;
    }

    std::uint32_t on(const LinkInfo& link, std::uint32_t arriving) const {
        const Component &from = topology_.components()[link.from], &to = topology_.components()[link.to];
        if (from.kind == Kind::tlb) return arriving;
        if (from.kind == Kind::numa)
            return to.kind == Kind::interconnect && machine_.numa.nodes == 1 ? 0 : arriving & requests;
        const bool to_cache = to.kind == Kind::cache;
        if (from.kind == Kind::walker) return bit(EventKind::page_walk);
        if (from.kind == Kind::cache) return below(machine_.caches[from.index], to, arriving);
        if (to.kind == Kind::tlb) return kinds_served(machine_.tlbs[to.index].serves);
        return to_cache ? kinds_served(machine_.caches[to.index].serves) : demand_kinds;
    }

    bool has_busy_banks(const Component& component) const {
        return component.kind == Kind::memory && machine_.memories[component.index].bank_busy != 0;
    }

    /// What a cache sends down, and what comes back.
    std::uint32_t below(const CacheConfig& cache, const Component& to, std::uint32_t arriving) const {
        const auto arrives = [&](EventKind kind) { return (arriving & bit(kind)) != 0; };
        std::uint32_t kinds = arriving & (bit(EventKind::fetch) | bit(EventKind::page_walk) | bit(EventKind::prefetch));
        const bool dirties =
            arrives(EventKind::store) || arrives(EventKind::write_back) || arrives(EventKind::ring_write);
        if (arrives(EventKind::load) || dirties) kinds |= bit(EventKind::load);
        if (dirties) kinds |= bit(EventKind::write_back);
        const bool passes =
            cache.write == WritePolicy::write_through || !cache.write_allocate || filled_by_victims(cache.inclusion);
        if (arrives(EventKind::store) && passes) kinds |= bit(EventKind::store);
        const bool passes_victims =
            cache.write == WritePolicy::write_through || cache.write_back_miss == WriteBackMiss::bypass;
        if (arrives(EventKind::ring_write) && passes_victims) kinds |= bit(EventKind::ring_write);
        if (cache.prefetch.kind != PrefetchKind::none) kinds |= bit(EventKind::prefetch);
        if (!filled_by_victims(cache.inclusion)) kinds |= bit(EventKind::fill);
        if (to.kind == Kind::cache && filled_by_victims(machine_.caches[to.index].inclusion))
            kinds |= bit(EventKind::clean_victim);
        const auto inclusive = [](const CacheConfig& each) { return each.inclusion == Inclusion::inclusive; };
        if (std::ranges::any_of(machine_.caches, inclusive)) kinds |= bit(EventKind::invalidate);
        return kinds | of_coherence(cache, dirties);
    }

    /// What other nodes do to a cache (docs/coherence.md).
    std::uint32_t of_coherence(const CacheConfig& cache, bool dirties) const {
        if (machine_.coherence.protocol == Protocol::none || cache.shared_by == 0 || cache.shared_by == machine_.cores)
            return 0;
        std::uint32_t kinds = bit(EventKind::invalidate);
        if (dirties && machine_.coherence.protocol == Protocol::mesi) kinds |= bit(EventKind::flush);
        if (cache.next == coherent_part(machine_).point) kinds |= bit(EventKind::coherence);
        return kinds;
    }

    const Topology& topology_;
    const MachineDescription& machine_;
    std::span<const std::string> senders_;
};

std::string words(std::uint32_t kinds, std::string_view between = ", ") {
    std::vector<std::string> names;
    for (unsigned kind = 0; kind < event_kind_count; ++kind)
        if ((kinds >> kind & 1U) != 0) names.emplace_back(to_string(static_cast<EventKind>(kind)));
    return fmt::format("{}", fmt::join(names, between));
}

/// What does not fit the machine, monitor by monitor.
class Placer {
public:
    Placer(std::vector<MonitorSpec>& specs, const Topology& topology) : specs_(specs), topology_(topology) {
        std::vector<std::string> senders;
        for (const MonitorSpec& spec : specs)
            if (spec.ring.path == RingSpec::Path::link) senders.push_back(spec.link);
        kinds_ = possible_kinds(topology, senders);
        for (const MonitorSpec& spec : specs)
            if (!spec.name.empty()) ++given_[spec.name];
    }

    /// Also gives a name to the monitor of this number, where another one has taken that of its link.
    Conflict place(std::size_t number) {
        MonitorSpec& spec = specs_[number];
        const auto& links = topology_.links();
        const auto link = std::ranges::find(links, spec.link, &LinkInfo::name);
        if (link == links.end()) return SpecConflict{"link", no_such_link(spec.link)};
        if (auto conflict = check_kinds(spec, kinds_[static_cast<std::size_t>(link - links.begin())])) return conflict;
        if (auto conflict = check_cores(spec)) return conflict;
        return name(spec);
    }

private:
    std::string no_such_link(const std::string& name) const {
        try {
            topology_.link(name);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return {};
    }

    static Conflict check_kinds(const MonitorSpec& spec, std::uint32_t possible) {
        if ((spec.kinds & possible) != 0) return std::nullopt;
        return SpecConflict{
            "kinds", possible == 0 ? fmt::format("nothing happens on '{}': nothing leads there", spec.link)
                                   : fmt::format("a monitor of {} would see nothing on '{}'; what happens there is: {} "
                                                 "(write kinds={})",
                                                 words(spec.kinds), spec.link, words(possible), words(possible, "+"))};
    }

    Conflict check_cores(const MonitorSpec& spec) const {
        const unsigned cores = topology_.machine().cores;
        const auto absent = std::ranges::find_if(spec.cores, [&](std::uint32_t core) { return core >= cores; });
        if (absent == spec.cores.end()) return std::nullopt;
        return SpecConflict{"cores", cores == 1
                                         ? fmt::format("there is no core {}; the machine has one, number 0", *absent)
                                         : fmt::format("there is no core {}; the machine has {}, numbered 0 to {}",
                                                       *absent, cores, cores - 1)};
    }

    Conflict name(MonitorSpec& spec) {
        if (!spec.name.empty()) {
            if (given_[spec.name] == 1) return std::nullopt;
            return SpecConflict{"name",
                                fmt::format("'{}' is the name of several monitors; give each its own", spec.name)};
        }
        std::string free = spec.link;
        for (unsigned number = 2; given_.contains(free); ++number) free = fmt::format("{}#{}", spec.link, number);
        given_[free] = 1;
        if (free != spec.link) spec.name = free;
        return std::nullopt;
    }

    std::vector<MonitorSpec>& specs_;
    const Topology& topology_;
    std::vector<std::uint32_t> kinds_;
    std::map<std::string, unsigned> given_;
};

Mark place_of(const MonitorEntry& entry, std::string_view key) {
    const auto found = std::ranges::find(entry.settings, key, &MonitorEntry::Setting::key);
    return found == entry.settings.end() ? entry.mark : found->mark;
}

}  // namespace

std::vector<std::uint32_t> possible_kinds(const Topology& topology, std::span<const std::string> senders) {
    return KindFinder(topology, senders).find();
}

std::vector<MonitorSpec> default_monitors(const Topology& topology) {
    std::vector<MonitorSpec> specs;
    for (const LinkInfo& link : topology.links()) {
        MonitorSpec& spec = specs.emplace_back();
        spec.link = link.name;
        if (topology.components()[link.from].kind == Kind::walker) spec.kinds = bit(EventKind::page_walk);
    }
    return specs;
}

MonitorSpec completed(MonitorSpec spec, const Topology& topology) {
    const LinkInfo& link = topology.links()[topology.link(spec.link)];
    if (spec.line != 0) return spec;
    spec.line = link.virtual_addresses ? smallest_page : line_without_caches;
    for (const std::size_t end : {link.from, link.to}) {
        const Component& component = topology.components()[end];
        if (component.kind != Kind::cache) continue;
        const CacheConfig& cache = topology.machine().caches[component.index];
        spec.line = end == link.from ? cache.transfer() : cache.line;
    }
    if (topology.components()[link.from].kind == Kind::numa)
        if (const std::uint32_t line = longest_line_to(topology.machine(), numa_name)) spec.line = line;
    return spec;
}

std::uint32_t shorter_line(const Topology& topology, const LinkInfo& link) {
    std::uint32_t line = 0;
    for (const std::size_t end : {link.from, link.to}) {
        const Component& component = topology.components()[end];
        if (component.kind != Kind::cache) return 0;
        const std::uint32_t own = topology.machine().caches[component.index].transfer();
        line = line == 0 ? own : std::min(line, own);
    }
    return line;
}

std::vector<MonitorSpec> monitors_of(const Topology& topology) {
    const MachineDescription& machine = topology.machine();
    std::vector<MonitorSpec> specs;
    std::vector<Diagnostic> diagnostics;
    for (const MonitorEntry& entry : machine.monitors) {
        try {
            specs.push_back(parse_monitor(entry, machine.file));
        } catch (const SpecError& error) {
            diagnostics.push_back({error.mark(), error.message()});
        }
    }
    if (diagnostics.empty()) {
        Placer placer(specs, topology);
        for (std::size_t i = 0; i < specs.size(); ++i)
            if (const auto conflict = placer.place(i))
                diagnostics.push_back({place_of(machine.monitors[i], conflict->key), conflict->message});
    }
    if (!diagnostics.empty()) throw MachineError(machine.file, std::move(diagnostics));
    return specs;
}

std::vector<MonitorSpec> placed(std::vector<MonitorSpec> specs, const Topology& topology) {
    Placer placer(specs, topology);
    for (std::size_t i = 0; i < specs.size(); ++i)
        if (const auto conflict = placer.place(i))
            throw SpecError(fmt::format("monitor '{}': ", to_string(specs[i])), conflict->message, {});
    return specs;
}

}  // namespace cachetally
