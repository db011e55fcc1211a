// SPDX-License-Identifier: BSD-3-Clause
// Numbers with units that are too large.
#pragma once

#include <string_view>

namespace cachetally {

/// What parse_size() takes is below this.
inline constexpr std::string_view size_limit = "8192 TiB";

/// Whether a text is written as a size, but too large for one, or negative: "99999999 TiB", "-5".
bool is_size_out_of_range(std::string_view text);

}  // namespace cachetally
