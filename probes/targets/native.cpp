// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/native.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/units.hpp"
#include "probes/targets/core_clock.hpp"
#include "probes/targets/native_arena.hpp"
#include "probes/targets/native_cores.hpp"
#include "probes/targets/native_stream.hpp"
#include "probes/targets/native_timing.hpp"
#include "probes/targets/pinned_thread.hpp"
#include "probes/targets/quiet_core.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr double sample_ns = 30'000;
constexpr double least_step_ns = 0.1;    ///< no sample of shorter ones is so long that it never ends
constexpr std::size_t least_passes = 3;  ///< of a run that has time to fill up: a quartile of one sample is that sample
constexpr unsigned settling_laps = 3;    ///< before each sample: what reads the clock and the switches takes lines away
constexpr unsigned clock_chain = 16'384;       ///< additions before and after each sample: some microseconds
constexpr unsigned short_clock_chain = 4'096;  ///< for probes: hits and misses differ by far more than it blurs
constexpr double clock_change = 0.02;          ///< within a sample, more than which it is dropped
constexpr double clock_drift = 0.05;           ///< from sample to sample, more than which it is looked at again
constexpr std::size_t most_passes = 4096;      ///< of one run
constexpr unsigned retries = 3;                ///< as many passes as are needed, at most, where all are disturbed
constexpr unsigned most_moves = 2;             ///< of one run
constexpr std::uint64_t look_every_ns = 500'000;
constexpr std::uint64_t counted_piece = 65'536;  ///< loads: between two looks at the budget, which make loads, too

}  // namespace

struct NativeTarget::Parts {
    explicit Parts(const NativeOptions& chosen) : options(chosen), rate(settled_clock()), begin_ns(now_ns()) {
        can.page_sizes = {small_page()};
        can.largest_arena = options.largest_arena;
        count_events();
        offer_processors(can, pinned.allowed_before());
        can.timer_quantum = rate.read_cycles;
        can.most_chains = most_native_chains;
        can.streams = true;
#if defined(__x86_64__)
        can.latencies = true;
        ticks_per_ns = time_stamp_rate();
#endif
        if (!options.large_pages || small_page() >= huge_page) return;
        try {
            NativeArena(huge_page, huge_page);
            can.page_sizes.push_back(huge_page);
        } catch (const ProbeError&) {  // the system has none
        }
    }

    double elapsed() const { return static_cast<double>(now_ns() - begin_ns) / rate.cycle_ns; }

    /// Throws where the budget is spent, or an end is asked for.
    void look() {
        if (budget.go_on && !budget.go_on()) throw ProbingEnded();
        if (elapsed() > budget.most_cycles || cost.references > budget.most_references) throw BudgetSpent();
        looked_ns = now_ns();
    }

    void count_events() {
        can.no_events = options.no_events;
        if (!can.no_events.empty()) return;
        counters.emplace(levels_of_this_machine(), options.raw_events, options.perf);
        counters->trust_if([] { additions_ns(clock_chain); }, clock_chain);
        can.exact_events = false;
        can.cache_events = counters->counted().caches;
        can.tlb_events = counters->counted().tlbs;
        can.no_events = counters->missing();
    }

    /// Misses per step of these laps, made once more: what times them makes loads of its own.
    void count(NativeWork& work, std::uint64_t steps, const std::function<void()>& prepare, Measurement& found) {
        if (can.cache_events + can.tlb_events == 0) return;
        const EventCounts events = counters->count(prepare, [&] { warm(work, steps, counted_piece); });
        for (const double misses : events.cache_misses)
            found.cache_misses.push_back(misses / static_cast<double>(steps));
        for (const double misses : events.tlb_misses) found.tlb_misses.push_back(misses / static_cast<double>(steps));
    }

    /// Steps that are not timed, in pieces between which the budget is looked at.
    void warm(NativeWork& work, std::uint64_t steps, std::uint64_t most = 4096) {
        const std::uint64_t piece = most / work.grain() * work.grain();
        while (steps > 0) {
            const auto some = std::min(steps, piece);
            work.go_on(some);
            steps -= some;
            cost.references += some;
            if (now_ns() - looked_ns > look_every_ns) look();
        }
    }

    struct Sample {
        double cycles = 0;  ///< per step
        double raw_ns = 0;
        double cycle_ns = 0;
        std::uint64_t switches = 0;
        bool kept = false;
    };
    /// `prepare`: what is done just before the sample, not timed: what reads the clock and the switches takes lines.
    template <class Prepare>
    Sample sample(NativeWork& work, std::uint64_t steps, Prepare prepare, unsigned chain = clock_chain) {
        const std::uint64_t switches = context_switches();
        const double before = additions_ns(chain);
        prepare();
        Sample found;
        // At first without a step: a prime may have taken the code out of the caches.
        for (const std::uint64_t some : {std::uint64_t{0}, steps})
            found.raw_ns = timed([&] { work.go_on(some); }, ticks_per_ns);
        const double after = additions_ns(chain);
        cost.references += steps;
        const double read_ns = rate.read_cycles * rate.cycle_ns;
        found.cycle_ns = (std::min(before, after) - read_ns) / chain;
        found.cycles = std::max(0.0, found.raw_ns - read_ns) / found.cycle_ns / static_cast<double>(steps);
        found.switches = context_switches() - switches;
        found.kept =
            std::abs(before - after) <= clock_change * before && found.switches == 0 && is_clock(found.cycle_ns);
        return found;
    }

    /// Additions alone may be several times as slow for a while (six times on a Zen 5 guest, seldom): a clock that is
    /// far from the last one is believed if it stays, and multiplications agree.
    bool is_clock(double cycle_ns) {
        const auto is_near = [](double one, double other, double share) { return std::abs(one / other - 1) <= share; };
        if (!is_near(cycle_ns, last_cycle_ns, clock_drift)) {
            const double now = (additions_ns(clock_chain) - rate.read_cycles * rate.cycle_ns) / clock_chain;
            if (!is_near(now, cycle_ns, clock_change)) return false;
            if (!is_near(multiplication_cycles(), rate.multiplication, clock_change)) return false;
        }
        last_cycle_ns = cycle_ns;
        return true;
    }

    void note(const Sample& one, Conditions& conditions) const {
        (one.kept ? conditions.samples : conditions.dropped) += 1;
        conditions.context_switches += one.switches;
        conditions.clock_ratio = rate.cycle_ns / one.cycle_ns;  // of the last one
    }

    /// Steps of one sample, by what one of the last took: laps as a whole, or parts of long ones.
    static std::uint64_t piece_of(const NativeWork& work, double step_ns) {
        const auto steps = static_cast<std::uint64_t>(sample_ns / std::max(least_step_ns, step_ns));
        const std::uint64_t whole = steps < work.lap() ? work.grain() : work.lap();
        return std::max<std::uint64_t>(1, steps / whole) * whole;
    }

    /// These laps in samples; `step_ns`: known so far.
    double pass(NativeWork& work, std::uint64_t steps, bool cold, double& step_ns, double& ns, Conditions& conditions) {
        double kept = 0, kept_steps = 0, all = 0;
        const std::uint64_t settling = settling_laps * work.lap();
        for (std::uint64_t left = steps; left > 0;) {
            const std::uint64_t piece = std::min(left, piece_of(work, step_ns));
            const std::uint64_t settle = !cold && settling <= piece ? settling : 0;
            const Sample one = sample(work, piece, [&] { work.go_on(settle); });
            cost.references += settle;
            const auto weight = static_cast<double>(piece);
            all += one.cycles * weight;
            if (one.kept) kept += one.cycles * weight, kept_steps += weight;
            note(one, conditions);
            step_ns = one.raw_ns / weight;
            ns += one.raw_ns;
            left -= piece;
            if (now_ns() - looked_ns > look_every_ns) look();
        }
        is_disturbed = kept_steps < 0.5 * static_cast<double>(steps);
        return is_disturbed ? all / static_cast<double>(steps) : kept / kept_steps;
    }

    /// Passes of at least a lap, until the effort is made; those that were disturbed are made again, unless the work
    /// is cold and cannot be.
    Measurement measure(NativeWork& work, const Effort& effort) {
        const std::uint64_t lap = work.lap(), wanted = lap * std::max(1U, effort.laps);
        const double least_ns = effort.least_cycles * rate.cycle_ns;
        std::vector<double> calm, all;
        double step_ns = 4 * rate.cycle_ns, ns = 0;  // until one is known
        std::uint64_t made = 0;
        std::size_t enough = most_passes;  // passes, once it is known how many
        Measurement found;
        found.conditions.samples = 0;
        while (all.size() < std::min(most_passes, retries * enough)) {
            // Time to fill up: no pass is so short that reading the clock counts.
            const std::uint64_t whole = std::max(lap, piece_of(work, step_ns));
            const std::uint64_t steps = least_ns > 0 ? whole : std::min(wanted, whole);
            all.push_back(pass(work, steps, effort.warm_up == 0, step_ns, ns, found.conditions));
            if (!is_disturbed) calm.push_back(all.back());
            made += steps;
            const bool few = least_ns > 0 && lap < whole && all.size() < least_passes;
            if (made < wanted || ns < least_ns || few) continue;
            enough = std::min(enough, all.size());
            if (!calm.empty() || effort.warm_up == 0) break;
        }
        found.conditions.disturbed = calm.empty();
        if (calm.empty()) found.conditions.samples = std::exchange(found.conditions.dropped, 0);
        dropped += found.conditions.dropped;
        found.quantiles = quantiles_of(calm.empty() ? all : calm);
        found.cycles = found.quantiles.lower_quartile;
        found.laps = made / lap;
        return found;
    }

    /// Each part of the probe after a lap of the prime; of its rounds the median of those that nothing disturbed, or of
    /// all.
    Measurement probe(const NativeArena& memory, ChaseWork& prime,
                      std::span<const std::span<const std::uint64_t>> parts, std::span<void** const> begins,
                      const PrimeProbe& how, unsigned rounds) {
        Measurement found;
        found.conditions.samples = 0;
        double cycles = 0, loads = 0;
        std::vector<double> of_parts;
        for (std::size_t part = 0; part < parts.size(); ++part) {
            ChaseWork work({begins[part]}, parts[part].size());
            const auto prepare = [&] {
                if (how.renewed != Renewal::none) memory.flush(parts[part]);
                if (how.renewed == Renewal::taken_out) memory.flush(how.prime.offsets);
                if (how.renewed == Renewal::loaded) work.go_on(work.lap());
                if (how.renewed == Renewal::stored) memory.store(parts[part]);
                warm(prime, prime.lap());
                if (how.touched != PrimeProbe::nowhere) memory.load(how.touched);
            };
            std::vector<double> calm, all;
            while (calm.size() < rounds && all.size() < retries + rounds) {
                const Sample one = sample(work, work.lap(), prepare, short_clock_chain);
                ++found.laps;
                all.push_back(one.cycles);
                if (one.kept) calm.push_back(one.cycles);
                note(one, found.conditions);
            }
            found.conditions.disturbed = found.conditions.disturbed || calm.empty();
            of_parts.push_back(quantiles_of(calm.empty() ? all : calm).median);
            cycles += of_parts.back() * static_cast<double>(parts[part].size());
            loads += static_cast<double>(parts[part].size());
        }
        dropped += found.conditions.dropped;
        found.quantiles = quantiles_of(of_parts);
        found.parts = std::move(of_parts);
        found.cycles = cycles / loads;
        return found;
    }

    /// What is asked, on a core that no other hardware thread uses, if there is one.
    template <class Ask>
    Measurement on_quiet_core(Ask ask) {
        look();
        ++cost.runs;
        Measurement found = ask();
        for (unsigned moves = 0; core.is_shared(); ++moves) {
            if (moves == most_moves || !core.move()) {
                found.conditions.core_shared = true;
                break;
            }
            found = ask();
        }
        return found;
    }

    /// For questions of several processors.
    NativeClock clock() {
        return {
            [this](void**& at, std::uint64_t loads) { return timed([&] { at = follow(at, loads); }, ticks_per_ns); },
            rate.read_cycles * rate.cycle_ns, [this] { look(); }};
    }

    Measurement counted(CoresAnswer answer) {
        cost.references += answer.loads;
        dropped += answer.measurement.conditions.dropped;
        return std::move(answer.measurement);
    }

    PinnedThread pinned;
    QuietCore core{pinned.allowed_before(), pinned.processor()};
    NativeOptions options;
    ClockRate rate;
    std::uint64_t begin_ns, looked_ns = 0, dropped = 0;
    double last_cycle_ns = rate.cycle_ns;
    double ticks_per_ns = 0;
    bool is_disturbed = false;  ///< the last pass
    Capabilities can;
    std::optional<NativeCounters> counters;
    Budget budget;
    ProbeCost cost;
    NativeArenas arenas{2 * options.largest_arena};
    std::uint32_t next_id = 0;
};

NativeTarget::NativeTarget(const NativeOptions& options) : parts_(std::make_unique<Parts>(options)) {}
NativeTarget::~NativeTarget() = default;

const Capabilities& NativeTarget::capabilities() const { return parts_->can; }
void NativeTarget::keep_to(const Budget& budget) { parts_->budget = budget; }
double NativeTarget::frequency() const { return 1e9 / parts_->rate.cycle_ns; }
std::uint64_t NativeTarget::dropped() const { return parts_->dropped; }

ProbeCost NativeTarget::cost() const {
    ProbeCost cost = parts_->cost;
    cost.cycles = parts_->elapsed();
    return cost;
}

Arena NativeTarget::make_arena(std::uint64_t bytes, std::uint64_t page) {
    check_arena(parts_->can, bytes, page);
    const Arena arena{parts_->next_id++, std::max<std::uint64_t>(bytes, 1), page, true};
    parts_->arenas.memory_of(arena);
    return arena;
}

std::vector<std::uint64_t> NativeTarget::physical_pages(const Arena& arena) const {
    return parts_->arenas.memory_of(arena).physical_pages(arena.page);
}

void NativeTarget::release(const Arena& arena) { parts_->arenas.release(arena); }

Measurement NativeTarget::run(const Arena& arena, const Chase& chase, const Effort& effort) {
    check_chase(parts_->can, arena, chase);
    return parts_->on_quiet_core([&] {
        NativeArena& memory = parts_->arenas.memory_of(arena);
        const std::uint64_t lap = chase.offsets.size();
        ChaseWork work(memory.write(chase.offsets, chase.chains), lap, chase.stores);
        const auto make_cold = [&] {
            if (effort.warm_up == 0) memory.flush(chase.offsets);
        };
        make_cold();
        parts_->warm(work, lap * effort.warm_up);
        Measurement found = parts_->measure(work, effort);
        parts_->count(work, lap * std::max(1U, effort.laps), make_cold, found);
        return found;
    });
}

Measurement NativeTarget::stream(const Arena& arena, const Streaming& stream, const Effort& effort) {
    check_stream(parts_->can, arena, stream);
    return parts_->on_quiet_core([&] {
        StreamWork work(parts_->arenas.memory_of(arena).overwrite(), stream);
        const unsigned warm_up = std::max(1U, effort.warm_up);
        parts_->warm(work, work.lap() * warm_up);
        return parts_->measure(work, {warm_up, effort.laps, effort.least_cycles});
    });
}

Measurement NativeTarget::prime_and_probe(const Arena& arena, const PrimeProbe& both, const Effort& effort) {
    const auto parts = parts_of(parts_->can, arena, both);
    return parts_->on_quiet_core([&] {
        NativeArena& memory = parts_->arenas.memory_of(arena);
        const Chase& first = both.prime;
        ChaseWork prime(memory.write(first.offsets, first.chains), first.offsets.size(), first.stores);
        std::vector<void**> begins;
        for (const auto& part : parts) begins.push_back(memory.write(part, 1).front());
        if (!memory.holds(first.offsets, first.chains)) throw ProbeError("prime and probe use the same words");
        parts_->warm(prime, prime.lap() * effort.warm_up);
        return parts_->probe(memory, prime, parts, begins, both, std::max(1U, effort.laps));
    });
}

Measurement NativeTarget::transfer(const Arena& arena, unsigned from, const ChaseOn& to, unsigned rounds) {
    check_transfer(parts_->can, arena, from, to);
    parts_->look();
    ++parts_->cost.runs;
    return parts_->counted(native_transfer(parts_->clock(), arena, from, to, rounds));
}

Measurement NativeTarget::run_after(const Arena& arena, const ChaseOn& one, const ChaseOn& other, unsigned rounds) {
    check_run_after(parts_->can, arena, one, other);
    parts_->look();
    ++parts_->cost.runs;
    return parts_->counted(native_run_after(parts_->clock(), arena, one, other, rounds));
}

std::vector<double> NativeTarget::latencies([[maybe_unused]] const Arena& arena, const Chase& chase,
                                            [[maybe_unused]] unsigned warm_up, [[maybe_unused]] unsigned samples) {
    if (!parts_->can.latencies) throw ProbeError("single loads cannot be timed here: the clock is too coarse");
    check_chase(parts_->can, arena, chase);
    check_single(chase);
    parts_->look();
    ++parts_->cost.runs;
    std::vector<double> cycles;
#if defined(__x86_64__)
    const std::uint64_t lap = chase.offsets.size();
    ChaseWork work(parts_->arenas.memory_of(arena).write(chase.offsets, 1), lap);
    parts_->warm(work, lap * warm_up);
    const double cycles_per_tick = 1 / (parts_->ticks_per_ns * parts_->rate.cycle_ns);
    for (unsigned i = 0; i < samples; ++i) {
        const std::uint64_t begin = time_stamp();
        work.go_on(1);
        cycles.push_back(static_cast<double>(time_stamp() - begin) * cycles_per_tick);
        parts_->warm(work, lap);  // the next lap's sample is of the load after it
        ++parts_->cost.references;
    }
#endif
    return cycles;
}

}  // namespace cachetally
