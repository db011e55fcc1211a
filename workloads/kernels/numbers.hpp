// SPDX-License-Identifier: BSD-3-Clause
// Small numerical helpers that several kernels need.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/random.hpp"

namespace cachetally {

/// Uniform in [0, 1).
inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

/// The larger of two magnitudes; not-a-number wins.
inline double worse(double residual, double difference) {
    return std::abs(difference) <= residual ? residual : std::abs(difference);
}

}  // namespace cachetally
