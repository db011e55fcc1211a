// SPDX-License-Identifier: BSD-3-Clause
// Programs on the command line: what stands behind "--" is run and captured.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/input.hpp"
#include "app/simulation.hpp"
#include "workloads/capture/captured_program.hpp"

namespace cachetally::app {

/// Options of commands that take a program.
struct ProgramChoice {
    std::vector<std::string> command;  ///< behind "--"; empty where there is none
    std::string with = "auto";
    bool data_only = false;
    bool children = false;
    std::string program;  ///< the process that is meant; empty: the first
    bool barriers = false;
    bool attribution = true;  ///< sites tell data structures apart
    SourceChoice part;
    bool fields = false;                       ///< of structs, where types of variables are known
    std::vector<std::string> types, elements;  ///< "NAME=TYPE", "NAME=BYTES"
    std::string report;                        ///< the file of what the command prints; empty: standard error
    int standard_output = -1;                  ///< a descriptor for the program's; -1: ours, and `report` is
    CapturedFetches fetches = CapturedFetches::lines;
};

/// --with, --report, --children, --program, --barriers.
void add_program_options(CLI::App& command, ProgramChoice& choice);

/// --fields, --type, --element.
void add_field_options(CLI::App& command, ProgramChoice& choice);

/// Throws UsageError where one of these is given and no program is.
void refuse_program_options(const ProgramChoice& choice);

/// The program as an input, for a machine of so many cores. From here on what is printed goes to standard error or the
/// file that was named: standard output is the program's. Throws UsageError and TraceError.
Input program_input(const ProgramChoice& choice, unsigned cores);

/// After its run: warns of what was not recorded, and of how it ended; throws ProgramStatus where it failed.
void report_end(const Input& input);

/// What commands are about that read a source several times, or all at once.
struct WorkloadOptions {
    std::string source;                 ///< a kernel or a trace; empty: a program
    std::vector<std::string> settings;  ///< of the kernel
    TraceChoice choice;
    ProgramChoice program;
    SimulationOptions simulation;
};

/// All of these. `program`: one is given, behind "--".
void add_workload_options(CLI::App& command, WorkloadOptions& options, bool program);

/// Runs `body` with a source that names a trace of the program, which is recorded before and removed afterwards;
/// without a program, with the options as they are. Of the program as much is recorded as the options take; what is
/// done with that, `choice` does not say any more.
void with_recording(WorkloadOptions& options, const std::vector<std::string>& program,
                    const std::function<void()>& body);

/// A program's exit status other than 0, which becomes that of the command.
struct ProgramStatus {
    int status;
};

}  // namespace cachetally::app
