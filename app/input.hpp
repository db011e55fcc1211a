// SPDX-License-Identifier: BSD-3-Clause
// What the user names as a source: a trace, or a workload or a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/simulation.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally::app {

/// Which part of a source is made, and by which cores.
struct SourceChoice {
    std::string from;           ///< a function; empty: from the beginning
    std::uint64_t skip = 0;     ///< references
    std::vector<unsigned> map;  ///< cores of its streams; empty: the first by the first
};

/// --from, --skip, --map.
void add_source_options(CLI::App& command, SourceChoice& choice);

/// How a trace is read: options of every command that takes one.
struct TraceChoice {
    std::string format = "auto";
    bool data_only = false;
    std::uint16_t din_bytes = 4;
    Trust trust = Trust::digests;
    SourceChoice part;
    std::string structures;            ///< a file that names data
    std::vector<std::string> symbols;  ///< files with symbols
};

/// --structures, --symbols, of commands that tell what they find by names.
void add_name_options(CLI::App& command, TraceChoice& choice);

/// --format, --data-only, --din-bytes, --trust.
void add_trace_options(CLI::App& command, TraceChoice& choice);

/// The same for the reader; its reading of pipes ends with interrupted().
TraceOptions options_of(const TraceChoice& choice);

/// Whether a command opens a source for the first time: what users must know of it is reported then.
enum class Opening { first, again };

/// The part of it that was chosen.
void choose_part(Input& input, const SourceChoice& choice);

/// Whether there is a kernel of this name.
bool is_kernel(const std::string& name);

/// Throws UsageError where a trace is expected, and a kernel was named.
void refuse_kernel(const std::string& name);

/// A trace as an input; "-" is standard input. Throws TraceError or StorageError where it cannot be opened.
Input trace_input(const std::string& path_or_dash, const TraceChoice& choice, Opening opening = Opening::first);

/// A kernel by its name, with its settings, or else a trace by its path or "-". Throws UsageError where it is neither,
/// and for settings of a trace.
Input open_input(const std::string& name, const std::vector<std::string>& settings, const TraceChoice& choice,
                 Opening opening = Opening::first);

}  // namespace cachetally::app
