// SPDX-License-Identifier: BSD-3-Clause
// Budgets: what workloads may cost on machines, as a file of the user states it (docs/ci.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/topology.hpp"
#include "monitor/spec.hpp"

namespace cachetally {

/// What a budget is of.
enum class Quantity : std::uint8_t {
    misses,     ///< of demand: loads, stores and fetches, of a level or TLB
    miss_rate,  ///< percent of demand accesses
    mpki,       ///< misses per thousand instructions
    mpkr,       ///< misses per thousand references that the program made
    cycles,     ///< of the run, or of a phase
    swapouts,   ///< records of a monitor
};

/// "misses", as files have it.
std::string_view name_of(Quantity quantity);

struct CostBudget {
    Quantity quantity = Quantity::misses;
    /// The most that it may be; miss rates in percent. Nothing: only the difference from the stored result counts.
    std::optional<double> limit = {};
    std::string level = {};             ///< of misses
    std::string structure = {};         ///< of misses; empty: all
    std::string monitor = {};           ///< of swap-outs: name, or number from 0
    std::string phase = {};             ///< number from 0, or a name, of all phases that have it; empty: the run
    std::optional<double> within = {};  ///< percent by which it may differ from the stored result, up or down
    Mark mark = {};

    /// "L1D misses of A in phase 4", "cycles in phase 'solve'", which names it in its check.
    std::string text() const;
    /// Where `phase` is one.
    std::optional<std::uint32_t> phase_number() const;
};

/// What instruction fetches a program's references have.
enum class ProgramFetches : std::uint8_t { lines, instructions, none };

/// The number of layouts where a file says none: so many keep phantom changes below 0.5 % (docs/ci.md).
inline constexpr unsigned default_layouts = 101;

/// A workload on a machine, and its budgets. Of `workload`, `trace` and `program` one is given.
struct BudgetCheck {
    std::string name;                   ///< of its own in the file
    std::string workload;               ///< a kernel
    std::vector<std::string> settings;  ///< of the kernel
    std::string trace;                  ///< path
    std::vector<std::string> program;   ///< words
    ProgramFetches fetches = ProgramFetches::lines;
    std::string machine = "generic3";  ///< built in, or path
    unsigned cores = 0;                ///< 0: as the machine says
    std::uint64_t warmup = 0, count = 0;
    std::vector<std::string> monitors;   ///< as --monitor takes them; empty: those of the machine file
    unsigned layouts = default_layouts;  ///< 1: the program's own addresses
    std::string stored;                  ///< path of a result; empty: none
    std::vector<CostBudget> budgets;
    Mark mark = {};

    /// Where it says so, all events are counted, so that data structures have misses.
    bool has_structures() const;
    bool needs_instructions() const;
    /// "lu n=64 block=8", or the trace or the program as they are written.
    std::string source() const;
    /// All that decides what is measured but the layouts: what is run, the machine with a hash of its keys, and how
    /// much. Equal texts may be compared. Throws MachineError.
    std::string conditions() const;
};

struct BudgetFile {
    std::string path;
    std::vector<BudgetCheck> checks;
};

/// The monitors of a check, else those that the machine file states. Throws SpecError, MachineError.
std::vector<MonitorSpec> monitors_of(const BudgetCheck& check, const Topology& topology);

/// Whether a stored result is one of `run -o`, by its name; else it is one of `check --store`.
bool is_result_file(const std::string& path);

/// Reads a budget file; machines and monitors are looked up, traces and stored results are not. Paths in it are
/// relative to its folder. Throws FileError with all that is wrong.
BudgetFile read_budgets(const std::string& text, const std::string& file);

}  // namespace cachetally
