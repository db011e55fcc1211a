// SPDX-License-Identifier: BSD-3-Clause
// ExactHistogram: counts every event per line. The ground truth that monitors are compared with.
#pragma once

#include "monitor/control.hpp"
#include "monitor/histogram.hpp"
#include "monitor/paged_counts.hpp"

namespace cachetally {

class ExactHistogram final : public PhasedListener {
public:
    /// Counts the events that a monitor with this spec counts (kinds, ranges, cores, switch, phases, functions), per
    /// unit of it. The spec's line must be filled in.
    explicit ExactHistogram(const MonitorSpec& spec)
        : PhasedListener(spec, KeyMap(spec.unit(), 1)), histogram_(spec.unit()) {}

    /// The run is over: all events. Call once.
    const Histogram& finish() {
        end_phase(phase());
        histogram_.set_phases(phase() + 1);
        return histogram_;
    }

private:
    void count(const LinkEvent& event) override { counts_.add(keys().unit(event.address), event.count); }
    void end_phase(std::uint32_t phase) override {
        std::vector<HistogramRow> rows;
        counts_.take(rows, keys().unit_bytes(), 1, phase);
        histogram_.append(std::move(rows));
    }
    void select(std::uint32_t function) override { counts_.select(function); }

    FunctionCounts counts_;
    Histogram histogram_;
};

}  // namespace cachetally
