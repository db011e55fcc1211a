// SPDX-License-Identifier: BSD-3-Clause
// LostCycles: by site, how much longer references last than hits of the first levels (ours).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "cachetally/hierarchy.hpp"
#include "cachetally/run.hpp"
#include "cachetally/topology.hpp"
#include "monitor/attribution/site_counts.hpp"

namespace cachetally {

/// Where nothing but latencies adds to a reference's time, events on links times the latency of what is below tell it,
/// and references need not be made one by one. Waits for other cores at barriers belong to no reference.
class LostCycles {
public:
    enum class By : std::uint8_t { whatever_is_fastest, references };

    /// To be made before the first access; must live as long as the hierarchy is used. `cores`: told apart.
    LostCycles(const Topology& topology, Hierarchy& hierarchy, unsigned cores, By by = By::whatever_is_fastest);

    ~LostCycles();

    /// In picoseconds; rows of one site may be several.
    std::vector<SiteCounts::Row> rows() const;

    /// What an access of a line costs at least, by ReferenceKind: a hit of the first TLB and the first cache.
    static std::array<Tick, 3> hit_times(const Topology& topology);

private:
    class References;
    std::unique_ptr<References> references_;
    std::vector<std::unique_ptr<SiteMisses>> events_;
};

/// By phase, what a run takes if all its accesses hit the first levels; empty where several cores ran, which may wait
/// for each other, or where accesses of cores cannot be told from others.
std::vector<Tick> times_of_hits(const Topology& topology, const RunResult& run);

/// Bytes of a line of the first level of data, or of instructions; 0 where nothing serves these.
std::uint32_t first_line(const Topology& topology, bool fetch);

/// Bytes of a line where there is no cache.
inline constexpr std::uint32_t line_without_cache = 64;

}  // namespace cachetally
