// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/pyramid_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "storage/axes.hpp"

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

}  // namespace cachetally
