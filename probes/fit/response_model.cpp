// SPDX-License-Identifier: BSD-3-Clause
#include "probes/fit/response_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "probes/ours/response.hpp"
#include "probes/targets/simulated.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t large = std::uint64_t{2} << 20, model_seed = 1;
constexpr std::uint64_t largest_arena = std::uint64_t{256} << 20;
constexpr std::uint64_t many_bytes = std::uint64_t{2} << 20;
constexpr double clear_error = 0.01;  ///< relative, below which points weigh alike
constexpr unsigned rounds = 20, sweeps = 200;

/// How often per load each latency is part of it, and what is left of the time.
ModelPoint point_of(const Measurement& found, std::span<const unsigned> latencies) {
    ModelPoint point;
    point.simulated = found.cycles;
    point.times.push_back(1);
    for (const double misses : found.cache_misses) point.times.push_back(misses);
    for (const double misses : found.tlb_misses) point.times.push_back(misses);
    point.rest = found.cycles;
    for (std::size_t i = 0; i < latencies.size(); ++i) point.rest -= point.times[i] * latencies[i];
    return point;
}

double sum_of(const ModelPoint& point, const std::vector<double>& latencies) {
    double sum = point.rest;
    for (std::size_t i = 0; i < latencies.size(); ++i) sum += point.times[i] * latencies[i];
    return sum;
}

/// One pass of coordinate descent over weighted least squares; none may be negative.
void improve(std::vector<double>& latencies, std::span<const ModelPoint> points, const std::vector<double>& weights) {
    for (std::size_t j = 0; j < latencies.size(); ++j) {
        double above = 0, below = 0;
        for (std::size_t k = 0; k < points.size(); ++k) {
            const double times = points[k].times[j];
            if (times == 0) continue;
            above += weights[k] * times * (points[k].measured - sum_of(points[k], latencies) + times * latencies[j]);
            below += weights[k] * times * times;
        }
        if (below > 0) latencies[j] = std::max(j == 0 ? 1.0 : 0.0, above / below);
    }
}

}  // namespace

std::vector<unsigned*> latencies_on_path(MachineDescription& machine) {
    std::vector<unsigned*> all;
    for (const std::size_t i : data_caches(machine)) all.push_back(&machine.caches[i].latency);
    all.push_back(&machine.memories.front().latency);
    const std::vector<std::size_t> tlbs = data_tlbs(machine);
    for (std::size_t i = 1; i < tlbs.size(); ++i) all.push_back(&machine.tlbs[tlbs[i]].latency);
    if (!tlbs.empty()) all.push_back(&machine.pages.walk_latency);
    return all;
}

ResponseModel::ResponseModel(std::span<const TestReport> measured, std::uint64_t page) {
    const std::span<const ResponseKind> kinds = response_kinds();
    for (const TestReport& report : measured)
        for (const Curve& curve : report.curves) {
            const auto kind = std::ranges::find(kinds, curve.name, &ResponseKind::name);
            if (report.test == "response" && kind != kinds.end()) add(curve, *kind, page);
        }
    if (points_.empty())
        throw std::invalid_argument(
            "there are no response curves; measure them with probe --record, or probe response");
}

void ResponseModel::add(const Curve& curve, const ResponseKind& kind, std::uint64_t page) {
    const std::uint64_t of_kind = kind.large_pages ? large : page;
    bool left_out = false;
    for (std::size_t i = curve.x.size(); i-- > 0;) {  // the largest is kept
        if (!(curve.cycles[i] > 0) || !(curve.x[i] >= 1) || curve.x[i] > static_cast<double>(kind.most)) continue;
        const auto x = static_cast<std::uint64_t>(curve.x[i]);
        left_out =
            kind.arena_bytes(x, of_kind) > many_bytes && kind.string == response_kinds().front().string && !left_out;
        if (left_out && i + 1 < curve.x.size()) continue;
        left_out = false;
        points_.push_back({kinds_.size(), x, curve.cycles[i], kind.string(x, of_kind, model_seed)});
    }
    if (!points_.empty() && points_.back().curve == kinds_.size()) kinds_.push_back(&kind);
}

std::vector<ModelPoint> ResponseModel::points_of(const MachineDescription& machine) const {
    SimulatedOptions options;
    options.largest_arena = largest_arena;
    options.large_pages = {large};
    SimulatedTarget target(machine, options);
    MachineDescription copy = machine;
    std::vector<unsigned> latencies;
    for (const unsigned* each : latencies_on_path(copy)) latencies.push_back(*each);
    std::vector<ModelPoint> found;
    std::optional<Arena> arena;
    for (const Point& point : points_) {
        const ResponseKind& kind = *kinds_[point.curve];
        const std::uint64_t page = kind.large_pages ? large : machine.pages.size;
        if (found.empty() || found.back().curve != point.curve)
            arena = target.make_arena(std::min(largest_arena, kind.arena_bytes(kind.most, page)), page);
        const unsigned laps = response_laps(point.string);
        ModelPoint& one = found.emplace_back(point_of(target.run(*arena, {point.string}, {laps, laps, 0}), latencies));
        one.curve = point.curve;
        one.measured = point.measured;
    }
    return found;
}

double ResponseModel::error(std::span<const ModelPoint> points) const {
    std::vector<double> sums(kinds_.size()), counts(kinds_.size());
    for (const ModelPoint& point : points) {
        sums[point.curve] += std::min(1.0, std::abs(std::log(std::max(1e-9, point.simulated) / point.measured)));
        ++counts[point.curve];
    }
    double all = 0;
    for (std::size_t i = 0; i < kinds_.size(); ++i) all += sums[i] / counts[i] / static_cast<double>(kinds_.size());
    return all;
}

void ResponseModel::solve_latencies(MachineDescription& machine, std::vector<ModelPoint>& points) const {
    const std::vector<unsigned*> path = latencies_on_path(machine);
    std::vector<double> latencies;
    for (const unsigned* each : path) latencies.push_back(*each);
    std::vector<double> counts(kinds_.size()), weights(points.size());
    for (const ModelPoint& point : points) ++counts[point.curve];
    for (unsigned round = 0; round < rounds; ++round) {
        // Least squares whose weights are those of amounts: the sum that a few points far off do not govern.
        for (std::size_t k = 0; k < points.size(); ++k) {
            const double off = std::abs(sum_of(points[k], latencies) / points[k].measured - 1);
            weights[k] =
                1 / (std::max(off, clear_error) * points[k].measured * points[k].measured * counts[points[k].curve]);
        }
        for (unsigned sweep = 0; sweep < sweeps; ++sweep) improve(latencies, points, weights);
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
        *path[i] = static_cast<unsigned>(std::min<double>(most_cycles, std::round(latencies[i])));
        latencies[i] = *path[i];
    }
    for (ModelPoint& point : points) point.simulated = sum_of(point, latencies);
}

}  // namespace cachetally
