// SPDX-License-Identifier: BSD-3-Clause
// A kernel whose counters count what a test wants.
#pragma once

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "probes/targets/counter_group.hpp"

namespace cachetally {

struct FakePerf {
    struct Opened {
        perf_event_attr attributes{};
        pid_t process = 0;
        int core = 0, group = 0;
        unsigned long flags = 0;

        CounterEvent event() const { return {attributes.type, attributes.config}; }
    };

    /// Of an event: 0, or the errno of opening it.
    std::function<int(const CounterEvent&)> refuses = [](const CounterEvent&) { return 0; };
    /// What run number `run` (from 0) adds to a count.
    std::function<std::uint64_t(const CounterEvent&, unsigned run)> counts = [](auto&, auto) { return 0; };
    /// Runs that the counters are given to others in.
    std::function<bool(unsigned run)> disturbed = [](unsigned) { return false; };
    int control_error = 0, read_error = 0;
    long short_by = 0;  ///< bytes that reads lack

    std::vector<Opened> opened;  ///< in the order of opening, with those that were closed
    std::set<int> files;         ///< open ones
    std::vector<std::uint64_t> values;
    std::uint64_t enabled_ns = 1000, running_ns = 900;  ///< before the first run, too: only differences count
    bool enabled = false;
    unsigned runs = 0;

    static constexpr int first_file = 100;

    PerfCalls calls() {
        return {[this](auto* event, auto process, auto core, auto group, auto flags) {
                    return open({*event, process, core, group, flags});
                },
                [this](int file, unsigned long request) { return control(file, request); },
                [this](int file, void* buffer, std::size_t bytes) { return read(file, buffer, bytes); },
                [this](int file) { files.erase(file); }};
    }

    std::vector<CounterEvent> events() const {
        std::vector<CounterEvent> all;
        for (const Opened& one : opened) all.push_back(one.event());
        return all;
    }

private:
    long open(const Opened& wanted) {
        if (const int error = refuses(wanted.event()); error != 0) return -error;
        opened.push_back(wanted);
        values.push_back(7);  // as left by an earlier use
        files.insert(first_file + static_cast<int>(opened.size()) - 1);
        return *files.rbegin();
    }

    long control(int file, unsigned long request) {
        if (control_error != 0) return -control_error;
        if (files.empty() || file != *files.begin()) return -EBADF;
        enabled = request == PERF_EVENT_IOC_ENABLE;
        if (request != PERF_EVENT_IOC_DISABLE) return 0;
        for (const int each : files) {
            const auto index = static_cast<std::size_t>(each - first_file);
            values[index] += counts(opened[index].event(), runs);
        }
        enabled_ns += 500;
        running_ns += disturbed(runs++) ? 499 : 500;
        return 0;
    }

    long read(int file, void* buffer, std::size_t bytes) {
        if (read_error != 0) return -read_error;
        if (files.empty() || file != *files.begin()) return -EBADF;
        std::vector<std::uint64_t> words{files.size(), enabled_ns, running_ns};
        for (const int each : files) words.push_back(values[static_cast<std::size_t>(each - first_file)]);
        if (bytes < words.size() * 8) return -ENOSPC;
        std::memcpy(buffer, words.data(), words.size() * 8);
        return static_cast<long>(words.size() * 8) - short_by;
    }
};

}  // namespace cachetally
