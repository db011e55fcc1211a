// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/exact_histogram.hpp"

namespace cachetally {

void ExactHistogram::end_phase(std::uint32_t phase) {
    std::vector<HistogramRow> rows;
    counts_.take(rows, keys().unit_bytes(), 1, phase);
    histogram_.append(std::move(rows));
}

const Histogram& ExactHistogram::finish() {
    end_phase(phase());
    histogram_.set_phases(phase() + 1);
    return histogram_;
}

}  // namespace cachetally
