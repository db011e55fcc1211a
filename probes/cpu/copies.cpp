// SPDX-License-Identifier: BSD-3-Clause
#include "probes/cpu/copies.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "probes/target.hpp"
#include "probes/targets/core_clock.hpp"

namespace cachetally {
namespace {

constexpr unsigned additions = 16'384;      ///< some microseconds, beside which reading the clock is little
constexpr std::size_t most_windows = 1024;  ///< of a copy

std::uint64_t switches_of_thread() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return static_cast<std::uint64_t>(usage.ru_nivcsw + usage.ru_nvcsw);
}

bool pin_this_thread(unsigned processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return sched_setaffinity(0, sizeof(one), &one) == 0;
}

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
        const std::uint64_t switches = switches_of_thread();
        const double cycle_ns = cycle_by_additions(start.read_ns);
        const auto begin = static_cast<double>(now_ns());
        run();
        now = static_cast<double>(now_ns());
        windows.push_back({begin, now, (now - begin - start.read_ns) / static_cast<double>(start.statements), cycle_ns,
                           switches == switches_of_thread()});
    }
}

}  // namespace

PinnedThread::PinnedThread() {
    known_ = sched_getaffinity(0, sizeof(before_), &before_) == 0;
    if (known_) pin_this_thread(static_cast<unsigned>(std::max(0, sched_getcpu())));
}

PinnedThread::~PinnedThread() {
    if (known_) sched_setaffinity(0, sizeof(before_), &before_);
}

std::vector<unsigned> PinnedThread::allowed_before() const {
    std::vector<unsigned> allowed;
    for (unsigned i = 0; known_ && i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &before_)) allowed.push_back(i);
    return allowed;
}

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
