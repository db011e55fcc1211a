// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/histogram_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "monitor/histogram.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

constexpr std::size_t blocks_enough = 256;

/// `starts`: where blocks begin among the units, and the end.
void write_number(Group& level, const PyramidNumber& number, const std::vector<std::size_t>& starts) {
    std::vector<double> sum, least, most;
    for (std::size_t block = 0; block + 1 < starts.size(); ++block) {
        const auto at = [&](std::size_t start) { return number.of_units.begin() + static_cast<std::ptrdiff_t>(start); };
        const auto first = at(starts[block]), end = at(starts[block + 1]);
        sum.push_back(std::accumulate(first, end, 0.0));
        least.push_back(*std::min_element(first, end));
        most.push_back(*std::max_element(first, end));
    }
    if (!number.sum.empty()) level.write(number.sum, sum);
    level.write(number.least, least);
    level.write(number.most, most);
}

}  // namespace

void write_pyramid(Group& group, const std::vector<Address>& units, std::uint32_t unit_bytes,
                   const std::vector<PyramidNumber>& numbers, const std::vector<std::string>& beside) {
    if (units.size() <= blocks_enough) return;
    Group pyramid = group.create_group("pyramid");
    std::string name;
    std::uint64_t size = 16;
    std::size_t blocks = units.size();
    for (unsigned number = 1; blocks > blocks_enough; ++number, size *= 16) {
        std::vector<std::size_t> starts;
        std::vector<std::uint64_t> address;
        std::vector<std::uint32_t> lines;
        for (std::size_t i = 0; i < units.size(); ++i) {
            const Address first = align_down(units[i], size * unit_bytes);
            if (address.empty() || address.back() != first) {
                starts.push_back(i);
                address.push_back(first);
                lines.push_back(0);
            }
            ++lines.back();
        }
        blocks = starts.size();
        starts.push_back(units.size());
        name = fmt::format("level{}", number);
        Group level = pyramid.create_group(name);
        level.set_attribute("units", size);
        level.write("address", address);
        level.write("lines", lines);
        for (const PyramidNumber& each : numbers) write_number(level, each, starts);
        set_axes(level, numbers.front().sum, {"address"}, beside);
    }
    set_nexus_class(pyramid, "NXcollection", name);
}

namespace {

void write_units(Group& group, const Histogram& histogram) {
    const std::vector<UnitShare> units = spread_over_units(histogram);
    write_pyramid(group, column_of(units, &UnitShare::address), histogram.unit_bytes(),
                  {{"sum", "min", "max", column_of(units, &UnitShare::count)}}, {"min", "max"});
}

}  // namespace

void write_histogram(Group& parent, const std::string& name, const Histogram& histogram, const AddressMap& map) {
    Group group = parent.create_group(name);
    group.set_attribute("unit_bytes", histogram.unit_bytes());
    group.set_attribute("phases", histogram.phases());
    group.write("address", column_of(histogram.rows(), &HistogramRow::address));
    group.write("span", column_of(histogram.rows(), &HistogramRow::span));
    group.write("phase", column_of(histogram.rows(), &HistogramRow::phase));
    group.write("count", column_of(histogram.rows(), &HistogramRow::count));
    const auto has_function = [](const HistogramRow& row) { return row.function != no_function; };
    if (std::ranges::any_of(histogram.rows(), has_function))
        group.write("function", column_of(histogram.rows(), &HistogramRow::function));
    if (map)
        group.write("virtual_address", column_of(histogram.rows(), [&](const auto& row) { return map(row.address); }));
    set_axes(group, "count", {"address"});
    write_units(group, histogram);
}

Histogram read_histogram(const Group& parent, const std::string& name) {
    const Group group = parent.open_group(name);
    std::vector<HistogramRow> rows(group.open_dataset("count").rows());
    read_member(group, "count", rows, &HistogramRow::count);
    read_member(group, "address", rows, &HistogramRow::address);
    read_member(group, "span", rows, &HistogramRow::span);
    read_member(group, "phase", rows, &HistogramRow::phase);
    if (group.has("function")) read_member(group, "function", rows, &HistogramRow::function);
    const std::uint64_t unit = group.whole_attribute("unit_bytes"), phases = group.whole_attribute("phases");
    if (unit == 0 || unit > 1U << 20 || !is_power_of_two(unit) || phases > std::numeric_limits<std::uint32_t>::max())
        throw StorageError("{}: unit_bytes = {} or phases = {} cannot be; the file is damaged", group.where(), unit,
                           phases);
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].span == 0 || rows[i].count == 0 || rows[i].phase >= phases)
            throw StorageError("{}: row {} cannot be; the file is damaged", group.where(), i);
    Histogram histogram(static_cast<std::uint32_t>(unit), rows);
    if (!std::ranges::equal(histogram.rows(), rows))
        throw StorageError("{}: the rows are not in order; the file is damaged", group.where());
    histogram.set_phases(static_cast<std::uint32_t>(phases));
    return histogram;
}

}  // namespace cachetally
