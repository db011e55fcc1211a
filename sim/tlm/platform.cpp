// SPDX-License-Identifier: BSD-3-Clause
#include "sim/tlm/platform.hpp"

#include <algorithm>
#include <string>

namespace cachetally {

ReplayPlatform::ReplayPlatform(const sc_core::sc_module_name& name, const Topology& topology, Hierarchy& hierarchy,
                               ReferenceSource& source, const RunOptions& options)
    : sc_module(name) {
    const MachineDescription& machine = topology.machine();
    for (const MemoryConfig& config : machine.memories) {
        const std::string part = "memory_" + std::to_string(memories_.size());
        memories_.push_back(std::make_unique<TimedMemory>(part.c_str(), config, machine.period));
    }
    const bool fixed = std::ranges::all_of(memories_, [](const auto& memory) { return memory->timeless(); });
    hierarchy_ = std::make_unique<CacheHierarchy>("hierarchy", topology, hierarchy,
                                                  fixed ? MemoryTiming::fixed : MemoryTiming::any);
    for (std::size_t i = 0; i < memories_.size(); ++i) hierarchy_->memory[i].bind(memories_[i]->in);
    program_ = std::make_unique<TraceProgram>(*hierarchy_, source, options);
    for (unsigned core = 0; core < program_->cores(); ++core) {
        const std::string part = "player_" + std::to_string(core);
        players_.push_back(std::make_unique<TracePlayer>(part.c_str(), *program_, core));
        players_.back()->socket.bind(hierarchy_->core[core]);
    }
}

}  // namespace cachetally
