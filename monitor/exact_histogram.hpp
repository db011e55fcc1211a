// SPDX-License-Identifier: BSD-3-Clause
// ExactHistogram: counts every event per line. The ground truth that monitors are compared with.
#pragma once

#include "monitor/histogram.hpp"
#include "monitor/paged_counts.hpp"
#include "monitor/phased_listener.hpp"

namespace cachetally {

class ExactHistogram final : public PhasedListener {
public:
    /// Counts the events that a monitor with this spec counts (kinds, ranges, cores, switch, phases, functions), per
    /// unit of it. The spec's line must be filled in.
    explicit ExactHistogram(const MonitorSpec& spec)
        : PhasedListener(spec, KeyMap(spec.unit(), 1)), histogram_(spec.unit()) {}

    /// The run is over: all events. Call once.
    const Histogram& finish();

private:
    void count(const LinkEvent& event) override { counts_.add(keys().unit(event.address), event.count); }
    void end_phase(std::uint32_t phase) override;
    void select(std::uint32_t function) override { counts_.select(function); }

    FunctionCounts counts_;
    Histogram histogram_;
};

}  // namespace cachetally
