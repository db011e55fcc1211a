// SPDX-License-Identifier: BSD-3-Clause
// TracePlayer: a core that plays a stream of references; TraceProgram: what the players of one source share.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include "sim/engine/streams.hpp"
#include "sim/tlm/cache_hierarchy.hpp"

namespace cachetally {

/// A source, its barriers, and how far its players are. Controls of the program and results concern the hierarchy that
/// the players' references go to. Listeners must be at the hierarchy before.
class TraceProgram {
public:
    /// `options.quantum`: how far a player's local time goes ahead of SystemC's, up to the next multiple of it; 0:
    /// players synchronise after each reference. Throws as run() of the engine does.
    TraceProgram(CacheHierarchy& hierarchy, ReferenceSource& source, const RunOptions& options)
        : streams_(hierarchy.hierarchy(), source, options) {}

    /// Number of players: one per stream.
    unsigned cores() const { return streams_.size(); }

    /// As run() of the engine gives it. To be called once, after the simulation.
    RunResult result() { return streams_.result(); }

private:
    friend class TracePlayer;

    Streams streams_;
    sc_core::sc_event turned_;  ///< a player has synchronised, or is at its end
    sc_core::sc_event passed_;  ///< the barrier
};

class TracePlayer final : public sc_core::sc_module, private ReferenceWay {
public:
    /// To CacheHierarchy::core of the same number.
    any_width::Initiator<tlm_utils::simple_initiator_socket<TracePlayer>> socket;

    /// There must be one for each stream of the program.
    TracePlayer(const sc_core::sc_module_name& name, TraceProgram& program, unsigned core);
    ~TracePlayer() override;

private:
    /// The quantum of the program, in the local time of its core.
    class Keeper final : public tlm_utils::tlm_quantumkeeper {
    public:
        Keeper(const Streams& streams, unsigned core) : streams_(streams), core_(core) {}
        void take_local_time();
        sc_core::sc_time compute_local_quantum() override;

    private:
        const Streams& streams_;
        unsigned core_;
        TimeScale scale_;
    };

    void play();
    void play_turns();
    bool await_turn();
    void make_quantum();
    std::size_t references_to(Tick end) const;

    Progress run(unsigned core, std::span<const Reference> references, Tick now, Tick until) override;
    Tick run_filtered(unsigned core, std::span<const FilteredBlock> blocks, Tick now) override;
    void hand_over();

    TraceProgram& program_;
    Streams& streams_;
    unsigned core_;
    TimeScale scale_;
    Keeper keeper_;
    ReferenceBatch batch_;
    tlm::tlm_generic_payload payload_;
    std::uint64_t made_ = 0;  ///< references, where they are handed over by number
};

}  // namespace cachetally
