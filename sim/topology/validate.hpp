// SPDX-License-Identifier: BSD-3-Clause
// What makes a machine description impossible, part by part; and what follows from one that is possible: which caches
// are kept coherent, how long a reference can take.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachetally/machine.hpp"
#include "cachetally/topology.hpp"

namespace cachetally {

/// Builds the graph of a machine that has at least one core and one memory. Vertex 0 is the core. What is wrong is
/// added to `diagnostics`; where nothing was added the graph has no loops, and the core reaches all of it.
Topology::Graph build_graph(const MachineDescription& machine, std::vector<Diagnostic>& diagnostics);

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

/// What is wrong with a machine, as it is found.
class Complaints {
public:
    void complain(const Mark& mark, std::string message) { diagnostics_.push_back({mark, std::move(message)}); }
    template <class First, class... Rest>
    void complain(const Mark& mark, fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest) {
        complain(mark, fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    std::vector<Diagnostic>& diagnostics() { return diagnostics_; }

protected:
    std::vector<Diagnostic> diagnostics_;
};

/// Clock, geometry, policies and page sizes: every component by itself, and all together.
std::vector<Diagnostic> check_components(const MachineDescription& machine);

/// What components demand of those above and below them.
std::vector<Diagnostic> check_neighbours(const MachineDescription& machine);

/// What page walks demand: TLBs, an entrance, and levels of the page table for their caches.
std::vector<Diagnostic> check_walks(const MachineDescription& machine);

/// Sizes of sectors, and what those above and below demand of them.
std::vector<Diagnostic> check_sectors(const MachineDescription& machine);

struct CoherentPart {
    std::vector<std::size_t> caches;  ///< of which there is a copy per node, in the order of the machine description
    std::vector<std::size_t> below;   ///< the point of coherence, where it is a cache, and those below it
    std::string point;                ///< the component below all of them
    unsigned nodes = 0;               ///< node n has the copies number n, and the cores that these serve
};

/// Of a machine that keeps caches coherent and is valid.
CoherentPart coherent_part(const MachineDescription& machine);

/// True where caches that cores may share belong to all the cores there are, as where one core is left of several:
/// coherence then has nothing to do.
bool is_one_node(const MachineDescription& machine);

/// What is wrong with the coherence of a machine whose components and graph are good.
std::vector<Diagnostic> check_coherence(const MachineDescription& machine);

/// Complaints about nodes, homes and the interconnect; of a machine without nodes, about what says that it has some.
std::vector<Diagnostic> check_numa(const MachineDescription& machine);

/// Bytes of the longest line of the caches that lead to a component, such as numa_name; 0: none does.
std::uint32_t longest_line_to(const MachineDescription& machine, std::string_view component);

/// Picoseconds that a reference takes at most where nobody waits for others: a generous bound, which says how many
/// references can be made without a look at the time.
Tick reference_at_most(const MachineDescription& machine);

}  // namespace cachetally
