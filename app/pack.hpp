// SPDX-License-Identifier: BSD-3-Clause
// Packing: from an input to a packed trace.
#pragma once

#include <cstdint>
#include <string>

#include "app/input.hpp"
#include "workloads/traces/block.hpp"

namespace cachetally::app {

struct PackingChoice {
    std::string input;  ///< as the user named it
    std::string output;
    TraceChoice choice;
    std::uint64_t max_references = 0;
    int level = default_packing_level;
    bool force = false, json = false;
};

/// --count, --level, --force, --json.
void add_packing_options(CLI::App& command, PackingChoice& packing);

/// Writes the packed trace. Returns why it ended early, which it is marked with; nothing if it is whole. Throws where
/// nothing was written.
std::string write_packed(const Input& input, const PackingChoice& packing, std::uint64_t& references);

/// Writes the packed trace and prints a summary. What ends too early is kept and marked partial, and then reported by
/// what is thrown.
void pack(const Input& input, const PackingChoice& packing);

}  // namespace cachetally::app
