// SPDX-License-Identifier: BSD-3-Clause
// Levels by line and by data structure in HDF5.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "monitor/histogram_file.hpp"
#include "monitor/result_file.hpp"
#include "storage/axes.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

/// The four numbers of tallies as columns.
void write_tallies(Group& group, const std::vector<Tally>& tallies, const std::string& axis) {
    std::vector<double> accesses, misses, hits, rates;
    for (const Tally& tally : tallies) {
        accesses.push_back(tally.accesses);
        misses.push_back(tally.misses);
        hits.push_back(tally.hits());
        rates.push_back(tally.miss_rate());
    }
    group.write("accesses", accesses);
    group.write("misses", misses);
    group.write("hits", hits);
    group.write("miss_rate", rates);
    set_axes(group, "accesses", {axis}, {"misses", "hits", "miss_rate"});
}

/// The rows of structures: the regions, and elsewhere.
std::vector<std::string> names_of(const std::vector<Region>& regions) {
    std::vector<std::string> names;
    names.reserve(regions.size() + 1);
    for (const Region& region : regions) names.push_back(region.name);
    names.emplace_back("(elsewhere)");
    return names;
}

void write_regions(Group& group, const std::vector<Region>& regions) {
    const std::vector<std::string> names = names_of(regions);
    std::vector<std::uint64_t> base, bytes, element_bytes;
    for (const Region& region : regions) {
        base.push_back(region.base);
        bytes.push_back(region.bytes);
        element_bytes.push_back(region.element_bytes);
    }
    for (auto* column : {&base, &bytes, &element_bytes}) column->push_back(0);
    group.write("structure", numbers_to(names.size()));
    group.write_texts("name", names);
    group.write("base", base);
    group.write("bytes", bytes).set_attribute("units", "bytes");
    group.write("element_bytes", element_bytes).set_attribute("units", "bytes");
    set_axes(group, "bytes", {"name"}, {"base", "element_bytes"});
}

void write_level(Group& group, const StructureTable& table, std::size_t level) {
    const std::vector<std::string> names = names_of(table.regions);
    group.set_attribute("exact", table.levels[level].exact);
    group.write("structure", numbers_to(names.size()));
    group.write_texts("name", names);
    write_tallies(group, table.totals(level), "name");
    Group phases = group.create_group("phases");
    std::vector<std::uint32_t> structure, phase;
    std::vector<std::string> row_names;
    std::vector<Tally> tallies;
    for (const StructureTally& row : table.levels[level].tallies) {
        structure.push_back(row.structure);
        row_names.push_back(names.at(row.structure));
        phase.push_back(row.phase);
        tallies.push_back(row.tally);
    }
    phases.write("structure", structure);
    phases.write_texts("name", row_names);
    phases.write("phase", phase);
    write_tallies(phases, tallies, "name");
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
            throw StorageError(
                fmt::format("{}: there is no structure {}; the file is damaged", phases.where(), structure[i]));
        level.tallies.push_back({structure[i], phase[i], {accesses[i], misses[i]}});
    }
    return level;
}

/// Accesses and misses of a line over all phases.
struct LineSum {
    Address address = 0;
    Tally tally;
};

std::vector<LineSum> sums_by_line(const LevelLines& lines) {
    std::vector<LineSum> sums;
    for (std::size_t i = 0; i < lines.address.size(); ++i)
        sums.push_back({lines.address[i], {lines.accesses[i], lines.misses[i]}});
    std::ranges::stable_sort(sums, {}, &LineSum::address);
    std::size_t kept = 0;
    for (const LineSum& each : sums) {
        if (kept != 0 && sums[kept - 1].address == each.address) {
            sums[kept - 1].tally.accesses += each.tally.accesses;
            sums[kept - 1].tally.misses += each.tally.misses;
        } else {
            sums[kept++] = each;
        }
    }
    sums.resize(kept);
    return sums;
}

/// One of the numbers of a line, and its least and most in the lines of each block.
struct Extremes {
    const char* name;
    double (*of)(const Tally&);
    bool summed;
};

constexpr Extremes extremes[] = {
    {"accesses", [](const Tally& tally) { return tally.accesses; }, true},
    {"misses", [](const Tally& tally) { return tally.misses; }, true},
    {"hits", [](const Tally& tally) { return tally.hits(); }, true},
    {"miss_rate", [](const Tally& tally) { return tally.miss_rate(); }, false},
};

/// Writes a level of a pyramid; `starts`: where blocks begin in `sums`, and their number at the end.
void write_blocks(Group& level, std::span<const LineSum> sums, std::span<const std::size_t> starts,
                  std::uint64_t block_bytes) {
    const std::size_t blocks = starts.size() - 1;
    std::vector<std::uint64_t> address(blocks);
    std::vector<std::uint32_t> lines(blocks);
    for (std::size_t b = 0; b < blocks; ++b) {
        address[b] = sums[starts[b]].address / block_bytes * block_bytes;
        lines[b] = static_cast<std::uint32_t>(starts[b + 1] - starts[b]);
    }
    level.write("address", address);
    level.write("lines", lines);
    for (const Extremes& number : extremes) {
        std::vector<double> sum(blocks), least(blocks), most(blocks);
        for (std::size_t b = 0; b < blocks; ++b) {
            least[b] = most[b] = number.of(sums[starts[b]].tally);
            for (std::size_t i = starts[b]; i < starts[b + 1]; ++i) {
                const double value = number.of(sums[i].tally);
                sum[b] += value;
                least[b] = std::min(least[b], value);
                most[b] = std::max(most[b], value);
            }
        }
        const std::string name = number.name;
        if (number.summed) level.write(name, sum);
        level.write(name + "_min", least);
        level.write(name + "_max", most);
    }
    set_axes(level, "accesses", {"address"}, {"misses", "hits"});
}

/// Coarse views as histograms have them: blocks of 16, 256, ... lines, until there are few.
void write_pyramid(Group& group, const LevelLines& lines) {
    const std::vector<LineSum> sums = sums_by_line(lines);
    if (sums.size() <= pyramid_blocks_enough) return;
    Group pyramid = group.create_group("pyramid");
    std::uint64_t units = 16;
    unsigned number = 1;
    for (std::size_t blocks = sums.size(); blocks > pyramid_blocks_enough && units < std::uint64_t{1} << 40;
         units *= 16, ++number) {
        const std::uint64_t block_bytes = units * lines.line_bytes;
        std::vector<std::size_t> starts;
        for (std::size_t i = 0; i < sums.size(); ++i)
            if (i == 0 || sums[i].address / block_bytes != sums[i - 1].address / block_bytes) starts.push_back(i);
        blocks = starts.size();
        starts.push_back(sums.size());
        Group level = pyramid.create_group(fmt::format("level{}", number));
        level.set_attribute("units", units);
        write_blocks(level, sums, starts, block_bytes);
    }
    set_nexus_class(pyramid, "NXcollection", fmt::format("level{}", number - 1));
}

constexpr std::uint64_t most_grid_cells = 1 << 18;

/// Phases by lines, which are asked for by their values; by blocks of 2, 4, ... lines where cells would be too many.
void write_grid(Group& level, const LevelLines& lines) {
    if (lines.address.empty()) return;
    const std::uint64_t phases = std::uint64_t{1} + *std::ranges::max_element(lines.phase);
    std::vector<std::uint64_t> blocks;
    for (const Address address : lines.address) blocks.push_back(address / lines.line_bytes);
    std::ranges::sort(blocks);
    std::uint64_t units = 1;
    for (;; units *= 2) {
        blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
        if (blocks.size() * phases <= most_grid_cells || blocks.size() == 1) break;
        for (std::uint64_t& block : blocks) block /= 2;
    }
    std::vector<double> accesses(phases * blocks.size()), misses(accesses.size());
    const std::uint64_t block_bytes = units * lines.line_bytes;
    for (std::size_t i = 0; i < lines.address.size(); ++i) {
        const auto column = std::ranges::lower_bound(blocks, lines.address[i] / block_bytes) - blocks.begin();
        const std::size_t cell = lines.phase[i] * blocks.size() + static_cast<std::size_t>(column);
        accesses[cell] += lines.accesses[i];
        misses[cell] += lines.misses[i];
    }
    for (std::uint64_t& block : blocks) block *= block_bytes;
    Group grid = level.create_group("grid");
    grid.set_attribute("units", units);
    grid.set_attribute("line_bytes", lines.line_bytes);
    grid.write("phase", numbers_to(phases));
    grid.write("address", blocks);
    grid.write_table("accesses", std::span<const double>(accesses), phases, blocks.size());
    grid.write_table("misses", std::span<const double>(misses), phases, blocks.size());
    set_axes(grid, "accesses", {"phase", "address"}, {"misses"});
}

}  // namespace

void write_combined(Group& root, const std::vector<LevelLines>& levels) {
    if (levels.empty()) return;
    Group all = root.create_group("combined");
    std::vector<std::string> names;
    names.reserve(levels.size());
    for (const LevelLines& level : levels) names.push_back(level.level);
    all.set_attribute("names", names);
    set_nexus_class(all, "NXcollection", names.front());
    for (const LevelLines& level : levels) {
        Group group = all.create_group(level.level);
        group.set_attribute("line_bytes", level.line_bytes);
        group.write("address", std::vector<std::uint64_t>(level.address));
        group.write("phase", level.phase);
        std::vector<Tally> tallies;
        for (std::size_t i = 0; i < level.address.size(); ++i) tallies.push_back({level.accesses[i], level.misses[i]});
        write_tallies(group, tallies, "address");
        write_pyramid(group, level);
        write_grid(group, level);
    }
}

LevelLines read_combined(const Group& root, const std::string& level) {
    std::vector<std::string> names;
    if (root.has("combined")) names = root.open_group("combined").texts_attribute("names");
    if (std::ranges::find(names, level) == names.end())
        throw StorageError(fmt::format("{}: no lines are known of a level '{}'; {}", root.where(), level,
                                       names.empty() ? "the file has no histograms on both sides of any level"
                                                     : fmt::format("there are: {}", fmt::join(names, ", "))));
    const Group group = root.open_group("combined").open_group(level);
    LevelLines lines;
    lines.level = level;
    const std::uint64_t bytes = group.whole_attribute("line_bytes");
    if (bytes == 0 || bytes > 1U << 20 || !is_power_of_two(bytes))
        throw StorageError(fmt::format("{}: line_bytes = {} cannot be; the file is damaged", group.where(), bytes));
    lines.line_bytes = static_cast<std::uint32_t>(bytes);
    lines.address = group.read<std::uint64_t>("address");
    lines.phase = read_column<std::uint32_t>(group, "phase", lines.address.size());
    lines.accesses = read_column<double>(group, "accesses", lines.address.size());
    lines.misses = read_column<double>(group, "misses", lines.address.size());
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
    std::vector<std::string> names;
    for (const StructureTable::Level& level : table.levels) names.push_back(level.name);
    all.set_attribute("levels", names);
    Group levels = all.create_group("levels");
    set_nexus_class(levels, "NXcollection", names.front());
    for (std::size_t i = 0; i < names.size(); ++i) {
        Group group = levels.create_group(names[i]);
        write_level(group, table, i);
    }
}

StructureTable read_structures(const Group& root) {
    StructureTable table;
    const Group all = root.open_group("structures");
    const auto names = all.read_texts("name");
    const auto base = read_column<std::uint64_t>(all, "base", names.size());
    const auto bytes = read_column<std::uint64_t>(all, "bytes", names.size());
    const auto element = read_column<std::uint64_t>(all, "element_bytes", names.size());
    if (names.empty()) throw StorageError(fmt::format("{}: is empty; the file is damaged", all.where()));
    for (std::size_t i = 0; i + 1 < names.size(); ++i)
        table.regions.push_back({names[i], base[i], bytes[i], static_cast<std::uint32_t>(element[i])});
    if (!all.has_attribute("levels")) return table;
    const Group levels = all.open_group("levels");
    for (const std::string& name : all.texts_attribute("levels"))
        table.levels.push_back(read_level(levels.open_group(name), name, names.size()));
    return table;
}

}  // namespace cachetally
