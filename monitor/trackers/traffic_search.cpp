// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/trackers/traffic_search.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace cachetally {
namespace {

constexpr double near_traffic = 0.1;
constexpr int most_runs = 12;
constexpr double longest_epoch = 1e9;  // as tracker_of_size has room for

/// More is better; what sends too much comes last.
std::tuple<bool, double> nearness(double share) { return {share <= 1, share <= 1 ? share : -share}; }

}  // namespace

bool is_near_traffic(double bytes_per_event, double asked) {
    return std::abs(bytes_per_event - asked) <= near_traffic * asked;
}

EpochSearch::EpochSearch(const TrackerSpec& first, double asked_bytes_per_event)
    : asked_(asked_bytes_per_event), next_(first), best_(first) {}

void EpochSearch::record(TrackerResult result) {
    const double share = asked_ <= 0 ? 1.0 : result.bytes_per_event() / asked_;
    if (runs_ == 0 || nearness(share) > nearness(share_)) {
        share_ = share;
        best_ = next_;
        result_ = std::move(result);
    }
    ++runs_;
    (share > 1 ? too_short_ : long_enough_) = next_.epoch;
    const bool is_good = share <= 1 && share >= 1 - near_traffic;
    const std::uint64_t epoch = next_.epoch == 0 ? 0 : epoch_after(share);
    done_ = is_good || runs_ == most_runs || epoch == next_.epoch || epoch == too_short_ || epoch == long_enough_;
    next_.epoch = epoch;
}

/// Traffic goes with 1 / epoch, more or less. Steps to shorter epochs are small: those of most traffic may be few.
std::uint64_t EpochSearch::epoch_after(double share) const {
    constexpr double aim = 1 - near_traffic / 2, step_down = 0.5, step_up = 10;
    const auto least = static_cast<double>(next_.kind == TrackerKind::hotness ? next_.threshold : 1U);
    const auto low = static_cast<double>(too_short_), high = static_cast<double>(long_enough_);
    double epoch = static_cast<double>(next_.epoch) * std::clamp(share / aim, step_down, step_up);
    if (low != 0 && high != 0 && (epoch <= low || epoch >= high)) epoch = std::sqrt(low * high);
    const auto next =
        static_cast<std::uint64_t>(std::round(std::clamp(epoch, std::min(least, longest_epoch), longest_epoch)));
    // Short epochs are far apart: the one beside may send just as much as is asked for.
    if (next == next_.epoch && share < 1 && static_cast<double>(next) > least) return next - 1;
    return next;
}

std::vector<EpochSearch> searches_of(const TrackerSpec& spec, double asked_bytes_per_event) {
    std::vector<EpochSearch> searches{{spec, asked_bytes_per_event}};
    if (spec.kind != TrackerKind::hotness || asked_bytes_per_event <= 0) return searches;
    TrackerSpec choice = spec;
    constexpr std::uint32_t highest = 1U << 20;
    while (choice.threshold < highest && choice.threshold * 2 * asked_bytes_per_event <= spec.record()) {
        choice.threshold *= 2;
        searches.emplace_back(choice, asked_bytes_per_event);
    }
    return searches;
}

const EpochSearch& best_of(const std::vector<EpochSearch>& searches) {
    const auto merit = [](const EpochSearch& search) {
        const bool is_near = is_near_traffic(search.share(), 1);
        // What one counted event stands for is not told of.
        const std::uint64_t told = search.result().histogram.total() / search.spec().down_sampling;
        return std::tuple(is_near, is_near ? told : 0, nearness(search.share()));
    };
    return *std::ranges::max_element(searches, {}, merit);
}

}  // namespace cachetally
