// SPDX-License-Identifier: BSD-3-Clause
// SweepView: all that tables and JSON say of a sweep, from one that has just ended or from its result file.
#pragma once

#include <span>

#include "viewer/run_view.hpp"
#include "viewer/sweep_choice.hpp"

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
    std::string workload = {}, link = {};
    std::string settings = {};  ///< what --vary sets, as parse_monitor takes it: "ways=4,width=8"
    std::uint64_t events = 0;   ///< that the monitor counted
    friend bool operator==(const SweepCell&, const SweepCell&) = default;
};

struct SweepView {
    RunTitle title;
    std::string link;                          ///< or several: "core-L1D,L1D-L2"
    std::string monitor;                       ///< what all cells have in common, as parse_monitor takes it
    std::uint64_t references = 0, events = 0;  ///< of all workloads; of the first cell of each workload and link
    std::uint64_t runs = 1;                    ///< of the programs; 0: the file does not say
    std::vector<SweepCell> cells;  ///< by workload, link, what is counted, settings, eviction, granularity, counters
    std::size_t all_cells = 0;     ///< of the file, where `cells` are chosen ones; else 0
    bool of_workloads = false;     ///< `cells` are of chosen workloads
    SweepChoice choice;
    bool timed = false;            ///< slowdowns were asked for, whether or not they are known
    std::string slowdown_unknown;  ///< why some are not known though their run was made; empty where there are none
};

/// Groups of lines by their number, all else by name.
nlohmann::ordered_json granularity_json(const std::string& granularity);

/// The settings that say what is counted: "kinds=load" of "ways=4,kinds=load".
std::string counting(const std::string& settings);

/// Consecutive cells that count the same events of one workload on one link: they are compared with one another.
std::vector<std::span<const SweepCell>> fields_of(std::span<const SweepCell> cells);

/// The cells of one workload, link and settings: a matrix per eviction policy.
std::vector<std::span<const SweepCell>> parts_of(std::span<const SweepCell> cells);

/// Some cells of a sweep; of what is empty, all.
struct SweepPlaces {
    std::vector<std::string> workloads;  ///< "lu n=64" is meant by itself, by "lu,n=64" and by "lu"
    std::vector<std::string> links, settings;

    bool given() const { return !workloads.empty() || !links.empty() || !settings.empty(); }
};

/// The view with these cells alone; the worst of all workloads may be chosen as a workload. Throws
/// std::invalid_argument, with what there is, where there are no such cells.
SweepView chosen(SweepView view, const SweepPlaces& places);

/// Each monitor by the worst that it gives in any workload; nothing where there is one workload alone. Monitors that
/// not all workloads have are left out.
std::vector<SweepCell> worst_of(std::span<const SweepCell> cells);
/// Nothing also where not all workloads were run to their end, or are in the view.
std::vector<SweepCell> worst_of(const SweepView& view);

/// With the objectives that all parts are judged by, where none were asked for.
SweepChoice asked_of(const SweepView& view);

/// standings() field by field; `choice`: as of asked_of().
std::vector<Standing> standings_of(std::span<const SweepCell> cells, const SweepChoice& choice);

/// complete, link, references, events, runs, objectives, where, tolerance, rows[].{workload, link, settings (where
/// there are several), counters, granularity, eviction, swapouts, error, bytes_per_event, bits, comparators, area,
/// energy, slowdown (null where it is not known), admitted, front, remains, published}, worst[] (the same of
/// worst_of()), slowdown_unknown
nlohmann::ordered_json to_json(const SweepView& view);

/// A matrix of swap-outs and errors per eviction policy, where there is one workload, link and setting, and the cells
/// that the bounds admit with their cost; beside published figures where there are any.
std::string to_text(const SweepView& view, unsigned width);

/// Writes the group /sweep.
void write_sweep(Group& root, const SweepView& view);

/// Throws StorageError where the file is damaged.
SweepView read_sweep_view(const InputFile& file);
/// What the sweep was asked for alone.
SweepChoice read_sweep_choice(const InputFile& file);

}  // namespace cachetally
