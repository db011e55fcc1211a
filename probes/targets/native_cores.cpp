// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/native_cores.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "probes/targets/core_clock.hpp"
#include "probes/targets/native_arena.hpp"
#include "probes/targets/pinned_thread.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t look_while_waiting_ns = 500'000;
constexpr unsigned pauses = 64;               ///< between two looks at the clock
constexpr unsigned clock_additions = 16'384;  ///< some microseconds
constexpr double clock_may_change = 0.02;
constexpr unsigned more_rounds = 3;          ///< times as many as are asked for, at most, where some are disturbed
constexpr std::uint64_t piece_loads = 4096;  ///< between two looks at whether an end is asked for

void pause_a_little() {
#if defined(__x86_64__)
    asm volatile("pause" ::: "memory");
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

enum class Turn : std::uint8_t { timer, helper };

/// What both threads see; on lines of their own, that hand nothing else over.
struct Shared {
    alignas(256) std::atomic<Turn> turn{Turn::helper};
    alignas(256) std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> progress{0};  ///< of the helper
    std::atomic<bool> failed{false};         ///< `error` says why
    std::exception_ptr error;
};

/// A thread on a processor that does `job` whenever it is its turn, until it is stopped.
class Helper {
public:
    using Job = std::function<void()>;
    using Begin = std::function<Job(Shared&)>;

    /// `begin`, called by the thread, gives the job.
    Helper(unsigned processor, const Begin& begin) {
        try {
            thread_ = std::thread([this, processor, begin] { live(processor, begin); });
        } catch (const std::system_error&) {
            throw ProbeError("the system starts no thread for processor {}", processor);
        }
    }
    ~Helper() {
        shared_.stop = true;
        thread_.join();
    }
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;

    void hand_over() { shared_.turn.store(Turn::helper, std::memory_order_release); }

    /// Until the job is done. Throws what it threw, what looking throws, and ProbeError after a long time without
    /// progress.
    void wait(const NativeClock& clock) {
        std::uint64_t begin = 0, looked = 0, progress = 0;
        for (unsigned i = 1; shared_.turn.load(std::memory_order_acquire) != Turn::timer; ++i) {
            pause_a_little();
            if (i % pauses != 0) continue;
            const std::uint64_t now = now_ns();
            if (begin == 0) begin = looked = now;
            if (now - looked < look_while_waiting_ns) continue;
            looked = now;
            clock.look();
            if (const std::uint64_t made = shared_.progress; made != progress) progress = made, begin = now;
            if (now - begin > clock.patience_ns)
                throw ProbeError("a processor was not given to this program for {} ms: others use it; try again later",
                                 clock.patience_ns / 1'000'000);
        }
        if (shared_.failed) std::rethrow_exception(shared_.error);
    }

private:
    void live(unsigned processor, const Begin& begin) {
        try {
            if (!pin_this_thread(processor))
                throw ProbeError("the system does not let a thread run on processor {}", processor);
            const Job job = begin(shared_);
            do {
                job();
                shared_.turn.store(Turn::timer, std::memory_order_release);
            } while (is_my_turn());
        } catch (...) {  // the other thread rethrows it
            shared_.error = std::current_exception();
            shared_.failed = true;
            shared_.turn.store(Turn::timer, std::memory_order_release);
        }
    }

    bool is_my_turn() const {
        while (shared_.turn.load(std::memory_order_acquire) != Turn::helper) {
            if (shared_.stop.load(std::memory_order_relaxed)) return false;
            pause_a_little();
        }
        return !shared_.stop.load(std::memory_order_relaxed);
    }

    Shared shared_;
    std::thread thread_;
};

/// Rounds, each of which is timed at its end.
class Rounds {
public:
    Rounds(const NativeClock& clock, std::uint64_t loads) : clock_(clock), loads_(loads) {}

    /// `prepare` is not in the time; `others` says how often other threads lost their processor. `rounds` that were
    /// not disturbed, or all.
    template <class Prepare, class Others>
    Measurement make(void**& at, unsigned rounds, Prepare prepare, Others others) {
        round(at, prepare, others);
        calm_.clear();
        all_.clear();
        switches_ = 0;
        while (calm_.size() < rounds && all_.size() < std::size_t{more_rounds} * rounds) {
            clock_.look();
            round(at, prepare, others);
        }
        Measurement found;
        Conditions& conditions = found.conditions;
        conditions.disturbed = calm_.empty();
        conditions.samples = calm_.empty() ? all_.size() : calm_.size();
        conditions.dropped = all_.size() - conditions.samples;
        conditions.context_switches = switches_;
        found.laps = all_.size();
        found.quantiles = quantiles_of(calm_.empty() ? all_ : calm_);
        found.cycles = found.quantiles.median;
        return found;
    }

private:
    template <class Prepare, class Others>
    void round(void**& at, Prepare& prepare, Others& others) {
        const std::uint64_t before = context_switches() + others();
        prepare();
        const double ns = clock_.loads_ns(at, loads_) - clock_.read_ns;
        const double cycle_ns = (additions_ns(clock_additions) - clock_.read_ns) / clock_additions;
        const std::uint64_t switches = context_switches() + others() - before;
        const double cycles = std::max(0.0, ns) / cycle_ns / static_cast<double>(loads_);
        all_.push_back(cycles);
        switches_ += switches;
        if (switches == 0 && std::abs(cycle_ns - cycle_ns_) <= clock_may_change * cycle_ns) calm_.push_back(cycles);
        cycle_ns_ = cycle_ns;
    }

    const NativeClock& clock_;
    std::uint64_t loads_;
    double cycle_ns_ = 0;
    std::uint64_t switches_ = 0;
    std::vector<double> calm_, all_;
};

/// Loads that are not timed, in pieces between which `look` is called.
template <class Look>
void** loads_in_pieces(void** at, std::uint64_t loads, Look look) {
    for (; loads > 0; look()) {
        const std::uint64_t piece = std::min(loads, piece_loads);
        at = follow(at, piece);
        loads -= piece;
    }
    return at;
}

/// Calls `look` at most every half millisecond.
class NowAndThen {
public:
    explicit NowAndThen(const std::function<void()>& look) : look_(look), last_(now_ns()) {}

    void operator()() {
        if (now_ns() - last_ < look_while_waiting_ns) return;
        look_();
        last_ = now_ns();
    }

private:
    const std::function<void()>& look_;
    std::uint64_t last_;
};

struct EndedEarly {};

}  // namespace

void offer_processors(Capabilities& can, const std::vector<unsigned>& permitted) {
    if (!permitted.empty()) can.processors = permitted;
    can.no_processors =
        can.processors.size() > 1 ? "" : "this program may run on one processor alone (see taskset(1), or the cpuset)";
}

CoresAnswer native_transfer(const NativeClock& clock, const Arena& arena, unsigned from, const ChaseOn& to,
                            unsigned rounds) {
    const std::span<const std::uint64_t> offsets = to.chase.offsets;
    const PinnedThread moved(to.processor);
    std::optional<NativeArena> memory;  // placed by `from`
    std::atomic<void**> first{nullptr};
    std::atomic<std::uint64_t> switches{0};
    Helper helper(from, [&](Shared&) -> Helper::Job {
        memory.emplace(arena.bytes, arena.page);
        first = memory->write(offsets, 1).front();
        return [&] {
            // Volatile: the same pointers again, each of which takes the line away from the other processor.
            void* volatile* place = reinterpret_cast<void* volatile*>(first.load());
            for (std::size_t i = 0; i < offsets.size(); ++i) {
                void* const next = *place;
                *place = next;
                place = static_cast<void* volatile*>(next);
            }
            switches = context_switches();
        };
    });
    helper.wait(clock);
    void** at = first;
    Rounds made(clock, offsets.size());
    const auto write = [&] {
        helper.hand_over();
        helper.wait(clock);
    };
    CoresAnswer answer{made.make(at, rounds, write, [&] { return switches.load(); })};
    answer.loads = (answer.measurement.laps + 1) * offsets.size();
    return answer;
}

CoresAnswer native_run_after(const NativeClock& clock, const Arena& arena, const ChaseOn& one, const ChaseOn& other,
                             unsigned rounds) {
    constexpr unsigned laps_before = 2, laps_of_other = 2;
    const PinnedThread moved(one.processor);
    NativeArena memory(arena.bytes, arena.page);
    void** at = memory.write(one.chase.offsets, 1).front();
    const std::uint64_t lap = one.chase.offsets.size(), other_lap = other.chase.offsets.size();
    NowAndThen now_and_then(clock.look);
    std::atomic<std::uint64_t> switches{0};
    Rounds made(clock, lap);
    CoresAnswer answer;
    if (one.processor == other.processor) {
        NativeArena others(arena.bytes, arena.page);
        void** other_at = others.write(other.chase.offsets, 1).front();
        const auto run_both = [&] {
            at = loads_in_pieces(at, laps_before * lap, std::ref(now_and_then));
            other_at = loads_in_pieces(other_at, laps_of_other * other_lap, std::ref(now_and_then));
        };
        answer.measurement = made.make(at, rounds, run_both, [] { return std::uint64_t{0}; });
    } else {
        std::optional<NativeArena> others;
        void** other_at = nullptr;
        Helper helper(other.processor, [&](Shared& shared) -> Helper::Job {
            others.emplace(arena.bytes, arena.page);
            other_at = others->write(other.chase.offsets, 1).front();
            return [&] {
                other_at = loads_in_pieces(other_at, laps_of_other * other_lap, [&] {
                    if (shared.stop) throw EndedEarly();
                    ++shared.progress;
                });
                switches = context_switches();
            };
        });
        helper.wait(clock);
        const auto run_both = [&] {
            at = loads_in_pieces(at, laps_before * lap, std::ref(now_and_then));
            helper.hand_over();
            helper.wait(clock);
        };
        answer.measurement = made.make(at, rounds, run_both, [&] { return switches.load(); });
    }
    answer.loads = (answer.measurement.laps + 1) * ((laps_before + 1) * lap + laps_of_other * other_lap);
    return answer;
}

}  // namespace cachetally
