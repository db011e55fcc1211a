// SPDX-License-Identifier: BSD-3-Clause
// TimedMemory: the memory of a machine behind a TLM-2.0 socket, with the time that it takes in the engine.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <memory>

#include "cachetally/any_width.hpp"
#include "cachetally/counts.hpp"
#include "cachetally/machine.hpp"
#include "cachetally/time_scale.hpp"

namespace cachetally {

class Memory;

/// Blocking transport, loosely timed: the delay grows by the latency of reads, and of writes that somebody waits for.
/// It holds no data: what is read stays as it is, and debug transport gives nothing.
class TimedMemory final : public sc_core::sc_module {
public:
    any_width::Target<tlm_utils::simple_target_socket<TimedMemory>> in;

    /// `period`: picoseconds per cycle.
    TimedMemory(const sc_core::sc_module_name& name, const MemoryConfig& config, Tick period);
    ~TimedMemory() override;

    /// True when a request takes as long at any time (MemoryTiming::fixed).
    bool timeless() const;

    const MemoryCounts& counts() const;

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    TimeScale scale_;
    std::unique_ptr<Memory> model_;
};

}  // namespace cachetally
