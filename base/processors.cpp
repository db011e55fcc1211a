// SPDX-License-Identifier: BSD-3-Clause
#include "base/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace cachetally {

unsigned usable_processors() {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof(usable), &usable) == 0) return std::max(1, CPU_COUNT(&usable));
    return std::max(1U, std::thread::hardware_concurrency());  // a host with more than a cpu_set_t holds
}

}  // namespace cachetally
