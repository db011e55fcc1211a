// SPDX-License-Identifier: BSD-3-Clause
#include "probes/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

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

namespace {

constexpr double least_chance = 1e-12;
constexpr double within = 2;                   ///< of the log likelihood
constexpr double least_variance_ratio = 0.25;  ///< of numbers seen to that of pages that lie anywhere

struct Moments {
    double chance = 0, mean = 0, variance = 0;
};

/// Of a Poisson number with this mean, up to `ways`.
Moments truncated_poisson(double mean, std::uint64_t ways) {
    double sum = 0, first = 0, second = 0;
    for (std::uint64_t k = 0; k <= ways; ++k) {
        const auto number = static_cast<double>(k);
        const double chance = std::exp(number * std::log(mean) - mean - std::lgamma(number + 1));
        sum += chance;
        first += number * chance;
        second += number * number * chance;
    }
    if (sum <= 0) return {};
    const double average = first / sum;
    return {sum, average, std::max(0.0, second / sum - average * average)};
}

/// Chance that the first failure comes with `pages` pages.
double chance_of_failure(std::uint64_t pages, std::uint64_t colours, std::uint64_t ways) {
    return std::max(0.0, chance_that_all_fit(pages - 1, colours, ways) - chance_that_all_fit(pages, colours, ways));
}

double log_likelihood(std::span<const std::uint64_t> failures, std::uint64_t colours, std::uint64_t ways) {
    double sum = 0;
    for (const std::uint64_t pages : failures)
        sum += std::log(std::max(least_chance, chance_of_failure(pages, colours, ways)));
    return sum;
}

double variance_of(std::span<const std::uint64_t> numbers) {
    double sum = 0, squares = 0;
    for (const std::uint64_t number : numbers) {
        sum += static_cast<double>(number);
        squares += static_cast<double>(number) * static_cast<double>(number);
    }
    const auto count = static_cast<double>(numbers.size());
    return std::max(0.0, squares / count - sum / count * (sum / count));
}

double variance_of_model(std::uint64_t colours, std::uint64_t ways) {
    double sum = 0, first = 0, second = 0;
    for (std::uint64_t pages = ways + 1; pages <= colours * ways + 1; ++pages) {
        const double chance = chance_of_failure(pages, colours, ways);
        const auto number = static_cast<double>(pages);
        sum += chance;
        first += number * chance;
        second += number * number * chance;
    }
    return sum <= 0 ? 0 : second / sum - first / sum * (first / sum);
}

}  // namespace

double chance_that_all_fit(std::uint64_t pages, std::uint64_t colours, std::uint64_t ways) {
    if (pages <= ways) return 1;
    if (pages > colours * ways) return 0;
    if (colours == 1) return 1;
    const auto n = static_cast<double>(pages), c = static_cast<double>(colours);
    const Moments one = truncated_poisson(n / c, ways);
    if (one.chance <= 0 || one.variance <= 0) return 0;
    const double deviation = n - c * one.mean, variance = c * one.variance;
    const double density =
        std::exp(-deviation * deviation / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
    // n! / n^n e^n times the chance that the truncated numbers sum up to n.
    const double log_factor = std::lgamma(n + 1) - n * std::log(n) + n;
    return std::min(1.0, std::exp(log_factor + c * std::log(one.chance)) * density);
}

ColourEstimate estimate_colours(std::span<const std::uint64_t> first_failures, std::uint64_t ways) {
    if (first_failures.empty() || ways == 0) return {};
    const auto [least, most] = std::ranges::minmax(first_failures);
    if (least <= ways) return {};
    if (least == most && first_failures.size() > 2 && (least - 1) % ways == 0) {
        const std::uint64_t colours = (least - 1) / ways;
        return {colours, colours, colours, true};
    }
    const std::uint64_t from = std::max<std::uint64_t>(1, (most - 1 + ways - 1) / ways),
                        to = std::max(from, 16 * most / ways);
    std::vector<double> likelihoods;
    for (std::uint64_t colours = from; colours <= to; ++colours)
        likelihoods.push_back(log_likelihood(first_failures, colours, ways));
    const auto best = std::ranges::max_element(likelihoods);
    ColourEstimate found;
    found.colours = found.low = found.high = from + static_cast<std::uint64_t>(best - likelihoods.begin());
    for (std::size_t i = 0; i < likelihoods.size(); ++i) {
        if (likelihoods[i] < *best - within) continue;
        found.low = std::min<std::uint64_t>(found.low, from + i);
        found.high = std::max<std::uint64_t>(found.high, from + i);
    }
    if (variance_of(first_failures) < least_variance_ratio * variance_of_model(found.colours, ways)) return {};
    return found;
}

}  // namespace cachetally
