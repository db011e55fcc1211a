// SPDX-License-Identifier: BSD-3-Clause
// Intrusion in HDF5: a row per configuration, and tables of configurations by links and by levels.
#include <algorithm>
#include <iterator>

#include "storage/columns.hpp"
#include "viewer/intrusion_view.hpp"

namespace cachetally {
namespace {

/// What every row has one of: calls `column(name, member)` for each.
template <class Column>
void for_each_cost_column(Column column) {
    column("extra_cycles", &Intrusion::cycles);
    column("events", &Intrusion::events);
    column("swapouts", &Intrusion::swapouts);
    column("records_written", &Intrusion::records);
    column("bytes", &Intrusion::bytes);
    column("stall_cycles", &Intrusion::stall);
    column("lost", &Intrusion::lost);
    column("lost_records", &Intrusion::lost_records);
    column("ring_high_water", &Intrusion::ring_high_water);
}

/// Row by row, one value per name.
template <class Of>
void write_by_name(Group& group, const char* name, const std::vector<IntrusionRow>& rows, std::size_t names, Of of) {
    std::vector<std::int64_t> values;
    for (const IntrusionRow& row : rows)
        for (std::size_t i = 0; i < names; ++i) values.push_back(of(row.intrusion, i));
    group.write_table(name, std::span<const std::int64_t>(values), rows.size(), names);
}

std::vector<IntrusionRow> rows_that_are(bool known, const IntrusionView& view) {
    std::vector<IntrusionRow> rows;
    std::ranges::copy_if(view.rows, std::back_inserter(rows), [&](const auto& row) { return row.known == known; });
    return rows;
}

void write_configurations(Group& rows, const std::vector<IntrusionRow>& all) {
    rows.write_texts("monitor", column_of(all, [](const auto& row) { return to_string(row.spec); }));
    rows.write_texts("link", column_of(all, [](const auto& row) { return row.spec.link; }));
    rows.write_texts("granularity", column_of(all, [](const auto& row) { return to_string(row.spec.granularity); }));
    rows.write_texts("drain", column_of(all, [](const auto& row) { return drain_text(row.spec.ring); }));
    rows.write("counters", column_of(all, [](const auto& row) { return row.spec.counters; }));
    rows.write("capacity", column_of(all, [](const auto& row) { return row.spec.ring.capacity; }));
}

/// In a group of their own, so that no figure of theirs is taken for one: with their places among all.
void write_unknown(Group& group, const IntrusionView& view) {
    if (view.unknown_rows() == 0) return;
    Group unknown = group.create_group("unknown");
    set_nexus_class(unknown, "NXcollection");
    unknown.set_attribute("reason", view.unknown);
    std::vector<std::uint32_t> places;
    for (std::uint32_t place = 0; place < view.rows.size(); ++place)
        if (!view.rows[place].known) places.push_back(place);
    unknown.write("place", places);
    write_configurations(unknown, rows_that_are(false, view));
}

template <class T>
std::vector<T> read_table(const Group& group, const char* name, std::size_t rows, std::size_t columns) {
    auto values = group.read<T>(name);
    if (values.size() != rows * columns)
        throw StorageError("{}: the table '{}' has {} fields instead of {}; the file is damaged", group.where(), name,
                           values.size(), rows * columns);
    return values;
}

MonitorSpec read_spec(const Group& group, const std::string& text) {
    try {
        return parse_monitor(text);
    } catch (const SpecError& error) {
        throw StorageError("{}: {}; the file is damaged", group.where(), error.what());
    }
}

void read_unknown(const Group& group, IntrusionView& view) {
    if (!group.has("unknown")) return;
    const Group unknown = group.open_group("unknown");
    view.unknown = unknown.text_attribute("reason");
    const std::vector<std::string> texts = unknown.read_texts("monitor");
    const auto places = read_column<std::uint32_t>(unknown, "place", texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (places[i] > view.rows.size())
            throw StorageError("{}: a configuration has place {} of {}; the file is damaged", unknown.where(),
                               places[i], view.rows.size());
        view.rows.insert(view.rows.begin() + places[i], view.unknown_row(read_spec(unknown, texts[i])));
    }
}

void read_rows(const Group& rows, IntrusionView& view) {
    for (const std::string& text : rows.read_texts("monitor")) view.rows.push_back({read_spec(rows, text), {}});
    const std::size_t count = view.rows.size(), links = view.links.size(), levels = view.levels.size();
    for_each_cost_column([&]<class T>(const char* name, T Intrusion::*member) {
        const auto values = read_column<T>(rows, name, count);
        for (std::size_t i = 0; i < count; ++i) view.rows[i].intrusion.*member = values[i];
    });
    if (count == 0) return;
    const auto events = read_table<std::int64_t>(rows, "extra_events", count, links);
    const auto bytes = read_table<std::int64_t>(rows, "extra_bytes", count, links);
    const auto misses = read_table<std::int64_t>(rows, "extra_misses", count, levels);
    for (std::size_t i = 0; i < count; ++i) {
        Intrusion& found = view.rows[i].intrusion;
        for (std::size_t link = 0; link < links; ++link)
            found.traffic.push_back({events[i * links + link], bytes[i * links + link]});
        for (std::size_t level = 0; level < levels; ++level) found.misses.push_back(misses[i * levels + level]);
    }
}

}  // namespace

void write_intrusion(Group& root, const IntrusionView& view) {
    Group group = root.create_group("intrusion");
    set_nexus_class(group, "NXcollection", "rows");
    group.set_attribute("references", view.references);
    group.set_attribute("cycles", view.cycles);
    Group without = group.create_group("without");
    set_nexus_class(without, "NXcollection");
    without.write_texts("link", view.links);
    write_member(without, "events", view.traffic, &Traffic::events);
    write_member(without, "bytes", view.traffic, &Traffic::bytes);
    without.write_texts("level", view.levels);
    without.write("misses", view.misses);
    for (const char* column : {"events", "bytes"}) attach_axes(without, column, {"link"});
    attach_axes(without, "misses", {"level"});
    write_unknown(group, view);
    const std::vector<IntrusionRow> known = rows_that_are(true, view);
    Group rows = group.create_group("rows");
    rows.write("row", numbers_to(known.size()));
    write_configurations(rows, known);
    for_each_cost_column([&]<class T>(const char* name, T Intrusion::*member) {
        rows.write(name, column_of(known, [&](const auto& row) { return row.intrusion.*member; }));
    });
    set_axes(rows, "extra_cycles", {"row"}, {"swapouts", "bytes"});
    if (known.empty()) return;
    const auto traffic = [&](std::int64_t Intrusion::Extra::*member) {
        return [member](const Intrusion& found, std::size_t link) { return found.traffic[link].*member; };
    };
    rows.write_texts("traffic_link", view.links);
    write_by_name(rows, "extra_events", known, view.links.size(), traffic(&Intrusion::Extra::events));
    write_by_name(rows, "extra_bytes", known, view.links.size(), traffic(&Intrusion::Extra::bytes));
    for (const char* table : {"extra_events", "extra_bytes"}) attach_axes(rows, table, {"row", "traffic_link"});
    if (view.levels.empty()) return;
    rows.write_texts("level", view.levels);
    write_by_name(rows, "extra_misses", known, view.levels.size(),
                  [](const Intrusion& found, std::size_t level) { return found.misses[level]; });
    attach_axes(rows, "extra_misses", {"row", "level"});
}

IntrusionView read_intrusion_view(const InputFile& file) {
    IntrusionView view;
    view.title = read_title(file);
    const Group group = file.root().open_group("intrusion");
    view.references = group.whole_attribute("references");
    view.cycles = group.whole_attribute("cycles");
    const Group without = group.open_group("without");
    view.links = without.read_texts("link");
    view.levels = without.read_texts("level");
    view.traffic.resize(view.links.size());
    read_member(without, "events", view.traffic, &Traffic::events);
    read_member(without, "bytes", view.traffic, &Traffic::bytes);
    view.misses = read_column<std::uint64_t>(without, "misses", view.levels.size());
    read_rows(group.open_group("rows"), view);
    read_unknown(group, view);
    return view;
}

}  // namespace cachetally
