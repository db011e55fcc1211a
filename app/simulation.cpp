#include "app/simulation.hpp"

#include <span>

namespace cachetally::app {
namespace {

constexpr std::uint32_t line_without_caches = 64;

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

    MonitorOutcome finish(std::span<const Region> regions, const AddressMap& map) {
        std::vector<MonitorResult> results;
        for (auto& monitor : monitors_) {
            monitor->finish();
            results.push_back(monitor->result());
        }
        MonitorOutcome outcome{spec_, merged(results), 0};
        if (exact_.empty()) return outcome;
        std::vector<Histogram> exact;
        for (auto& histogram : exact_) exact.push_back(histogram->finish());
        outcome.error = histogram_error(merged(exact), outcome.result.histogram, ranges_of(regions), map);
        return outcome;
    }

private:
    MonitorSpec spec_;
    std::vector<std::unique_ptr<Monitor>> monitors_;
    std::vector<std::unique_ptr<ExactHistogram>> exact_;
};

bool is_for_data(const Topology& topology, const LinkInfo& link) {
    const auto kind = topology.components()[link.from].kind;
    return !link.virtual_addresses && kind != Component::Kind::walker;
}

}  // namespace

std::vector<Region> data_of(std::vector<Region> regions) {
    std::erase_if(regions, [](const Region& region) { return region.name.starts_with("stack"); });
    return regions;
}

std::vector<MonitorSpec> default_monitors(const Topology& topology) {
    std::vector<MonitorSpec> specs;
    for (const LinkInfo& link : topology.links()) {
        if (!is_for_data(topology, link)) continue;
        specs.emplace_back().link = link.name;
    }
    return specs;
}

MonitorSpec completed(MonitorSpec spec, const Topology& topology) {
    const LinkInfo& link = topology.links()[topology.link(spec.link)];
    if (spec.line != 0) return spec;
    spec.line = line_without_caches;
    for (const std::size_t end : {link.from, link.to}) {
        const Component& component = topology.components()[end];
        if (component.kind == Component::Kind::cache) spec.line = topology.machine().caches[component.index].line;
    }
    return spec;
}

Outcome simulate(const Topology& topology, std::vector<MonitorSpec> monitors, ReferenceSource& source,
                 const RunOptions& options, bool measure_errors) {
    Outcome outcome;
    outcome.hierarchy = std::make_unique<Hierarchy>(topology);
    std::vector<Watch> watches;
    for (const MonitorSpec& spec : monitors)
        watches.emplace_back(completed(spec, topology), topology, *outcome.hierarchy, measure_errors);
    outcome.run = run(*outcome.hierarchy, source, options);
    outcome.regions = source.regions();
    outcome.functions = source.functions();
    if (topology.machine().pages.mapping != Mapping::identity)
        outcome.virtual_address = [hierarchy = outcome.hierarchy.get()](Address physical) {
            return hierarchy->virtual_address(physical);
        };
    const std::vector<Region> data = data_of(outcome.regions);
    for (Watch& watch : watches) outcome.monitors.push_back(watch.finish(data, outcome.virtual_address));
    return outcome;
}

}  // namespace cachetally::app
