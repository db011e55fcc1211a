// A simulation as the commands need it: a machine, monitors on its links, a source run through it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "monitor/accuracy.hpp"
#include "monitor/exact_histogram.hpp"
#include "monitor/monitor.hpp"
#include "monitor/spec.hpp"
#include "sim/engine/engine.hpp"
#include "sim/topology/topology.hpp"

namespace cachetally::app {

/// What a monitor gave, over all copies of its link.
struct MonitorOutcome {
    MonitorSpec spec;
    MonitorResult result;
    double error = 0;  ///< against exact counting, over the lines of the data (all lines where no regions are known)
};

struct Outcome {
    RunResult run;
    std::vector<MonitorOutcome> monitors;
    std::vector<Region> regions;
    std::vector<std::string> functions;
    AddressMap virtual_address;  ///< empty where nothing is translated
    std::unique_ptr<Hierarchy> hierarchy;
};

/// The regions over which errors are measured: data structures, not stacks (Schulz et al. 2002, section 4.4, give
/// errors of data).
std::vector<Region> data_of(std::vector<Region> regions);

/// One monitor for each link on the way of data and instructions, with the defaults of a specification.
std::vector<MonitorSpec> default_monitors(const Topology& topology);

/// Fills in the line of a specification: that of the first cache below its link, else of the one above. Throws
/// std::invalid_argument where the machine has no such link.
MonitorSpec completed(MonitorSpec spec, const Topology& topology);

/// Runs a source. Monitors whose error is not zero by law are accompanied by exact counting unless `measure_errors` is
/// false.
Outcome simulate(const Topology& topology, std::vector<MonitorSpec> monitors, ReferenceSource& source,
                 const RunOptions& options, bool measure_errors);

}  // namespace cachetally::app
