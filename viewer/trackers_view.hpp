// SPDX-License-Identifier: BSD-3-Clause
// TrackersView: all that tables and JSON say of trackers beside the counter array, from a comparison that has just
// ended or from its file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "monitor/trackers/tracker_listener.hpp"
#include "viewer/run_view.hpp"

namespace cachetally {

/// What one tracker gave, and what it takes.
struct TrackerRow {
    std::string name{}, spec{};  ///< spec: as parse_tracker() or, of the counter array, parse_monitor() takes it
    std::uint64_t bits = 0, comparators = 0, area = 0;  ///< of one copy
    std::uint64_t reports = 0, bytes = 0, lost = 0;     ///< of all copies
    double bytes_per_event = 0, error = 0;              ///< error: a fraction
    std::vector<TopKeys> phases{};

    TopSummary top() const { return summary_of(phases); }
};

struct TrackersView {
    RunTitle title;
    std::string link;
    std::uint64_t events = 0, phases = 0;
    std::uint64_t copies = 1;     ///< of the link, each with a tracker
    std::uint64_t top = 0;        ///< how many of the hottest lines were looked for
    std::optional<double> asked;  ///< bytes per event of the default trackers
    std::vector<TrackerRow> rows;

    /// Whether the traffic asked for was missed by more than a tenth.
    bool is_off(const TrackerRow& row) const { return asked && !is_near_traffic(row.bytes_per_event, *asked); }
};

/// complete, link, events, copies, top, asked_bytes_per_event, rows[].{tracker, spec, bits, total_bits, comparators,
/// area, reports, bytes, bytes_per_event, traffic_is_off, lost, error, recall, precision, worst_recall, phases[]}
nlohmann::ordered_json to_json(const TrackersView& view);

/// A row per tracker, and their settings.
std::string to_text(const TrackersView& view, unsigned width);

/// Writes the group /trackers.
void write_trackers(Group& root, const TrackersView& view);

/// Throws StorageError where the file is damaged.
TrackersView read_trackers_view(const InputFile& file);

}  // namespace cachetally
