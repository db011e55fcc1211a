// SPDX-License-Identifier: BSD-3-Clause
// Prime and probe on a simulated machine.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "cachetally/topology.hpp"
#include "probes/targets/laps.hpp"
#include "probes/targets/simulated_cores.hpp"

namespace cachetally {

/// What disturbs.
struct ProbeNoise {
    std::function<double(double cycles)> interrupts;  ///< that come in so many cycles
    std::function<std::vector<Reference>()> foreign;  ///< loads that one of them makes
    std::function<double(double cycles)> seen;        ///< what the clock shows of a probe
    NoiseModel model;
    std::uint64_t seed = 0;  ///< of a second core's loads
};

struct PrimeProbeLoads {
    std::vector<Reference> prime = {};
    std::vector<std::vector<Reference>> parts = {};  ///< those that are used
    std::vector<Reference> touched = {};
    Renewal renewed = Renewal::none;
};

/// What a probe takes, part by part, after laps of a prime.
struct PrimedProbe {
    Measurement measurement;
    double all = 0;  ///< cycles of all loads
    std::uint64_t loads = 0;
    bool complete = true;  ///< false: the limit was reached
};

/// As ProbeTarget::prime_and_probe() says; placed by `placed`, a machine with the arena's pages, which are drawn where
/// `drawn` says so. Parts that are renewed are each run on a machine of their own, a single time where nothing
/// disturbs. `period`: ticks of a cycle.
PrimedProbe simulated_prime_and_probe(const Topology& placed, const Arena& arena, const PrimeProbeLoads& loads,
                                      const Effort& effort, const ProbeNoise& noise, bool drawn, double period,
                                      const RoundLimits& limits);

}  // namespace cachetally
