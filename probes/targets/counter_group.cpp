// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/counter_group.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "probes/target.hpp"

namespace cachetally {
namespace {

constexpr unsigned most_repeats = 3;

long or_errno(long result) { return result < 0 ? -errno : result; }

}  // namespace

PerfCalls system_perf_calls() {
    return {[](perf_event_attr* event, pid_t process, int core, int group, unsigned long flags) {
                return or_errno(syscall(SYS_perf_event_open, event, process, core, group, flags));
            },
            [](int file, unsigned long request) { return or_errno(ioctl(file, request, 0)); },
            [](int file, void* buffer, std::size_t bytes) { return or_errno(::read(file, buffer, bytes)); },
            [](int file) { ::close(file); }};
}

/// What a read gives (PERF_FORMAT_GROUP and both times). Times are nanoseconds.
struct CounterGroup::Reading {
    std::uint64_t enabled = 0, running = 0;
    std::vector<std::uint64_t> counts;
};

/// From here on events are counted, until they are no longer.
class CounterGroup::Counting {
public:
    explicit Counting(const CounterGroup& group) : group_(group) {
        group.control(PERF_EVENT_IOC_ENABLE, "begin counting");
    }
    ~Counting() {
        if (!ended_) group_.calls_.control(group_.files_.front(), PERF_EVENT_IOC_DISABLE);
    }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    void end() {
        ended_ = true;
        group_.control(PERF_EVENT_IOC_DISABLE, "end counting");
    }

private:
    const CounterGroup& group_;
    bool ended_ = false;
};

int CounterGroup::add(const CounterEvent& event) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.disabled = files_.empty() ? 1 : 0;  // the others follow their leader
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const long file = calls_.open(&attributes, 0, -1, files_.empty() ? -1 : files_.front(), PERF_FLAG_FD_CLOEXEC);
    if (file < 0) return static_cast<int>(-file);
    files_.push_back(static_cast<int>(file));
    return 0;
}

void CounterGroup::keep(std::size_t number) {
    for (; files_.size() > number; files_.pop_back()) calls_.close(files_.back());
}

void CounterGroup::control(unsigned long request, const char* what) const {
    if (const long result = calls_.control(files_.front(), request); result < 0)
        throw ProbeError("events: the kernel does not {}: {}", what, std::strerror(static_cast<int>(-result)));
}

CounterGroup::Reading CounterGroup::read() const {
    std::vector<std::uint64_t> words(3 + files_.size());
    const std::size_t bytes = words.size() * sizeof(words.front());
    const long result = calls_.read(files_.front(), words.data(), bytes);
    if (result < 0) throw ProbeError("events cannot be read: {}", std::strerror(static_cast<int>(-result)));
    if (static_cast<std::size_t>(result) != bytes || words[0] != files_.size())
        throw ProbeError("events cannot be read: {} bytes instead of {}, of {} events", result, bytes, words[0]);
    return {words[1], words[2], {words.begin() + 3, words.end()}};
}

std::vector<std::uint64_t> CounterGroup::count(const std::function<void()>& prepare, const std::function<void()>& run) {
    std::uint64_t enabled = 0, running = 0;
    for (unsigned i = 0; i <= most_repeats; ++i) {
        const Reading before = read();
        prepare();
        Counting counting(*this);
        run();
        counting.end();
        Reading after = read();
        enabled = after.enabled - before.enabled, running = after.running - before.running;
        for (std::size_t event = 0; event < size(); ++event) after.counts[event] -= before.counts[event];
        if (enabled > 0 && running == enabled) return std::move(after.counts);
    }
    throw ProbeError(
        "events were counted for {} of {} ns of a run that was made {} times: others use the processor's counters; end "
        "other profilers, write 0 to the sysctl kernel.nmi_watchdog, or leave out some --raw-event",
        running, enabled, most_repeats + 1);
}

}  // namespace cachetally
