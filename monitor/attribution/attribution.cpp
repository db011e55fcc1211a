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
    }
    std::vector<AttributedGroup> all;
    for (auto& [name, group] : groups) all.push_back(std::move(group));
    std::ranges::stable_sort(all, [](const AttributedGroup& a, const AttributedGroup& b) {
        return std::tie(a.misses, a.accesses) > std::tie(b.misses, b.accesses);
    });
    return all;
}

}  // namespace cachetally
