// SPDX-License-Identifier: BSD-3-Clause
#include "probes/analysis/change_points.hpp"

#include <algorithm>
#include <cmath>

namespace cachetally {
namespace {

constexpr double least_spread = 0.01;  ///< share by which times of a plateau may differ without noise
constexpr double joined = 0.06;        ///< log times of neighbours that are one plateau

/// Sums that give the squared deviation of any stretch at once.
class Costs {
public:
    explicit Costs(std::span<const double> values) : sum_{0}, squares_{0} {
        for (const double value : values) {
            sum_.push_back(sum_.back() + value);
            squares_.push_back(squares_.back() + value * value);
        }
    }

    /// Of values [from, to).
    double operator()(std::size_t from, std::size_t to) const {
        const double sum = sum_[to] - sum_[from];
        return std::max(0.0, squares_[to] - squares_[from] - sum * sum / static_cast<double>(to - from));
    }

private:
    std::vector<double> sum_, squares_;
};

}  // namespace

std::vector<double> isotonic(std::span<const double> values) {
    struct Pool {
        double mean = 0;
        std::size_t count = 0;
    };
    std::vector<Pool> pools;
    for (const double value : values) {
        pools.push_back({value, 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
            const Pool last = pools.back();
            pools.pop_back();
            Pool& merged = pools.back();
            const std::size_t count = merged.count + last.count;
            merged.mean =
                (merged.mean * static_cast<double>(merged.count) + last.mean * static_cast<double>(last.count)) /
                static_cast<double>(count);
            merged.count = count;
        }
    }
    std::vector<double> fitted;
    for (const Pool& pool : pools) fitted.insert(fitted.end(), pool.count, pool.mean);
    return fitted;
}

std::vector<std::size_t> change_points(std::span<const double> values, double penalty) {
    const std::size_t n = values.size();
    const Costs cost(values);
    std::vector<double> best(n + 1, 0);        // of the first values, so many
    std::vector<std::size_t> begin(n + 1, 0);  // of the last piece of these
    best[0] = -penalty;
    std::vector<std::size_t> candidates{0};
    for (std::size_t end = 1; end <= n; ++end) {
        best[end] = best[candidates.front()] + cost(candidates.front(), end) + penalty;
        begin[end] = candidates.front();
        for (const std::size_t from : candidates) {
            const double total = best[from] + cost(from, end) + penalty;
            if (total < best[end]) best[end] = total, begin[end] = from;
        }
        // A piece that costs more than all so far, penalty aside, will never begin the best.
        std::erase_if(candidates, [&](std::size_t from) { return best[from] + cost(from, end) > best[end]; });
        candidates.push_back(end);
    }
    std::vector<std::size_t> found;
    for (std::size_t end = n; end > 0 && begin[end] > 0; end = begin[end]) found.push_back(begin[end]);
    std::ranges::reverse(found);
    return found;
}

std::vector<Plateau> plateaus(std::span<const double> times, double noise, std::size_t least_points) {
    std::vector<double> logs;
    for (const double time : times) logs.push_back(std::log(time));
    const std::vector<double> fitted = isotonic(logs);
    const double spread = std::max(noise, least_spread);
    std::vector<std::size_t> ends =
        change_points(fitted, 3 * spread * spread * std::log(static_cast<double>(times.size()) + 1));
    ends.push_back(times.size());
    std::vector<Plateau> found;
    for (std::size_t piece = 0, first = 0; piece < ends.size(); first = ends[piece++]) {
        if (ends[piece] - first < least_points) continue;
        double sum = 0;
        for (std::size_t i = first; i < ends[piece]; ++i) sum += fitted[i];
        const double mean = sum / static_cast<double>(ends[piece] - first);
        if (!found.empty() && mean - found.back().value < joined) {
            found.back().last = ends[piece] - 1;
        } else {
            found.push_back({first, ends[piece] - 1, mean});
        }
    }
    for (Plateau& plateau : found) plateau.value = std::exp(plateau.value);
    return found;
}

}  // namespace cachetally
