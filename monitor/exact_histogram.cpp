// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/exact_histogram.hpp"

namespace cachetally {

ExactHistogram::ExactHistogram(const MonitorSpec& spec)
    : kinds_(spec.kinds), units_(spec.unit(), 1), control_(spec), filter_(spec), histogram_(spec.unit()) {}

bool ExactHistogram::accepts_merged(std::uint32_t line_bytes) const {
    return units_.keeps_block_whole(line_bytes) && filter_.keeps_blocks_whole(line_bytes);
}

void ExactHistogram::on_event(const LinkEvent& event, Injector&) {
    if (!control_.enabled() || !filter_.passes(event.address, event.core)) return;
    counts_.add(units_.unit(event.address), event.count);
}

void ExactHistogram::on_control(const Control& control, Tick, Injector&) {
    const bool phase_ends = control.kind == Control::Kind::barrier && control_.swaps_out(control);
    if (phase_ends) close_phase();
    control_.apply(control);
    if (phase_ends) histogram_.set_phases(control_.phase() + 1);
    counts_.select(control_.function());
}

void ExactHistogram::close_phase() {
    std::vector<HistogramRow> rows;
    counts_.take(rows, units_.unit_bytes(), 1, control_.phase());
    histogram_.append(std::move(rows));
}

const Histogram& ExactHistogram::finish() {
    close_phase();
    return histogram_;
}

}  // namespace cachetally
