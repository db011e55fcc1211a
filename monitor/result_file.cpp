// SPDX-License-Identifier: BSD-3-Clause
// Monitors and links in HDF5.
#include "monitor/result_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "monitor/histogram_file.hpp"
#include "storage/columns.hpp"

namespace cachetally {
namespace {

/// A name that a group may have and that is not taken: labels of monitors are free text.
std::string group_name(const std::string& label, std::set<std::string>& taken) {
    std::string plain = label.empty() || label == "." ? "monitor" : label;
    std::ranges::replace(plain, '/', '_');
    std::string name = plain;
    for (unsigned number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}_{}", plain, number);
    return name;
}

Histogram read_with_map(const Group& parent, const std::string& name) {
    Histogram histogram = read_histogram(parent, name);
    const Group group = parent.open_group(name);
    if (!group.has("virtual_address")) return histogram;
    std::vector<HistogramRow> rows(histogram.rows().begin(), histogram.rows().end());
    const auto addresses = read_column<std::uint64_t>(group, "virtual_address", rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].address = addresses[i];
    Histogram mapped(histogram.unit_bytes(), std::move(rows));
    mapped.set_phases(histogram.phases());
    return mapped;
}

struct Number {
    const char* name;
    std::uint64_t MonitorSummary::*value;
};

constexpr Number number_fields[] = {
    {"events", &MonitorSummary::events},
    {"swapouts", &MonitorSummary::swapouts},
    {"lost", &MonitorSummary::lost},
    {"lost_records", &MonitorSummary::lost_records},
    {"resident", &MonitorSummary::resident},
    {"resident_counters", &MonitorSummary::resident_counters},
    {"bytes", &MonitorSummary::bytes},
    {"ring_capacity", &MonitorSummary::ring_capacity},
    {"ring_high_water", &MonitorSummary::ring_high_water},
    {"stall_cycles", &MonitorSummary::stall_cycles},
};

void write_functions(Group& monitor, const MonitorSummary& summary, const std::vector<std::string>& names) {
    if (summary.events_per_function.empty()) return;
    const auto& rows = summary.events_per_function;
    const auto name = [&](const auto& row) {
        return row.first < names.size()   ? names[row.first]
               : row.first == no_function ? "(none)"
                                          : std::to_string(row.first);
    };
    Group group = monitor.create_group("functions");
    group.write("function", column_of(rows, [](const auto& row) { return row.first; }));
    group.write_texts("name", column_of(rows, name));
    group.write("events", column_of(rows, [](const auto& row) { return row.second; }));
    set_axes(group, "events", {"name"});
}

void read_functions(const Group& monitor, MonitorSummary& summary) {
    if (!monitor.has("functions")) return;
    const Group group = monitor.open_group("functions");
    const auto function = group.read<std::uint32_t>("function");
    const auto events = read_column<std::uint64_t>(group, "events", function.size());
    for (std::size_t i = 0; i < events.size(); ++i) summary.events_per_function.emplace_back(function[i], events[i]);
}

void write_monitor(Group& parent, const std::string& name, const MonitorContents& contents,
                   const std::vector<std::string>& functions) {
    const MonitorSummary& summary = contents.summary;
    Group group = parent.create_group(name);
    set_nexus_class(group, "NXcollection", "histogram");
    group.set_attribute("name", summary.name);
    group.set_attribute("link", summary.link);
    group.set_attribute("spec", summary.spec);
    group.set_attribute("counters", summary.counters);
    group.set_attribute("granularity", summary.granularity);
    group.set_attribute("eviction", summary.eviction);
    for (const Number& number : number_fields) group.set_attribute(number.name, summary.*number.value);
    group.set_attribute("error", summary.error.value_or(std::numeric_limits<double>::quiet_NaN()));
    Group phases = group.create_group("phases");
    phases.write("phase", numbers_to(summary.events_per_phase.size()));
    phases.write("events", summary.events_per_phase);
    phases.write("swapouts", summary.swapouts_per_phase);
    set_axes(phases, "events", {"phase"}, {"swapouts"});
    write_functions(group, summary, functions);
    write_histogram(group, "histogram", *contents.histogram, contents.map);
}

MonitorSummary read_monitor(const Group& group) {
    MonitorSummary summary;
    summary.name = group.text_attribute("name");
    summary.link = group.text_attribute("link");
    summary.spec = group.text_attribute("spec");
    summary.counters = static_cast<std::uint32_t>(group.whole_attribute("counters"));
    summary.granularity = group.text_attribute("granularity");
    summary.eviction = group.text_attribute("eviction");
    for (const Number& number : number_fields) summary.*number.value = group.whole_attribute(number.name);
    const double error = group.real_attribute("error");
    if (!std::isnan(error)) summary.error = error;
    const Group phases = group.open_group("phases");
    summary.events_per_phase = phases.read<std::uint64_t>("events");
    summary.swapouts_per_phase = read_column<std::uint64_t>(phases, "swapouts", summary.events_per_phase.size());
    read_functions(group, summary);
    return summary;
}

}  // namespace

MonitorSummary summary_of(const MonitorSpec& spec, const MonitorResult& result, std::optional<double> error,
                          Tick period) {
    MonitorSummary summary;
    static_cast<MonitorCounts&>(summary) = result;
    summary.name = spec.label();
    summary.link = spec.link;
    summary.spec = to_string(spec);
    summary.counters = spec.counters;
    summary.granularity = to_string(spec.granularity);
    summary.eviction = to_string(spec.eviction);
    summary.ring_capacity = spec.ring.capacity;
    summary.stall_cycles = result.stall / period;
    summary.error = error;
    summary.swapouts_per_phase.resize(
        std::max<std::size_t>(result.histogram.phases(), summary.swapouts_per_phase.size()));
    summary.events_per_phase.resize(summary.swapouts_per_phase.size());
    std::map<std::uint32_t, std::uint64_t> functions;
    for (const HistogramRow& row : result.histogram.rows()) {
        summary.events_per_phase[row.phase] += row.count;
        if (spec.functions) functions[row.function] += row.count;
    }
    summary.events_per_function.assign(functions.begin(), functions.end());
    return summary;
}

void write_monitors(Group& root, const std::vector<MonitorContents>& monitors) {
    if (monitors.empty()) return;
    Group group = root.create_group("monitors");
    std::set<std::string> taken;
    const auto groups = column_of(monitors, [&](const auto& each) { return group_name(each.summary.name, taken); });
    group.set_attribute("groups", groups);
    set_nexus_class(group, "NXcollection", groups.front());
    std::vector<std::string> functions;
    if (root.has("functions")) functions = root.open_group("functions").read_texts("name");
    for (std::size_t i = 0; i < monitors.size(); ++i) write_monitor(group, groups[i], monitors[i], functions);
}

std::vector<MonitorSummary> read_monitors(const Group& root) {
    std::vector<MonitorSummary> monitors;
    if (!root.has("monitors")) return monitors;
    const Group group = root.open_group("monitors");
    for (const std::string& name : group.texts_attribute("groups"))
        monitors.push_back(read_monitor(group.open_group(name)));
    return monitors;
}

Histogram read_monitor_histogram(const Group& root, const std::string& name) {
    std::vector<std::string> names;
    if (root.has("monitors")) {
        const Group all = root.open_group("monitors");
        for (const std::string& each : all.texts_attribute("groups")) {
            const Group group = all.open_group(each);
            names.push_back(group.text_attribute("name"));
            if (names.back() == name) return read_with_map(group, "histogram");
        }
    }
    throw StorageError("{}: there is no monitor '{}'; there {}", root.where(), name,
                       names.empty() ? "are none" : fmt::format("are: {}", fmt::join(names, ", ")));
}

void write_links(Group& root, const std::vector<LinkCounts>& links, const AddressMap& map) {
    if (links.empty()) return;
    Group all = root.create_group("links");
    all.set_attribute("names", column_of(links, &LinkCounts::name));
    set_nexus_class(all, "NXcollection", links.front().name);
    for (const LinkCounts& link : links) {
        Group group = all.create_group(link.name);
        set_nexus_class(group, "NXcollection", link.kinds.empty() ? "" : to_string(link.kinds.front().first));
        group.set_attribute("from", link.from);
        group.set_attribute("to", link.to);
        group.set_attribute("virtual_addresses", link.virtual_addresses);
        for (const auto& [kind, histogram] : link.kinds) {
            write_histogram(group, to_string(kind), histogram, link.virtual_addresses ? AddressMap() : map);
            group.open_group(to_string(kind)).set_attribute("events", histogram.total());
        }
    }
}

std::vector<LinkSummary> read_links(const Group& root) {
    std::vector<LinkSummary> links;
    if (!root.has("links")) return links;
    const Group all = root.open_group("links");
    for (const std::string& name : all.texts_attribute("names")) {
        const Group group = all.open_group(name);
        LinkSummary& link =
            links.emplace_back(LinkSummary{name, group.text_attribute("from"), group.text_attribute("to"), {}});
        for (const std::string& kind : group.children())
            link.events.emplace_back(kind, group.open_group(kind).whole_attribute("events"));
    }
    return links;
}

Histogram read_link_histogram(const Group& root, const std::string& link, EventKind kind) {
    if (!root.has("links"))
        throw StorageError("{}: the links' events were not counted exactly in this run", root.where());
    const Group group = root.open_group("links").open_group(link);
    return group.has(to_string(kind)) ? read_with_map(group, to_string(kind)) : Histogram();
}

}  // namespace cachetally
