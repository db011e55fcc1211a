// SPDX-License-Identifier: BSD-3-Clause
#include "storage/describe.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "storage/copy.hpp"

namespace cachetally {
namespace {

struct Words {
    std::string_view column, units, long_name;  ///< long_name: empty where it is the column's name with blanks
};

/// Columns that are no number of things, or need other words than their name.
constexpr Words words[] = {
    {"address", "bytes", ""},
    {"area", "transistors", ""},
    {"base", "bytes", "address of the first byte"},
    {"begin", "ps", "begin of the phase"},
    {"bits", "bits", "storage in hardware"},
    {"busy", "ps", "time in use"},
    {"bytes", "bytes", ""},
    {"bytes_per_event", "bytes", "ring traffic per event"},
    {"by", "1", "number of the data structure that evicts"},
    {"by_name", "", "data structure that evicts"},
    {"core_end", "ps", "end of the core"},
    {"cycles", "cycles", ""},
    {"element_bytes", "bytes", "size of an element"},
    {"end", "ps", "end of the phase"},
    {"energy", "SRAM bit reads", "energy per event"},
    {"error", "1", "error against exact counting"},
    {"extra_bytes", "bytes", ""},
    {"extra_cycles", "cycles", ""},
    {"function", "1", "number of the function"},
    {"granularity", "lines", ""},
    {"high", "see the column unit", "upper end of the interval"},
    {"low", "see the column unit", "lower end of the interval"},
    {"machine_file", "1", "bytes of the machine file"},
    {"miss_rate", "1", "misses per access"},
    {"offset", "bytes", "place of the block"},
    {"span", "lines", "lines that the count is for"},
    {"stall_cycles", "cycles", ""},
    {"structure", "1", "number of the data structure"},
    {"swapouts", "1", "swap-outs"},
    {"truth", "see the column unit", "the machine's own value"},
    {"truth_high", "see the column unit", "the largest of the machine's own values"},
    {"value", "see the column unit", ""},
    {"victim", "1", "number of the data structure that is evicted"},
    {"victim_name", "", "data structure that is evicted"},
    {"virtual_address", "bytes", ""},
    {"waited", "ps", "time waited"},
};

std::string with_blanks(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
}

void describe(Dataset& data, const std::string& name) {
    const auto* known = std::ranges::find(words, name, &Words::column);
    const bool found = known != std::end(words);
    const Handle type(H5Dget_type(data.id()), H5Tclose);
    if (!data.has_attribute("long_name"))
        data.set_attribute("long_name",
                           found && !known->long_name.empty() ? std::string(known->long_name) : with_blanks(name));
    if (H5Tget_class(type.get()) != H5T_STRING && !data.has_attribute("units"))
        data.set_attribute("units", found ? known->units : "1");
}

}  // namespace

void describe_columns(Group& group) {
    for (const std::string& name : group.children()) {
        if (is_group(group, name)) {
            Group child = group.open_group(name);
            describe_columns(child);
        } else {
            Dataset data = group.open_dataset(name);
            describe(data, name);
        }
    }
}

}  // namespace cachetally
