// SPDX-License-Identifier: BSD-3-Clause
// ExactHistogram: counts every event per line. The ground truth that monitors are compared with.
#pragma once

#include "monitor/control.hpp"
#include "monitor/granularity.hpp"
#include "monitor/histogram.hpp"
#include "monitor/paged_counts.hpp"
#include "sim/model/link.hpp"

namespace cachetally {

class ExactHistogram final : public LinkListener {
public:
    /// Counts the events that a monitor with this spec counts (kinds, ranges, cores, switch, phases, functions), per
    /// unit of it. The spec's line must be filled in.
    explicit ExactHistogram(const MonitorSpec& spec);

    std::uint32_t kinds() const override { return kinds_; }
    bool accepts_merged(std::uint32_t line_bytes) const override;
    void on_event(const LinkEvent& event, Injector& injector) override;
    void on_control(const Control& control, Tick time, Injector& injector) override;

    /// The run is over: all events. Call once.
    const Histogram& finish();

private:
    void close_phase();

    std::uint32_t kinds_;
    KeyMap units_;
    MonitorControl control_;
    EventFilter filter_;
    FunctionCounts counts_;
    Histogram histogram_;
};

}  // namespace cachetally
