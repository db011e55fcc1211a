// SPDX-License-Identifier: BSD-3-Clause
// A machine fitted to what probe measured, for the commands that do so.
#pragma once

#include <span>
#include <string>

#include "probes/fit/fit.hpp"
#include "probes/recording/recording.hpp"

namespace cachetally::app {

/// What the machine file says of itself.
struct FittedTitle {
    std::string name, description, source;
};

/// fit(), until an interrupt; a recording says on which pages the curves were measured, and by which clock. Throws
/// std::runtime_error where it is interrupted, and what fit() throws.
FitResult fitted_to(std::span<const TestReport> measured, const Recording* recording, const MachineDescription& start,
                    const FittedTitle& title, unsigned jobs = 0);

}  // namespace cachetally::app
