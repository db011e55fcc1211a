// SPDX-License-Identifier: BSD-3-Clause
// Why levels miss, and what evicts what, as tables.
#pragma once

#include <string>

#include "viewer/run_view.hpp"

namespace cachetally {

/// Empty where the run did not look for causes.
std::string causes_text(const RunView& view, const TextOptions& options);

}  // namespace cachetally
