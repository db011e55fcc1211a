// SPDX-License-Identifier: BSD-3-Clause
// QuietCore: a processor whose core no other hardware thread uses, as long as there is one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace cachetally {

/// How a QuietCore asks the system.
struct CoreCalls {
    /// Cycles that a multiplication takes by one pair of short chains (ClockRate): a whole number on a core of one's
    /// own. Where another hardware thread uses the same units, the chains are slowed down differently.
    std::function<double()> multiplication;
    std::function<bool(unsigned processor)> pin;  ///< this thread; false: refused
    /// Equal for processors with equal caches: 0, or the kind of core where a machine has several (CPUID leaf 0x1A,
    /// MIDR_EL1). Of the processor that the thread is on.
    std::function<std::uint64_t()> kind;
    std::function<std::uint64_t()> now_ns;
};

CoreCalls system_core_calls();

/// Moves a pinned thread among processors. A hardware thread that shares a core also takes lines of L1 and L2 and
/// entries of TLBs, so that these seem to be smaller (on a Zen 5, 40 KiB in 10 ways instead of 48 KiB in 12, for
/// minutes).
class QuietCore {
public:
    /// `allowed`: processors to choose from, with `here`, the one that the thread is pinned to. Moves if it is shared.
    QuietCore(std::vector<unsigned> allowed, unsigned here, CoreCalls calls = system_core_calls());

    /// Whether another hardware thread uses this core, by the median of a few trials unless the first finds it quiet.
    bool is_shared() const;

    /// To the next quiet core of the same kind; false: there is none, which is not looked for again for a while, and
    /// the thread stays.
    bool move();

private:
    std::vector<unsigned> others_;  ///< the next one first
    unsigned here_;
    CoreCalls calls_;
    std::uint64_t kind_;
    std::uint64_t not_before_ns_ = 0;
};

}  // namespace cachetally
