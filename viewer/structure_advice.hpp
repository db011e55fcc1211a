// SPDX-License-Identifier: BSD-3-Clause
// What errors say of a data structure that a file does not have.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "monitor/level_lines.hpp"

namespace cachetally {

/// "; did you mean 'keys'? known are: keys, ranks"; a program has hundreds, of which the first are named.
inline std::string structure_advice(std::string_view name, std::span<const std::string> structures) {
    constexpr std::size_t structures_named = 20;
    const std::vector<std::string_view> names(structures.begin(), structures.end());
    return advice(name, names, structures_named);
}

inline std::vector<std::string> names_of(std::span<const Region> structures) {
    std::vector<std::string> names;
    names.reserve(structures.size());
    for (const Region& each : structures) names.push_back(each.name);
    return names;
}

}  // namespace cachetally
