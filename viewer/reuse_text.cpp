// SPDX-License-Identifier: BSD-3-Clause
#include "viewer/reuse_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "viewer/text_table.hpp"

namespace cachetally {
namespace {

constexpr std::size_t reused_structures_shown = 3, longest_reused = 20;
constexpr std::uint64_t least_capacity = 1024;  ///< bytes

struct NamedCurve {
    std::string name;
    MissRatioCurve curve;
    std::uint64_t weight = 0;  ///< misses of all capacities that are shown
};

/// Powers of two, up to the first that only first uses miss; those that gain nothing over the one before are left out.
std::vector<std::uint64_t> capacities_of(const MissRatioCurve& curve, std::uint32_t line_bytes) {
    std::vector<std::uint64_t> lines = {std::max<std::uint64_t>(1, least_capacity / line_bytes)};
    for (std::uint64_t next = 2 * lines.back(); curve.misses(lines.back()) != curve.first_uses; next *= 2)
        if (curve.misses(next) != curve.misses(lines.back())) lines.push_back(next);
    return lines;
}

/// The worst first.
std::vector<NamedCurve> structures_by_misses(const ReuseDistances& reuse, const std::vector<std::uint64_t>& capacities,
                                             const TextOptions& options) {
    std::vector<NamedCurve> curves;
    for (std::uint32_t i = 0; i < reuse.structures.size(); ++i) {
        if (!options.structure.empty() && reuse.structures[i] != options.structure) continue;
        NamedCurve named{reuse.structures[i], miss_ratio_curve(reuse, i), 0};
        for (const std::uint64_t lines : capacities) named.weight += named.curve.misses(lines);
        if (named.curve.references != 0) curves.push_back(std::move(named));
    }
    std::ranges::stable_sort(curves, std::greater<>(), &NamedCurve::weight);
    if (curves.size() == 1 && reuse.structures.size() == 1) curves.clear();  // the same as all
    curves.resize(std::min(curves.size(), reused_structures_shown));
    return curves;
}

std::string table_of(const ReuseDistances& reuse, const MissRatioCurve& all, const TextOptions& options) {
    const std::vector<std::uint64_t> capacities = capacities_of(all, reuse.line_bytes);
    std::vector<NamedCurve> curves = structures_by_misses(reuse, capacities, options);
    curves.insert(curves.begin(), {"all", all, 0});
    std::vector<TextTable::Column> columns{{"capacity"}, {"lines"}, {"misses"}};
    for (const NamedCurve& each : curves) columns.push_back({shortened_name(each.name, longest_reused) + " %"});
    TextTable table(std::move(columns));
    for (const std::uint64_t lines : capacities) {
        std::vector<Cell> cells{bytes_text(lines * reuse.line_bytes), count_cell(lines), count_cell(all.misses(lines))};
        for (const NamedCurve& each : curves) cells.push_back(percent_text(100 * each.curve.miss_ratio(lines)));
        table.add(std::move(cells));
    }
    return table.text(options.width);
}

}  // namespace

std::string reuse_text(const RunView& view, const TextOptions& options) {
    std::string text;
    for (const ReuseDistances& reuse : view.reuse) {
        const MissRatioCurve all = miss_ratio_curve(reuse);
        if (all.references == 0) continue;
        text += '\n' +
                wrapped(fmt::format("fully associative LRU caches on {}, lines of {} bytes: misses by capacity; {} of "
                                    "{} are first uses",
                                    reuse.link, reuse.line_bytes, count_cell(all.first_uses).full,
                                    counted(all.references, "reference")),
                        options.width, 2) +
                table_of(reuse, all, options);
    }
    return text;
}

nlohmann::ordered_json reuse_json(const std::vector<ReuseDistances>& reuse) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const ReuseDistances& each : reuse) {
        const MissRatioCurve all = miss_ratio_curve(each);
        Json curve = Json::array(), distances = Json::array();
        for (const MissRatioCurve::Point& point : all.points)
            curve.push_back(
                {{"lines", point.lines}, {"misses", point.misses}, {"miss_ratio", all.miss_ratio(point.lines)}});
        for (const ReuseDistances::Row& row : each.rows)
            distances.push_back(
                {{"structure", each.structures[row.structure]},
                 {"phase", row.phase},
                 {"distance", row.distance == ReuseDistances::first_use ? Json(nullptr) : Json(row.distance)},
                 {"count", row.count}});
        list.push_back({{"link", each.link},
                        {"line_bytes", each.line_bytes},
                        {"references", all.references},
                        {"first_uses", all.first_uses},
                        {"curve", std::move(curve)},
                        {"distances", std::move(distances)}});
    }
    return list;
}

}  // namespace cachetally
