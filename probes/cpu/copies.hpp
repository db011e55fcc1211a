// SPDX-License-Identifier: BSD-3-Clause
// Copies of code on several logical processors at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "probes/cpu/timing.hpp"

namespace cachetally {

/// Nanoseconds of a cycle by one chain of additions; `read_ns`: what reading the clock costs.
double cycle_by_additions(double read_ns);

/// A thread on each of these processors calls `run` again and again for so long, which has so many statements; each
/// call is a window. Throws ProbeError where a thread may not be on its processor.
std::vector<std::vector<Window>> run_copies(const std::function<void()>& run, std::uint64_t statements,
                                            std::span<const unsigned> processors, double ns, double read_ns);

}  // namespace cachetally
