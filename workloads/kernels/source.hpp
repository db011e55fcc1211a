// SPDX-License-Identifier: BSD-3-Clause
// WorkloadSource: runs a workload's processors on fibers and hands their references over.
#pragma once

#include <memory>
#include <vector>

#include "cachetally/reference_source.hpp"
#include "workloads/kernels/fiber.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally {

/// May be destroyed at any time. Constant memory beyond the workload's own data, however long the run.
class WorkloadSource final : public ReferenceSource {
public:
    explicit WorkloadSource(std::unique_ptr<Workload> workload);
    ~WorkloadSource() override;

    unsigned cores() const override { return workload_->processors(); }
    Batch next(unsigned core) override;
    std::vector<Region> regions() const override { return workload_->regions(); }
    std::vector<std::string> functions() const override { return workload_->functions(); }
    double progress() const override;

    /// For check(), when all streams have ended.
    const Workload& workload() const { return *workload_; }
    bool ended() const { return running_ == 0; }
    std::uint64_t references() const { return references_; }  ///< handed over so far

private:
    struct Stream;

    std::unique_ptr<Workload> workload_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::size_t running_;
    std::uint64_t references_ = 0;
};

}  // namespace cachetally
