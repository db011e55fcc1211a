// SPDX-License-Identifier: BSD-3-Clause
// CounterGroup: events of this thread, counted together around a run by the kernel's perf_event_open(2).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

struct perf_event_attr;  // <linux/perf_event.h>

namespace cachetally {

/// The system calls that counting needs. Each returns what the kernel does, where it fails the negative errno.
struct PerfCalls {
    std::function<long(perf_event_attr* event, pid_t process, int core, int group, unsigned long flags)> open;
    std::function<long(int file, unsigned long request)> control;
    std::function<long(int file, void* buffer, std::size_t bytes)> read;
    std::function<void(int file)> close;
};
PerfCalls system_perf_calls();

/// An event as perf_event_attr names it.
struct CounterEvent {
    std::uint32_t type = 0;  ///< PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_RAW, ...
    std::uint64_t config = 0;

    friend bool operator==(const CounterEvent&, const CounterEvent&) = default;
};

/// All events of a group are counted at the same time, or none is.
class CounterGroup {
public:
    explicit CounterGroup(PerfCalls calls = system_perf_calls()) : calls_(std::move(calls)) {}
    ~CounterGroup() { keep(0); }
    CounterGroup(const CounterGroup&) = delete;
    CounterGroup& operator=(const CounterGroup&) = delete;

    /// Adds an event, counted in user mode only. Returns 0, or the errno for which the kernel does not.
    int add(const CounterEvent& event);

    /// Gives up all events but the first so many.
    void keep(std::size_t number);

    std::size_t size() const { return files_.size(); }

    /// The counts of `run`, in the order of the events. Where the kernel gave the counters to others in the meantime
    /// (it counted for less time than it was to), the run is made again, at most three times; before each `prepare` is
    /// called, which is not counted. Throws ProbeError where all four were disturbed, or the kernel refuses, and what
    /// the functions throw.
    std::vector<std::uint64_t> count(const std::function<void()>& prepare, const std::function<void()>& run);

private:
    struct Reading;
    class Counting;
    Reading read() const;
    void control(unsigned long request, const char* what) const;

    PerfCalls calls_;
    std::vector<int> files_;  ///< the first is the group's leader
};

}  // namespace cachetally
