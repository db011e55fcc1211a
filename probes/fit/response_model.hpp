// SPDX-License-Identifier: BSD-3-Clause
// ResponseModel: measured response curves, and what a machine description makes of the same strings.
#pragma once

#include <span>
#include <vector>

#include "cachetally/machine.hpp"
#include "probes/ours/response.hpp"
#include "probes/result.hpp"

namespace cachetally {

/// The latencies of a machine that times of loads are sums of, in this order: those of the caches that a load passes,
/// of memory, of the TLBs after the first (whose own is part of a hit), and of a walk.
std::vector<unsigned*> latencies_on_path(MachineDescription& machine);

/// A point of a measured curve as a machine makes it.
struct ModelPoint {
    std::size_t curve = 0;  ///< number of the curve
    double measured = 0, simulated = 0;
    std::vector<double> times;  ///< how often per load each of latencies_on_path() is part of the time
    double rest = 0;            ///< cycles of what else takes time: what walks read
};

class ResponseModel {
public:
    /// The curves of the test `response` among the reports, on a machine with ordinary pages of so many bytes; of large
    /// sizes every other point, as these take longest. Throws std::invalid_argument where there is no such curve.
    ResponseModel(std::span<const TestReport> measured, std::uint64_t page);

    /// All points on one placement of pages. Throws MachineError for machines that there cannot be.
    std::vector<ModelPoint> points_of(const MachineDescription& machine) const;

    /// The mean over the curves of what their points are off by: |ln(simulated / measured)|, at most 1 each.
    double error(std::span<const ModelPoint> points) const;

    /// Sets the latencies with which the points, each a sum of them, come closest to what was measured (least sum of
    /// relative amounts, none negative, in whole cycles), and the points' times to those. (ours)
    void solve_latencies(MachineDescription& machine, std::vector<ModelPoint>& points) const;

private:
    struct Point {
        std::size_t curve = 0;
        std::uint64_t x = 0;
        double measured = 0;
        Offsets string = {};
    };
    void add(const Curve& curve, const ResponseKind& kind, std::uint64_t page);

    std::vector<Point> points_;
    std::vector<const ResponseKind*> kinds_;  ///< by curve
};

}  // namespace cachetally
