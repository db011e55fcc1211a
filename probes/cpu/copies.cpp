// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/copies.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "probes/target.hpp"
#include "probes/targets/core_clock.hpp"
#include "probes/targets/pinned_thread.hpp"

namespace cachetally {
namespace {

constexpr unsigned additions = 16'384;      ///< some microseconds, beside which reading the clock is little
constexpr std::size_t most_windows = 1024;  ///< of a copy

/// What the threads share.
struct Start {
    std::atomic<std::size_t> waiting;  ///< for the others
    std::atomic<bool> failed = false;
    double ns = 0, read_ns = 0;
    std::uint64_t statements = 0;
};

void run_one(const std::function<void()>& run, unsigned processor, Start& start, std::vector<Window>& windows) {
    if (!pin_this_thread(processor)) start.failed = true;
    windows.reserve(most_windows);
    --start.waiting;
    while (start.waiting != 0) std::this_thread::yield();
    if (start.failed) return;
    const auto end = static_cast<double>(now_ns()) + start.ns;
    for (double now = 0; now < end && windows.size() < most_windows;) {
        const std::uint64_t switches = context_switches();
        const double cycle_ns = cycle_by_additions(start.read_ns);
        const auto begin = static_cast<double>(now_ns());
        run();
        now = static_cast<double>(now_ns());
        windows.push_back({begin, now, (now - begin - start.read_ns) / static_cast<double>(start.statements), cycle_ns,
                           switches == context_switches()});
    }
}

}  // namespace

double cycle_by_additions(double read_ns) { return (additions_ns(additions) - read_ns) / additions; }

std::vector<std::vector<Window>> run_copies(const std::function<void()>& run, std::uint64_t statements,
                                            std::span<const unsigned> processors, double ns, double read_ns) {
    std::vector<std::vector<Window>> windows(processors.size());
    Start start{.waiting = processors.size(), .ns = ns, .read_ns = read_ns, .statements = statements};
    std::vector<std::thread> threads;
    try {
        for (std::size_t i = 0; i < processors.size(); ++i)
            threads.emplace_back([&, i] { run_one(run, processors[i], start, windows[i]); });
    } catch (const std::system_error&) {  // those that are there wait no longer
        start.failed = true;
        start.waiting -= processors.size() - threads.size();
    }
    for (std::thread& thread : threads) thread.join();
    if (start.failed) throw ProbeError("threads could not be started on all processors that may be used");
    return windows;
}

}  // namespace cachetally
