// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/simulated_probe.hpp"

#include <algorithm>
#include <memory>

#include "probes/targets/simulated_parts.hpp"

namespace cachetally {
namespace {

/// A machine with what has been loaded so far.
class Primed {
public:
    Primed(const Topology& placed, const Arena& arena, const PrimeProbeLoads& loads, const ProbeNoise& noise,
           bool drawn, double period, const RoundLimits& limits)
        : noise_(noise), hierarchy_(placed), laps_(hierarchy_, loads.prime, period, false) {
        // all of it: pages lie where they lay when the last question was asked
        const Reference last{arena_base + arena.bytes - 1, 0, 1, ReferenceKind::load, 0};
        touch(hierarchy_, arena, {&last, 1}, drawn);
        if (noise.model.hog_loads > 0) laps_.disturb_by(noise.model, noise.seed);
        laps_.keep_to(limits.cycles, limits.look);
    }

    double prime() {
        const double took = laps_.once_more().cycles;
        if (noise_.model.interrupt_period > 0 && noise_.interrupts(took) >= 1)
            hierarchy_.run(0, noise_.foreign(), 0, ~Tick{0});
        return took;
    }

    double load(std::span<const Reference> part) { return laps_.once(part).cycles; }

    /// What the clock shows of a part.
    double probe(std::span<const Reference> part) {
        double took = load(part);
        if (noise_.model.interrupt_period > 0) took += noise_.interrupts(took) * noise_.model.interrupt_cycles;
        return noise_.seen(took);
    }

    std::uint64_t loads() const { return laps_.simulated(); }

private:
    const ProbeNoise& noise_;
    Hierarchy hierarchy_;
    Laps laps_;
};

}  // namespace

PrimedProbe simulated_prime_and_probe(const Topology& placed, const Arena& arena, const PrimeProbeLoads& loads,
                                      const Effort& effort, const ProbeNoise& noise, bool drawn, double period,
                                      const RoundLimits& limits) {
    PrimedProbe found;
    Measurement& measured = found.measurement;
    std::unique_ptr<Primed> machine;
    const auto renew = [&] {
        if (machine) found.loads += machine->loads();
        machine = std::make_unique<Primed>(placed, arena, loads, noise, drawn, period,
                                           RoundLimits{std::max(0.0, limits.cycles - found.all), limits.look});
        for (unsigned lap = 0; lap < effort.warm_up; ++lap) found.all += machine->prime();
    };
    const bool renewed = loads.renewed != Renewal::none;
    const unsigned rounds = renewed && !noise.model.any() ? 1 : std::max(1U, effort.laps);
    double cycles = 0, count = 0;
    try {
        for (const std::vector<Reference>& part : loads.parts) {
            std::vector<double> times;
            while (times.size() < rounds) {
                if (renewed || !machine) renew();
                if (loads.renewed == Renewal::loaded) found.all += machine->load(part);
                if (loads.renewed == Renewal::stored) found.all += machine->load(stores_of(part));
                found.all += machine->prime();
                if (!loads.touched.empty()) found.all += machine->load(loads.touched);
                times.push_back(machine->probe(part));
                found.all += times.back();
                ++measured.laps;
            }
            const double median = quantiles_of(std::move(times)).median;
            measured.parts.push_back(median / static_cast<double>(part.size()));
            cycles += median;
            count += static_cast<double>(part.size());
        }
        measured.cycles = cycles / count;
        measured.quantiles = quantiles_of(measured.parts);
    } catch (const BudgetSpent&) {
        found.complete = false;
    }
    if (machine) found.loads += machine->loads();
    return found;
}

}  // namespace cachetally
