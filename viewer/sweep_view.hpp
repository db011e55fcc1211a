// SPDX-License-Identifier: BSD-3-Clause
// SweepView: all that tables and JSON say of a sweep, from one that has just ended or from its result file.
#pragma once

#include <span>

#include "viewer/run_view.hpp"

namespace cachetally {

/// What a paper gives for a cell.
struct PublishedFigures {
    std::uint64_t swapouts = 0;
    double error = 0;  ///< a fraction
    bool misprint = false;
    friend bool operator==(const PublishedFigures&, const PublishedFigures&) = default;
};

/// What the monitor of a cell would take in hardware (docs/cost.md).
struct SweepCost {
    std::uint64_t bits = 0, comparators = 0;
    std::uint64_t area = 0;  ///< transistors
    double energy = 0;       ///< per event; 1 = a bit read in an SRAM
    friend bool operator==(const SweepCost&, const SweepCost&) = default;
};

struct SweepCell {
    std::string eviction;
    std::string granularity;  ///< "4", "mask:6", "dynamic:4"
    std::uint32_t counters = 0;
    std::uint64_t swapouts = 0;
    double error = 0;
    double bytes_per_event = 0;
    std::optional<SweepCost> cost;  ///< nothing in files of versions that do not have it
    std::optional<PublishedFigures> published;
    std::optional<double> slowdown = {};  ///< a fraction: by which the program takes longer; nothing where not run
    friend bool operator==(const SweepCell&, const SweepCell&) = default;
};

struct SweepView {
    RunTitle title;
    std::string link;
    std::string monitor;  ///< what all cells have in common, as parse_monitor takes it
    std::uint64_t references = 0, events = 0;
    std::vector<SweepCell> cells;  ///< by eviction, granularity, counters
    bool timed = false;            ///< slowdowns were asked for, whether or not they are known
    std::string slowdown_unknown;  ///< why some are not known though their run was made; empty where there are none
};

/// Groups of lines by their number, all else by name.
nlohmann::ordered_json granularity_json(const std::string& granularity);

/// complete, references, events, rows[].{counters, granularity, eviction, swapouts, error, bytes_per_event, bits,
/// comparators, area, energy, slowdown (null where it is not known), front, published}, slowdown_unknown
nlohmann::ordered_json to_json(const SweepView& view);

/// For each cell whether no other is at least as good in error, traffic, bits and (where it is known of all cells)
/// slowdown, and better in one of them; false where the cost is not known.
std::vector<bool> front_of(std::span<const SweepCell> cells);

/// A matrix of swap-outs and errors per eviction policy, and all cells with their cost; beside published figures where
/// there are any.
std::string to_text(const SweepView& view, unsigned width);

/// Writes the group /sweep.
void write_sweep(Group& root, const SweepView& view);

/// Throws StorageError where the file is damaged.
SweepView read_sweep_view(const InputFile& file);

}  // namespace cachetally
