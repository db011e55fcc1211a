// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/histogram_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "monitor/accuracy.hpp"
#include "storage/axes.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

constexpr unsigned levels_most = 15;

template <class T, class Pick>
std::vector<T> column(const Histogram& histogram, Pick pick) {
    std::vector<T> values;
    values.reserve(histogram.rows().size());
    for (const HistogramRow& row : histogram.rows()) values.push_back(std::invoke(pick, row));
    return values;
}

std::string level_name(unsigned level) { return fmt::format("level{}", level); }

void write_pyramid(Group& group, const Histogram& histogram) {
    const std::vector<PyramidLevel> levels = pyramid_of(histogram);
    if (levels.empty()) return;
    Group pyramid = group.create_group("pyramid");
    set_nexus_class(pyramid, "NXcollection", level_name(static_cast<unsigned>(levels.size())));
    for (unsigned i = 0; i < levels.size(); ++i) {
        Group level = pyramid.create_group(level_name(i + 1));
        level.set_attribute("units", levels[i].units);
        level.write("address", levels[i].address);
        level.write("sum", levels[i].sum);
        level.write("min", levels[i].least);
        level.write("max", levels[i].most);
        level.write("lines", levels[i].lines);
        set_axes(level, "sum", {"address"}, {"min", "max"});
    }
}

}  // namespace

std::vector<PyramidLevel> pyramid_of(const Histogram& histogram) {
    const std::vector<UnitShare> units = spread_over_units(histogram);
    std::vector<PyramidLevel> levels;
    std::uint64_t blocks = units.size();
    for (std::uint64_t size = 16; blocks > pyramid_blocks_enough && levels.size() < levels_most; size *= 16) {
        PyramidLevel level;
        level.units = size;
        const std::uint64_t bytes_of_unit = histogram.unit_bytes();
        for (const UnitShare& unit : units) {
            const Address first = unit.address / bytes_of_unit / size * size * bytes_of_unit;
            if (level.address.empty() || level.address.back() != first) {
                level.address.push_back(first);
                level.least.push_back(unit.count);
                level.most.push_back(unit.count);
                level.sum.push_back(0);
                level.lines.push_back(0);
            }
            level.least.back() = std::min(level.least.back(), unit.count);
            level.most.back() = std::max(level.most.back(), unit.count);
            level.sum.back() += unit.count;
            ++level.lines.back();
        }
        blocks = level.address.size();
        levels.push_back(std::move(level));
    }
    return levels;
}

void write_histogram(Group& parent, const std::string& name, const Histogram& histogram, const AddressMap& map) {
    Group group = parent.create_group(name);
    group.set_attribute("unit_bytes", histogram.unit_bytes());
    group.set_attribute("phases", histogram.phases());
    group.write("address", column<std::uint64_t>(histogram, &HistogramRow::address));
    group.write("span", column<std::uint32_t>(histogram, &HistogramRow::span));
    group.write("phase", column<std::uint32_t>(histogram, &HistogramRow::phase));
    group.write("count", column<std::uint64_t>(histogram, &HistogramRow::count));
    const auto has_function = [](const HistogramRow& row) { return row.function != no_function; };
    if (std::ranges::any_of(histogram.rows(), has_function))
        group.write("function", column<std::uint32_t>(histogram, &HistogramRow::function));
    if (map)
        group.write("virtual_address",
                    column<std::uint64_t>(histogram, [&](const HistogramRow& row) { return map(row.address); }));
    set_axes(group, "count", {"address"});
    write_pyramid(group, histogram);
}

Histogram read_histogram(const Group& parent, const std::string& name) {
    const Group group = parent.open_group(name);
    const auto count = group.read<std::uint64_t>("count");
    const auto address = read_column<std::uint64_t>(group, "address", count.size());
    const auto span = read_column<std::uint32_t>(group, "span", count.size());
    const auto phase = read_column<std::uint32_t>(group, "phase", count.size());
    std::vector<std::uint32_t> function(count.size(), no_function);
    if (group.has("function")) function = read_column<std::uint32_t>(group, "function", count.size());
    const std::uint64_t unit = group.whole_attribute("unit_bytes"), phases = group.whole_attribute("phases");
    if (unit == 0 || unit > 1U << 20 || !is_power_of_two(unit) || phases > std::numeric_limits<std::uint32_t>::max())
        throw StorageError(fmt::format("{}: unit_bytes = {} or phases = {} cannot be; the file is damaged",
                                       group.where(), unit, phases));
    std::vector<HistogramRow> rows;
    rows.reserve(count.size());
    for (std::size_t i = 0; i < count.size(); ++i) {
        rows.push_back({address[i], span[i], phase[i], function[i], count[i]});
        if (span[i] == 0 || count[i] == 0 || phase[i] >= phases)
            throw StorageError(fmt::format("{}: row {} cannot be; the file is damaged", group.where(), i));
    }
    Histogram histogram(static_cast<std::uint32_t>(unit), rows);
    if (!std::ranges::equal(histogram.rows(), rows))
        throw StorageError(fmt::format("{}: the rows are not in order; the file is damaged", group.where()));
    histogram.set_phases(static_cast<std::uint32_t>(phases));
    return histogram;
}

std::vector<PyramidLevel> read_pyramid(const Group& parent, const std::string& name) {
    const Group group = parent.open_group(name);
    std::vector<PyramidLevel> levels;
    if (!group.has("pyramid")) return levels;
    const Group pyramid = group.open_group("pyramid");
    for (unsigned i = 1; pyramid.has(level_name(i)); ++i) {
        const Group level = pyramid.open_group(level_name(i));
        const auto sum = level.read<double>("sum");
        const std::size_t blocks = sum.size();
        levels.push_back({level.whole_attribute("units"),
                          read_column<std::uint64_t>(level, "address", blocks),
                          read_column<double>(level, "min", blocks),
                          read_column<double>(level, "max", blocks),
                          sum,
                          {}});
        if (level.has("lines"))  // not in the first files
            levels.back().lines = read_column<std::uint32_t>(level, "lines", blocks);
    }
    return levels;
}

}  // namespace cachetally
