// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/capture/site_names.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {
namespace {

bool overlap(const Region& a, const Region& b) { return a.contains(b.base) || b.contains(a.base); }

}  // namespace

SiteNames site_names_of(const CapturedEvents& events, const ProgramCounters& counters, const CapturedSites& sites) {
    NamesByEra program(events.by_era);
    SiteNames names;
    names.code.emplace_back();
    for (std::uint32_t number = 1; number < counters.all().size(); ++number)
        names.code.push_back(program.of(counters.era_of(number)).place_of(counters.all()[number]));
    names.objects = sites.object_names(program);
    names.fields = sites.field_names();
    names.blocks = sites.object_blocks();
    return names;
}

std::vector<Region> regions_of(const CapturedEvents& events, const ProgramNames& program) {
    std::vector<Region> named = events.regions;
    for (Region& variable : program.variables()) {
        if (std::ranges::any_of(events.regions, [&](const Region& region) { return overlap(region, variable); }))
            continue;
        program.set_elements(variable);
        named.push_back(std::move(variable));
    }
    return named;
}

}  // namespace cachetally
