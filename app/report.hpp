// What a simulation gave, as JSON and as tables.
#pragma once

#include <string>

#include "app/commands.hpp"
#include "app/simulation.hpp"

namespace cachetally::app {

/// levels.<name>.{loads, load_misses, ...}, tlbs.<name>.{accesses, misses}, memories, monitors.<name>.{events,
/// swapouts, lost, resident, error, ...}, cycles, references, phases[], complete.
Json to_json(const Topology& topology, const Outcome& outcome);

/// The same for people.
std::string to_table(const Topology& topology, const Outcome& outcome);

}  // namespace cachetally::app
