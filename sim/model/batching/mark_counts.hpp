// SPDX-License-Identifier: BSD-3-Clause
// Sums over the marks of filtered accesses and over requests. Compiled once per instruction set.
#pragma once

#include <cstdint>
#include <span>

#include "sim/model/batching/request_batch.hpp"

namespace cachetally {

/// How many marks of each kind (filter_mark); the redundant loads are the rest.
struct MarkCounts {
    std::uint64_t retained = 0, stores = 0, fetches = 0;
    std::uint8_t retained_bits = 0;  ///< of all retained marks, or-ed
};
MarkCounts count_marks(std::span<const std::uint8_t> marks);

/// At most KindLanes::most requests.
KindLanes count_kinds(std::span<const BlockEvent> requests);

}  // namespace cachetally
