// SPDX-License-Identifier: BSD-3-Clause
// Coherence: keeps the caches of several nodes coherent where their ways meet. docs/coherence.md is its specification.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "cachetally/counts.hpp"
#include "sim/model/coherence/coherence_protocol.hpp"
#include "sim/model/link/request_port.hpp"
#include "sim/model/tags/cache_array.hpp"

namespace cachetally {

/// The state of every line in every node. Lines that nobody holds take no room.
class LineStates {
public:
    explicit LineStates(unsigned nodes) : nodes_(nodes) {}

    LineState get(Address line, unsigned node) const {
        const auto found = rows_.find(line);
        return found == rows_.end() ? LineState::invalid : states_[found->second + node];
    }
    void set(Address line, unsigned node, LineState state);

    /// Of all nodes; empty where nobody holds the line. Void after the next set().
    std::span<const LineState> of(Address line) const {
        const auto found = rows_.find(line);
        if (found == rows_.end()) return {};
        return {states_.data() + found->second, nodes_};
    }

    /// Equal for equal states.
    std::uint64_t digest() const;

private:
    unsigned nodes_;
    std::unordered_map<Address, std::size_t> rows_;  ///< by line: of its states
    std::vector<LineState> states_;                  ///< rows of as many as there are nodes
    std::vector<std::size_t> free_rows_;
};

/// Lines are named by their first address. Members act at `time` for the reference that `info` describes.
class Coherence {
public:
    Coherence(const CoherenceConfig& config, unsigned nodes, unsigned line_bytes, Tick period);

    /// The nodes' ways meet where memories belong to NUMA nodes, `nodes_in_each` of them to each. A directory is in
    /// parts then, each at the homes of the lines that it knows.
    void meet_at(Numa& numa, unsigned nodes_in_each) {
        numa_ = by_directory_ ? &numa : nullptr;
        nodes_in_each_ = nodes_in_each;
    }

    /// In the order of the machine description, when the caches know what lies below them.
    void add(unsigned node, Cache& cache);

    /// A store enters a cache of a node; returns when it goes on.
    Tick store(unsigned node, Address line, RequestInfo info, Tick time);

    /// A monitor's record enters a cache of a node; returns when it goes on.
    Tick claim(unsigned node, Address line, RequestInfo info, Tick time);

    /// What becomes of a node's request at the point of coherence.
    struct Turn {
        Tick time = 0;
        bool supplied = false;  ///< the line is with the node at `time`; else it goes on to the level below then
        bool at_home = false;   ///< it goes on from the home of the line
    };
    Turn request(unsigned node, Address line, RequestInfo info, Tick time);

    /// While it exists, a line is on its way from one cache of a node to another, and counts as held by the node.
    class Transit {
    public:
        /// Null: of no node.
        Transit(Coherence* coherence, Address line, bool dirty) : coherence_(coherence) {
            if (coherence_ != nullptr) coherence_->on_their_way_.push_back({line, dirty});
        }
        ~Transit() {
            if (coherence_ != nullptr) coherence_->on_their_way_.pop_back();
        }
        Transit(const Transit&) = delete;
        Transit& operator=(const Transit&) = delete;
        void comes_dirty() {
            if (coherence_ != nullptr) coherence_->on_their_way_.back().dirty = true;
        }

    private:
        Coherence* coherence_;
    };

    /// A cache of a node has inserted a line, which an inclusive level may have invalidated on its way up.
    void arrived(unsigned node, Address line, bool dirty);

    /// A cache of a node has lost a line; what became of it has happened.
    void left(unsigned node, Address line, RequestInfo info, Tick time);

    /// An inclusive level at or below the point of coherence has taken a block away from all nodes.
    void taken(Address block, std::uint64_t bytes);

    LineState state(unsigned node, Address line) const { return states_.get(line, node); }
    const CoherenceCounts& counts() const { return counts_; }
    std::uint64_t digest() const { return states_.digest(); }

private:
    /// A cache of a node, and its way to the point of coherence.
    struct Member {
        Cache* cache;
        RequestPort* way;
        bool last;  ///< nothing of the node lies below it
    };

    struct Travelling {
        Address line;
        bool dirty;
    };

    struct Round {
        Tick answered = 0;
        bool held = false, supplied = false;
    };
    Round ask_others(unsigned node, Address line, CoherenceRequest request, RequestInfo info, Tick time);
    void snoop(unsigned node, Address line, CoherenceProtocol::Snooped snooped, RequestInfo info, Tick time);
    void invalidate(unsigned node, Address line, RequestInfo info, Tick time);
    RequestPort* clean(unsigned node, Address line, RequestInfo info, Tick time);
    void change(unsigned node, Address line, LineState next, RequestInfo info, Tick time);
    Tick way_to_directory(unsigned node, Address line) const;
    std::uint64_t messages_of(std::uint64_t asked, bool supplied) const;
    Entry held_by(unsigned node, Address line) const;

    CoherenceProtocol protocol_;
    bool by_directory_;
    Tick latency_, forward_, supply_;
    std::uint64_t line_bytes_;
    Numa* numa_ = nullptr;  ///< at whose homes the directory is
    unsigned nodes_in_each_ = 1;
    std::vector<std::vector<Member>> nodes_;
    LineStates states_;
    std::vector<Travelling> on_their_way_;  ///< within the node that makes a reference, latest last
    CoherenceCounts counts_;
};

}  // namespace cachetally
