// SPDX-License-Identifier: BSD-3-Clause
// Runs a program on the engine and observes it as the reference simulator does.
#pragma once

#include <map>
#include <vector>

#include "cachetally/run.hpp"
#include "tests/differential/reference_simulator.hpp"

namespace cachetally::differential {

/// How the engine is watched and driven; each must give the same counts and times.
enum class Driving {
    unwatched,   ///< run() without listeners: the fastest paths
    each,        ///< run(), listeners on all links that want each event alone
    merged,      ///< run(), listeners on all links that accept merged events
    requests,    ///< as `merged`, but fills are wanted by others: requests may be handed down many at a time
    one_by_one,  ///< Hierarchy::access per reference, listeners as `each`; one core without barriers only
    some,        ///< run(), listeners on every other link
    fills,       ///< as `merged`, but nobody wants evictions
    below,       ///< as `each` on links not next to cores, at any time
    sited,       ///< the same, but nobody wants fills and evictions: requests may be handed down many at a time
};

/// Runs of events on one copy of a link within one block: by kind and core how many. What merging must not change.
struct BlockRun {
    Address block = 0;
    std::map<std::pair<EventKind, unsigned>, std::uint64_t> counts;
    friend bool operator==(const BlockRun&, const BlockRun&) = default;
};
using BlockRuns = std::map<std::pair<std::string, unsigned>, std::vector<BlockRun>>;

struct EngineOutcome {
    Outcome outcome;                                                     ///< events as they came
    BlockRuns merged;                                                    ///< for Driving::merged
    std::size_t filtered = 0;                                            ///< references that came filtered
    std::map<std::pair<std::string, unsigned>, std::uint32_t> block_of;  ///< bytes up to which merging was allowed
};

EngineOutcome run_engine(const MachineDescription& machine, const std::vector<CoreProgram>& programs, Tick quantum,
                         Driving driving, const std::optional<Records>& records = {},
                         Execution fastest = Execution::batched);

/// Adds `count` events to the runs of one link copy.
void add_to_runs(std::vector<BlockRun>& runs, Address block, EventKind kind, unsigned core, std::uint64_t count);

/// The same runs from single events.
BlockRuns block_runs(const std::vector<ObservedEvent>& events,
                     const std::map<std::pair<std::string, unsigned>, std::uint32_t>& block_of);

/// The first difference in words, or nothing when equal.
std::string difference(const MachineDescription& machine, const Outcome& expected, const EngineOutcome& actual,
                       Driving driving);

}  // namespace cachetally::differential
