// SPDX-License-Identifier: BSD-3-Clause
#include "probes/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <span>

#include "base/processors.hpp"
#include "base/units.hpp"
#include "probes/fit/response_model.hpp"
#include "probes/targets/data_path.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

/// A machine with one key changed.
struct Candidate {
    std::string value;
    MachineDescription machine;
};

/// A key that may change: the values that are tried from where a machine is.
struct Key {
    std::string component, name;
    bool is_number = false;
    std::function<std::vector<Candidate>(const MachineDescription&, bool fine)> values;
};

constexpr double coarse_factors[] = {0.25, 0.5, 0.75, 1, 1.25, 1.5, 2};
constexpr double fine_factors[] = {0.875, 0.9375, 1, 1.0625, 1.125};

/// Numbers of ways around one.
std::vector<unsigned> ways_around(unsigned ways, bool fine) {
    std::vector<unsigned> all;
    for (const double factor : fine ? std::span<const double>(fine_factors) : coarse_factors) {
        const auto tried = static_cast<unsigned>(std::lround(factor * ways));
        if (tried > 0 && (all.empty() || tried > all.back())) all.push_back(tried);
    }
    return all;
}

Key size_of_cache(std::size_t cache, const std::string& name) {
    return {name, "size", true, [cache](const MachineDescription& from, bool fine) {
                std::vector<Candidate> all;
                const CacheConfig& now = from.caches[cache];
                const unsigned lines = static_cast<unsigned>(now.size / now.line),
                               ways = now.ways == 0 ? lines : now.ways;
                for (const unsigned tried : ways_around(ways, fine)) {
                    Candidate candidate{"", from};
                    CacheConfig& config = candidate.machine.caches[cache];
                    config.size = now.size / ways * tried;
                    if (now.ways != 0) config.ways = tried;
                    candidate.value = format_size(config.size);
                    all.push_back(std::move(candidate));
                }
                return all;
            }};
}

Key entries_of_tlb(std::size_t tlb, const std::string& name) {
    return {name, "entries", true, [tlb](const MachineDescription& from, bool fine) {
                std::vector<Candidate> all;
                const TlbConfig& now = from.tlbs[tlb];
                const unsigned ways = now.ways == 0 ? now.entries : now.ways;
                for (const unsigned tried : ways_around(ways, fine)) {
                    Candidate candidate{"", from};
                    TlbConfig& config = candidate.machine.tlbs[tlb];
                    config.entries = now.entries / ways * tried;
                    if (now.ways != 0) config.ways = tried;
                    candidate.value = fmt::format("{}", config.entries);
                    all.push_back(std::move(candidate));
                }
                return all;
            }};
}

/// A key whose values have names; `member` gives it in a machine.
template <class Enum, class Member>
Key named_key(std::string component, std::string name, Member member) {
    return {std::move(component), std::move(name), false, [member](const MachineDescription& from, bool) {
                std::vector<Candidate> all;
                unsigned number = 0;
                for (const std::string_view value : names_of<Enum>()) {
                    Candidate candidate{std::string(value), from};
                    member(candidate.machine) = static_cast<Enum>(number++);
                    all.push_back(std::move(candidate));
                }
                return all;
            }};
}

std::vector<Key> keys_of(const MachineDescription& machine) {
    std::vector<Key> keys;
    const std::vector<std::size_t> caches = data_caches(machine), tlbs = data_tlbs(machine);
    for (const std::size_t i : caches) keys.push_back(size_of_cache(i, machine.caches[i].name));
    for (const std::size_t i : tlbs) keys.push_back(entries_of_tlb(i, machine.tlbs[i].name));
    keys.push_back({"pages", "mapping", false, [](const MachineDescription& from, bool) {
                        std::vector<Candidate> all{{std::string(name_of(from.pages.mapping)), from}};
                        for (const Mapping mapping : {Mapping::contiguous, Mapping::random}) {
                            if (mapping == from.pages.mapping) continue;
                            all.push_back({std::string(name_of(mapping)), from});
                            all.back().machine.pages.mapping = mapping;
                        }
                        return all;
                    }});
    if (!tlbs.empty())
        keys.push_back({"pages", "walk references", false, [](const MachineDescription& from, bool) {
                            std::vector<Candidate> all{{"true", from}, {"false", from}};
                            for (Candidate& each : all) each.machine.pages.walk_references = each.value == "true";
                            return all;
                        }});
    for (const std::size_t i : caches) {
        const std::string& name = machine.caches[i].name;
        keys.push_back(named_key<Replacement>(
            name, "replacement", [i](auto& m) -> auto& { return m.caches[i].replacement; }));
        if (i != caches.front())
            keys.push_back(named_key<Inclusion>(
                name, "inclusion", [i](auto& m) -> auto& { return m.caches[i].inclusion; }));
    }
    return keys;
}

/// A candidate with its latencies solved, and how far it is off; none where there is no such machine.
struct Tried {
    std::string value;
    MachineDescription machine;
    double error = 0;
};

class Fit {
public:
    Fit(std::span<const TestReport> measured, std::uint64_t page, const FitOptions& options)
        : model_(measured, page), options_(options), jobs_(options.jobs == 0 ? usable_processors() : options.jobs) {}

    FitResult run(const MachineDescription& start) {
        FitResult result;
        result.error_before = model_.error(model_.points_of(start));
        Tried best = *tried({"", start});
        const std::vector<Key> keys = keys_of(start);
        std::vector<FittedKey> fitted(keys.size());
        const auto try_keys = [&](bool names, bool fine) {
            const double before = best.error;
            for (std::size_t i = 0; i < keys.size(); ++i)
                if (names || keys[i].is_number) improve(keys[i], fine, best, fitted[i]);
            return before - best.error > as_close;
        };
        try_keys(true, false);
        if (try_keys(false, true)) try_keys(true, true);
        result.machine = best.machine;
        result.error = best.error;
        result.keys = std::move(fitted);
        add_latencies(best.machine, result.keys);
        result.simulations = simulations_;
        return result;
    }

private:
    static constexpr double least_gain = 1e-4;

    std::optional<Tried> tried(const Candidate& candidate) {
        Tried one{candidate.value, candidate.machine};
        try {
            std::vector<ModelPoint> points = model_.points_of(one.machine);
            model_.solve_latencies(one.machine, points);
            one.error = model_.error(points);
        } catch (const MachineError&) {
            return std::nullopt;
        }
        return one;
    }

    /// In the order of the candidates, whatever order they are simulated in.
    std::vector<Tried> all_tried(const std::vector<Candidate>& candidates) {
        std::vector<Tried> all;
        for (std::size_t first = 0; first < candidates.size(); first += jobs_) {
            if (options_.go_on && !options_.go_on()) throw ProbingEnded();
            std::vector<std::future<std::optional<Tried>>> some;
            for (std::size_t i = first; i < std::min<std::size_t>(first + jobs_, candidates.size()); ++i)
                some.push_back(std::async(std::launch::async, [this, &candidates, i] { return tried(candidates[i]); }));
            for (auto& each : some)
                if (std::optional<Tried> one = each.get()) all.push_back(std::move(*one)), ++simulations_;
        }
        return all;
    }

    /// Gives the key the value with which the curves come closest.
    void improve(const Key& key, bool fine, Tried& best, FittedKey& fitted) {
        const std::vector<Tried> all = all_tried(key.values(best.machine, fine));
        const auto closest = std::ranges::min_element(all, {}, &Tried::error);
        fitted = {key.component, key.name, current_value(key, best.machine), {}};
        if (closest == all.end()) return;
        // Another policy, or mapping, has to show; a number may be nearer by little.
        const bool better = closest->error < best.error - (key.is_number ? least_gain : as_close);
        const double least = better ? closest->error : best.error;
        if (better) fitted.value = closest->value;
        for (const Tried& one : all)
            if (one.value != fitted.value && one.error < least + as_close) fitted.as_good.push_back(one.value);
        if (!better) return;
        best = *closest;
    }

    static std::string current_value(const Key& key, const MachineDescription& machine) {
        for (const Candidate& candidate : key.values(machine, true))
            if (candidate.machine == machine) return candidate.value;
        return "";
    }

    /// The cycles by which a latency may differ with the curves as close.
    void add_latencies(const MachineDescription& machine, std::vector<FittedKey>& keys) {
        const std::vector<ModelPoint> points = model_.points_of(machine);
        const double error = model_.error(points);
        MachineDescription copy = machine;
        const std::vector<unsigned*> path = latencies_on_path(copy);
        const auto moved_error = [&](std::size_t latency, double by) {
            std::vector<ModelPoint> moved = points;
            for (ModelPoint& point : moved) point.simulated += point.times[latency] * by;
            return model_.error(moved);
        };
        const auto names = names_of_latencies(machine);
        for (std::size_t i = 0; i < path.size(); ++i) {
            const unsigned value = *path[i];
            const auto reach = [&](int direction) {
                unsigned by = 0;
                while (by < value + 64 && (direction > 0 || by < value) &&
                       moved_error(i, direction * (by + 1.0)) < error + as_close)
                    ++by;
                return by;
            };
            const unsigned low = value - reach(-1), high = value + reach(1);
            FittedKey key{names[i], "latency", fmt::format("{}", value), {}};
            if (low != high) key.as_good.push_back(fmt::format("{} to {}", low, high));
            keys.push_back(std::move(key));
        }
    }

    static std::vector<std::string> names_of_latencies(const MachineDescription& machine) {
        std::vector<std::string> names;
        for (const std::size_t i : data_caches(machine)) names.push_back(machine.caches[i].name);
        names.push_back(machine.memories.front().name);
        const std::vector<std::size_t> tlbs = data_tlbs(machine);
        for (std::size_t i = 1; i < tlbs.size(); ++i) names.push_back(machine.tlbs[tlbs[i]].name);
        if (!tlbs.empty()) names.push_back("walk");
        return names;
    }

    ResponseModel model_;
    const FitOptions& options_;
    unsigned jobs_, simulations_ = 0;
};

}  // namespace

FitResult fit(const MachineDescription& start, std::span<const TestReport> measured, const FitOptions& options) {
    for (const TestReport& report : measured)
        for (const Finding& finding : report.findings)
            if (report.test == "response" && !finding.value)
                throw std::invalid_argument(fmt::format(
                    "the response curves are not complete: {}; measure them with a larger --budget, as in probe "
                    "response --machine native --robust --budget 2.5e11 --record FILE.h5",
                    finding.reason));
    return Fit(measured, start.pages.size, options).run(start);
}

}  // namespace cachetally
