// What is true of a machine, as far as a probe of data loads can know it, and the verdict on findings.
#pragma once

#include "probes/result.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// A parameter of a machine.
struct Fact {
    std::string level, parameter;
    Value value;
};

/// From the description alone. Capacities are effective ones: an exclusive level adds to those above it.
std::vector<Fact> facts_of(const MachineDescription& machine);

/// Puts truth and verdict into findings. A number is right if it lies within the tolerance of its parameter (none for
/// counts and sizes, 5 % for latencies), or, where an interval is given that is wider than a point, if the interval
/// holds the truth and is no wider than 10 % of it. Of a level that there is not everything is wrong.
void judge(TestReport& report, const std::vector<Fact>& facts);

}  // namespace cachetally
