// SPDX-License-Identifier: BSD-3-Clause
// Trackers in HDF5: a row per tracker, and one per tracker and phase.
#include <cmath>

#include "storage/columns.hpp"
#include "viewer/trackers_view.hpp"

namespace cachetally {
namespace {

template <class Column>
void for_each_tracker_column(Column column) {
    column("tracker", &TrackerRow::name);
    column("spec", &TrackerRow::spec);
    column("bits", &TrackerRow::bits);
    column("comparators", &TrackerRow::comparators);
    column("area", &TrackerRow::area);
    column("reports", &TrackerRow::reports);
    column("bytes", &TrackerRow::bytes);
    column("lost", &TrackerRow::lost);
    column("bytes_per_event", &TrackerRow::bytes_per_event);
    column("error", &TrackerRow::error);
}

/// A phase of a tracker.
struct PhaseRow {
    std::uint32_t tracker = 0, phase = 0;
    std::uint64_t wanted = 0, reported = 0, right = 0;
};

template <class Column>
void for_each_phase_column(Column column) {
    column("tracker", &PhaseRow::tracker);
    column("phase", &PhaseRow::phase);
    column("wanted", &PhaseRow::wanted);
    column("reported", &PhaseRow::reported);
    column("right", &PhaseRow::right);
}

void write_tracker_phases(Group& group, const TrackersView& view) {
    std::vector<PhaseRow> all;
    for (std::uint32_t tracker = 0; tracker < view.rows.size(); ++tracker)
        for (const TopKeys& top : view.rows[tracker].phases)
            all.push_back({tracker, top.phase, top.wanted, top.reported, top.right});
    Group phases = group.create_group("phases");
    phases.write("row", numbers_to(all.size()));
    for_each_phase_column([&](const char* name, auto member) { write_member(phases, name, all, member); });
    set_axes(phases, "right", {"row"}, {"wanted", "reported"});
}

void read_tracker_phases(const Group& phases, TrackersView& view) {
    std::vector<PhaseRow> all(phases.read<std::uint32_t>("tracker").size());
    for_each_phase_column([&](const char* name, auto member) { read_member(phases, name, all, member); });
    for (const PhaseRow& row : all) {
        if (row.tracker >= view.rows.size() || row.right > row.wanted || row.right > row.reported || row.wanted == 0)
            throw StorageError("{}: has a phase that no tracker can have; the file is damaged", phases.where());
        view.rows[row.tracker].phases.push_back({row.phase, row.wanted, row.reported, row.right});
    }
}

}  // namespace

void write_trackers(Group& root, const TrackersView& view) {
    Group group = root.create_group("trackers");
    set_nexus_class(group, "NXcollection", "rows");
    group.set_attribute("link", view.link);
    group.set_attribute("events", view.events);
    group.set_attribute("phases", view.phases);
    group.set_attribute("copies", view.copies);
    group.set_attribute("top", view.top);
    if (view.asked) group.set_attribute("asked_bytes_per_event", *view.asked);
    Group rows = group.create_group("rows");
    rows.write("row", numbers_to(view.rows.size()));
    for_each_tracker_column([&](const char* name, auto member) { write_member(rows, name, view.rows, member); });
    const auto of_top = [&](const char* name, auto of) {
        rows.write(name, column_of(view.rows, [&](const TrackerRow& row) { return of(row.top()); }));
    };
    of_top("recall", [](const TopSummary& top) { return top.recall; });
    of_top("worst_recall", [](const TopSummary& top) { return top.worst_recall; });
    of_top("precision", [](const TopSummary& top) { return top.precision.value_or(std::nan("")); });
    rows.write("traffic_is_off",
               column_of(view.rows, [&](const TrackerRow& row) { return std::uint8_t{view.is_off(row)}; }));
    set_axes(rows, "error", {"row"}, {"bytes_per_event", "bits"});
    write_tracker_phases(group, view);
}

TrackersView read_trackers_view(const InputFile& file) {
    TrackersView view;
    view.title = read_title(file);
    const Group group = file.root().open_group("trackers");
    view.link = group.text_attribute("link");
    view.events = group.whole_attribute("events");
    view.phases = group.whole_attribute("phases");
    view.copies = group.whole_attribute("copies");
    view.top = group.whole_attribute("top");
    if (group.has_attribute("asked_bytes_per_event")) view.asked = group.real_attribute("asked_bytes_per_event");
    const Group rows = group.open_group("rows");
    view.rows.resize(rows.read_texts("tracker").size());
    for_each_tracker_column([&](const char* name, auto member) { read_member(rows, name, view.rows, member); });
    for (const TrackerRow& row : view.rows)
        if (!std::isfinite(row.error) || !std::isfinite(row.bytes_per_event))
            throw StorageError("{}: has an error or a traffic that is no number; the file is damaged", rows.where());
    read_tracker_phases(group.open_group("phases"), view);
    return view;
}

}  // namespace cachetally
