// SPDX-License-Identifier: BSD-3-Clause
// RunView: all that tables and JSON say of a run, from a simulation that has just ended or from its result file.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "monitor/attribution/attribution.hpp"
#include "monitor/attribution/level_cores.hpp"
#include "monitor/causes/miss_causes.hpp"
#include "monitor/causes/sharing.hpp"
#include "monitor/listeners/listener.hpp"
#include "monitor/result_file.hpp"
#include "monitor/reuse/reuse_distances.hpp"
#include "sim/engine/result_file.hpp"
#include "storage/file.hpp"
#include "viewer/phase_choice.hpp"

namespace cachetally {

/// Whether a program computed what it should.
struct Check {
    bool passed = false;
    std::string meaning;  ///< of the residual
    double residual = 0, bound = 0;
    friend bool operator==(const Check&, const Check&) = default;
};

/// Of a trace that is text.
struct TextLines {
    std::uint64_t lines = 0;
    std::uint64_t skipped = 0;  ///< that are not references
    friend bool operator==(const TextLines&, const TextLines&) = default;
};

/// What was run on what, and whether it came to its end. Of runs and sweeps.
struct RunTitle {
    std::string input;                  ///< the kernel or trace
    std::vector<std::string> settings;  ///< of the kernel
    std::string machine;
    bool complete = true;
    std::string incomplete;  ///< why not
    std::string failure;     ///< of the source; empty where the run was interrupted
    /// Of the trace, where it is text that was read to its end or to the place of its damage.
    std::optional<TextLines> lines;
    std::uint64_t count = 0, warmup = 0;  ///< references that were asked for; 0: all, none. Not in text()
    bool cut = false;                     ///< there may be more than those

    /// "lu n=64 on schulz2002"
    std::string text() const;
    /// "lu n=64 on schulz2002, cut after 1,000,000 references, as asked", where it was
    std::string head() const;
    /// What must be known of the figures, a line each: partial, lines that were skipped.
    std::string remarks() const;
    /// The same in JSON: input, settings, machine, complete, incomplete, text.
    nlohmann::ordered_json json() const;
};

/// What a listener on a link found. Not kept in result files.
struct RunView {
    RunTitle title;
    StoredRun counts;
    std::vector<std::string> first_levels;  ///< caches that cores ask, in the order of the levels
    /// Caches and TLBs whose misses no link shows, so that counts of links never have them by address.
    std::vector<std::string> hidden_levels;
    std::vector<MonitorSummary> monitors;
    bool monitors_asked = true;  ///< by an option or the machine file; else they are those of every run
    StructureTable structures;
    std::vector<LevelCauses> causes;    ///< of the misses of levels, where that was asked for
    Sharing sharing;                    ///< with causes, where nodes are kept coherent
    Attribution attribution;            ///< empty where the source does not know what its sites are
    LevelCores cores;                   ///< where that was asked for
    std::vector<ReuseDistances> reuse;  ///< where that was asked for
    std::vector<ListenerResult> listeners;
    std::vector<std::string> functions;
    std::optional<Check> check;
    std::vector<std::size_t> chosen_phases;  ///< that all counts are of; empty: of all
    std::vector<std::string> execution;      ///< how references were carried out; empty if the file does not say

    Tick cycles() const { return counts.run.end() / counts.period; }

    /// Name of a function by its index; "(none)" outside of all.
    std::string function(std::uint32_t index) const;
};

/// answer, execution[], levels.<name>.{loads, load_misses, ...}, tlbs.<name>.{accesses, misses}, memories,
/// monitors.<name>.{events, swapouts, lost, resident, error, ...}, structures.<name>, causes.<level>.{misses[],
/// evictions[]}, sharing, cores[], reuse[], listeners[].{name, link, units, rows[]}, cycles, references, phases[],
/// complete.
nlohmann::ordered_json to_json(const RunView& view);

/// What text reports show of it.
struct TextOptions {
    unsigned width = 80;           ///< columns of the terminal
    std::string level, structure;  ///< only these; empty = all
    PhaseChoice phases;            ///< only these
    bool all_phases = false;       ///< the table of phases in full, however long
    bool monitors = false;         ///< their table, also where nobody asked for them
    std::string remarks;           ///< lines that follow the heading
};

/// The answer, data structures with the worst first, levels, and what else was asked for, for people.
std::string to_text(const RunView& view, const TextOptions& options = {});

/// "run" or "sweep". Throws StorageError where the file is no result file, or one of another version.
std::string result_kind(const InputFile& file);

/// Of a kind of result: "a run", "an intrusion", "trackers".
std::string with_article(std::string_view kind);

/// The title and whether the file is complete.
RunTitle read_title(const InputFile& file);

/// Throws StorageError where the file is damaged.
RunView read_run_view(const InputFile& file);

/// Of the files that this program writes and reads.
inline constexpr const char* result_format = "cachetally result";
inline constexpr std::uint64_t result_format_version = 1;

}  // namespace cachetally
