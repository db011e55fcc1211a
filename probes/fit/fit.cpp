// SPDX-License-Identifier: BSD-3-Clause
#include "probes/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <stdexcept>

#include "probes/fit/candidates.hpp"
#include "probes/fit/keys.hpp"
#include "probes/fit/measured.hpp"
#include "probes/fit/response_model.hpp"

namespace cachetally {
namespace {

class Fit {
public:
    Fit(std::span<const TestReport> measured, const MachineDescription& start, const FitOptions& options)
        : model_(measured, start.pages.size, options.large_page),
          candidates_(model_, options),
          start_(start),
          keys_(fit_keys(start, as_close)) {}

    FitResult run() {
        FitResult result;
        result.error_before = model_.error(model_.points_of(start_));
        FittedMachine best = best_by_mapping();
        candidates_.forget();
        best = candidates_.fitted({{"", best.machine}}).front();
        settle(best, std::array{FitStep::coarse, FitStep::fine}, true);
        if (best.error > good_enough) try_policies_first(best);
        for (const FitKey& key : keys_) result.keys.push_back(judged(key, best));
        add_latencies(best, result.keys);
        result.machine = best.machine;
        result.error = best.error;
        result.simulations = candidates_.simulations();
        return result;
    }

private:
    static constexpr unsigned most_rounds = 12, rounds_by_mapping = 2;
    static constexpr double good_enough = 0.015;  ///< the error below which no second way is tried

    /// Sizes that are fitted with another mapping are others: they are fitted with each.
    FittedMachine best_by_mapping() {
        std::optional<FittedMachine> best;
        for (const FitCandidate& begin : mappings_from(start_)) {
            if (is_alike(begin.machine.pages.mapping, start_.pages.mapping)) continue;
            std::vector<FittedMachine> all = candidates_.fitted({begin});
            if (all.empty()) continue;
            settle(all.front(), std::array{FitStep::coarse}, false, rounds_by_mapping);
            if (!best || all.front().error < best->error - as_close) best = std::move(all.front());
        }
        if (!best) throw std::invalid_argument("the machine to begin with cannot be simulated");
        return *std::move(best);
    }

    /// Sizes that are fitted with the wrong policy may imitate another: once more from the start, policies first.
    void try_policies_first(FittedMachine& best) {
        MachineDescription begin = start_;
        begin.pages.mapping = best.machine.pages.mapping;
        FittedMachine other = candidates_.fitted({{"", begin}}).front();
        bool changed = false;
        for (const FitKey& key : keys_)
            if (key.kind == FitKey::Kind::policy) changed |= improve(key, FitStep::coarse, other);
        if (!changed) return;
        settle(other, std::array{FitStep::coarse}, true);
        if (other.error >= best.error - as_close) return;
        best = std::move(other);
        settle(best, std::array{FitStep::coarse, FitStep::fine}, true);
    }

    /// Without need of fitting sizes with both: an arena's pages follow one another in memory.
    static bool is_alike(Mapping one, Mapping other) {
        return one != other && one != Mapping::random && (other == Mapping::identity || other == Mapping::contiguous);
    }

    /// Gives the keys, in turn, the values with which the curves come closest, until none changes.
    void settle(FittedMachine& best, std::span<const FitStep> steps, bool policies, unsigned rounds = most_rounds) {
        bool changed = true;
        for (unsigned round = 0; changed && round < rounds; ++round) {
            changed = false;
            for (const FitStep step : steps)
                for (const FitKey& key : keys_)
                    if (key.kind == FitKey::Kind::number || (policies && step == FitStep::coarse))
                        changed |= improve(key, step, best);
        }
    }

    bool improve(const FitKey& key, FitStep step, FittedMachine& best) {
        const std::vector<FittedMachine> all = candidates_.fitted(key.values(best.machine, step), best.error);
        const auto closest = std::ranges::min_element(all, {}, &FittedMachine::error);
        if (closest == all.end() || closest->error >= best.error - key.least_gain) return false;
        best = *closest;
        return true;
    }

    /// What of all values, those of both steps, comes as close.
    FittedKey judged(const FitKey& key, const FittedMachine& best) {
        FittedKey fitted{key.component, key.name, key.value_in(best.machine), {}};
        std::vector<FitCandidate> tried = key.values(best.machine, FitStep::coarse);
        if (key.kind == FitKey::Kind::number)
            for (FitCandidate& each : key.values(best.machine, FitStep::fine)) tried.push_back(std::move(each));
        std::erase_if(tried, [&](const FitCandidate& each) { return each.value == fitted.value; });
        const std::vector<FittedMachine> all = candidates_.fitted(tried, best.error + as_close);
        std::size_t as_good = 0;
        for (const FittedMachine& one : all) {
            if (one.error >= best.error + as_close) continue;
            ++as_good;
            if (std::ranges::find(fitted.as_good, one.value) == fitted.as_good.end())
                fitted.as_good.push_back(one.value);
        }
        fitted.any_as_good = as_good > 0 && as_good == all.size();
        return fitted;
    }

    /// The cycles by which a latency may differ with the curves as close. One that may be any stays that of the start.
    void add_latencies(FittedMachine& best, std::vector<FittedKey>& keys) const {
        MachineDescription begin = start_;
        const std::vector<PathLatency> path = latencies_on_path(best.machine), before = latencies_on_path(begin);
        for (std::size_t i = 0; i < path.size(); ++i) {
            const unsigned value = *path[i].cycles, most = value + most_more;
            unsigned low = value, high = value;
            while (low > 0 && moved_error(best.points, i, low - 1.0 - value) < best.error + as_close) --low;
            while (high < most && moved_error(best.points, i, high + 1.0 - value) < best.error + as_close) ++high;
            FittedKey key{path[i].component, "latency", fmt::format("{}", value), {}};
            if (low != high) key.as_good.push_back(fmt::format("{} to {}", low, high));
            key.any_as_good = low == 0 && high == most;
            if (key.any_as_good) {
                *path[i].cycles = *before[i].cycles;
                key.value = fmt::format("{}", *before[i].cycles);
                ResponseModel::set_times(best.points, best.machine);
                best.error = model_.error(best.points);
            }
            keys.push_back(std::move(key));
        }
    }

    static constexpr unsigned most_more = 64;  ///< cycles by which latencies are moved at most

    double moved_error(std::vector<ModelPoint> points, std::size_t latency, double by) const {
        for (ModelPoint& point : points) point.simulated += point.times[latency] * by;
        return model_.error(points);
    }

    ResponseModel model_;
    FitCandidates candidates_;
    const MachineDescription& start_;
    std::vector<FitKey> keys_;
};

}  // namespace

FitResult fit(const MachineDescription& start, std::span<const TestReport> measured, const FitOptions& options) {
    if (const std::string missing = missing_curves(measured); !missing.empty())
        throw std::invalid_argument(fmt::format(
            "the response curves are not complete: {}; measure them with a larger --budget, as in probe response "
            "--machine native --robust --budget 2.5e11 --record FILE.h5",
            missing));
    FitResult result = Fit(measured, start, options).run();
    if (options.frequency > 0) result.machine.period = period_of(options.frequency);
    return result;
}

}  // namespace cachetally
