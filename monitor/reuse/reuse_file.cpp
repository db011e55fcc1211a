// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/reuse/reuse_file.hpp"

#include <fmt/format.h>

#include "storage/columns.hpp"

namespace cachetally {
namespace {

using ReuseRow = ReuseDistances::Row;

void write_distances(Group group, const ReuseDistances& reuse) {
    write_member(group, "structure", reuse.rows, &ReuseRow::structure);
    write_member(group, "phase", reuse.rows, &ReuseRow::phase);
    write_member(group, "distance", reuse.rows, &ReuseRow::distance).set_attribute("units", "lines");
    write_member(group, "count", reuse.rows, &ReuseRow::count);
    set_axes(group, "count", {"distance"});
}

void write_curve(Group group, const MissRatioCurve& curve) {
    group.write("capacity", column_of(curve.points, &MissRatioCurve::Point::lines)).set_attribute("units", "lines");
    group.write("misses", column_of(curve.points, &MissRatioCurve::Point::misses));
    group.write("miss_ratio",
                column_of(curve.points, [&](const auto& point) { return curve.miss_ratio(point.lines); }));
    set_axes(group, "miss_ratio", {"capacity"});
}

ReuseDistances read_link(const Group& group) {
    ReuseDistances reuse;
    reuse.link = group.text_attribute("link");
    reuse.line_bytes = static_cast<std::uint32_t>(group.whole_attribute("line_bytes"));
    reuse.structures = group.read_texts("structures");
    const Group rows = group.open_group("distances");
    reuse.rows.resize(rows.read<std::uint32_t>("structure").size());
    read_member(rows, "structure", reuse.rows, &ReuseRow::structure);
    read_member(rows, "phase", reuse.rows, &ReuseRow::phase);
    read_member(rows, "distance", reuse.rows, &ReuseRow::distance);
    read_member(rows, "count", reuse.rows, &ReuseRow::count);
    for (const ReuseRow& row : reuse.rows)
        if (row.structure >= reuse.structures.size())
            throw StorageError("{}: there is no data structure {}; the file is damaged", rows.where(), row.structure);
    return reuse;
}

}  // namespace

void write_reuse(Group& root, const std::vector<ReuseDistances>& reuse) {
    if (reuse.empty()) return;
    const auto name_of = [](const ReuseDistances& each) { return fmt::format("{}_{}", each.link, each.line_bytes); };
    Group all = root.create_group("reuse");
    set_nexus_class(all, "NXcollection", name_of(reuse.front()));
    all.set_attribute("groups", column_of(reuse, name_of));
    for (const ReuseDistances& each : reuse) {
        Group group = all.create_group(name_of(each));
        set_nexus_class(group, "NXcollection", "curve");
        group.set_attribute("link", each.link);
        group.set_attribute("line_bytes", each.line_bytes);
        group.write_texts("structures", each.structures);
        write_distances(group.create_group("distances"), each);
        write_curve(group.create_group("curve"), miss_ratio_curve(each));
    }
}

std::vector<ReuseDistances> read_reuse(const Group& root) {
    std::vector<ReuseDistances> reuse;
    if (!root.has("reuse")) return reuse;
    const Group all = root.open_group("reuse");
    for (const std::string& name : all.texts_attribute("groups")) reuse.push_back(read_link(all.open_group(name)));
    return reuse;
}

}  // namespace cachetally
