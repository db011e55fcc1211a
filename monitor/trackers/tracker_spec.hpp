// SPDX-License-Identifier: BSD-3-Clause
// TrackerSpec: which tracker, how large, and what it would take in hardware.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/spec.hpp"

namespace cachetally {

enum class TrackerKind : std::uint8_t { space_saving, count_min, sampling, hotness };
inline constexpr unsigned tracker_kind_count = 4;

std::string_view to_string(TrackerKind kind);

/// Of a table of any tracker.
inline constexpr std::uint64_t most_tracker_entries = 1U << 22;

/// Members count where their kind is named. docs/trackers.md tells what each means.
struct TrackerSpec {
    TrackerKind kind = TrackerKind::space_saving;
    std::uint32_t counters = 128;       ///< with keys (space_saving, count_min, hotness)
    std::uint32_t width = 32;           ///< bits of a counter, 1 to 64 (the same); it stops at its largest value
    std::uint32_t rows = 4;             ///< count_min
    std::uint32_t columns = 256;        ///< count_min, a power of two
    std::uint64_t period = 100;         ///< sampling: events per sample
    bool random = false;                ///< sampling, hotness: intervals drawn around the period or the down-sampling
    std::uint64_t epoch = 0;            ///< events between two readings, 0: at barriers and at the end (not sampling)
    bool always_on = false;             ///< hotness: a unit is reported when it reaches the threshold
    std::uint32_t threshold = 16;       ///< hotness: counted events that make a unit hot
    std::uint32_t list = 64;            ///< hotness: entries of the hot list
    std::uint32_t watermark = 0;        ///< hotness: entries that make the software read the list; 0: half of them
    std::uint64_t delay = 0;            ///< hotness: events until the software has read the list
    std::uint32_t down_sampling = 1;    ///< hotness: one event in so many counts, a power of two up to 32768
    std::vector<std::uint32_t> blocks;  ///< hotness: numbers of the 256 MiB blocks that are tracked; empty: all
    std::uint64_t seed = 1;             ///< of hashes and draws

    /// Bytes of a report on its way to memory: an address and a count; of a hot list, 8 (CXL 3.2).
    std::uint32_t record() const { return kind == TrackerKind::hotness ? 8 : 16; }

    friend bool operator==(const TrackerSpec&, const TrackerSpec&) = default;
};

/// "kind=count_min,counters=64,columns=128". Throws SpecError.
TrackerSpec parse_tracker(std::string_view text);

/// The kind and all its keys that differ from their default, as parse_tracker takes them.
std::string to_string(const TrackerSpec& spec);

/// Throws SpecError where values are out of range or contradict each other.
void validate(const TrackerSpec& spec);

struct TrackerCost {
    std::uint64_t bits = 0, comparators = 0;
    std::uint64_t area = 0;  ///< transistors, as in docs/cost.md

    friend bool operator==(const TrackerCost&, const TrackerCost&) = default;
};

/// `base`: the monitor that the tracker stands for; its lines, groups, filters and ring are the tracker's too.
TrackerCost tracker_cost(const TrackerSpec& spec, const MonitorSpec& base);

/// A tracker of a kind with at most so many bits (with one counter if even that takes more) and, if its tables are
/// full whenever they are read, so many bytes of reports per event.
TrackerSpec tracker_of_size(TrackerKind kind, std::uint64_t bits, double bytes_per_event, const MonitorSpec& base);

}  // namespace cachetally
