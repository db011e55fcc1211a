// Runs of one program without a monitor and with each of some, for the commands that compare these.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/input.hpp"
#include "monitor/intrusion/intrusion.hpp"

namespace cachetally::app {

/// Makes runs of a source, which is read anew for each.
class Comparison {
public:
    using Open = std::function<Input(Opening)>;
    /// `open` opens the source. Throws UsageError where it can be read only once.
    Comparison(const std::string& source, Open open, const SimulationOptions& options, const Topology& topology);

    Input opened(Opening opening) const { return open_(opening); }

    /// With `monitor` on all copies of its link; null: without one.
    ObservedRun observed(const Input& input, const MonitorSpec* monitor) const;

    /// One run for each monitor, passed to `take` in their order, until all are made or one ends otherwise than
    /// `without` (an end was asked for, the source failed, is gone). Then returns why not all are there; else nothing.
    std::string each(const std::vector<MonitorSpec>& monitors, const ObservedRun& without,
                     const std::function<void(const MonitorSpec&, const Intrusion&)>& take) const;

private:
    Open open_;
    const SimulationOptions& options_;
    const Topology& topology_;
};

/// Says in the title, beside why the run itself is incomplete, if it is, why not all comparisons are there.
void add_missing(RunTitle& title, const std::string& missing);

}  // namespace cachetally::app
