// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/histogram_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "monitor/accuracy.hpp"
#include "monitor/pyramid_file.hpp"
#include "storage/axes.hpp"
#include "storage/columns.hpp"

namespace cachetally {
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

}  // namespace cachetally
