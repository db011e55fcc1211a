// SPDX-License-Identifier: BSD-3-Clause
// The kernels as the factory knows them. Internal to the room.
#pragma once

#include <memory>

#include "workloads/kernels/workload.hpp"

namespace cachetally {

struct Kernel {
    WorkloadInfo info;
    std::unique_ptr<Workload> (*make)(const OptionValues& options);
};

Kernel lu_kernel();
Kernel radix_kernel();
Kernel water_kernel();
Kernel fft_kernel();
Kernel ocean_kernel();
Kernel matmul_kernel();
Kernel stream_kernel();
Kernel gups_kernel();
Kernel chase_kernel();

/// The option that every kernel has.
WorkloadOption processors_option();
unsigned processors_of(const OptionValues& options);

}  // namespace cachetally
