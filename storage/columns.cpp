// SPDX-License-Identifier: BSD-3-Clause
// Dimension scales, NeXus attributes, units and words of columns.
#include "storage/columns.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "storage/copy.hpp"

namespace cachetally {
namespace {

void attach(Group& group, const Dataset& data, const std::vector<std::string>& axes) {
    const auto shape = data.shape();
    if (axes.size() != shape.size())
        throw StorageError("{}: {} axes are given for {} dimensions", data.where(), axes.size(), shape.size());
    for (unsigned i = 0; i < axes.size(); ++i) {
        if (axes[i].empty()) continue;
        const Dataset axis = group.open_dataset(axes[i]);
        if (axis.shape() != std::vector<std::uint64_t>{shape[i]})
            throw StorageError("{}: is not a column of {} rows, as dimension {} of {} asks for", axis.where(), shape[i],
                               i, data.where());
        if (H5DSis_scale(axis.id()) <= 0 && H5DSset_scale(axis.id(), axes[i].c_str()) < 0)
            throw_storage_error("{}: cannot make it a dimension scale", axis.where());
        if (H5DSattach_scale(data.id(), axis.id(), i) < 0)
            throw_storage_error("{}: cannot attach it to {}", axis.where(), data.where());
    }
}

/// NeXus has axes of numbers alone; a dot is "no axis".
std::string nexus_axis(const Group& group, const std::string& axis) {
    if (axis.empty()) return ".";
    const Handle type(H5Dget_type(group.open_dataset(axis).id()), H5Tclose);
    return H5Tget_class(type.get()) == H5T_STRING ? "." : axis;
}

/// The other datasets of the group that have the shape of the signal.
std::vector<std::string> companions(const Group& group, const std::string& signal,
                                    const std::vector<std::string>& axes) {
    std::vector<std::string> found;
    const auto shape = group.open_dataset(signal).shape();
    for (const std::string& name : group.children()) {
        if (name == signal || std::find(axes.begin(), axes.end(), name) != axes.end()) continue;
        const Handle object(H5Oopen(group.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
        if (H5Iget_type(object.get()) == H5I_DATASET && group.open_dataset(name).shape() == shape)
            found.push_back(name);
    }
    return found;
}

}  // namespace

void attach_axes(Group& group, const std::string& name, const std::vector<std::string>& axes) {
    silence_library();
    attach(group, group.open_dataset(name), axes);
}

void number_rows(Group& group, const std::string& axis, std::size_t rows) {
    silence_library();
    group.write(axis, numbers_to(rows));
    for (const auto& name : companions(group, axis, {})) attach(group, group.open_dataset(name), {axis});
}

void set_axes(Group& group, const std::string& signal, const std::vector<std::string>& axes,
              const std::vector<std::string>& auxiliary) {
    silence_library();
    attach(group, group.open_dataset(signal), axes);
    for (const auto& name : auxiliary) attach(group, group.open_dataset(name), axes);
    // xarray opens no group that has a dataset without axes
    for (const auto& name : companions(group, signal, axes)) attach(group, group.open_dataset(name), axes);
    std::vector<std::string> names;
    names.reserve(axes.size());
    for (const auto& axis : axes) names.push_back(nexus_axis(group, axis));
    group.set_attribute("NX_class", "NXdata");
    group.set_attribute("signal", signal);
    group.set_attribute("axes", names);
    if (!auxiliary.empty()) group.set_attribute("auxiliary_signals", auxiliary);
}

void set_nexus_class(Group& group, const std::string& nexus_class, const std::string& shown) {
    group.set_attribute("NX_class", nexus_class);
    if (!shown.empty()) group.set_attribute("default", shown);
}

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
