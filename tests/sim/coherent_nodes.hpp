// SPDX-License-Identifier: BSD-3-Clause
// A few nodes over one level, with the version of every line beside the caches: what coherence promises, checked.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/model/cache/cache.hpp"
#include "sim/model/coherence/coherence.hpp"

namespace cachetally {

struct NodesConfig {
    CoherenceConfig coherence;
    unsigned nodes = 2;
    std::vector<CacheConfig> levels;  ///< of a node, from the core down
    CacheConfig point;                ///< the level below all; no size: memory
};

/// Loads and stores of one core per node. A node has one version of each line, and the level below has one.
class CoherentNodes {
public:
    explicit CoherentNodes(const NodesConfig& config);
    ~CoherentNodes();

    /// Makes a reference and says what was wrong with it, or nothing.
    std::string load(unsigned node, Address line) { return access(node, line, EventKind::load); }
    std::string store(unsigned node, Address line) { return access(node, line, EventKind::store); }

    LineState state(unsigned node, Address line) const { return coherence_.state(node, line); }
    const CoherenceCounts& counts() const { return coherence_.counts(); }
    std::uint64_t digest() const;

private:
    class Listener;
    std::string access(unsigned node, Address line, EventKind kind);
    std::string check_line(Address line) const;
    Entry held_by(unsigned node, Address line) const;
    std::uint64_t dirty_version(Address line) const;

    NodesConfig config_;
    Memory memory_;
    std::unique_ptr<Cache> point_;
    std::vector<std::vector<std::unique_ptr<Cache>>> caches_;  ///< by node and level
    Coherence coherence_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    std::vector<std::map<Address, std::uint64_t>> copies_;  ///< by node: versions
    std::map<Address, std::uint64_t> below_, latest_;
    bool pending_ = false;
};

}  // namespace cachetally
