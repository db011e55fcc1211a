// SPDX-License-Identifier: BSD-3-Clause
// Which histograms give the accesses and misses of which level.
#include <algorithm>
#include <map>

#include "app/simulation.hpp"
#include "monitor/spec_placement.hpp"

namespace cachetally::app {
namespace {

/// Histograms of the links, exact or from monitors.
class Histograms {
public:
    Histograms(const Topology& topology, const Outcome& outcome) : topology_(topology), outcome_(outcome) {}

    /// Null where these events were not counted.
    const Histogram* find(const LinkKinds& place) {
        if (!outcome_.links.empty()) return from_exact(place);
        return place.kinds == demand_kinds ? from_monitors(topology_.links()[place.link].name) : nullptr;
    }

    /// Whether all that find() gave were exact.
    bool exact() const { return exact_; }
    void begin() { exact_ = true; }

private:
    const Histogram* from_exact(const LinkKinds& place) {
        const auto [known, fresh] = sums_.try_emplace(place);
        Sum& sum = known->second;
        if (!fresh) return sum.found;
        std::vector<const Histogram*> parts;
        for (const auto& [kind, histogram] : outcome_.links[place.link].kinds)
            if ((bit(kind) & place.kinds) != 0) parts.push_back(&histogram);
        sum.found = parts.size() == 1 ? parts.front() : &sum.sum;
        if (parts.size() > 1) sum.sum = sum_of(parts);
        return sum.found;
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
            const bool whole = spec.link == link && spec.kinds == demand_kinds && spec.ranges.empty() &&
                               spec.cores.empty() && spec.start && (spec.barriers || outcome_.run.phases.size() == 1);
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
    std::map<LinkKinds, Sum> sums_;
    bool exact_ = true;
};

/// False where a histogram is missing.
bool collect(const std::vector<LinkKinds>& places, Histograms& histograms, std::vector<const Histogram*>& found) {
    for (const LinkKinds& place : places) {
        const Histogram* histogram = histograms.find(place);
        if (histogram == nullptr) return false;
        if (!histogram->empty()) found.push_back(histogram);
    }
    return true;
}

/// False where a unit of some histogram has several lines of the level.
bool fit_into_lines(const LevelInput& level) {
    const auto fits = [&](const Histogram* each) {
        return level.line_bytes == 0 || each->unit_bytes() <= level.line_bytes;
    };
    return std::ranges::all_of(level.above, fits) && std::ranges::all_of(level.below, fits);
}

}  // namespace

LevelsByLine levels_by_line(const Topology& topology, const Outcome& outcome) {
    LevelsByLine levels;
    Histograms histograms(topology, outcome);
    for (const LevelLinks& level : level_links(topology)) {
        LevelInput input;
        input.name = level.name;
        input.line_bytes = level.line_bytes;
        input.holds = level.holds;
        histograms.begin();
        if (!collect(level.above, histograms, input.above) || !collect(level.below, histograms, input.below)) continue;
        LevelLines& lines =
            levels.lines.emplace_back(level_lines(input, level.tlb ? AddressMap() : outcome.virtual_address));
        levels.exact.push_back(histograms.exact() && fit_into_lines(input));
        const auto causes = std::ranges::find(outcome.line_causes, level.name, &HierarchyCauses::Lines::level);
        if (levels.exact.back() && causes != outcome.line_causes.end())
            add_causes(lines, causes->rows, outcome.virtual_address);
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
