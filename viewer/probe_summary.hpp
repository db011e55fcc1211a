// SPDX-License-Identifier: BSD-3-Clause
// What probes know of a machine in the end, one line per level.
#pragma once

#include <span>
#include <string>

#include "cachetally/machine.hpp"
#include "probes/result.hpp"
#include "probes/validation/truth.hpp"

namespace cachetally {

/// A line per level of caches and TLBs: what the tests found (of several answers the narrowest; where these contradict
/// each other, both), beside what the machine states of itself, if `stated` is given: sizes, ways and lines alone, as
/// the rest of such a machine file is assumed. `sharing`: what it states of who shares its levels; found otherwise,
/// this is said. Robust answers, if there are any, else published ones. Empty if there is neither an answer nor a
/// refusal. Below, if known, a line per level of its loads at a time and bytes per cycle.
std::string probe_summary(std::span<const TestReport> reports, const MachineDescription* stated, unsigned width,
                          std::span<const Fact> sharing = {});

}  // namespace cachetally
