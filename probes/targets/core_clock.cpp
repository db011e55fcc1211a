// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/core_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "cachetally/probe_target.hpp"

namespace cachetally {
namespace {

constexpr unsigned chain_length = 16'384;  ///< instructions: some microseconds, of which a clock of 1 ns is little
constexpr unsigned trials = 64;
constexpr unsigned settling_trials = 16;  ///< a clock that is just changing settles within milliseconds

// Loops of 16 dependent instructions, whose counter costs nothing beside the chain.
#if defined(__x86_64__)
#define ADD "add %2, %0"
#define MULTIPLY "imul %2, %0"
#define NEXT_ROUND "sub $1, %1\n\tjnz 1b"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %2"
#define MULTIPLY "mul %0, %0, %2"
#define NEXT_ROUND "subs %1, %1, #1\n\tb.ne 1b"
#else  // where NativeTarget refuses
#define ADD ""
#define MULTIPLY ""
#define NEXT_ROUND ""
#endif
#define CHAIN(instruction)                                                       \
    [](unsigned instructions) {                                                  \
        std::uint64_t value = 3, operand = 3, rounds = instructions / 16;        \
        asm volatile("1:\n\t.rept 16\n\t" instruction "\n\t.endr\n\t" NEXT_ROUND \
                     : "+r"(value), "+r"(rounds)                                 \
                     : "r"(operand)                                              \
                     : "cc");                                                    \
    }

template <class Chain>
double timed(Chain run, unsigned instructions) {
    const std::uint64_t begin = now_ns();
    run(instructions);
    return static_cast<double>(now_ns() - begin);
}

}  // namespace

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}

double additions_ns(unsigned additions) { return timed(CHAIN(ADD), additions); }

double multiplication_cycles() {
    const double read = timed([](unsigned) {}, 0), add = additions_ns(chain_length) - read;
    return 4 * (timed(CHAIN(MULTIPLY), chain_length / 4) - read) / add;
}

bool ClockRate::agrees() const {
    return multiplication > 1.5 && std::abs(multiplication - std::round(multiplication)) <= 0.02 * multiplication;
}

ClockRate measure_clock() {
    double least_add = std::numeric_limits<double>::infinity(), least_multiply = least_add, least_read = least_add;
    for (unsigned i = 0; i < trials; ++i) {  // in turn, as the core's clock may change
        least_add = std::min(least_add, additions_ns(chain_length));
        least_multiply = std::min(least_multiply, timed(CHAIN(MULTIPLY), chain_length / 4));
        least_read = std::min(least_read, timed([](unsigned) {}, 0));
    }
    ClockRate rate;
    rate.cycle_ns = (least_add - least_read) / chain_length;
    rate.multiplication = (least_multiply - least_read) / (chain_length / 4) / rate.cycle_ns;
    rate.read_cycles = least_read / rate.cycle_ns;
    return rate;
}

ClockRate settled_clock() {
#if !defined(__x86_64__) && !defined(__aarch64__)
    throw ProbeError("cycles are known on x86-64 and arm64 only");
#endif
    ClockRate rate = measure_clock();
    for (unsigned i = 0; i < settling_trials && !rate.agrees(); ++i) rate = measure_clock();
    if (!rate.agrees())
        throw ProbeError(
            "the core's clock frequency cannot be determined: a multiplication takes {:.2f} additions, which is no "
            "whole number; try again when the machine is quieter",
            rate.multiplication);
    return rate;
}

#undef ADD
#undef MULTIPLY
#undef NEXT_ROUND
#undef CHAIN

}  // namespace cachetally
