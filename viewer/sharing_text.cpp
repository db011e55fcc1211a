// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/sharing_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "monitor/level_lines.hpp"
#include "viewer/attribution_text.hpp"
#include "viewer/component_tables.hpp"
#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t lines_shown = 10, longest_used = 24;

/// What a reference of a row is to.
class UsedNames {
public:
    explicit UsedNames(const RunView& view) : view_(view), finder_(view.structures.regions) {}

    std::string structure(std::uint32_t site, Address line) const {
        const Attribution& attribution = view_.attribution;
        if (!attribution.empty() && site < attribution.sites.size())
            return object_name(attribution, attribution.sites[site].object);
        const std::uint32_t region = finder_.find(line, view_.sharing.line_bytes);
        return region < view_.structures.regions.size() ? view_.structures.regions[region].name : "(elsewhere)";
    }
    std::string field(std::uint32_t site) const {
        const Attribution& attribution = view_.attribution;
        if (site >= attribution.sites.size() || attribution.sites[site].field >= attribution.names.fields.size())
            return "";
        return attribution.names.fields[attribution.sites[site].field];
    }
    std::string function(std::uint32_t site) const {
        const Attribution& attribution = view_.attribution;
        return site < attribution.sites.size() ? attribution.names.code[attribution.sites[site].code].function : "";
    }
    std::string shown(std::uint32_t site, Address line) const {
        const std::string name = field(site);
        return shortened(name.empty() ? structure(site, line) : name, longest_used);
    }

private:
    const RunView& view_;
    RegionFinder finder_;
};

}  // namespace

std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sharing_by_structure(const RunView& view,
                                                                                    const std::string& level) {
    const UsedNames names(view);
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (const SharingRow& row : view.sharing.rows) {
        if (view.sharing.levels[row.level] != level) continue;
        auto& [true_sharing, false_sharing] = sums[names.structure(row.site, row.line)];
        true_sharing += row.true_sharing;
        false_sharing += row.false_sharing;
    }
    return sums;
}

std::string sharing_text(const RunView& view, const TextOptions& options) {
    if (view.sharing.rows.empty()) return "";
    const UsedNames names(view);
    const std::uint32_t level = [&] {
        const auto found = std::ranges::find(view.sharing.levels, options.level);
        return found == view.sharing.levels.end() ? std::ranges::min(view.sharing.rows, {}, &SharingRow::level).level
                                                  : static_cast<std::uint32_t>(found - view.sharing.levels.begin());
    }();
    using Place = std::tuple<Address, std::string, std::string, std::uint32_t, std::uint32_t>;
    std::map<Place, std::pair<std::uint64_t, std::uint64_t>> sums;
    for (const SharingRow& row : view.sharing.rows) {
        if (row.level != level) continue;
        if (!options.structure.empty() && names.structure(row.site, row.line) != options.structure) continue;
        auto& [true_sharing, false_sharing] = sums[{row.line, names.shown(row.site, row.line),
                                                    names.shown(row.by_site, row.line), row.core, row.by_core}];
        true_sharing += row.true_sharing;
        false_sharing += row.false_sharing;
    }
    if (sums.empty()) return "";
    std::vector<std::pair<Place, std::pair<std::uint64_t, std::uint64_t>>> worst(sums.begin(), sums.end());
    std::ranges::stable_sort(worst, [](const auto& a, const auto& b) {
        return std::pair(a.second.second, a.second.first) > std::pair(b.second.second, b.second.first);
    });
    TextTable table({{"line", to_left},
                     {"used", to_left},
                     {"by core"},
                     {"stored", to_left},
                     {"by core"},
                     {"false sharing"},
                     {"true"}},
                    2);
    for (std::size_t i = 0; i < std::min(worst.size(), lines_shown); ++i) {
        const auto& [line, used, stored, core, by_core] = worst[i].first;
        table.add({fmt::format("{:#x}", line), used, std::to_string(core), stored, std::to_string(by_core),
                   count_cell(worst[i].second.second), count_cell(worst[i].second.first)});
    }
    const std::string title =
        fmt::format("lines that cores take from each other, by misses of {}", view.sharing.levels[level]);
    return '\n' + part_title(title, std::min(worst.size(), lines_shown), worst.size()) + '\n' +
           table.text(options.width);
}

nlohmann::ordered_json sharing_json(const RunView& view) {
    const UsedNames names(view);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    const auto user = [&](std::uint32_t core, std::uint32_t site, Address line) {
        return nlohmann::ordered_json{{"core", core},
                                      {"structure", names.structure(site, line)},
                                      {"field", names.field(site)},
                                      {"function", names.function(site)}};
    };
    for (const SharingRow& row : view.sharing.rows) {
        nlohmann::ordered_json json = user(row.core, row.site, row.line);
        json["level"] = view.sharing.levels[row.level];
        json["phase"] = row.phase;
        json["address"] = row.line;
        json["by"] = user(row.by_core, row.by_site, row.line);
        json["true_sharing"] = row.true_sharing;
        json["false_sharing"] = row.false_sharing;
        rows.push_back(std::move(json));
    }
    return {{"levels", view.sharing.levels}, {"line_bytes", view.sharing.line_bytes}, {"rows", std::move(rows)}};
}

}  // namespace cachetally
