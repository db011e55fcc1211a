// SPDX-License-Identifier: BSD-3-Clause
#include "probes/fit/candidates.hpp"

#include <algorithm>
#include <future>
#include <mutex>
#include <span>

#include "base/processors.hpp"
#include "cachetally/topology.hpp"
#include "probes/targets/data_path.hpp"

namespace cachetally {
namespace {

/// Share by which the error of some points, solved for alone, may be above what they add to that of all.
constexpr double margin = 0.1;

/// The first levels of a machine, and these as text.
struct Upper {
    std::size_t caches, tlbs;
    std::string text;
};

void erase_all(auto& from, std::span<const std::size_t> ascending) {
    for (std::size_t i = ascending.size(); i-- > 0;)
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(ascending[i]));
}

/// Loads that all hit in some levels do not hang on those below, unless one of these takes lines from them (inclusive).
/// The last are all levels.
std::vector<Upper> uppers_of(const MachineDescription& machine) {
    const MachineDescription structure = structure_of(machine);
    const std::vector<std::size_t> caches = data_caches(machine), tlbs = data_tlbs(machine);
    std::size_t least = 1;
    for (std::size_t i = 0; i < caches.size(); ++i)
        if (machine.caches[caches[i]].inclusion == Inclusion::inclusive) least = i + 1;
    std::vector<Upper> all;
    for (std::size_t i = std::min(least, caches.size()); i <= caches.size(); ++i)
        for (std::size_t j = std::min<std::size_t>(1, tlbs.size()); j <= tlbs.size(); ++j) {
            MachineDescription upper = structure;
            erase_all(upper.caches, std::span(caches).subspan(i));
            erase_all(upper.tlbs, std::span(tlbs).subspan(j));
            all.push_back({i, j, write_machine(upper)});
        }
    return all;
}

/// The number of levels that loads reach.
std::size_t reached(std::span<const double> misses) {
    const auto last = std::ranges::find(misses, 0.0);
    return static_cast<std::size_t>(last - misses.begin()) + (last == misses.end() ? 0 : 1);
}

/// The fewest levels that a point of a machine hangs on.
const std::string& key_of(const ModelPoint& point, const std::vector<Upper>& uppers) {
    const std::size_t all = uppers.back().caches;
    const std::span<const double> misses = std::span(point.times).subspan(1);
    const std::size_t caches = reached(misses.first(all)), tlbs = reached(misses.subspan(all));
    return std::ranges::find_if(uppers,
                                [&](const Upper& upper) { return upper.caches >= caches && upper.tlbs >= tlbs; })
        ->text;
}

}  // namespace

struct FitCandidates::Work {
    const FitCandidate& candidate;
    std::optional<FittedMachine> found = std::nullopt;
    std::vector<std::pair<std::string, std::pair<std::size_t, ModelPoint>>> fresh = {};  ///< key, and number of point
};

FitCandidates::FitCandidates(const ResponseModel& model, const FitOptions& options)
    : model_(model), options_(options), jobs_(options.jobs == 0 ? usable_processors() : options.jobs) {
    for (std::size_t i = 0; i < model.size(); ++i) stages_[model.stage_of(i)].push_back(i);
}

std::vector<FittedMachine> FitCandidates::fitted(const std::vector<FitCandidate>& candidates, double most) {
    std::vector<Work> all;
    for (const FitCandidate& candidate : candidates) all.push_back({candidate});
    std::mutex mutex;
    std::size_t next = 0;
    const auto take = [&]() -> Work* {
        const std::lock_guard lock(mutex);
        if (options_.go_on && !options_.go_on()) throw ProbingEnded();
        return next < all.size() ? &all[next++] : nullptr;
    };
    std::vector<std::future<void>> workers;
    for (std::size_t i = 0; i < std::min<std::size_t>(jobs_, all.size()); ++i)
        workers.push_back(std::async(std::launch::async, [&] {
            while (Work* work = take()) do_work(*work, most);
        }));
    for (std::future<void>& worker : workers) worker.wait();
    for (std::future<void>& worker : workers) worker.get();
    std::vector<FittedMachine> found;
    for (Work& work : all) {  // only now, so that none knows what others have found meanwhile
        simulations_ += work.fresh.empty() ? 0 : 1;
        for (auto& [key, point] : work.fresh) {
            auto& known = known_[key];
            known.resize(model_.size());
            known[point.first] = std::move(point.second);
        }
        if (work.found) found.push_back(std::move(*work.found));
    }
    return found;
}

void FitCandidates::do_work(Work& work, double most) const try {
    const MachineDescription& machine = work.candidate.machine;
    const std::vector<Upper> uppers = uppers_of(machine);
    FittedMachine found{work.candidate.value, machine};
    std::vector<ModelPoint> points;
    const auto add = [&](const std::vector<std::size_t>& some) {
        std::vector<std::size_t> missing;
        for (const std::size_t i : some) {
            const auto is_known = [&](const Upper& upper) {
                const auto known = known_.find(upper.text);
                if (known == known_.end() || !known->second[i]) return false;
                points.push_back(*known->second[i]);
                return true;
            };
            if (std::ranges::none_of(uppers, is_known)) missing.push_back(i);
        }
        const std::vector<ModelPoint> simulated = model_.points_of(machine, missing);
        for (std::size_t k = 0; k < missing.size(); ++k)
            work.fresh.push_back({key_of(simulated[k], uppers), {missing[k], simulated[k]}});
        points.insert(points.end(), simulated.begin(), simulated.end());
    };
    for (const std::vector<std::size_t>& stage : stages_) {
        add(stage);
        found.machine = machine;
        found.points = points;
        model_.solve_latencies(found.machine, found.points);
        found.error = model_.error(found.points);
        if (found.error > most * (1 + margin)) break;
    }
    work.found = std::move(found);
} catch (const MachineError&) {
    work.fresh.clear();
}

}  // namespace cachetally
