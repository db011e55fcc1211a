// SPDX-License-Identifier: BSD-3-Clause
// WorkloadSource: one fiber per logical processor; a batch ends where the fiber suspends.
#include "workloads/kernels/source.hpp"

#include <algorithm>

namespace cachetally {

struct WorkloadSource::Stream {
    Stream(Workload& workload, unsigned number)
        : processor(number), fiber([this, &workload] { workload.run(processor); }) {
        processor.fiber_ = &fiber;
    }
    Processor processor;
    Fiber fiber;
};

void Processor::hand_over(Control control) {
    control_ = control;
    fiber_->suspend();
}

WorkloadSource::WorkloadSource(std::unique_ptr<Workload> workload)
    : workload_(std::move(workload)), running_(workload_->processors()) {
    for (unsigned number = 0; number < workload_->processors(); ++number)
        streams_.push_back(std::make_unique<Stream>(*workload_, number));
}

WorkloadSource::~WorkloadSource() = default;

Batch WorkloadSource::next(unsigned core) {
    Processor& processor = streams_[core]->processor;
    Fiber& fiber = streams_[core]->fiber;
    if (fiber.ended()) return {{}, {Control::Kind::end, 0}};
    processor.restart();
    fiber.resume();
    if (fiber.ended()) {
        --running_;
        processor.control_ = {Control::Kind::end, 0};
    }
    const auto count = static_cast<std::size_t>(processor.next_ - processor.batch_.data());
    references_ += count;
    return {{processor.batch_.data(), count}, processor.control_};
}

double WorkloadSource::progress() const {
    if (running_ == 0) return 1.0;
    // an estimate that was too low must not claim the end
    return std::min(0.999, static_cast<double>(references_) / std::max(1.0, workload_->expected_references()));
}

}  // namespace cachetally
