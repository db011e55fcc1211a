// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/indexing/indexing.hpp"

namespace cachetally {

std::span<const IndexingRow> indexing_rows() { return built_in_indexings; }

}  // namespace cachetally
