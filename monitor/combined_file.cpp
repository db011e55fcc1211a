// SPDX-License-Identifier: BSD-3-Clause
// Levels by line and by data structure in HDF5.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "monitor/histogram.hpp"
#include "monitor/histogram_file.hpp"
#include "monitor/result_file.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

/// The four numbers of tallies as columns; `beside`: others on the same axis.
void write_tallies(Group& group, const std::vector<Tally>& tallies, const std::string& axis,
                   const std::vector<std::string>& beside = {}) {
    group.write("accesses", column_of(tallies, &Tally::accesses));
    group.write("misses", column_of(tallies, &Tally::misses));
    group.write("hits", column_of(tallies, &Tally::hits));
    group.write("miss_rate", column_of(tallies, &Tally::miss_rate));
    std::vector<std::string> others{"misses", "hits", "miss_rate"};
    others.insert(others.end(), beside.begin(), beside.end());
    set_axes(group, "accesses", {axis}, others);
}

/// Columns of the misses' causes, if these are known; their names.
std::vector<std::string> write_line_causes(Group& group, const LevelLines& lines) {
    std::vector<std::string> names;
    for (unsigned cause = 0; cause < miss_cause_count; ++cause) {
        if (lines.causes[cause].empty()) return {};
        group.write(names.emplace_back(to_string(MissCause(cause))), lines.causes[cause]);
    }
    return names;
}

/// The rows of structures: the regions, and elsewhere.
std::vector<std::string> names_of(const std::vector<Region>& regions) {
    std::vector<std::string> names = column_of(regions, &Region::name);
    names.emplace_back("(elsewhere)");
    return names;
}

void write_regions(Group& group, std::vector<Region> regions) {
    const std::vector<std::string> names = names_of(regions);
    regions.push_back({"", 0, 0, 0, 0});
    group.write("structure", numbers_to(names.size()));
    group.write_texts("name", names);
    group.write("base", column_of(regions, &Region::base));
    group.write("bytes", column_of(regions, &Region::bytes)).set_attribute("units", "bytes");
    group
        .write("element_bytes",
               column_of(regions, [](const Region& region) { return std::uint64_t{region.element_bytes}; }))
        .set_attribute("units", "bytes");
    const auto rows = column_of(regions, &Region::row_elements);
    if (std::ranges::any_of(rows, [](std::uint32_t each) { return each > 0; })) group.write("row_elements", rows);
    set_axes(group, "bytes", {"name"}, {"base", "element_bytes"});
}

void write_level(Group group, const StructureTable& table, std::size_t level) {
    const std::vector<std::string> names = names_of(table.regions);
    group.set_attribute("exact", table.levels[level].exact);
    group.write("structure", numbers_to(names.size()));
    group.write_texts("name", names);
    write_tallies(group, table.totals(level), "name");
    Group phases = group.create_group("phases");
    const std::vector<StructureTally>& rows = table.levels[level].tallies;
    phases.write("structure", column_of(rows, &StructureTally::structure));
    phases.write_texts("name", column_of(rows, [&](const auto& row) { return names.at(row.structure); }));
    phases.write("phase", column_of(rows, &StructureTally::phase));
    write_tallies(phases, column_of(rows, &StructureTally::tally), "name");
}

StructureTable::Level read_level(const Group& group, const std::string& name, std::size_t structures) {
    StructureTable::Level level{name, group.whole_attribute("exact") != 0, {}};
    const Group phases = group.open_group("phases");
    const auto structure = phases.read<std::uint32_t>("structure");
    const auto phase = read_column<std::uint32_t>(phases, "phase", structure.size());
    const auto accesses = read_column<double>(phases, "accesses", structure.size());
    const auto misses = read_column<double>(phases, "misses", structure.size());
    for (std::size_t i = 0; i < structure.size(); ++i) {
        if (structure[i] >= structures)
            throw StorageError("{}: there is no structure {}; the file is damaged", phases.where(), structure[i]);
        level.tallies.push_back({structure[i], phase[i], {accesses[i], misses[i]}});
    }
    return level;
}

std::vector<Tally> tallies_of(const LevelLines& lines) {
    std::vector<Tally> tallies;
    for (std::size_t i = 0; i < lines.address.size(); ++i) tallies.push_back({lines.accesses[i], lines.misses[i]});
    return tallies;
}

using LineSums = std::vector<std::pair<Address, Tally>>;

/// Of lines over all phases.
LineSums sums_of(const LevelLines& lines, const std::vector<Tally>& tallies) {
    LineSums sums;
    for (std::size_t i = 0; i < tallies.size(); ++i) sums.emplace_back(lines.address[i], tallies[i]);
    sort_and_sum(
        sums, [](const auto& line) { return line.first; },
        [](auto& sum, const auto& line) { sum.second += line.second; });
    return sums;
}

constexpr std::size_t many_rows_per_line = 16;

/// Where many phases make many rows of few lines, readers of all phases need not read them all.
void write_line_sums(Group& level, const LineSums& sums, std::size_t rows) {
    if (sums.empty() || rows < many_rows_per_line * sums.size()) return;
    Group group = level.create_group("lines");
    const auto tallies = column_of(sums, [](const auto& line) { return line.second; });
    group.write("address", column_of(sums, [](const auto& line) { return line.first; }));
    group.write("accesses", column_of(tallies, &Tally::accesses));
    group.write("misses", column_of(tallies, &Tally::misses));
    set_axes(group, "accesses", {"address"}, {"misses"});
}

void write_line_pyramid(Group& group, const LevelLines& lines, const LineSums& sums) {
    const auto number = [&](const std::string& name, auto of, bool summed = true) {
        return PyramidNumber{summed ? name : "", name + "_min", name + "_max",
                             column_of(sums, [&](const auto& line) { return std::invoke(of, line.second); })};
    };
    write_pyramid(group, column_of(sums, [](const auto& line) { return line.first; }), lines.line_bytes,
                  {number("accesses", &Tally::accesses), number("misses", &Tally::misses), number("hits", &Tally::hits),
                   number("miss_rate", &Tally::miss_rate, false)},
                  {"misses", "hits"});
}

constexpr std::uint64_t most_grid_cells = 1 << 18, most_grid_rows = 256;

/// Phases by lines, which are asked for by their values; by blocks of 2, 4, ... lines where cells would be too many.
/// Rows of several phases are those of heat maps (viewer/core/scale.hpp).
void write_grid(Group& level, const LevelLines& lines, std::uint64_t phases) {
    if (lines.address.empty()) return;
    phases = std::max(phases, std::uint64_t{1} + *std::ranges::max_element(lines.phase));
    const std::uint64_t rows = std::min(phases, most_grid_rows);
    std::vector<std::uint32_t> firsts;
    for (std::uint64_t row = 0; row < rows; ++row) firsts.push_back(static_cast<std::uint32_t>(row * phases / rows));
    std::vector<std::uint64_t> blocks;
    for (const Address address : lines.address) blocks.push_back(address / lines.line_bytes);
    std::ranges::sort(blocks);
    std::uint64_t units = 1;
    for (;; units *= 2) {
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
        if (blocks.size() * rows <= most_grid_cells || blocks.size() == 1) break;
        for (std::uint64_t& block : blocks) block /= 2;
    }
    std::vector<double> accesses(rows * blocks.size()), misses(accesses.size());
    const std::uint64_t block_bytes = units * lines.line_bytes;
    for (std::size_t i = 0; i < lines.address.size(); ++i) {
        const auto column = std::ranges::lower_bound(blocks, lines.address[i] / block_bytes) - blocks.begin();
        const auto row = std::ranges::upper_bound(firsts, lines.phase[i]) - firsts.begin() - 1;
        const std::size_t cell = static_cast<std::size_t>(row) * blocks.size() + static_cast<std::size_t>(column);
        accesses[cell] += lines.accesses[i];
        misses[cell] += lines.misses[i];
    }
    for (std::uint64_t& block : blocks) block *= block_bytes;
    Group grid = level.create_group("grid");
    grid.set_attribute("units", units);
    grid.set_attribute("line_bytes", lines.line_bytes);
    grid.write("phase", firsts);
    grid.write("address", blocks);
    grid.write_table("accesses", std::span<const double>(accesses), rows, blocks.size());
    grid.write_table("misses", std::span<const double>(misses), rows, blocks.size());
    set_axes(grid, "accesses", {"phase", "address"}, {"misses"});
}

}  // namespace

void write_combined(Group& root, const std::vector<LevelLines>& levels, std::uint32_t phases) {
    if (levels.empty()) return;
    Group all = root.create_group("combined");
    all.set_attribute("names", column_of(levels, &LevelLines::level));
    set_nexus_class(all, "NXcollection", levels.front().level);
    for (const LevelLines& level : levels) {
        Group group = all.create_group(level.level);
        group.set_attribute("line_bytes", level.line_bytes);
        group.write("address", std::vector<std::uint64_t>(level.address));
        group.write("phase", level.phase);
        const std::vector<Tally> tallies = tallies_of(level);
        write_tallies(group, tallies, "address", write_line_causes(group, level));
        const LineSums sums = sums_of(level, tallies);
        write_line_sums(group, sums, tallies.size());
        write_line_pyramid(group, level, sums);
        write_grid(group, level, phases);
    }
}

LevelLines read_combined(const Group& root, const std::string& level) {
    std::vector<std::string> names;
    if (root.has("combined")) names = root.open_group("combined").texts_attribute("names");
    if (std::ranges::find(names, level) == names.end())
        throw StorageError("{}: no lines are known of a level '{}'; {}", root.where(), level,
                           names.empty() ? "the file has no histograms on both sides of any level"
                                         : fmt::format("there are: {}", fmt::join(names, ", ")));
    const Group group = root.open_group("combined").open_group(level);
    LevelLines lines;
    lines.level = level;
    const std::uint64_t bytes = group.whole_attribute("line_bytes");
    if (bytes == 0 || bytes > 1U << 20 || !is_power_of_two(bytes))
        throw StorageError("{}: line_bytes = {} cannot be; the file is damaged", group.where(), bytes);
    lines.line_bytes = static_cast<std::uint32_t>(bytes);
    lines.address = group.read<std::uint64_t>("address");
    lines.phase = read_column<std::uint32_t>(group, "phase", lines.address.size());
    lines.accesses = read_column<double>(group, "accesses", lines.address.size());
    lines.misses = read_column<double>(group, "misses", lines.address.size());
    for (unsigned cause = 0; cause < miss_cause_count; ++cause)
        if (const char* name = to_string(MissCause(cause)); group.has(name))
            lines.causes[cause] = read_column<double>(group, name, lines.address.size());
    return lines;
}

void write_structures(Group& root, const StructureTable& table, const std::vector<std::string>& functions) {
    if (!functions.empty()) {
        Group group = root.create_group("functions");
        set_nexus_class(group, "NXcollection");
        group.write_texts("name", functions);
    }
    Group all = root.create_group("structures");
    write_regions(all, table.regions);
    if (table.levels.empty()) return;
    all.set_attribute("levels", column_of(table.levels, &StructureTable::Level::name));
    Group levels = all.create_group("levels");
    set_nexus_class(levels, "NXcollection", table.levels.front().name);
    for (std::size_t i = 0; i < table.levels.size(); ++i)
        write_level(levels.create_group(table.levels[i].name), table, i);
}

StructureTable read_structures(const Group& root) {
    StructureTable table;
    const Group all = root.open_group("structures");
    table.regions.resize(all.open_dataset("name").rows());
    read_member(all, "name", table.regions, &Region::name);
    read_member(all, "base", table.regions, &Region::base);
    read_member(all, "bytes", table.regions, &Region::bytes);
    read_member(all, "element_bytes", table.regions, &Region::element_bytes);
    if (all.has("row_elements")) read_member(all, "row_elements", table.regions, &Region::row_elements);
    const std::size_t names = table.regions.size();
    if (names == 0) throw StorageError("{}: is empty; the file is damaged", all.where());
    table.regions.pop_back();  // elsewhere
    if (!all.has_attribute("levels")) return table;
    const Group levels = all.open_group("levels");
    for (const std::string& name : all.texts_attribute("levels"))
        table.levels.push_back(read_level(levels.open_group(name), name, names));
    return table;
}

}  // namespace cachetally
