// What probes found, as text and JSON.
#pragma once

#include <span>

#include "app/commands.hpp"
#include "probes/result.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally::app {

/// {"results": [...], "tests": [...]}
Json json_of(std::span<const TestReport> reports);

/// A table of findings, then one of costs.
void print(const MachineDescription& machine, std::span<const TestReport> reports);

}  // namespace cachetally::app
