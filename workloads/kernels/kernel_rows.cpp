// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/kernels/kernels.hpp"

namespace cachetally {

std::span<const KernelRow> kernel_rows() { return built_in_kernels; }

}  // namespace cachetally
