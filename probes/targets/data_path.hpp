// SPDX-License-Identifier: BSD-3-Clause
// What of a machine loads of data pass.
#pragma once

#include <cstddef>
#include <vector>

#include "cachetally/topology.hpp"

namespace cachetally {

/// Indices of the caches that a load of data passes, nearest first, and of the TLBs that hold pages of its size.
std::vector<std::size_t> data_caches(const MachineDescription& machine);
std::vector<std::size_t> data_tlbs(const MachineDescription& machine);
/// Of pages of this size.
std::vector<std::size_t> data_tlbs(const MachineDescription& machine, std::uint64_t page);

/// Bytes of the machine's own pages that an entry of a TLB maps, where a program has used its arena from begin to end:
/// frames of `identity` and `contiguous` pages follow one another, so that pages coalesce; others do not.
std::uint64_t bytes_per_entry(const MachineDescription& machine, const TlbConfig& tlb);

}  // namespace cachetally
