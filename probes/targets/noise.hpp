// SPDX-License-Identifier: BSD-3-Clause
// NoiseModel: what disturbs the clock and the caches of a simulated target while a probe runs.
#pragma once

#include <string>
#include <vector>

namespace cachetally {

/// All zero: no noise.
struct NoiseModel {
    double timer_quantum = 0;        ///< cycles that the timer advances by
    double jitter = 0;               ///< mean share by which a run takes longer, drawn per run
    double interrupt_period = 0;     ///< cycles between interrupts on average; 0 = none
    double interrupt_cycles = 0;     ///< that one takes
    unsigned interrupt_lines = 0;    ///< lines that one brings into the caches
    unsigned interrupt_pages = 0;    ///< pages that these lie in
    unsigned hog_loads = 0;          ///< loads of a second core per 64 loads of the probe
    unsigned long long hog_bytes{};  ///< that the second core walks through

    bool any() const { return timer_quantum > 0 || jitter > 0 || interrupt_period > 0 || hog_loads > 0; }
    friend bool operator==(const NoiseModel&, const NoiseModel&) = default;
};

/// none; quiet: a timer of 20 cycles and 0.1 % jitter; realistic: 0.3 % jitter and a thousand interrupts a second on
/// top; heavy: 1 % jitter, coarser timer, more interrupts and a second core that walks through 1 MiB. Throws
/// std::invalid_argument for other names.
NoiseModel noise_named(const std::string& name);
std::vector<std::string> noise_names();

}  // namespace cachetally
