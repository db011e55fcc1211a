// What is true of a machine, as far as a probe of data loads can know it, and the verdict on findings.
#pragma once

#include "probes/result.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// A parameter of a machine.
struct Fact {
    std::string level, parameter;
    Value value;
    double high = 0;  ///< where it depends on the program: the largest number that is true, else 0
};

/// From the description alone. An exclusive level holds its own size and up to what those above it hold besides: how
/// much of that a program gets depends on the order of its accesses, so both ends are true of it.
std::vector<Fact> facts_of(const MachineDescription& machine);

/// Puts truth and verdict into findings. A number is right if it lies within the tolerance of its parameter (none for
/// counts and sizes, 5 % for latencies), or, where an interval is given that is wider than a point, if the interval
/// holds the truth and is no wider than 10 % of it. Of a level that there is not everything is wrong.
void judge(TestReport& report, const std::vector<Fact>& facts);

}  // namespace cachetally
