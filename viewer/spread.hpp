// SPDX-License-Identifier: BSD-3-Clause
// When counts are drawn on a logarithmic scale: one rule for the terminal, for the page (viewer/web/src/spread.ts) and
// for figures (viewer/figures/figure.py); docs/viewer.md defines it.
#pragma once

#include <span>

namespace cachetally {

/// Whether more than half of the values above 0 lie below a fiftieth of the largest, where a linear scale would hide
/// them.
bool is_uneven(std::span<const double> values);

}  // namespace cachetally
