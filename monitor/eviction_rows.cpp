// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/counter_array.hpp"

namespace cachetally {

std::span<const EvictionRow> eviction_rows() { return built_in_evictions(); }

}  // namespace cachetally
