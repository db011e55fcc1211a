// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/run.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/processors.hpp"
#include "sim/engine/streams.hpp"

namespace cachetally {
namespace {

/// Nothing lies between a stream and the hierarchy.
class StraightWay final : public ReferenceWay {
public:
    explicit StraightWay(Hierarchy& hierarchy) : hierarchy_(hierarchy) {}
    Progress run(unsigned core, std::span<const Reference> references, Tick now, Tick until) override {
        return hierarchy_.run(core, references, now, until);
    }
    Tick run_filtered(unsigned core, std::span<const FilteredBlock> blocks, Tick now) override {
        return hierarchy_.run_filtered(core, blocks, now);
    }

private:
    Hierarchy& hierarchy_;
};

/// How far the core with the least time may go: alone to the end, else to the end of its quantum; without a quantum
/// until another core's time is less. A full ring may make two cores wait for one time: the lower number goes first.
Tick limit(const Streams& streams, unsigned core) {
    const Tick others = streams.others(core);
    if (others == forever) return forever;
    return streams.quantum() == 0 ? std::max(others, streams.time(core) + 1) : streams.quantum_end(core);
}

}  // namespace

Tick RunResult::end() const {
    Tick latest = 0;
    for (std::size_t core = 0; core < core_ends.size(); ++core) latest = std::max(latest, core_ends[core] - core);
    return latest;
}

/// The core with the least time goes next (DESIGN: least local time, quantum).
RunResult run(Hierarchy& hierarchy, ReferenceSource& source, const RunOptions& options) {
    Streams streams(hierarchy, source, options);
    if (streams.size() == 1 && usable_processors() > 1) hierarchy.work_in_background();
    StraightWay way(hierarchy);
    try {
        while (!streams.over()) {
            if (const auto core = streams.next()) {
                streams.advance(*core, limit(streams, *core), way);
            } else if (!streams.pass_barrier()) {
                break;
            }
        }
    } catch (const std::runtime_error& error) {
        streams.fail(error);
    }
    return streams.result();
}

}  // namespace cachetally
