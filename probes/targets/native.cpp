// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/native.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <optional>
#include <utility>

#include "base/units.hpp"
#include "probes/targets/core_clock.hpp"
#include "probes/targets/native_arena.hpp"
#include "probes/targets/native_cores.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr double sample_ns = 30'000;
constexpr std::size_t least_passes = 3;  ///< of a run that has time to fill up: a quartile of one sample is that sample
constexpr unsigned settling_laps = 3;    ///< before each sample: what reads the clock and the switches takes lines away
constexpr unsigned clock_chain = 16'384;   ///< additions before and after each sample: some microseconds
constexpr unsigned clock_trials = 16;      ///< a clock that is just changing settles within milliseconds
constexpr double clock_change = 0.02;      ///< within a sample, more than which it is dropped
constexpr std::size_t most_passes = 4096;  ///< of one run
constexpr unsigned retries = 3;            ///< as many passes as are needed, at most, where all are disturbed
constexpr std::uint64_t look_every_ns = 500'000;
constexpr std::uint64_t counted_piece = 65'536;  ///< loads: between two looks at the budget, which make loads, too

std::uint64_t context_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_nivcsw + usage.ru_nvcsw);
}

/// Keeps the thread on the core on which it is.
class Pinned {
public:
    Pinned() {
        if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(std::max(0, sched_getcpu())), &one);
        pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
    }
    ~Pinned() {
        if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

private:
    cpu_set_t before_{};
    bool pinned_ = false;
};

#if defined(__x86_64__)
std::uint64_t time_stamp() {
    std::uint32_t low = 0, high = 0, core = 0;
    asm volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high), "=c"(core)::"memory");
    return (std::uint64_t{high} << 32) | low;
}

/// Ticks of the time-stamp counter per nanosecond: the median of a few intervals, as the core may be lost in any.
double time_stamp_rate() {
    constexpr double interval_ns = 5e5;
    constexpr std::size_t intervals = 9;
    std::vector<double> rates;
    while (rates.size() < intervals) {
        const std::uint64_t begin = now_ns(), ticks = time_stamp();
        while (static_cast<double>(now_ns() - begin) < interval_ns) {
        }
        const std::uint64_t end_ticks = time_stamp();
        rates.push_back(static_cast<double>(end_ticks - ticks) / static_cast<double>(now_ns() - begin));
    }
    return quantiles_of(std::move(rates)).median;
}
#endif

/// Nanoseconds that so many loads take. `ticks_per_ns`: 0 = no time-stamp counter; it is read without touching memory,
/// which the system's clock does.
double timed_loads(void**& at, std::uint64_t loads, [[maybe_unused]] double ticks_per_ns) {
#if defined(__x86_64__)
    if (ticks_per_ns > 0) {
        const std::uint64_t begin = time_stamp();
        at = follow(at, loads);
        return static_cast<double>(time_stamp() - begin) / ticks_per_ns;
    }
#endif
    const std::uint64_t begin = now_ns();
    at = follow(at, loads);
    return static_cast<double>(now_ns() - begin);
}

}  // namespace

struct NativeTarget::Parts {
    explicit Parts(const NativeOptions& chosen) : options(chosen), rate(measure_clock()), begin_ns(now_ns()) {
#if !defined(__x86_64__) && !defined(__aarch64__)
        throw ProbeError("loads are timed on x86-64 and arm64 only");
#endif
        for (unsigned i = 0; i < clock_trials && !rate.agrees(); ++i) rate = measure_clock();
        if (!rate.agrees())
            throw ProbeError(
                "the core's clock frequency cannot be determined: a multiplication takes {:.2f} additions, which is no "
                "whole number; try again when the machine is quieter",
                rate.multiplication);
        can.page_sizes = {small_page()};
        can.largest_arena = options.largest_arena;
        count_events();
        offer_processors(can, permitted);
        can.timer_quantum = rate.read_cycles;
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

    /// The memory of an arena, placed anew if it was given back.
    NativeArena& memory_of(const Arena& arena) {
        const auto known = std::ranges::find(arenas, arena.id, &Placed::id);
        if (known != arenas.end()) {
            arenas.splice(arenas.begin(), arenas, known);
            return arenas.front().memory;
        }
        std::uint64_t all = arena.bytes;
        for (const Placed& placed : arenas) all += placed.memory.bytes();
        while (all > 2 * options.largest_arena && !arenas.empty()) {
            all -= arenas.back().memory.bytes();
            arenas.pop_back();
        }
        arenas.emplace_front(arena);
        return arenas.front().memory;
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

    /// Misses per load of these laps, made once more: what times them makes loads of its own.
    void count(void** at, std::uint64_t loads, const std::function<void()>& prepare, Measurement& found) {
        if (can.cache_events + can.tlb_events == 0) return;
        const EventCounts events = counters->count(prepare, [&] { at = warm(at, loads, counted_piece); });
        for (const double misses : events.cache_misses)
            found.cache_misses.push_back(misses / static_cast<double>(loads));
        for (const double misses : events.tlb_misses) found.tlb_misses.push_back(misses / static_cast<double>(loads));
    }

    /// Loads that are not timed, in pieces between which the budget is looked at.
    void** warm(void** at, std::uint64_t loads, std::uint64_t most = 4096) {
        while (loads > 0) {
            const auto piece = std::min(loads, most);
            at = follow(at, piece);
            loads -= piece;
            cost.references += piece;
            if (now_ns() - looked_ns > look_every_ns) look();
        }
        return at;
    }

    struct Sample {
        double cycles = 0;  ///< per load
        double raw_ns = 0;
        double cycle_ns = 0;
        std::uint64_t switches = 0;
        bool kept = false;
    };
    /// `settle`: loads before the sample, not timed.
    Sample sample(void**& at, std::uint64_t loads, std::uint64_t settle) {
        const std::uint64_t switches = context_switches();
        const double before = additions_ns(clock_chain);
        at = follow(at, settle);
        Sample found;
        found.raw_ns = timed_loads(at, loads, ticks_per_ns);
        const double after = additions_ns(clock_chain);
        cost.references += loads + settle;
        const double read_ns = rate.read_cycles * rate.cycle_ns;
        found.cycle_ns = (std::min(before, after) - read_ns) / clock_chain;
        found.cycles = std::max(0.0, found.raw_ns - read_ns) / found.cycle_ns / static_cast<double>(loads);
        found.switches = context_switches() - switches;
        found.kept = std::abs(before - after) <= clock_change * before && found.switches == 0;
        return found;
    }

    /// Loads of one sample, by what the last one took: laps as a whole, or parts of long ones.
    static std::uint64_t piece_of(std::uint64_t lap, double load_ns) {
        const auto loads = static_cast<std::uint64_t>(sample_ns / std::max(0.1, load_ns));
        return loads < lap ? std::max<std::uint64_t>(1, loads) : loads / lap * lap;
    }

    /// These laps in samples; `load_ns`: known so far.
    double pass(void**& at, std::uint64_t loads, std::uint64_t lap, bool cold, double& load_ns, double& ns,
                Conditions& conditions) {
        double kept = 0, kept_loads = 0, all = 0;
        for (std::uint64_t left = loads; left > 0;) {
            const std::uint64_t piece = std::min(left, piece_of(lap, load_ns));
            const bool settles = !cold && settling_laps * lap <= piece;
            const Sample one = sample(at, piece, settles ? settling_laps * lap : 0);
            const auto weight = static_cast<double>(piece);
            all += one.cycles * weight;
            if (one.kept) kept += one.cycles * weight, kept_loads += weight;
            conditions.dropped += one.kept ? 0 : 1;
            conditions.samples += one.kept ? 1 : 0;
            conditions.context_switches += one.switches;
            conditions.clock_ratio = rate.cycle_ns / one.cycle_ns;  // of the last one
            load_ns = one.raw_ns / weight;
            ns += one.raw_ns;
            left -= piece;
            if (now_ns() - looked_ns > look_every_ns) look();
        }
        is_disturbed = kept_loads < 0.5 * static_cast<double>(loads);
        return is_disturbed ? all / static_cast<double>(loads) : kept / kept_loads;
    }

    /// Passes of at least a lap, until the effort is made; those that were disturbed are made again, unless the chase
    /// is cold and cannot be.
    Measurement measure(void** at, std::uint64_t lap, const Effort& effort) {
        const std::uint64_t wanted = lap * std::max(1U, effort.laps);
        const double least_ns = effort.least_cycles * rate.cycle_ns;
        std::vector<double> calm, all;
        double load_ns = 4 * rate.cycle_ns, ns = 0;  // until one is known
        std::uint64_t made = 0;
        std::size_t enough = most_passes;  // passes, once it is known how many
        Measurement found;
        found.conditions.samples = 0;
        while (all.size() < std::min(most_passes, retries * enough)) {
            // Time to fill up: no pass is so short that reading the clock counts.
            const std::uint64_t whole = std::max(lap, piece_of(lap, load_ns));
            const std::uint64_t loads = least_ns > 0 ? whole : std::min(wanted, whole);
            all.push_back(pass(at, loads, lap, effort.warm_up == 0, load_ns, ns, found.conditions));
            if (!is_disturbed) calm.push_back(all.back());
            made += loads;
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

    struct Placed {
        explicit Placed(const Arena& arena) : id(arena.id), memory(arena.bytes, arena.page) {}
        std::uint32_t id;
        NativeArena memory;
    };

    /// For questions of several processors.
    NativeClock clock() {
        return {[this](void**& at, std::uint64_t loads) { return timed_loads(at, loads, ticks_per_ns); },
                rate.read_cycles * rate.cycle_ns, [this] { look(); }};
    }

    Measurement counted(CoresAnswer answer) {
        cost.references += answer.loads;
        dropped += answer.measurement.conditions.dropped;
        return std::move(answer.measurement);
    }

    std::vector<unsigned> permitted = permitted_processors();  ///< before the thread is pinned
    Pinned pinned;
    NativeOptions options;
    ClockRate rate;
    std::uint64_t begin_ns, looked_ns = 0, dropped = 0;
    double ticks_per_ns = 0;
    bool is_disturbed = false;  ///< the last pass
    Capabilities can;
    std::optional<NativeCounters> counters;
    Budget budget;
    ProbeCost cost;
    std::list<Placed> arenas;  ///< the one used last first
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
    parts_->memory_of(arena);
    return arena;
}

std::vector<std::uint64_t> NativeTarget::physical_pages(const Arena& arena) const {
    return parts_->memory_of(arena).physical_pages(arena.page);
}

void NativeTarget::release(const Arena& arena) {
    std::erase_if(parts_->arenas, [&](const Parts::Placed& placed) { return placed.id == arena.id; });
}

Measurement NativeTarget::run(const Arena& arena, const Chase& chase, const Effort& effort) {
    check_chase(parts_->can, arena, chase);
    parts_->look();
    ++parts_->cost.runs;
    NativeArena& memory = parts_->memory_of(arena);
    void** at = memory.write(chase.offsets);
    const std::uint64_t lap = chase.offsets.size();
    const bool cold = effort.warm_up == 0;
    if (cold) memory.flush(chase.offsets);
    at = parts_->warm(at, lap * effort.warm_up);
    Measurement found = parts_->measure(at, lap, effort);
    parts_->count(
        at, lap * std::max(1U, effort.laps),
        [&] {
            if (cold) memory.flush(chase.offsets);
        },
        found);
    return found;
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

std::vector<double> NativeTarget::latencies(const Arena& arena, const Chase& chase, unsigned warm_up,
                                            unsigned samples) {
    if (!parts_->can.latencies) throw ProbeError("single loads cannot be timed here: the clock is too coarse");
    check_chase(parts_->can, arena, chase);
    parts_->look();
    ++parts_->cost.runs;
    std::vector<double> cycles;
#if defined(__x86_64__)
    const std::uint64_t lap = chase.offsets.size();
    void** at = parts_->warm(parts_->memory_of(arena).write(chase.offsets), lap * warm_up);
    const double cycles_per_tick = 1 / (parts_->ticks_per_ns * parts_->rate.cycle_ns);
    for (unsigned i = 0; i < samples; ++i) {
        const std::uint64_t begin = time_stamp();
        at = follow(at, 1);
        cycles.push_back(static_cast<double>(time_stamp() - begin) * cycles_per_tick);
        at = parts_->warm(at, lap);  // the next lap's sample is of the load after it
        ++parts_->cost.references;
    }
#else
    static_cast<void>(arena), static_cast<void>(warm_up), static_cast<void>(samples);
#endif
    return cycles;
}

}  // namespace cachetally
