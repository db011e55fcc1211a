// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/causes_file.hpp"

#include <fmt/format.h>

#include "monitor/attribution/attribution_file.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

/// Of the structures that the rows are about; `names` as /structures has them.
template <class Row>
std::vector<std::string> names_of(const std::vector<Row>& rows, std::uint32_t Row::*structure,
                                  const std::vector<std::string>& names) {
    return column_of(rows, [&](const Row& row) {
        return row.*structure < names.size() ? names[row.*structure] : std::to_string(row.*structure);
    });
}

void write_misses(Group group, const LevelCauses& level, const std::vector<std::string>& structures) {
    const std::vector<StructureCauses>& rows = level.misses;
    group.write("structure", column_of(rows, &StructureCauses::structure));
    group.write("phase", column_of(rows, &StructureCauses::phase));
    if (level.by_core) group.write("core", column_of(rows, &StructureCauses::core));
    std::vector<std::string> names;
    for (unsigned cause = 0; cause < miss_cause_count; ++cause) {
        names.emplace_back(to_string(static_cast<MissCause>(cause)));
        group.write(names.back(), column_of(rows, [&](const auto& row) { return row.misses[cause]; }));
    }
    group.write_texts("name", names_of(rows, &StructureCauses::structure, structures));
    set_axes(group, names.front(), {"name"}, {names.begin() + 1, names.end()});
}

void write_evictions(Group group, const std::vector<Evictions>& rows, const std::vector<std::string>& structures) {
    group.write("by", column_of(rows, &Evictions::by));
    group.write("victim", column_of(rows, &Evictions::victim));
    group.write("phase", column_of(rows, &Evictions::phase));
    group.write("count", column_of(rows, &Evictions::count));
    group.write_texts("by_name", names_of(rows, &Evictions::by, structures));
    group.write_texts("victim_name", names_of(rows, &Evictions::victim, structures));
    set_axes(group, "count", {"by_name"});
}

void require_structure(const Group& group, std::uint32_t structure, std::size_t structures) {
    if (structure > structures)
        throw StorageError(
            fmt::format("{}: there is no data structure {}; the file is damaged", group.where(), structure));
}

/// Older files have `taken_away` instead of `invalidated`.
const char* column_name(const Group& misses, MissCause cause) {
    return cause == MissCause::invalidated && misses.has("taken_away") ? "taken_away" : to_string(cause);
}

std::vector<StructureCauses> read_misses(const Group& group, std::size_t structures) {
    const auto structure = group.read<std::uint32_t>("structure");
    const auto phase = read_column<std::uint32_t>(group, "phase", structure.size());
    std::vector<StructureCauses> rows(structure.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        require_structure(group, structure[i], structures);
        rows[i].structure = structure[i];
        rows[i].phase = phase[i];
    }
    if (group.has("core")) read_member(group, "core", rows, &StructureCauses::core);
    for (const StructureCauses& row : rows) require_core(group, row.core);
    for (unsigned cause = 0; cause < miss_cause_count; ++cause) {
        const auto counts =
            read_column<std::uint64_t>(group, column_name(group, static_cast<MissCause>(cause)), structure.size());
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].misses[cause] = counts[i];
    }
    return rows;
}

std::vector<Evictions> read_evictions(const Group& group, std::size_t structures) {
    const auto by = group.read<std::uint32_t>("by");
    const auto victim = read_column<std::uint32_t>(group, "victim", by.size());
    const auto phase = read_column<std::uint32_t>(group, "phase", by.size());
    const auto count = read_column<std::uint64_t>(group, "count", by.size());
    std::vector<Evictions> rows;
    for (std::size_t i = 0; i < by.size(); ++i) {
        require_structure(group, by[i], structures);
        require_structure(group, victim[i], structures);
        rows.push_back({by[i], victim[i], phase[i], count[i]});
    }
    return rows;
}

}  // namespace

void write_causes(Group& root, const std::vector<LevelCauses>& levels) {
    if (levels.empty()) return;
    Group causes = root.create_group("causes");
    set_nexus_class(causes, "NXcollection", levels.front().level);
    causes.set_attribute("levels", column_of(levels, &LevelCauses::level));
    std::vector<std::string> structures;
    if (root.has("structures")) structures = root.open_group("structures").read_texts("name");
    for (const LevelCauses& level : levels) {
        Group group = causes.create_group(level.level);
        set_nexus_class(group, "NXcollection", "misses");
        write_misses(group.create_group("misses"), level, structures);
        write_evictions(group.create_group("evictions"), level.evictions, structures);
    }
}

std::vector<LevelCauses> read_causes(const Group& root, std::size_t structures) {
    std::vector<LevelCauses> levels;
    if (!root.has("causes")) return levels;
    const Group causes = root.open_group("causes");
    for (const std::string& name : causes.texts_attribute("levels")) {
        const Group group = causes.open_group(name);
        const Group misses = group.open_group("misses");
        levels.push_back({name, read_misses(misses, structures),
                          read_evictions(group.open_group("evictions"), structures), misses.has("core")});
    }
    return levels;
}

}  // namespace cachetally
