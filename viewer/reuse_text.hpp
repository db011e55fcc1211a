// SPDX-License-Identifier: BSD-3-Clause
// Reuse distances as tables for the terminal and as JSON.
#pragma once

#include "viewer/run_view.hpp"

namespace cachetally {

/// Miss ratios of fully associative LRU caches by capacity, of all and of the data structures that miss most; empty
/// where reuse distances were not asked for.
std::string reuse_text(const RunView& view, const TextOptions& options);

/// A list by link and size of lines: {link, line_bytes, references, first_uses, curve[] of {lines, misses,
/// miss_ratio}, distances[] of {structure, phase, distance (null: first use), count}}.
nlohmann::ordered_json reuse_json(const std::vector<ReuseDistances>& reuse);

}  // namespace cachetally
