// ExactHistogram: counts every event per line. The ground truth that monitors are compared with.
#pragma once

#include <map>

#include "monitor/control.hpp"
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

    std::uint64_t events() const { return events_; }

    /// All events so far. The histogram may be asked for at any time, also several times.
    Histogram histogram();

private:
    void close_phase();

    std::uint32_t kinds_;
    std::uint32_t unit_;
    unsigned unit_shift_;
    MonitorControl control_;
    EventFilter filter_;
    std::uint64_t events_ = 0;
    FunctionCounts counts_;
    Histogram histogram_;
};

}  // namespace cachetally
