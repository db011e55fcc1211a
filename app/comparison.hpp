// SPDX-License-Identifier: BSD-3-Clause
// Runs of one program without a monitor and with each of some, for the commands that compare these.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/input.hpp"
#include "monitor/intrusion/intrusion.hpp"

namespace cachetally::app {

/// Throws UsageError where a source can be read only once: standard input, pipes.
void refuse_second_reading(const std::string& source);
/// Of sources by name: standard input ("-"), pipes and devices.
bool can_be_read_only_once(const std::string& source);

/// Makes runs of a source, which is read anew for each.
class Comparison {
public:
    using Open = std::function<Input(Opening)>;
    /// `open` opens the source. Throws UsageError where it can be read only once.
    Comparison(const std::string& source, Open open, const SimulationOptions& options, const Topology& topology);

    Input opened(Opening opening) const { return open_(opening); }

    /// With `monitor` on all copies of its link; null: without one. `error`: of the monitor, too.
    ObservedRun observed(const Input& input, const MonitorSpec* monitor, bool error = false) const;

    /// One run for each monitor, passed to `take` in their order, until all are made or one ends otherwise than
    /// `without` (an end was asked for, the source failed, is gone). Then returns why not all are there; else nothing.
    /// Where a monitor takes a run beyond the longest time that is simulated, what it costs is unknown (null).
    std::string each(const std::vector<MonitorSpec>& monitors, const RunResult& without,
                     const std::function<void(const MonitorSpec&, const ObservedRun*)>& take, bool error = false) const;

private:
    Open open_;
    const SimulationOptions& options_;
    const Topology& topology_;
};

/// What is to be said where the cost of some monitors is unknown, once for all of them; nothing where there are none.
std::string why_unknown(std::size_t monitors);

/// Tells on standard error that so many of `all` configurations are unknown, if any is, and why.
void warn_of_unknown(std::size_t unknown, std::size_t all);

/// Says in the title, beside why the run itself is incomplete, if it is, why not all comparisons are there.
void add_missing(RunTitle& title, const std::string& missing);

}  // namespace cachetally::app
