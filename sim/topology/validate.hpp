// SPDX-License-Identifier: BSD-3-Clause
// What makes a machine description impossible, beyond its graph.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "cachetally/topology.hpp"

namespace cachetally {

/// The place of the value of a key, else of the component itself.
template <class Config>
Mark place_of(const Config& config, std::string_view key) {
    const auto found = config.keys.find(key);
    return found != config.keys.end() ? found->second : config.mark;
}

/// A cache or TLB that is nobody's `next` is next to the core.
template <class Config>
bool is_next_to_core(const Config& part, const std::vector<Config>& parts) {
    return std::ranges::none_of(parts, [&](const Config& other) { return other.next == part.name; });
}

/// Clock, geometry, policies and page sizes: every component by itself, and all together.
std::vector<Diagnostic> check_components(const MachineDescription& machine);

/// What components demand of those above and below them.
std::vector<Diagnostic> check_neighbours(const MachineDescription& machine);

}  // namespace cachetally
