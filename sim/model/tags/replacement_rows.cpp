// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/tags/cache_array.hpp"

namespace cachetally {

std::span<const ReplacementRow> replacement_rows() { return built_in_replacements(); }

}  // namespace cachetally
