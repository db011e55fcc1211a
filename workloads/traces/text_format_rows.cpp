// SPDX-License-Identifier: BSD-3-Clause
#include "workloads/traces/text_parser.hpp"

namespace cachetally {

std::span<const TextFormatRow> text_format_rows() { return built_in_text_formats; }

}  // namespace cachetally
