// SPDX-License-Identifier: BSD-3-Clause
// Where a program's misses are, as tables for the terminal and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "monitor/attribution/attribution.hpp"
#include "viewer/run_view.hpp"

namespace cachetally {

/// A sentence, then the data structures, functions and lines that miss most; empty where nothing was attributed.
std::string attribution_text(const Attribution& attribution, const TextOptions& options);

/// {structures, functions, lines}: each with name, module, accesses and misses by level, worst first.
nlohmann::ordered_json attribution_json(const Attribution& attribution);

}  // namespace cachetally
