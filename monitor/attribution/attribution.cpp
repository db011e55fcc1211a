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

GroupName name_of(const Attribution& attribution, const Site& site, Grouping by) {
    if (by == Grouping::structure) return {attribution.names.objects[site.object], ""};
    const CodePlace& place = attribution.names.code[site.code];
    if (by == Grouping::function) return {place.function, place.module};
    const std::string file = std::filesystem::path(place.file).filename();
    return {place.line == 0 ? "" : fmt::format("{}:{}", file, place.line), place.module};
}

}  // namespace

Attribution::Row& Attribution::row(std::uint32_t phase, std::uint32_t site) {
    const auto place = [](const Row& row) { return std::pair(row.phase, row.site); };
    const auto found = std::ranges::lower_bound(rows, std::pair(phase, site), {}, place);
    if (found != rows.end() && place(*found) == std::pair(phase, site)) return *found;
    return *rows.insert(
        found, {site, phase, 0, std::vector<std::uint64_t>(levels.size()), std::vector<CauseCounts>(caused.size())});
}

std::string AttributedGroup::text() const {
    if (!name.empty()) return name;
    return module.empty() ? "(not known)" : "(in " + module + ")";
}

std::vector<AttributedGroup> grouped(const Attribution& attribution, Grouping by, const std::uint32_t* phase) {
    std::map<GroupName, AttributedGroup> groups;
    for (const Attribution::Row& row : attribution.rows) {
        const Site& site = attribution.sites[row.site];
        if (phase != nullptr && row.phase != *phase) continue;
        if (by == Grouping::structure && site.object == 0) continue;  // fetches
        const GroupName name = name_of(attribution, site, by);
        AttributedGroup& group = groups[name];
        group.name = name.name;
        group.module = name.module;
        group.accesses += row.accesses;
        group.misses.resize(attribution.levels.size());
        std::ranges::transform(group.misses, row.misses, group.misses.begin(), std::plus<>());
        group.causes.resize(attribution.caused.size());
        for (std::size_t level = 0; level < attribution.caused.size(); ++level)
            for (unsigned cause = 0; cause < miss_cause_count; ++cause)
                group.causes[level][cause] += row.causes[level][cause];
    }
    std::vector<AttributedGroup> all;
    for (auto& [name, group] : groups) all.push_back(std::move(group));
    std::ranges::stable_sort(all, [](const AttributedGroup& a, const AttributedGroup& b) {
        return std::tie(a.misses, a.accesses) > std::tie(b.misses, b.accesses);
    });
    return all;
}

}  // namespace cachetally
