// SPDX-License-Identifier: BSD-3-Clause
#include "probes/fit/response_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "probes/targets/simulated.hpp"
#include "sim/model/replacement/table.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t model_seed = 1, largest_arena = std::uint64_t{256} << 20;
constexpr std::size_t loads_of_slow = 1 << 15;
constexpr std::size_t halved_drrip =
    2;  ///< its regions have four sets at least, so that leaders of both kinds are left
constexpr std::uint64_t sampled_line = 64, least_sampled = 1 << 11, least_of_page = 8;
constexpr std::uint64_t sampled_sets = 0x15a6d;  ///< any: the low bits of the numbers of those that are sampled
constexpr unsigned placements = 3;               ///< of ordinary pages, as where curves are measured
constexpr std::uint64_t many_pages = 512;        ///< of which one placement is like another
constexpr double level = 0.05;                   ///< relative, by which the points of a level differ at most
constexpr double most_of_level = 4;              ///< the range of a last level that is kept: its end over its begin
constexpr unsigned most_left_out = 3;            ///< points within a level, in turn
constexpr double clear_error = 0.01;             ///< relative, below which points weigh alike
constexpr unsigned warm_up = 2;                  ///< laps, at most
constexpr unsigned rounds = 20, sweeps = 200;
constexpr std::uint64_t far = 16;  ///< times what points take, from which on a level evicts nothing

double sum_of(const ModelPoint& point, std::span<const double> latencies) {
    double sum = point.rest;
    for (std::size_t i = 0; i < latencies.size(); ++i) sum += point.times[i] * latencies[i];
    return sum;
}

/// How often per load each latency is part of it, and what is left of the time.
ModelPoint point_of(const Measurement& found, std::span<const unsigned> latencies) {
    ModelPoint point;
    point.times.push_back(1);
    point.times.insert(point.times.end(), found.cache_misses.begin(), found.cache_misses.end());
    point.times.insert(point.times.end(), found.tlb_misses.begin(), found.tlb_misses.end());
    point.rest = found.cycles;
    for (std::size_t i = 0; i < latencies.size(); ++i) point.rest -= point.times[i] * latencies[i];
    return point;
}

/// Of the same point on several placements.
ModelPoint mean_of(std::span<const ModelPoint> placed) {
    ModelPoint mean = placed.front();
    const auto share = 1 / static_cast<double>(placed.size());
    for (double& times : mean.times) times = 0;
    mean.rest = 0;
    for (const ModelPoint& each : placed) {
        for (std::size_t i = 0; i < mean.times.size(); ++i) mean.times[i] += each.times[i] * share;
        mean.rest += each.rest * share;
    }
    return mean;
}

/// Weighted least squares of the latencies as products of all pairs of columns: `above` with what was measured.
struct Normal {
    std::vector<std::vector<double>> products;
    std::vector<double> above;

    Normal(std::span<const ModelPoint> points, std::span<const double> weights, std::size_t latencies)
        : products(latencies, std::vector<double>(latencies)), above(latencies) {
        for (std::size_t k = 0; k < points.size(); ++k) {
            const std::vector<double>& times = points[k].times;
            for (std::size_t j = 0; j < latencies; ++j) {
                above[j] += weights[k] * times[j] * (points[k].measured - points[k].rest);
                for (std::size_t i = 0; i < latencies; ++i) products[j][i] += weights[k] * times[j] * times[i];
            }
        }
    }

    /// One pass of coordinate descent; none may be negative. Returns by how much a latency changed at most.
    double improve(std::vector<double>& latencies) const {
        double most = 0;
        for (std::size_t j = 0; j < latencies.size(); ++j) {
            if (products[j][j] <= 0) continue;
            const double left =
                above[j] - std::inner_product(latencies.begin(), latencies.end(), products[j].begin(), 0.0);
            const double better = std::max(j == 0 ? 1.0 : 0.0, latencies[j] + left / products[j][j]);
            most = std::max(most, std::abs(better - latencies[j]));
            latencies[j] = better;
        }
        return most;
    }
};

/// Whether the points before and after are as high.
bool is_inside_level(const Curve& curve, std::size_t i) {
    const auto is_as_high = [&](std::size_t other) {
        return std::abs(curve.cycles[other] / curve.cycles[i] - 1) < level;
    };
    return i > 0 && i + 1 < curve.x.size() && is_as_high(i - 1) && is_as_high(i + 1);
}

/// Where the level begins that a curve ends with.
double begin_of_last_level(const Curve& curve) {
    std::size_t i = curve.x.size() - 1;
    while (i > 0 && std::abs(curve.cycles[i - 1] / curve.cycles.back() - 1) < level) --i;
    return curve.x[i];
}

/// How often the sets of all caches can be halved into such as do not know of each other; 0 where they cannot.
std::size_t independent_sets(const MachineDescription& machine) {
    std::size_t halved = 63;
    for (const std::size_t i : data_caches(machine)) {
        const CacheConfig& cache = machine.caches[i];
        if (cache.ways == 0 || cache.slices != 0 || cache.indexing != Indexing::modulo || cache.line != sampled_line ||
            cache.prefetch.kind != PrefetchKind::none)
            return 0;
        const auto most = static_cast<std::size_t>(std::countr_zero(cache.size / cache.line / cache.ways));
        halved = std::min(halved, cache.replacement == replacements::drrip ? std::min(most, halved_drrip) : most);
    }
    return halved;
}

/// With levels that no point comes near made smaller: they evict nothing then, either, and are made in less time.
MachineDescription within_reach(MachineDescription machine, std::uint64_t bytes) {
    for (const std::size_t i : data_caches(machine)) {
        CacheConfig& cache = machine.caches[i];
        if (cache.ways == 0 || cache.slices != 0) continue;
        while (cache.size % (2 * std::uint64_t{cache.line} * cache.ways) == 0 && cache.size / 2 >= far * bytes)
            cache.size /= 2;
    }
    return machine;
}

/// A string, and the lines of every second set, every fourth and so on, as long as they are many, in all and of each of
/// its pages.
std::vector<Offsets> samples_of(Offsets string, std::uint64_t pages) {
    std::vector<Offsets> samples{std::move(string)};
    for (std::uint64_t step = 2; samples.back().size() >= 2 * std::max(least_sampled, least_of_page * pages);
         step *= 2) {
        std::vector<std::uint64_t> some;
        std::ranges::copy_if(samples.back(), std::back_inserter(some),
                             [&](std::uint64_t offset) { return (offset / sampled_line ^ sampled_sets) % step == 0; });
        samples.emplace_back(std::move(some));
    }
    return samples;
}

}  // namespace

std::vector<PathLatency> latencies_on_path(MachineDescription& machine) {
    std::vector<PathLatency> all;
    for (const std::size_t i : data_caches(machine))
        all.push_back({machine.caches[i].name, &machine.caches[i].latency});
    all.push_back({machine.memories.front().name, &machine.memories.front().latency});
    const std::vector<std::size_t> tlbs = data_tlbs(machine);
    for (std::size_t i = 1; i < tlbs.size(); ++i)
        all.push_back({machine.tlbs[tlbs[i]].name, &machine.tlbs[tlbs[i]].latency});
    if (!tlbs.empty()) all.push_back({"walk", &machine.pages.walk_latency});
    return all;
}

MachineDescription structure_of(const MachineDescription& machine) {
    MachineDescription structure = machine;
    structure.name = structure.description = structure.source = "";
    for (const PathLatency& latency : latencies_on_path(structure)) *latency.cycles = 1;
    return structure;
}

ResponseModel::ResponseModel(std::span<const TestReport> measured, std::uint64_t page, std::uint64_t large_page)
    : page_(page), large_page_(large_page) {
    const std::span<const ResponseKind> kinds = response_kinds();
    for (const TestReport& report : measured)
        for (const Curve& curve : report.curves) {
            const auto kind = std::ranges::find(kinds, curve.name, &ResponseKind::name);
            if (report.test == "response" && kind != kinds.end() && !curve.x.empty()) add(curve, *kind);
        }
    if (points_.empty())
        throw std::invalid_argument(
            "there are no response curves; measure them with probe --record, or probe response");
}

std::uint64_t ResponseModel::page_of(const ResponseKind& kind) const {
    return kind.large_pages && large_page_ > page_ ? large_page_ : page_;
}

void ResponseModel::add(const Curve& curve, const ResponseKind& kind) {
    const double end = most_of_level * begin_of_last_level(curve);
    double count = 0;
    unsigned left_out = ~0U;  // never the largest
    for (std::size_t i = curve.x.size(); i-- > 0;) {
        if (!(curve.cycles[i] > 0) || !(curve.x[i] >= 1) || curve.x[i] > static_cast<double>(kind.most)) continue;
        if (curve.x[i] > end) continue;
        const auto x = static_cast<std::uint64_t>(curve.x[i]);
        Offsets string = kind.string(x, page_of(kind), model_seed);
        const bool inside = is_inside_level(curve, i), slow = string.size() > loads_of_slow;
        if (left_out < (inside ? most_left_out : slow ? 1 : 0)) {
            ++left_out;
            continue;
        }
        left_out = 0;
        Point& point = points_.emplace_back();
        point.curve = kinds_.size();
        point.measured = curve.cycles[i];
        point.bytes = kind.arena_bytes(x, page_of(kind));
        const std::uint64_t pages = (point.bytes + page_of(kind) - 1) / page_of(kind);
        point.placements = kind.large_pages || inside || pages > many_pages ? 1 : placements;
        const unsigned laps = response_laps(string);
        point.warm_up = std::min(laps, warm_up);
        point.laps = std::max(1U, laps / 2);  // there is no noise
        point.strings = samples_of(std::move(string), pages);
        ++count;
    }
    if (count == 0) return;
    kinds_.push_back(&kind);
    counts_.push_back(count);
}

unsigned ResponseModel::stage_of(std::size_t point) const {
    const ResponseKind& kind = *kinds_[points_[point].curve];
    if (points_[point].strings.front().size() > loads_of_slow) return 3;
    if (kind.large_pages) return 0;
    return kind.x_unit == "pages" ? 1 : 2;
}

std::vector<ModelPoint> ResponseModel::points_of(const MachineDescription& machine,
                                                 std::span<const std::size_t> points) const {
    SimulatedOptions options;
    options.largest_arena = largest_arena;
    options.large_pages = {large_page_};
    const MachineDescription simulated =
        within_reach(machine, std::ranges::max_element(points_, {}, &Point::bytes)->bytes);
    SimulatedTarget target(simulated, options);
    MachineDescription copy = machine;
    std::vector<unsigned> latencies;
    for (const PathLatency& each : latencies_on_path(copy)) latencies.push_back(*each.cycles);
    const std::size_t halved = independent_sets(simulated);
    std::vector<ModelPoint> found;
    for (const std::size_t i : points) {
        const Point& point = points_[i];
        const Offsets& string = point.strings[std::min(halved, point.strings.size() - 1)];
        std::vector<ModelPoint> placed;
        for (std::uint32_t id = 0; id < point.placements; ++id) {  // of all points the same
            const Arena arena{id, point.bytes, page_of(*kinds_[point.curve])};
            placed.push_back(point_of(target.run(arena, {string}, {point.warm_up, point.laps, 0}), latencies));
        }
        found.push_back(mean_of(placed));
        found.back().curve = point.curve;
        found.back().measured = point.measured;
    }
    set_times(found, machine);
    return found;
}

std::vector<ModelPoint> ResponseModel::points_of(const MachineDescription& machine) const {
    std::vector<std::size_t> all(points_.size());
    std::iota(all.begin(), all.end(), 0);
    return points_of(machine, all);
}

void ResponseModel::set_times(std::vector<ModelPoint>& points, const MachineDescription& machine) {
    MachineDescription copy = machine;
    std::vector<double> latencies;
    for (const PathLatency& each : latencies_on_path(copy)) latencies.push_back(*each.cycles);
    for (ModelPoint& point : points) point.simulated = sum_of(point, latencies);
}

double ResponseModel::error(std::span<const ModelPoint> points) const {
    double sum = 0;
    for (const ModelPoint& point : points)
        sum +=
            std::min(1.0, std::abs(std::log(std::max(1e-9, point.simulated) / point.measured))) / counts_[point.curve];
    return sum / static_cast<double>(counts_.size());
}

void ResponseModel::solve_latencies(MachineDescription& machine, std::vector<ModelPoint>& points) const {
    const std::vector<PathLatency> path = latencies_on_path(machine);
    std::vector<double> latencies, weights(points.size());
    for (const PathLatency& each : path) latencies.push_back(*each.cycles);
    for (unsigned round = 0; round < rounds; ++round) {
        // Least squares whose weights are those of amounts: the sum that a few points far off do not govern.
        for (std::size_t k = 0; k < points.size(); ++k) {
            const double measured = points[k].measured;
            const double off = std::abs(sum_of(points[k], latencies) / measured - 1);
            weights[k] = 1 / (std::max(off, clear_error) * measured * measured * counts_[points[k].curve]);
        }
        const Normal normal(points, weights, latencies.size());
        for (unsigned sweep = 0; sweep < sweeps; ++sweep)
            if (normal.improve(latencies) < 1e-4) break;
    }
    for (std::size_t i = 0; i < path.size(); ++i)
        *path[i].cycles = static_cast<unsigned>(std::min<double>(most_cycles, std::round(latencies[i])));
    set_times(points, machine);
}

}  // namespace cachetally
