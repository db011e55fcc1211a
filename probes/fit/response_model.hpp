// SPDX-License-Identifier: BSD-3-Clause
// ResponseModel: measured response curves, and what a machine description makes of the same strings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cachetally/machine.hpp"
#include "probes/ours/response.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// A latency of a machine that times of loads are sums of.
struct PathLatency {
    std::string component;
    unsigned* cycles;
};

/// In this order: those of the caches that a load passes, of memory, of the TLBs after the first (whose own is part of
/// a hit), and of a walk.
std::vector<PathLatency> latencies_on_path(MachineDescription& machine);

/// The machine with all of these at one cycle, and without what is said of it: what decides which loads hit where.
MachineDescription structure_of(const MachineDescription& machine);

/// A point of a measured curve as a machine makes it.
struct ModelPoint {
    std::size_t curve = 0;  ///< number of the curve
    double measured = 0, simulated = 0;
    std::vector<double> times;  ///< how often per load each of latencies_on_path() is part of the time
    double rest = 0;  ///< cycles of what else takes time: what walks read, with the latencies that were simulated
};

class ResponseModel {
public:
    /// The curves of the test `response` among the reports, measured on ordinary pages of `page` bytes and large ones
    /// of `large_page` (not larger than `page`: there were none). It has some of the points: few within levels, every
    /// other one of long strings, and of a level that a curve ends with only the begin. Throws std::invalid_argument
    /// where there is no such curve.
    ResponseModel(std::span<const TestReport> measured, std::uint64_t page, std::uint64_t large_page);

    std::size_t size() const { return points_.size(); }
    /// From 0, points that take less time first: many machines are ruled out by these alone.
    static constexpr unsigned stages = 4;
    unsigned stage_of(std::size_t point) const;

    /// Points by their numbers, on ordinary pages the mean of some placements. Which loads hit where does not hang on
    /// latencies: points of machines that are equal but for these differ in `simulated` and `rest` alone. Of long
    /// strings only the lines of some sets are run, if the sets of all caches are independent of each other. Throws
    /// MachineError for machines that there cannot be. (set sampling: Puzak 1985, "Analysis of cache replacement
    /// algorithms")
    std::vector<ModelPoint> points_of(const MachineDescription& machine, std::span<const std::size_t> points) const;
    /// All of them.
    std::vector<ModelPoint> points_of(const MachineDescription& machine) const;

    /// The points' times with the latencies of a machine that is otherwise the one that they are of.
    static void set_times(std::vector<ModelPoint>& points, const MachineDescription& machine);

    /// The mean over the curves of what their points are off by: |ln(simulated / measured)|, at most 1 each. Of some
    /// of the points: what these add to it.
    double error(std::span<const ModelPoint> points) const;

    /// Sets the latencies with which the points, each a sum of them, come closest to what was measured (least sum of
    /// relative amounts, none negative, in whole cycles), and the points' times to those. (ours)
    void solve_latencies(MachineDescription& machine, std::vector<ModelPoint>& points) const;

private:
    struct Point {
        std::size_t curve = 0;
        double measured = 0;
        std::uint64_t bytes = 0;  ///< of the arena
        unsigned placements = 1;
        unsigned warm_up = 1, laps = 1;
        std::vector<Offsets> strings = {};  ///< all lines, and every second, fourth and so on
    };
    void add(const Curve& curve, const ResponseKind& kind);
    std::uint64_t page_of(const ResponseKind& kind) const;

    std::uint64_t page_, large_page_;
    std::vector<Point> points_;
    std::vector<const ResponseKind*> kinds_;  ///< by curve
    std::vector<double> counts_;              ///< points, by curve
};

}  // namespace cachetally
