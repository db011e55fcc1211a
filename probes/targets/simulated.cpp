// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/simulated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "base/units.hpp"
#include "probes/targets/laps.hpp"
#include "probes/targets/simulated_cores.hpp"
#include "probes/targets/simulated_parts.hpp"
#include "probes/targets/simulated_probe.hpp"

namespace cachetally {
namespace {
constexpr std::size_t streamed_at_a_time = 256;
constexpr std::uint64_t most_loads = 4'000'000;  ///< simulated to fill up least_cycles, where laps do not repeat

}  // namespace

struct SimulatedTarget::Parts {
    Parts(MachineDescription description, SimulatedOptions chosen)
        : machine(std::move(description)), options(std::move(chosen)), random(splitmix64(options.seed) ^ 0x6e6f697365) {
        if (options.recorded) draws.emplace(options.recorded, random.next());
    }

    const Topology& topology_for(const Arena& arena, bool floating_point) {
        const std::pair<std::uint64_t, std::uint64_t> key{arena.page * 2 + (floating_point ? 1 : 0),
                                                          pages_are_drawn() ? arena.id : 0};
        if (!topology || key != topology_key) {
            topology.emplace(placed_for(arena, floating_point ? *options.floating_point : machine, options));
            topology_key = key;
        }
        return *topology;
    }

    /// Frames are drawn for pages when these are placed.
    bool pages_are_drawn() const {
        return machine.pages.mapping == Mapping::random || machine.pages.mapping == Mapping::coloured;
    }

    std::vector<Reference> references(const Arena& arena, const Chase& chase) const {
        check_chase(capabilities, arena, chase);
        return loads_of(chase.offsets, chase.floating_point, chase.stores);
    }

    /// A run as it is without noise, and the machine after it.
    struct Run {
        Run(const Topology& topology, const Arena& on, bool of_floating_point, unsigned parts, const Effort& how,
            std::vector<Reference> made, double period)
            : arena(on),
              floating_point(of_floating_point),
              chains(parts),
              effort(how),
              references(std::move(made)),
              hierarchy(topology),
              laps(hierarchy, references, period, !remembers_more(topology.machine()), chains) {}

        bool is(const Arena& on, const Chase& chase, const Effort& how) const {
            return !streamed && !chase.stores && on == arena && chase.floating_point == floating_point &&
                   chase.chains == chains && how == effort &&
                   std::ranges::equal(references, chase.offsets, {}, &Reference::address,
                                      [](std::uint64_t offset) { return arena_base + offset; });
        }

        Arena arena;
        bool floating_point;
        unsigned chains;
        Effort effort;
        std::optional<Streaming> streamed;
        std::vector<Reference> references;
        Hierarchy hierarchy;
        Laps laps;
        LapSum total;
        std::optional<Lap> refill;    ///< what a lap after an interrupt takes and misses more
        std::uint64_t simulated = 0;  ///< loads, as far as they are in the cost
    };

    /// What a run took and missed per step, with noise.
    Measurement measured(Run& run, double steps_per_lap) {
        const std::uint64_t simulated = run.simulated;
        const auto count = static_cast<double>(run.total.laps);
        Lap seen = run.total.sum;
        seen += interrupts(run);
        run.simulated = run.laps.simulated();
        Measurement measurement;
        measurement.laps = run.total.laps;
        measurement.cycles = seen_by_timer(seen.cycles) / (steps_per_lap * count);
        measurement.quantiles = quantiles_of({measurement.cycles});
        const double longer = disturb(measurement, seen.cycles);
        if (!run.streamed) fill(measurement, seen, steps_per_lap * count, run);
        spend({1, (run.total.laps + run.effort.warm_up) * run.references.size(), run.simulated - simulated,
               longer * seen.cycles / count * (count + run.effort.warm_up)});
        return measurement;
    }

    /// As a run of a recording was that took so many cycles; returns how much longer it takes of the target's time.
    double disturb(Measurement& measurement, double cycles) {
        if (!draws) return 1;
        const auto& drawn = draws->next(measurement.cycles / quickest_load(machine), cycles);
        measurement.cycles *= drawn.slowdown;
        measurement.quantiles = drawn.quantiles.times(measurement.cycles);
        measurement.conditions = drawn.conditions;
        return drawn.slowdown * (1 + drawn.lost());
    }

    /// Trials of the same chase differ by noise alone, so that only the first of them is simulated.
    Run& run(const Arena& arena, const Chase& chase, const Effort& effort) {
        const NoiseModel& noise = options.noise;
        if (last && noise.hog_loads == 0 && last->is(arena, chase, effort)) return *last;
        return begin(arena, chase.floating_point, chase.chains, std::nullopt, effort, references(arena, chase));
    }

    Run& run(const Arena& arena, const Streaming& stream, const Effort& effort) {
        if (last && last->streamed == stream && last->arena == arena && last->effort == effort) return *last;
        check_stream(capabilities, arena, stream);
        const auto levels = data_caches(machine);
        const std::uint64_t line = machine.caches[levels.front()].transfer();
        return begin(arena, false, 1, stream, effort, streamed_lines(stream, std::min(line, Streaming::block)));
    }

    Run& begin(const Arena& arena, bool floating_point, unsigned chains, const std::optional<Streaming>& stream,
               const Effort& effort, std::vector<Reference> made) {
        last.reset();
        if (draws) draws->begin();
        const Topology& machine_run = topology_for(arena, floating_point);
        last = std::make_unique<Run>(machine_run, arena, floating_point, chains, effort, std::move(made),
                                     static_cast<double>(machine.period));
        last->streamed = stream;
        if (stream) last->laps.overlap(streamed_at_a_time);
        touch(last->hierarchy, arena, last->references, pages_are_drawn());
        if (options.noise.hog_loads > 0) last->laps.disturb_by(options.noise, random.next());
        const double at_a_time = stream ? least_latency(machine) : chains;
        const double shortest_lap =
            static_cast<double>(last->references.size()) * std::max(1.0, least_latency(machine) / at_a_time);
        const double long_enough = std::min(effort.least_cycles / shortest_lap, 1e15);  // a budget ends it long before
        last->laps.expect(
            effort.warm_up + std::max<std::uint64_t>(effort.laps, static_cast<std::uint64_t>(long_enough)),
            digest_loads(machine));
        last->laps.keep_to(left(), look());
        try {
            last->total = sum_of(last->laps, effort, most_loads);
        } catch (const std::exception&) {  // half a run says nothing
            const std::uint64_t simulated = last->laps.simulated();
            last.reset();
            spend_rest(simulated);
            throw;
        }
        last->laps.keep_to(std::numeric_limits<double>::infinity(), {});
        return *last;
    }

    /// How many interrupts come in so many cycles.
    double interrupts_in(double cycles) {
        const double drawn = uniform();
        return std::floor(cycles / options.noise.interrupt_period * 2 * drawn + uniform());
    }

    ProbeNoise noise_of_probes(std::uint64_t page_bytes) {
        return {[this](double cycles) { return interrupts_in(cycles); },
                [=, this] { return interrupt_loads(options.noise, page_bytes, random); },
                [this](double cycles) { return seen_by_timer(cycles); }, options.noise, random.next()};
    }

    /// What interrupts add to a run: each takes its time and leaves caches and TLBs changed; a lap after the first one
    /// says what that costs this chase.
    Lap interrupts(Run& run) {
        const NoiseModel& noise = options.noise;
        Lap more;
        more += run.total.sum;  // as many counts
        more *= 0;
        if (noise.interrupt_period <= 0) return more;
        const double count = interrupts_in(run.total.sum.cycles);
        if (count < 1) return more;
        if (!run.refill) {
            run.hierarchy.run(0, interrupt_loads(noise, run.arena.page, random), 0, ~Tick{0});
            run.refill = run.laps.once_more();
            run.refill->less(run.total.mean());
        }
        more += *run.refill;
        more.cycles += noise.interrupt_cycles;
        more *= count;
        return more;
    }

    double uniform() { return static_cast<double>(random.next() >> 11) * 0x1p-53; }  ///< in [0, 1)

    double seen_by_timer(double cycles) {
        const NoiseModel& noise = options.noise;
        if (noise.jitter > 0) cycles *= 1 - noise.jitter * std::log(1 - uniform());
        if (noise.timer_quantum <= 0) return cycles;
        const double begin = uniform();
        return std::floor(begin + cycles / noise.timer_quantum) * noise.timer_quantum;
    }

    void fill(Measurement& measurement, const Lap& sum, double loads, const Run& run) const {
        if (capabilities.cache_events == 0 && capabilities.tlb_events == 0) return;
        const bool stores = run.references.back().kind == ReferenceKind::store;
        fill_events(measurement, sum, loads, machine, run.floating_point ? *options.floating_point : machine, stores);
    }

    /// What else may be spent: cycles.
    double left() const { return std::max(0.0, budget.most_cycles - cost.cycles); }

    /// Ends a run that takes more: all that was left is spent.
    void spend_rest(std::uint64_t simulated) {
        cost.runs += 1;
        cost.references += simulated;
        cost.simulated += simulated;
        cost.cycles += left();
    }

    /// Adds what a run cost, unless that is more than is left.
    void spend(const ProbeCost& more) {
        const bool enough = more.cycles <= left() && cost.references + more.references <= budget.most_references;
        cost.runs += more.runs;
        cost.simulated += more.simulated;
        cost.references =
            std::max(cost.references, std::min(cost.references + more.references, budget.most_references));
        cost.cycles += std::min(more.cycles, left());
        if (!enough) throw BudgetSpent();
    }

    /// Asked within runs.
    std::function<void()> look() const {
        return [this] {
            if (budget.go_on && !budget.go_on()) throw ProbingEnded();
        };
    }

    /// Rounds of several cores, as the timer sees them.
    Measurement seen(const CoreRounds& rounds, std::size_t loads) {
        if (!rounds.complete) {
            spend_rest(rounds.loads);
            throw BudgetSpent();
        }
        std::vector<double> cycles;
        for (const double each : rounds.cycles) {
            const NoiseModel& noise = options.noise;
            const double interrupts = noise.interrupt_period > 0 ? each / noise.interrupt_period + uniform() : 0;
            const double all = each + std::floor(interrupts) * noise.interrupt_cycles;
            cycles.push_back(seen_by_timer(all) / static_cast<double>(loads));
        }
        Measurement found;
        found.laps = found.conditions.samples = cycles.size();
        found.quantiles = quantiles_of(std::move(cycles));
        found.cycles = found.quantiles.median;
        if (draws) draws->begin();
        const double timed = found.cycles * static_cast<double>(loads * found.laps);
        spend({1, rounds.loads, rounds.loads, disturb(found, timed) * rounds.all_cycles});
        return found;
    }

    MachineDescription machine;
    SimulatedOptions options;
    Capabilities capabilities;
    ProbeCost cost;
    Budget budget;
    Random random;
    std::optional<NoiseDraws> draws;
    std::uint32_t arenas = 0;
    std::optional<Topology> topology;  ///< as built last
    std::pair<std::uint64_t, std::uint64_t> topology_key;
    std::unique_ptr<Run> last;
};

SimulatedTarget::SimulatedTarget(MachineDescription machine, SimulatedOptions options)
    : parts_(std::make_unique<Parts>(std::move(machine), std::move(options))) {
    Parts& parts = *parts_;
    std::ranges::sort(parts.options.large_pages);
    parts.capabilities = capabilities_of(parts.machine, parts.options);
    const Topology checked(parts.machine);
    if (data_caches(parts.machine).empty() && !parts.machine.caches.empty())
        throw ProbeError("no cache of '{}' serves data", parts.machine.name);
}

SimulatedTarget::~SimulatedTarget() = default;

const Capabilities& SimulatedTarget::capabilities() const { return parts_->capabilities; }

void SimulatedTarget::keep_to(const Budget& budget) { parts_->budget = budget; }

ProbeCost SimulatedTarget::cost() const { return parts_->cost; }

void SimulatedTarget::release(const Arena& arena) {
    if (parts_->last && parts_->last->arena == arena) parts_->last.reset();
}

Arena SimulatedTarget::make_arena(std::uint64_t bytes, std::uint64_t page) {
    check_arena(parts_->capabilities, bytes, page);
    return {parts_->arenas++, std::max<std::uint64_t>(bytes, 1), page, false};
}

Measurement SimulatedTarget::run(const Arena& arena, const Chase& chase, const Effort& effort) {
    Parts::Run& run = parts_->run(arena, chase, effort);
    return parts_->measured(run, static_cast<double>(chase.offsets.size()));
}

Measurement SimulatedTarget::stream(const Arena& arena, const Streaming& stream, const Effort& effort) {
    Parts::Run& run = parts_->run(arena, stream, {std::max(1U, effort.warm_up), effort.laps, effort.least_cycles});
    return parts_->measured(run, static_cast<double>(stream.bytes) / Streaming::block);
}

Measurement SimulatedTarget::transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) {
    check_transfer(parts_->capabilities, arena, from, to);
    const Topology& placed = parts_->topology_for(arena, to.chase.floating_point);
    return parts_->seen(simulated_transfer(placed, arena, from, to, rounds, {parts_->left(), parts_->look()}),
                        to.chase.offsets.size());
}

Measurement SimulatedTarget::run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) {
    check_run_after(parts_->capabilities, arena, one, other);
    const Topology& placed = parts_->topology_for(arena, one.chase.floating_point);
    return parts_->seen(simulated_run_after(placed, arena, one, other, rounds, {parts_->left(), parts_->look()}),
                        one.chase.offsets.size());
}

Measurement SimulatedTarget::prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) {
    Parts& parts = *parts_;
    if (parts.draws)
        throw ProbeError("the noise is of a recording, which does not tell how prime and probe is disturbed");
    const bool floating_point = both.prime.floating_point;
    PrimeProbeLoads loads{.renewed = both.renewed};
    for (const auto& part : parts_of(parts.capabilities, arena, both))
        loads.parts.push_back(loads_of(part, floating_point));
    loads.prime = parts.references(arena, both.prime);
    if (both.touched != PrimeProbe::nowhere) loads.touched = loads_of({&both.touched, 1}, floating_point);
    PrimedProbe found = simulated_prime_and_probe(
        parts.topology_for(arena, floating_point), arena, loads, effort, parts.noise_of_probes(arena.page),
        parts.pages_are_drawn(), static_cast<double>(parts.machine.period), {parts.left(), parts.look()});
    if (!found.complete) {
        parts.spend_rest(found.loads);
        throw BudgetSpent();
    }
    parts.spend({1, found.loads, found.loads, found.all});
    return std::move(found.measurement);
}

std::vector<double> SimulatedTarget::latencies(const Arena& arena, const Chase& chase, unsigned warm_up,
                                               unsigned samples) {
    if (!parts_->capabilities.latencies) throw ProbeError("the noise is of a recording, which has no single loads");
    constexpr unsigned per_lap = 64;
    check_single(chase);
    Parts& parts = *parts_;
    const std::vector<Reference> references = parts.references(arena, chase);
    const Topology& topology = parts.topology_for(arena, chase.floating_point);
    Hierarchy hierarchy(topology);
    touch(hierarchy, arena, references, parts.pages_are_drawn());
    const auto period = static_cast<double>(parts.machine.period);
    Tick now = 0;
    const std::function<void()> look = parts.look();
    const auto most = static_cast<double>(parts.budget.most_cycles - parts.cost.cycles) * period;
    const auto load = [&](std::span<const Reference> some, Tick at) {
        look();
        if (static_cast<double>(at) > most) {
            parts.spend_rest(0);
            throw BudgetSpent();
        }
        return hierarchy.run(0, some, at, ~Tick{0}).time;
    };
    for (unsigned lap = 0; lap < warm_up; ++lap) now = load(references, now);
    std::vector<double> found;
    const std::span<const Reference> all(references);
    std::uint64_t laps = 0;
    for (; found.size() < samples; ++laps) {
        std::size_t done = 0;
        const std::size_t step = std::max<std::size_t>(1, all.size() / per_lap);
        for (std::size_t first = 0; first + step <= all.size() && found.size() < samples; first += step) {
            const std::size_t at = first + splitmix64(laps * all.size() + first) % step;
            const Tick before = load(all.subspan(done, at - done), now);
            now = hierarchy.access(0, all[at], before);
            done = at + 1;
            found.push_back(parts.seen_by_timer(static_cast<double>(now - before) / period + parts.options.clock_cost));
        }
        now = load(all.subspan(done), now);
    }
    parts.spend({1, std::uint64_t{samples} * references.size(), (laps + warm_up) * references.size(),
                 static_cast<double>(now) / period});
    return found;
}

}  // namespace cachetally
