// SPDX-License-Identifier: BSD-3-Clause
// A simulation as the commands need it: what is run through which machine with which monitors, and what came of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/output.hpp"
#include "app/source.hpp"
#include "cachetally/run.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/attribution.hpp"
#include "monitor/attribution/level_cores.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "monitor/causes/miss_causes.hpp"
#include "monitor/causes/sharing.hpp"
#include "monitor/exact_histogram.hpp"
#include "monitor/histogram.hpp"
#include "monitor/listeners/listener.hpp"
#include "monitor/monitor.hpp"
#include "monitor/reuse/reuse_distances.hpp"
#include "monitor/spec_placement.hpp"
#include "viewer/run_view.hpp"
#include "workloads/capture/captured_program.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally::app {

/// What is run: a kernel or a trace, and what reports and files say of it.
struct Input {
    std::string name;                   ///< of the kernel, or of the trace as the user gave it
    std::vector<std::string> settings;  ///< of the kernel
    std::uint64_t seed = 0;             ///< of the kernel, where it has one
    std::string trace_file;             ///< path, where the trace is a file
    std::string incomplete;             ///< why the trace is marked partial; empty where it is whole
    std::shared_ptr<TextNotes> notes;   ///< where the trace is text
    std::unique_ptr<ReferenceSource> source;
    bool is_mapped = false;                                 ///< by --map
    std::function<std::string(std::uint32_t)> function_of;  ///< SourceBeginning's
    CapturedProgram* program = nullptr;                     ///< the source, where it is a program that runs
    std::function<std::optional<Check>()> check;            ///< nothing as long as the program is not at its end
};

/// A kernel as an input. Throws OptionError.
Input kernel_input(const std::string& name, const std::vector<std::string>& settings);

/// What a run reads.
InputNames inputs_of(const Input& input, const SimulationOptions& options);

/// Gives the file its name, marked partial where the run did not come to its end. Throws StorageError.
void close_output(ResultFile* file, const RunTitle& title);

/// Throws where the run did not come to its end, when all is printed and written. The end of a trace that is marked
/// partial is an end.
void refuse_incomplete(const RunResult& run, const RunTitle& title, const ResultFile* file);

/// What run and replay do: runs the input on the machine that the options name, prints tables or JSON, and writes the
/// result file. Throws UsageError and whatever the rooms throw; also (when everything is printed and written) where the
/// run was interrupted, the source failed, or the program computed a wrong result.
void simulate_and_report(Input input, const SimulationOptions& options, const OutputOptions& output);

/// What a monitor gave, over all copies of its link.
struct MonitorOutcome {
    MonitorSpec spec;
    MonitorResult result;
    std::optional<Histogram> exact;  ///< of the same events, where they were counted exactly beside the monitor
    /// Against exact counting, over the lines of the data (all lines where no regions are known); nothing where it is
    /// neither measured nor known by law.
    std::optional<double> error;
};

struct Outcome {
    RunResult run;
    std::vector<MonitorOutcome> monitors;
    std::vector<LinkCounts> links;                    ///< of every link, where that was asked for
    std::vector<LevelCauses> causes;                  ///< likewise
    std::vector<HierarchyCauses::Lines> line_causes;  ///< with causes and links
    Sharing sharing;                                  ///< with causes
    Attribution attribution;  ///< likewise; empty where the source does not know what its sites are
    LevelCores cores;         ///< likewise
    std::vector<ReuseDistances> reuse;
    std::vector<ListenerResult> listeners;
    std::vector<Region> regions;
    std::vector<std::string> functions;
    AddressMap virtual_address;          ///< empty where nothing is translated
    std::vector<std::string> execution;  ///< how references are carried out (execution_plan.hpp)
    std::unique_ptr<Hierarchy> hierarchy;
};

/// What is counted beside monitors.
struct ExactCounting {
    bool errors = true;   ///< beside monitors whose error is not zero by law
    bool links = false;   ///< all events of every link
    bool causes = false;  ///< why levels miss, and what evicts what
    bool attribution = false;
    AttributionOptions attributed = {};
    std::vector<ListenerSpec> listeners = {};
    bool reuse = false;  ///< reuse distances of what cores refer to
};

/// Throws UsageError where the input has more streams than the machine has cores, or where a monitor that was asked for
/// counts none of the cores that the input runs on.
void check_cores(const Input& input, const Topology& topology, const std::vector<MonitorSpec>& asked = {});

/// Tells on standard error where a trace of one stream, which may be of several threads, is run by several cores, and
/// where a kernel runs on fewer than were `asked` for (--cores).
void warn_of_one_stream(const Input& input, const Topology& topology, unsigned asked = 0);
/// `machine_has`: as in "the machine 'x' has", before the number of cores.
void warn_of_one_stream(const std::string& trace, unsigned streams, const std::string& machine_has, unsigned cores);

/// The regions over which errors are measured: data structures, not stacks (Schulz et al. 2002, section 4.4, give
/// errors of data).
std::vector<Region> data_of(std::vector<Region> regions);

/// Maps the addresses of a link to those in which regions are given: empty where they are the same, because nothing is
/// translated or because the link has virtual addresses. `hierarchy` must live as long as it is called.
AddressMap program_addresses(const Topology& topology, const Hierarchy& hierarchy, const LinkInfo& link);
/// The same for all links that have physical addresses.
AddressMap program_addresses(const Topology& topology, const Hierarchy& hierarchy);

/// A host: engine.hpp's run(), or one that gives the same.
using Host = std::function<RunResult(const Topology&, Hierarchy&, ReferenceSource&, const RunOptions&)>;

/// "engine" or "systemc".
Host host_of(const std::string& name);

/// Runs a source; without a host, says how that would be done.
Outcome simulate(const Topology& topology, const std::vector<MonitorSpec>& monitors, ReferenceSource& source,
                 const RunOptions& options, ExactCounting counting, const Host& host);

/// Accesses and misses by line of every level (and TLB) that has histograms on both sides, and of which of them these
/// are exact.
struct LevelsByLine {
    std::vector<LevelLines> lines;
    std::vector<bool> exact;
};
LevelsByLine levels_by_line(const Topology& topology, const Outcome& outcome);

StructureTable structures_of(const LevelsByLine& levels, const std::vector<Region>& regions);

}  // namespace cachetally::app
