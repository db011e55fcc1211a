// SPDX-License-Identifier: BSD-3-Clause
// Phases as users list them: "4", "3,5-7", "solve", "solve,4".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cachetally {

/// The numbers of phases that a list is of, each once, in its order: items between commas are numbers from 0, ranges
/// a-b or names, each of all phases that have it. Of names that hold commas the longest that stands there is meant;
/// quotes "..." around one may be. `names`: of each phase; empty: none. Throws std::invalid_argument that says what is
/// wrong and what would be right.
std::vector<std::uint32_t> listed_phases(std::string_view list, const std::vector<std::string>& names);

}  // namespace cachetally
