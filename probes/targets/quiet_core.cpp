// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/quiet_core.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <utility>

#include "probes/targets/core_clock.hpp"
#include "probes/targets/pinned_thread.hpp"
#include "sim/topology/host_machine.hpp"

namespace cachetally {
namespace {

constexpr double whole = 0.005;  ///< share by which a multiplication may be off: 0.002 quiet, 0.008 to 0.041 shared
constexpr unsigned trials = 9;   ///< of some 8 microseconds each
constexpr std::size_t most_visited = 16;
constexpr std::uint64_t wait_ns = 20'000'000;  ///< where all cores are shared, before they are visited again

bool takes_whole_cycles(double multiplication) {
    return std::abs(multiplication - std::round(multiplication)) <= whole * multiplication;
}

std::uint64_t kind_of_this_core() {
#if defined(__x86_64__)
    return host_cpuid(0x1a, 0)[0] >>
           24;  // Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID leaf 1AH
#else
    std::ifstream file(
        fmt::format("/sys/devices/system/cpu/cpu{}/regs/identification/midr_el1", std::max(0, sched_getcpu())));
    std::uint64_t kind = 0;
    file >> std::hex >> kind;
    return kind;
#endif
}

}  // namespace

CoreCalls system_core_calls() {
    return {[] { return multiplication_cycles(); }, pin_this_thread, kind_of_this_core, now_ns};
}

QuietCore::QuietCore(std::vector<unsigned> allowed, unsigned here, CoreCalls calls)
    : others_(std::move(allowed)), here_(here), calls_(std::move(calls)), kind_(calls_.kind()) {
    // Those after this one first. (No std::ranges::rotate: clang 14, which builds the sanitized tests, refuses it.)
    std::rotate(others_.begin(), std::ranges::upper_bound(others_, here), others_.end());
    std::erase(others_, here);
    if (is_shared()) move();
}

bool QuietCore::is_shared() const {
    std::array<double, trials> found{};
    found.front() = calls_.multiplication();
    if (takes_whole_cycles(found.front())) return false;
    for (double& each : found) each = calls_.multiplication();
    std::ranges::nth_element(found, found.begin() + trials / 2);
    return !takes_whole_cycles(found[trials / 2]);
}

bool QuietCore::move() {
    if (others_.empty() || calls_.now_ns() < not_before_ns_) return false;
    for (std::size_t i = 0; i < std::min(others_.size(), most_visited); ++i) {
        if (!calls_.pin(others_[i]) || calls_.kind() != kind_ || is_shared()) continue;
        const unsigned found = std::exchange(others_[i], here_);
        std::rotate(others_.begin(), others_.begin() + static_cast<std::ptrdiff_t>(i + 1), others_.end());
        here_ = found;
        return true;
    }
    calls_.pin(here_);
    not_before_ns_ = calls_.now_ns() + wait_ns;
    return false;
}

}  // namespace cachetally
