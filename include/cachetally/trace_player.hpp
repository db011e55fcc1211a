// SPDX-License-Identifier: BSD-3-Clause
// TracePlayer: a core that plays a stream of references; TraceProgram: what the players of one source share.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>

#include "cachetally/any_width.hpp"
#include "cachetally/cache_hierarchy.hpp"
#include "cachetally/run.hpp"

namespace cachetally {

/// A source, its barriers, and how far its players are. Controls of the program and results concern the hierarchy that
/// the players' references go to. Listeners must be at the hierarchy before.
class TraceProgram {
public:
    /// `options.quantum`: how far a player's local time goes ahead of SystemC's, up to the next multiple of it; 0:
    /// players synchronise after each reference. Throws as run() of the engine does.
    TraceProgram(CacheHierarchy& hierarchy, ReferenceSource& source, const RunOptions& options);
    ~TraceProgram();

    /// Number of players: one per stream.
    unsigned cores() const;

    /// As run() of the engine gives it. To be called once, after the simulation.
    RunResult result();

private:
    friend class TracePlayer;
    struct State;
    std::unique_ptr<State> state_;
};

class TracePlayer final : public sc_core::sc_module {
public:
    /// To CacheHierarchy::core of the same number.
    any_width::Initiator<tlm_utils::simple_initiator_socket<TracePlayer>> socket;

    /// There must be one for each stream of the program.
    TracePlayer(const sc_core::sc_module_name& name, TraceProgram& program, unsigned core);
    ~TracePlayer() override;

private:
    class Play;
    void play();

    std::unique_ptr<Play> play_;
};

}  // namespace cachetally
