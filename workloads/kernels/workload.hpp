// SPDX-License-Identifier: BSD-3-Clause
// Workload: a program in the SPLASH style that runs on logical processors and checks its own result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/kernels/layout.hpp"
#include "workloads/kernels/options.hpp"
#include "workloads/kernels/processor.hpp"

namespace cachetally {

/// Whether the numbers came out right: residual <= bound.
struct KernelCheck {
    std::string meaning;  ///< what the residual is
    double residual = 0;
    double bound = 0;

    bool passed() const { return residual <= bound; }  // not for NaN
};

/// One run of a program. Between two barriers no processor reads what another one writes (or as if: a processor is
/// suspended only where it makes a reference): the order in which processors run changes nothing.
class Workload {
public:
    Workload(unsigned processors, std::vector<std::string> functions)
        : processors_(processors), functions_(std::move(functions)) {}
    virtual ~Workload() = default;

    unsigned processors() const { return processors_; }
    const std::vector<Region>& regions() const { return layout_.regions(); }
    const std::vector<std::string>& functions() const { return functions_; }

    /// The code of one processor, from beginning to end; to be called once for each.
    virtual void run(Processor& processor) = 0;

    /// To be called when all processors are through.
    virtual KernelCheck check() const = 0;

    /// Estimate of the references of all processors together, for progress.
    virtual double expected_references() const = 0;

    /// A number that depends on every bit of the numerical result, to compare runs with.
    virtual std::uint64_t fingerprint() const = 0;

protected:
    Layout& layout() { return layout_; }

private:
    unsigned processors_;
    std::vector<std::string> functions_;
    Layout layout_;
};

struct WorkloadInfo {
    std::string name;
    std::string description;  ///< one line
    std::vector<WorkloadOption> options;
};

/// All workloads, for `workload list`.
const std::vector<WorkloadInfo>& workload_list();

/// Builds a workload by name with "key=value" options. Throws OptionError.
std::unique_ptr<Workload> make_workload(std::string_view name, std::span<const std::string> options = {});

}  // namespace cachetally
