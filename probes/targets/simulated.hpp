// SPDX-License-Identifier: BSD-3-Clause
// SimulatedTarget: a machine description as a probe's target, run by the engine.
#pragma once

#include <memory>
#include <optional>

#include "cachetally/topology.hpp"
#include "probes/recording/recorded_noise.hpp"
#include "probes/target.hpp"
#include "probes/targets/data_path.hpp"
#include "probes/targets/laps.hpp"

namespace cachetally {

struct SimulatedOptions {
    NoiseModel noise;
    /// In place of `noise`: times are disturbed as those of a recorded machine. Single loads are not timed then, as a
    /// recording has runs alone; counts are undisturbed.
    std::shared_ptr<const RecordedNoise> recorded;
    std::uint64_t seed = 1;  ///< of page placement and noise
    /// Page sizes offered besides the machine's own; smaller ones are left out.
    std::vector<std::uint64_t> large_pages = {std::uint64_t{2} << 20};
    std::uint64_t largest_arena = std::uint64_t{256} << 20;
    std::string no_events;  ///< a reason hides the event counts
    double clock_cost = 6;  ///< cycles that reading the clock around a single load adds
    /// The way of floating-point loads where they pass by levels: the machine without these.
    std::optional<MachineDescription> floating_point;
};

class SimulatedTarget final : public ProbeTarget {
public:
    /// Throws MachineError where the machine is not right, ProbeError where no core loads data.
    explicit SimulatedTarget(MachineDescription machine, SimulatedOptions options = {});
    ~SimulatedTarget() override;

    const Capabilities& capabilities() const override;
    void keep_to(const Budget& budget) override;
    Arena make_arena(std::uint64_t bytes, std::uint64_t page) override;

    /// As if all laps had been made. Once the machine's state repeats, further laps are known and not simulated: that
    /// is exact. Where it never does (random replacement, prefetchers, noise) the laps asked for are simulated, and
    /// those that only fill up least_cycles are taken to be like them.
    Measurement run(const Arena& arena, const Chase& chase, const Effort& effort) override;

    Measurement stream(const Arena& arena, const Streaming& stream, const Effort& effort) override;

    /// Up to 64 samples are taken from one lap: timing a load does not disturb the simulated machine.
    Measurement prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) override;
    std::vector<double> latencies(const Arena& arena, const Chase& chase, unsigned warm_up, unsigned samples) override;

    /// All rounds are simulated, each after the one before it; interrupts take time, and leave caches as they are.
    Measurement transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) override;
    Measurement run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) override;

    void release(const Arena& arena) override;
    ProbeCost cost() const override;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally
