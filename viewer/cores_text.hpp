// SPDX-License-Identifier: BSD-3-Clause
// What cores ask and miss, as tables for the terminal and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "viewer/run_view.hpp"

namespace cachetally {

/// Names and their misses by core.
using MissesByCore = std::vector<std::pair<std::string, std::vector<std::uint64_t>>>;

/// The first rows and cores of it. `title`: of the names.
std::string misses_by_core_table(const std::string& level, const char* title, const MissesByCore& rows,
                                 const TextOptions& options);

/// Accesses and misses of levels by core, and misses of data structures at the level that is answered first, where a
/// run tells these apart; empty where cores are not told apart.
std::string cores_text(const RunView& view, const TextOptions& options);

/// [{level, core, phase, structure, accesses, misses}], the structure by `keys` where a run tells it apart.
nlohmann::ordered_json cores_json(const LevelCores& cores, const std::vector<std::string>& keys);

}  // namespace cachetally
