// SPDX-License-Identifier: BSD-3-Clause
// IntrusionView: all that tables and JSON say of monitors' intrusion, from runs that have just ended or from their
// file.
#pragma once

#include "monitor/intrusion/intrusion.hpp"
#include "viewer/run_view.hpp"

namespace cachetally {

struct IntrusionRow {
    MonitorSpec spec;
    Intrusion intrusion;  ///< all zero where it is not known
    bool known = true;
    friend bool operator==(const IntrusionRow&, const IntrusionRow&) = default;
};

struct IntrusionView {
    RunTitle title;
    std::uint64_t references = 0, cycles = 0;  ///< of the run without monitor
    std::vector<std::string> links, levels;    ///< as Intrusion::traffic and misses are ordered
    std::vector<Traffic> traffic;              ///< without monitor
    std::vector<std::uint64_t> misses;         ///< without monitor
    std::vector<IntrusionRow> rows;            ///< one per configuration
    std::string unknown;                       ///< why some are not known; empty where all are

    /// Intrusion::slowdown.
    std::optional<double> slowdown(const IntrusionRow& row) const {
        return row.known ? row.intrusion.slowdown(cycles) : std::nullopt;
    }

    /// Of a configuration whose run was made, but is of no use.
    IntrusionRow unknown_row(const MonitorSpec& spec) const;
    std::size_t unknown_rows() const;
};

/// "full", "watermark 2048", "periodic 10000"
std::string drain_text(const RingSpec& ring);

/// complete, references, cycles, traffic.<link>.{events, bytes}, misses.<level>, rows[].{link, counters, granularity,
/// capacity, drain, monitor, extra_cycles, slowdown, events, records, ..., extra_traffic.<link>, extra_misses.<level>}
/// (null where they are not known), unknown
nlohmann::ordered_json to_json(const IntrusionView& view);

/// A table of costs, one row per configuration, and one of extra traffic by link.
std::string to_text(const IntrusionView& view, unsigned width);

/// Writes the group /intrusion.
void write_intrusion(Group& root, const IntrusionView& view);

/// Throws StorageError where the file is damaged.
IntrusionView read_intrusion_view(const InputFile& file);

}  // namespace cachetally
