// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/attribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace cachetally {
namespace {

struct GroupName {
    std::string name, module;
    friend bool operator<(const GroupName& a, const GroupName& b) {
        return std::tie(a.name, a.module) < std::tie(b.name, b.module);
    }
};

GroupName name_of(const Attribution& attribution, const Attribution::Row& row, Grouping by) {
    const Site& site = attribution.sites[row.site];
    const std::string& object = attribution.names.objects[site.object];
    if (by == Grouping::structure) return {object, ""};
    if (by == Grouping::field) return {attribution.names.fields.at(site.field), object};
    const CodePlace& place = attribution.names.code[site.code];
    if (by == Grouping::function) return {place.function, place.module};
    const std::string file = std::filesystem::path(place.file).filename();
    return {place.line == 0 ? "" : fmt::format("{}:{}", file, place.line), place.module};
}

void add(AttributedGroup& group, const Attribution::Row& row) {
    group.accesses += row.accesses;
    group.cycles += row.cycles;
    group.fills += row.fills;
    group.used += row.used;
    group.misses.resize(row.misses.size());
    std::ranges::transform(group.misses, row.misses, group.misses.begin(), std::plus<>());
    group.causes.resize(row.causes.size());
    for (std::size_t level = 0; level < row.causes.size(); ++level)
        for (unsigned cause = 0; cause < miss_cause_count; ++cause)
            group.causes[level][cause] += row.causes[level][cause];
}

}  // namespace

Attribution::Row& Attribution::row(std::uint32_t phase, std::uint32_t site, std::uint32_t core) {
    const auto place = [](const Row& row) { return std::tuple(row.phase, row.site, row.core); };
    const auto found = std::ranges::lower_bound(rows, std::tuple(phase, site, core), {}, place);
    if (found != rows.end() && place(*found) == std::tuple(phase, site, core)) return *found;
    Row added;
    added.site = site;
    added.phase = phase;
    added.core = core;
    added.misses.resize(levels.size());
    added.causes.resize(caused.size());
    return *rows.insert(found, std::move(added));
}

std::string AttributedGroup::text() const {
    if (!name.empty() && is_field) return fmt::format("{} of {}", name, module);
    if (!name.empty()) return name;
    return module.empty() ? "(not known)" : "(in " + module + ")";
}

std::vector<AttributedGroup> grouped(const Attribution& attribution, Grouping by, const std::uint32_t* phase) {
    std::map<GroupName, AttributedGroup> groups;
    for (const Attribution::Row& row : attribution.rows) {
        const Site& site = attribution.sites[row.site];
        if (phase != nullptr && row.phase != *phase) continue;
        if (by == Grouping::structure && site.object == 0) continue;  // fetches
        if (by == Grouping::field && site.field == 0) continue;
        const GroupName name = name_of(attribution, row, by);
        AttributedGroup& group = groups[name];
        group.name = name.name;
        group.module = name.module;
        group.is_field = by == Grouping::field;
        add(group, row);
        if (!attribution.known.cores) continue;
        if (group.cores.size() <= row.core) group.cores.resize(row.core + std::size_t{1});
        add(group.cores[row.core], row);
    }
    std::vector<AttributedGroup> all;
    for (auto& [name, group] : groups) all.push_back(std::move(group));
    std::ranges::stable_sort(all, [](const AttributedGroup& a, const AttributedGroup& b) {
        return std::tie(a.cycles, a.misses, a.accesses) > std::tie(b.cycles, b.misses, b.accesses);
    });
    return all;
}

}  // namespace cachetally
