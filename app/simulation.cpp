// SPDX-License-Identifier: BSD-3-Clause
#include "app/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "app/terminal.hpp"
#include "base/text.hpp"
#include "cachetally/execution_plan.hpp"
#include "monitor/attribution/hierarchy_attribution.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "monitor/reuse/hierarchy_reuse.hpp"
#ifdef CACHETALLY_SYSTEMC
#include "sim/tlm/host.hpp"
#endif

namespace cachetally::app {
namespace {

/// A specification at work: a monitor on each copy of its link, and exact counting beside it where that is needed.
class Watch {
public:
    Watch(const MonitorSpec& spec, const Topology& topology, Hierarchy& hierarchy, bool measure_error) : spec_(spec) {
        const std::size_t link = topology.link(spec.link);
        const bool count_exactly = measure_error && !error_known_zero(spec);
        for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy) {
            monitors_.push_back(std::make_unique<Monitor>(spec, copy, topology.machine().period));
            hierarchy.listen(link, copy, *monitors_.back());
            if (!count_exactly) continue;
            exact_.push_back(std::make_unique<ExactHistogram>(spec));
            hierarchy.listen(link, copy, *exact_.back());
        }
    }

    MonitorOutcome finish(std::span<const Region> regions, const Topology& topology, const Hierarchy& hierarchy) {
        std::vector<MonitorResult> results;
        for (auto& monitor : monitors_) {
            monitor->finish();
            results.push_back(monitor->result());
        }
        MonitorOutcome outcome{spec_, results.size() == 1 ? std::move(results.front()) : merged(results), std::nullopt,
                               std::nullopt};
        if (error_known_zero(spec_)) outcome.error = 0.0;
        if (exact_.empty()) return outcome;
        std::vector<Histogram> exact;
        for (auto& histogram : exact_) exact.push_back(histogram->finish());
        outcome.exact = merged(exact);
        const LinkInfo& link = topology.links()[topology.link(spec_.link)];
        outcome.error = histogram_error(*outcome.exact, outcome.result.histogram, ranges_of(regions),
                                        program_addresses(topology, hierarchy, link));
        return outcome;
    }

private:
    MonitorSpec spec_;
    std::vector<std::unique_ptr<Monitor>> monitors_;
    std::vector<std::unique_ptr<ExactHistogram>> exact_;
};

/// Counts all events of a link exactly, by kind and phase.
class LinkWatch {
public:
    LinkWatch(std::size_t link, const Topology& topology, Hierarchy& hierarchy) {
        const LinkInfo& info = topology.links()[link];
        counts_.name = info.name;
        counts_.from = topology.components()[info.from].name;
        counts_.to = topology.components()[info.to].name;
        counts_.virtual_addresses = info.virtual_addresses;
        MonitorSpec spec;
        spec.link = info.name;
        spec.line = shorter_line(topology, info);
        spec = completed(spec, topology);
        for (unsigned copy = 0; copy < hierarchy.copies(link); ++copy)
            for (unsigned kind = 0; kind < event_kind_count; ++kind) {
                spec.kinds = bit(static_cast<EventKind>(kind));
                histograms_[kind].push_back(std::make_unique<ExactHistogram>(spec));
                hierarchy.listen(link, copy, *histograms_[kind].back());
            }
    }

    LinkCounts finish() {
        for (unsigned kind = 0; kind < event_kind_count; ++kind) {
            std::vector<Histogram> copies;
            for (auto& histogram : histograms_[kind]) copies.push_back(histogram->finish());
            histograms_[kind].clear();
            Histogram all = copies.size() == 1 ? std::move(copies.front()) : merged(copies);
            if (!all.empty()) counts_.kinds.emplace_back(static_cast<EventKind>(kind), std::move(all));
        }
        return std::move(counts_);
    }

private:
    LinkCounts counts_;
    std::array<std::vector<std::unique_ptr<ExactHistogram>>, event_kind_count> histograms_;
};

/// A listener of the user on each copy of its link.
class NamedListener {
public:
    NamedListener(ListenerSpec spec, const Topology& topology, Hierarchy& hierarchy)
        : name_(spec.row.name), text_(spec.text) {
        if (spec.base.link.empty()) spec.base.link = topology.links()[topology.core_link(false)].name;
        const MonitorSpec base = base_of(spec, topology);
        link_ = base.link;
        for (unsigned copy = 0; copy < hierarchy.copies(topology.link(link_)); ++copy) {
            copies_.push_back(spec.row.make(base, spec.values));
            hierarchy.listen(topology.link(link_), copy, *copies_.back());
        }
    }

    ListenerResult finish() {
        std::vector<ListenerTable> tables;
        for (const auto& copy : copies_) tables.push_back(copy->table());
        return {name_, link_, text_, merged(tables)};
    }

private:
    static MonitorSpec base_of(const ListenerSpec& spec, const Topology& topology) {
        try {
            return completed(placed({spec.base}, topology).front(), topology);
        } catch (const SpecError& error) {
            throw SpecError(fmt::format("listener '{}': ", spec.row.name), error.message(), {});
        }
    }

    std::string name_, text_, link_;
    std::vector<std::unique_ptr<TableListener>> copies_;
};

/// As the environment variable CACHETALLY_EXECUTION says; for tests and measurements.
void force_execution(Hierarchy& hierarchy, unsigned streams) {
    const char* const wanted = std::getenv("CACHETALLY_EXECUTION");
    if (wanted == nullptr || *wanted == '\0') return;
    const std::string_view way = wanted;
    static constexpr std::string_view ways[] = {"batch", "filtered", "reference"};
    const auto found = std::ranges::find(ways, way);
    if (found == std::end(ways))
        throw UsageError(fmt::format("CACHETALLY_EXECUTION: '{}' is not a way to carry references out{}", shown(way),
                                     advice(way, ways)));
    const auto execution = static_cast<Execution>(found - std::begin(ways));
    hierarchy.limit_execution(execution);
    for (const ExecutionPlan::Core& core : execution_plan(hierarchy, streams).cores)
        if (core.execution != execution)
            throw UsageError(
                fmt::format("CACHETALLY_EXECUTION: references cannot be carried out by '{}': {}", way, core.reason));
}

}  // namespace

void check_cores(const Input& input, const Topology& topology, const std::vector<MonitorSpec>& asked) {
    const unsigned streams = input.source->cores(), cores = topology.machine().cores;
    if (streams > cores && input.is_mapped)
        throw UsageError(fmt::format("--map: there is no core {}: the machine '{}' has {}; add --cores {}", streams - 1,
                                     topology.machine().name, numbered(cores, "core"), streams));
    if (streams > cores)
        throw UsageError(fmt::format("'{}' runs on {} processors, the machine '{}' has {} core{}; add --cores {}",
                                     input.name, streams, topology.machine().name, cores, cores == 1 ? "" : "s",
                                     streams));
    for (const MonitorSpec& spec : asked)
        if (!spec.cores.empty() && std::ranges::min(spec.cores) >= streams)
            throw UsageError(fmt::format(
                "monitor '{}': it would count nothing: '{}' runs on {} of the {} of the machine '{}'; write cores=0, "
                "or leave 'cores' out",
                to_string(spec), shown(input.name), streams == 1 ? "core 0" : fmt::format("cores 0 to {}", streams - 1),
                numbered(cores, "core"), topology.machine().name));
}

void warn_of_one_stream(const Input& input, const Topology& topology, unsigned asked) {
    if (const unsigned streams = input.source->cores(); input.check && streams < asked)
        to_stderr(
            fmt::format("cachetally: warning: {} runs on {} of {}, the others make no references; to use all, "
                        "write processors={}\n",
                        shown(input.name), streams, numbered(asked, "core"), asked));
    const bool is_trace = !input.check && input.program == nullptr;
    if (!is_trace || input.is_mapped) return;
    warn_of_one_stream(input.name, input.source->cores(), fmt::format("the machine '{}' has", topology.machine().name),
                       topology.machine().cores);
}

void warn_of_one_stream(const std::string& trace, unsigned streams, const std::string& machine_has, unsigned cores) {
    if (streams != 1 || cores == 1) return;
    to_stderr(
        fmt::format("cachetally: warning: {} has one stream of references, and {} {} cores: core 0 makes all of "
                    "them, also those of further threads, and the other cores make none; 'record --cores {}' keeps a "
                    "program's threads apart (docs/traces.md)\n",
                    shown(trace), shown(machine_has), cores, cores));
}

std::vector<Region> data_of(std::vector<Region> regions) {
    std::erase_if(regions, [](const Region& region) { return region.name.starts_with("stack"); });
    return regions;
}

AddressMap program_addresses(const Topology& topology, const Hierarchy& hierarchy, const LinkInfo& link) {
    return link.virtual_addresses ? AddressMap() : program_addresses(topology, hierarchy);
}

AddressMap program_addresses(const Topology& topology, const Hierarchy& hierarchy) {
    if (topology.machine().pages.mapping == Mapping::identity) return {};
    return [&hierarchy](Address physical) { return hierarchy.virtual_address(physical); };
}

Host host_of(const std::string& name) {
#ifdef CACHETALLY_SYSTEMC
    if (name == "systemc") return run_on_systemc;
#else
    if (name == "systemc")
        throw UsageError(
            "this program was built without SystemC (CACHETALLY_SYSTEMC); the host 'engine' gives the same");
#endif
    return [](const Topology&, Hierarchy& hierarchy, ReferenceSource& source, const RunOptions& options) {
        return run(hierarchy, source, options);
    };
}

Outcome simulate(const Topology& topology, const std::vector<MonitorSpec>& monitors, ReferenceSource& source,
                 const RunOptions& options, ExactCounting counting, const Host& host) {
    Outcome outcome;
    outcome.hierarchy = std::make_unique<Hierarchy>(topology);
    std::vector<Watch> watches;
    watches.reserve(monitors.size());
    for (const MonitorSpec& spec : monitors)
        watches.emplace_back(completed(spec, topology), topology, *outcome.hierarchy, counting.errors);
    std::vector<NamedListener> listeners;
    for (const ListenerSpec& spec : counting.listeners) listeners.emplace_back(spec, topology, *outcome.hierarchy);
    std::vector<LinkWatch> links;
    for (std::size_t link = 0; counting.links && link < topology.links().size(); ++link)
        links.emplace_back(link, topology, *outcome.hierarchy);
    const std::vector<Region> regions = source.regions();
    std::optional<HierarchyCauses> causes;
    if (counting.causes)
        causes.emplace(topology, *outcome.hierarchy, regions, program_addresses(topology, *outcome.hierarchy),
                       counting.attribution ? source.sites() : nullptr,
                       counting.attributed.cores ? topology.machine().cores : 1);
    if (causes && counting.links) causes->count_lines();
    std::optional<HierarchyReuse> reuse;
    if (counting.reuse)
        reuse.emplace(topology, *outcome.hierarchy, regions, program_addresses(topology, *outcome.hierarchy),
                      counting.attribution ? source.sites() : nullptr);
    std::optional<HierarchyAttribution> attribution;
    if (counting.attribution) attribution.emplace(topology, *outcome.hierarchy, counting.attributed);
    std::optional<HierarchyCores> cores;
    if (counting.attributed.cores) {
        using Regions = std::optional<std::span<const Region>>;  // those of a running program are not yet known
        cores.emplace(topology, *outcome.hierarchy, source.sites() == nullptr ? Regions(regions) : std::nullopt,
                      program_addresses(topology, *outcome.hierarchy));
    }
    force_execution(*outcome.hierarchy, source.cores());
    outcome.execution = explain(execution_plan(*outcome.hierarchy, source.cores()));
    if (!host) return outcome;
    outcome.run = host(topology, *outcome.hierarchy, source, options);
    outcome.regions = source.regions();
    outcome.functions = source.functions();
    outcome.virtual_address = program_addresses(topology, *outcome.hierarchy);
    const std::vector<Region> data = data_of(outcome.regions);
    for (Watch& watch : watches) outcome.monitors.push_back(watch.finish(data, topology, *outcome.hierarchy));
    for (NamedListener& listener : listeners) outcome.listeners.push_back(listener.finish());
    for (LinkWatch& link : links) outcome.links.push_back(link.finish());
    if (attribution && source.sites() != nullptr)
        outcome.attribution = attribution->found(*source.sites(), source.site_names());
    if (causes && !outcome.attribution.empty()) causes->attribute(outcome.attribution);
    if (causes) outcome.sharing = causes->sharing();
    if (causes && counting.links) outcome.line_causes = causes->lines();
    if (cores) outcome.cores = cores->found();
    if (reuse) outcome.reuse = reuse->found(outcome.attribution.names.objects);
    // With sites, causes are of what references are for: regions of a running program are known at its end alone.
    if (causes && !counting.attribution) outcome.causes = causes->found();
    return outcome;
}

}  // namespace cachetally::app
