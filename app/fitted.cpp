// SPDX-License-Identifier: BSD-3-Clause
#include "app/fitted.hpp"

#include <fmt/format.h>

#include "app/terminal.hpp"
#include "probes/fit/measured.hpp"

namespace cachetally::app {

FitResult fitted_to(std::span<const TestReport> measured, const Recording* recording, const MachineDescription& start,
                    const FittedTitle& title, unsigned jobs) {
    FitOptions how;
    how.jobs = jobs;
    how.go_on = [] { return !interrupted(); };
    if (recording != nullptr) {
        how.large_page = large_page_of(*recording);
        how.frequency = recording->frequency;
    }
    try {
        FitResult result = fit(start, measured, how);
        result.machine.name = title.name;
        result.machine.description = title.description;
        result.machine.source = title.source;
        return result;
    } catch (const ProbingEnded&) {
        throw std::runtime_error("interrupted before the machine was fitted; no machine file was written");
    }
}

}  // namespace cachetally::app
