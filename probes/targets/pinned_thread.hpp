// SPDX-License-Identifier: BSD-3-Clause
// Threads that stay on a processor.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace cachetally {

/// How often this thread has lost its processor so far.
std::uint64_t context_switches();

/// Whether the system lets this thread run on no processor but this one, from here on.
bool pin_this_thread(unsigned processor);

/// Keeps the thread on a processor until this is gone.
class PinnedThread {
public:
    PinnedThread();  ///< where it is
    /// Throws ProbeError where the thread may not be there.
    explicit PinnedThread(unsigned processor);
    ~PinnedThread();
    PinnedThread(const PinnedThread&) = delete;
    PinnedThread& operator=(const PinnedThread&) = delete;

    /// Processors that the thread might use before, ascending.
    std::vector<unsigned> allowed_before() const;

    unsigned processor() const { return processor_; }

private:
    cpu_set_t before_{};
    unsigned processor_;
    bool known_ = false;
};

}  // namespace cachetally
