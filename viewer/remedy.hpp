// SPDX-License-Identifier: BSD-3-Clause
// What helps against the worst of a run: the line below the answer, in the words of the page (viewer/answer.json).
#pragma once

#include <string>

#include "viewer/run_view.hpp"

namespace cachetally {

/// "What to try: pad rows or blocks, or another layout. A evicts its own lines, which a fully associative cache would
/// keep."; empty where neither a cause is known nor the level is a TLB. `structure`: as of worst_of().
std::string remedy(const RunView& view, const std::string& level, const std::string& structure = "");

}  // namespace cachetally
