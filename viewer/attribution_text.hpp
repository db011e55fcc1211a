// SPDX-License-Identifier: BSD-3-Clause
// Where a program's misses are, as tables for the terminal and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "monitor/attribution/attribution.hpp"
#include "viewer/run_view.hpp"

namespace cachetally {

/// The worst first; both are empty where nothing was attributed.
struct AttributionText {
    std::string data;  ///< a sentence, data structures and fields
    std::string code;  ///< functions and source lines
};

AttributionText attribution_text(const Attribution& attribution, const TextOptions& options);

/// Of an object; 0, which fetches and what no program refers to have, is "(code)".
std::string object_name(const Attribution& attribution, std::uint32_t object);

/// {structures, fields, functions, lines}: each with name, module (fields: structure), accesses, cycles_lost, fills,
/// used_bytes, misses by level, causes, and the same by core, as far as known, worst first;
/// evictions.<level>.{pairs[], cycles[]} where causes are known.
nlohmann::ordered_json attribution_json(const Attribution& attribution);

}  // namespace cachetally
