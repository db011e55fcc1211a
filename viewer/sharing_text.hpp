// SPDX-License-Identifier: BSD-3-Clause
// Which lines threads take from each other, as tables for the terminal and as JSON.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "viewer/run_view.hpp"

namespace cachetally {

/// The lines that miss most by false sharing, with the cores and what they use; empty where there is no sharing.
std::string sharing_text(const RunView& view, const TextOptions& options);

/// {levels, line_bytes, rows[]}: each with address, structure, field, function and core of the miss and of the store
/// ("by"), true_sharing and false_sharing.
nlohmann::ordered_json sharing_json(const RunView& view);

/// True and false sharing of one level, by the name of a structure.
std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sharing_by_structure(const RunView& view,
                                                                                    const std::string& level);

}  // namespace cachetally
