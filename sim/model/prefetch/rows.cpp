// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/prefetch/prefetcher.hpp"

namespace cachetally {

std::span<const PrefetcherRow> prefetcher_rows() { return built_in_prefetchers; }

}  // namespace cachetally
