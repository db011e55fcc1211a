// SPDX-License-Identifier: BSD-3-Clause
// CoherenceProtocol: what happens to the state that a node has of a line. Pure: from state and request to state and
// actions; snooping and directory alike. docs/coherence.md is its specification.
#pragma once

#include "cachetally/machine.hpp"
#include "cachetally/types.hpp"

namespace cachetally {

/// What a node (the private caches of a core or of a few cores) may do with a line, and owes it. Papamarcos and Patel
/// 1984; `owned`: Sweazey and Smith 1986.
enum class LineState : std::uint8_t {
    invalid,    ///< the node does not hold it
    shared,     ///< others may hold it; the level below or an owner has the data
    exclusive,  ///< no other node holds it, and it is clean
    owned,      ///< others may hold it; it is dirty, and this node supplies it and writes it back
    modified,   ///< no other node holds it, and it is dirty
};

/// What a node asks the others for.
enum class CoherenceRequest : std::uint8_t {
    read,            ///< the line, to read it
    exclusive_read,  ///< the line, to write it
    upgrade,         ///< to write a line that it holds
};

class CoherenceProtocol {
public:
    explicit CoherenceProtocol(Protocol protocol) : owns_(protocol == Protocol::moesi) {}

    /// What a node does about the request of another one.
    struct Snooped {
        LineState next = LineState::invalid;
        bool supplies = false;     ///< it hands the line to the one that asks
        bool writes_back = false;  ///< it writes the line to the level below, and is clean then
    };
    Snooped snooped(LineState state, CoherenceRequest request) const {
        const bool dirty = is_dirty_state(state);
        if (request != CoherenceRequest::read)
            return {LineState::invalid, dirty && request == CoherenceRequest::exclusive_read, false};
        if (!dirty) return {state == LineState::invalid ? state : LineState::shared, false, false};
        return {owns_ ? LineState::owned : LineState::shared, true, !owns_};
    }

    /// True where a directory that knows the states has to ask the node.
    static bool is_asked(LineState state, CoherenceRequest request) {
        return state != LineState::invalid && (request != CoherenceRequest::read || state != LineState::shared);
    }

    static LineState after_read(bool others_hold) { return others_hold ? LineState::shared : LineState::exclusive; }

    /// True where a node may write without asking.
    static bool may_write(LineState state) { return state == LineState::exclusive || state == LineState::modified; }

    /// When some of a node's caches have lost the line: `dirty`: it is dirty in others.
    static LineState kept(LineState state, bool dirty) {
        if (dirty) return state;
        return state == LineState::modified ? LineState::exclusive
               : state == LineState::owned  ? LineState::shared
                                            : state;
    }

    static bool is_dirty_state(LineState state) { return state == LineState::owned || state == LineState::modified; }

private:
    bool owns_;
};

}  // namespace cachetally
