// SPDX-License-Identifier: BSD-3-Clause
// WorkloadSource: a workload as a ReferenceSource; its processors are fibers, functions that can be suspended.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally {

class Fiber {
public:
    /// `body` begins at the first resume(). It may call suspend() from any depth.
    explicit Fiber(std::function<void()> body);
    /// A body that is suspended in the middle is unwound: its destructors run.
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Runs the body until it suspends or ends. An exception of the body comes out here and ends it.
    void resume();
    bool ended() const;

    /// From within the body: returns from the resume() that is under way; continues with the next one.
    void suspend();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// May be destroyed at any time. Constant memory beyond the workload's own data, however long the run.
class WorkloadSource final : public ReferenceSource {
public:
    explicit WorkloadSource(std::unique_ptr<Workload> workload);
    ~WorkloadSource() override;

    unsigned cores() const override { return workload_->processors(); }
    Batch next(unsigned core) override;
    std::vector<Region> regions() const override { return workload_->regions(); }
    std::vector<std::string> functions() const override { return workload_->functions(); }
    std::vector<std::string> phase_names() const override { return phase_names_; }
    double progress() const override;

    /// For check(), when all streams have ended.
    const Workload& workload() const { return *workload_; }
    bool ended() const { return running_ == 0; }
    std::uint64_t references() const { return references_; }  ///< handed over so far

private:
    struct Stream;

    std::unique_ptr<Workload> workload_;
    std::vector<std::string> phase_names_;  ///< each once
    std::vector<std::unique_ptr<Stream>> streams_;
    std::size_t running_;
    std::uint64_t references_ = 0;
};

}  // namespace cachetally
