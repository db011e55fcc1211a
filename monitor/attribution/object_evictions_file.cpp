// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/attribution/object_evictions_file.hpp"

#include <fmt/format.h>

#include "storage/columns.hpp"

namespace cachetally {
namespace {

using Numbers = std::vector<std::uint32_t>;

void write_pairs(Group group, const std::vector<Evictions>& rows, const std::vector<std::string>& objects) {
    const auto names = [&](std::uint32_t Evictions::*object) {
        return column_of(rows, [&](const Evictions& row) { return objects[row.*object]; });
    };
    group.write("by", column_of(rows, &Evictions::by));
    group.write("victim", column_of(rows, &Evictions::victim));
    group.write("phase", column_of(rows, &Evictions::phase));
    group.write("count", column_of(rows, &Evictions::count));
    group.write_texts("by_name", names(&Evictions::by));
    group.write_texts("victim_name", names(&Evictions::victim));
    set_axes(group, "count", {"by_name"});
}

/// A table of cycles, one of their structures in order, and one of their sets.
void write_cycles(Group group, const std::vector<EvictionCycle>& cycles) {
    Numbers numbers, cycle_of_object, objects, cycle_of_set;
    std::vector<EvictionCycle::Set> sets;
    for (std::uint32_t i = 0; i < cycles.size(); ++i) {
        numbers.push_back(i);
        for (const std::uint32_t object : cycles[i].structures) {
            cycle_of_object.push_back(i);
            objects.push_back(object);
        }
        for (const EvictionCycle::Set& set : cycles[i].sets) {
            cycle_of_set.push_back(i);
            sets.push_back(set);
        }
    }
    group.write("cycle", numbers);
    group.write("count", column_of(cycles, &EvictionCycle::count));
    set_axes(group, "count", {"cycle"});
    Group members = group.create_group("objects");
    members.write("cycle", cycle_of_object);
    members.write("object", objects);
    number_rows(members, "row", objects.size());
    Group places = group.create_group("sets");
    places.write("cycle", cycle_of_set);
    places.write("set", column_of(sets, &EvictionCycle::Set::set));
    places.write("count", column_of(sets, &EvictionCycle::Set::count));
    number_rows(places, "row", sets.size());
}

void require_below(const Group& group, const char* what, const Numbers& numbers, std::size_t bound) {
    for (const std::uint32_t number : numbers)
        if (number >= bound)
            throw StorageError(fmt::format("{}: there is no {} {}; the file is damaged", group.where(), what, number));
}

std::vector<Evictions> read_pairs(const Group& group, std::size_t objects) {
    const auto by = group.read<std::uint32_t>("by");
    const auto victim = read_column<std::uint32_t>(group, "victim", by.size());
    const auto phase = read_column<std::uint32_t>(group, "phase", by.size());
    const auto count = read_column<std::uint64_t>(group, "count", by.size());
    require_below(group, "object", by, objects);
    require_below(group, "object", victim, objects);
    std::vector<Evictions> rows;
    for (std::size_t i = 0; i < by.size(); ++i) rows.push_back({by[i], victim[i], phase[i], count[i]});
    return rows;
}

std::vector<EvictionCycle> read_cycles(const Group& group, std::size_t objects) {
    std::vector<EvictionCycle> cycles;
    for (const std::uint64_t count : group.read<std::uint64_t>("count")) cycles.push_back({{}, count, {}});
    const Group members = group.open_group("objects"), places = group.open_group("sets");
    const auto cycle_of_object = members.read<std::uint32_t>("cycle");
    const auto object = read_column<std::uint32_t>(members, "object", cycle_of_object.size());
    require_below(members, "cycle", cycle_of_object, cycles.size());
    require_below(members, "object", object, objects);
    for (std::size_t i = 0; i < object.size(); ++i) cycles[cycle_of_object[i]].structures.push_back(object[i]);
    const auto cycle_of_set = places.read<std::uint32_t>("cycle");
    const auto set = read_column<std::uint64_t>(places, "set", cycle_of_set.size());
    const auto count = read_column<std::uint64_t>(places, "count", cycle_of_set.size());
    require_below(places, "cycle", cycle_of_set, cycles.size());
    for (std::size_t i = 0; i < set.size(); ++i) cycles[cycle_of_set[i]].sets.push_back({set[i], count[i]});
    return cycles;
}

}  // namespace

void write_object_evictions(Group& attribution, const std::vector<ObjectEvictions>& levels,
                            const std::vector<std::string>& objects) {
    if (levels.empty()) return;
    Group group = attribution.create_group("evictions");
    set_nexus_class(group, "NXcollection", levels.front().level);
    for (const ObjectEvictions& level : levels) {
        Group each = group.create_group(level.level);
        set_nexus_class(each, "NXcollection", "pairs");
        write_pairs(each.create_group("pairs"), level.pairs, objects);
        write_cycles(each.create_group("cycles"), level.cycles);
    }
    group.set_attribute("levels", column_of(levels, &ObjectEvictions::level));
}

std::vector<ObjectEvictions> read_object_evictions(const Group& attribution, std::size_t objects) {
    std::vector<ObjectEvictions> levels;
    if (!attribution.has("evictions")) return levels;
    const Group group = attribution.open_group("evictions");
    for (const std::string& name : group.texts_attribute("levels")) {
        const Group each = group.open_group(name);
        levels.push_back(
            {name, read_pairs(each.open_group("pairs"), objects), read_cycles(each.open_group("cycles"), objects)});
    }
    return levels;
}

}  // namespace cachetally
