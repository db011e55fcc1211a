// SPDX-License-Identifier: BSD-3-Clause
// What the user names as a source: a trace, or a workload or a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/simulation.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally::app {

/// How a trace is read: options of every command that takes one.
struct TraceChoice {
    std::string format = "auto";
    bool data_only = false;
    std::uint16_t din_bytes = 4;
    Trust trust = Trust::digests;
};

/// --format, --data-only, --din-bytes, --trust.
void add_trace_options(CLI::App& command, TraceChoice& choice);

/// The same for the reader; its reading of pipes ends with interrupted().
TraceOptions options_of(const TraceChoice& choice);

/// Whether a command opens a source for the first time: what users must know of it is reported then.
enum class Opening { first, again };

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
