// SPDX-License-Identifier: BSD-3-Clause
#include "probes/targets/pinned_thread.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "probes/target.hpp"

namespace cachetally {

std::uint64_t context_switches() {
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

PinnedThread::PinnedThread()
    : processor_(static_cast<unsigned>(std::max(0, sched_getcpu()))),
      known_(sched_getaffinity(0, sizeof(before_), &before_) == 0) {
    if (known_) pin_this_thread(processor_);
}

PinnedThread::PinnedThread(unsigned processor)
    : processor_(processor), known_(sched_getaffinity(0, sizeof(before_), &before_) == 0) {
    if (!pin_this_thread(processor))
        throw ProbeError("the system does not let a thread run on processor {}", processor);
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

}  // namespace cachetally
