// SPDX-License-Identifier: BSD-3-Clause
// The kernels as the factory knows them. Internal to the room.
#pragma once

#include <memory>
#include <span>

#include "workloads/kernels/workload.hpp"

namespace cachetally {

struct Kernel {
    WorkloadInfo info;
    std::unique_ptr<Workload> (*make)(const OptionValues& options);
    /// Throws OptionError where options contradict each other; called before `make`.
    void (*check)(const OptionValues& options) = [](const OptionValues&) {};
};

/// What makes a kernel of this class.
template <class Program>
std::unique_ptr<Workload> make_program(const OptionValues& options) {
    return std::make_unique<Program>(options);
}

// The kernels in the order of lists: a row here and a source that defines NAME_kernel() are all that a kernel needs
// (CONTRIBUTING.md).
#define CACHETALLY_KERNELS(ROW) \
    ROW(lu) ROW(radix) ROW(water) ROW(fft) ROW(ocean) ROW(matmul) ROW(stream) ROW(gups) ROW(chase)

using KernelRow = Kernel (*)();
#define CACHETALLY_DECLARE(name) Kernel name##_kernel();
CACHETALLY_KERNELS(CACHETALLY_DECLARE)
#undef CACHETALLY_DECLARE
#define CACHETALLY_ROW(name) name##_kernel,
inline constexpr KernelRow built_in_kernels[] = {CACHETALLY_KERNELS(CACHETALLY_ROW)};
#undef CACHETALLY_ROW

/// The kernels of the program. A source of its own, so that a program may link another with more rows.
std::span<const KernelRow> kernel_rows();

/// The option that every kernel has.
WorkloadOption processors_option();
unsigned processors_of(const OptionValues& options);

}  // namespace cachetally
