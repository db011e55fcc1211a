// SPDX-License-Identifier: BSD-3-Clause
// ReplayPlatform: a machine, its memories and players of a source, bound together. What the SystemC host elaborates.
#pragma once

#include <memory>
#include <vector>

#include "cachetally/timed_memory.hpp"
#include "cachetally/trace_player.hpp"

namespace cachetally {

class ReplayPlatform final : public sc_core::sc_module {
public:
    /// Any number of platforms may be elaborated side by side. Listeners must be at the hierarchy before.
    ReplayPlatform(const sc_core::sc_module_name& name, const Topology& topology, Hierarchy& hierarchy,
                   ReferenceSource& source, const RunOptions& options);

    /// To be called once, after the simulation.
    RunResult result() { return program_->result(); }

    const TimedMemory& memory(std::size_t number) const { return *memories_.at(number); }

private:
    std::vector<std::unique_ptr<TimedMemory>> memories_;
    std::unique_ptr<CacheHierarchy> hierarchy_;
    std::unique_ptr<TraceProgram> program_;
    std::vector<std::unique_ptr<TracePlayer>> players_;
};

}  // namespace cachetally
