// SPDX-License-Identifier: BSD-3-Clause
// The machine that this program runs on, as a machine file: what it says of itself, and what has to be assumed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cachetally/machine.hpp"

namespace cachetally {

/// eax, ebx, ecx, edx of a leaf; zeros where there is none.
using Cpuid = std::function<std::array<std::uint32_t, 4>(std::uint32_t leaf, std::uint32_t subleaf)>;

/// Of the processor; zeros on others than x86-64.
std::array<std::uint32_t, 4> host_cpuid(std::uint32_t leaf, std::uint32_t subleaf);

/// Caches of `folder` (Linux: Documentation/ABI/testing/sysfs-devices-system-cpu), or, where it has none, of CPUID
/// (Intel leaf 4, AMD leaves 0x8000001D, 0x80000005 and 0x80000006); TLBs by CPUID (Intel leaf 0x18, AMD leaves
/// 0x80000005 and 0x80000006). Latencies, policies and what is not stated are assumed; the description says so. Threads
/// of one core count as one. Throws MachineError where neither states caches.
std::string host_machine_file(const std::string& folder = "/sys/devices/system/cpu/cpu0/cache",
                              const Cpuid& cpuid = host_cpuid);

/// Whether host_machine_file() wrote `host` and assumed this level of its TLBs ("TLB1", "TLB2"), as of virtual machines
/// whose CPUID hides them.
bool is_assumed(const MachineDescription& host, std::string_view level);

}  // namespace cachetally
