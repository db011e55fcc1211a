// SPDX-License-Identifier: BSD-3-Clause
#include "probes/fit/keys.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "base/units.hpp"
#include "probes/targets/data_path.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr double coarse_factors[] = {0.25, 0.5, 0.75, 1, 1.25, 1.5, 2};
constexpr double fine_factors[] = {0.875, 0.9375, 1, 1.0625, 1.125};
constexpr double factors_of_two[] = {0.25, 0.5, 1, 2, 4};
constexpr double least_gain_of_size = 1e-4;

/// Sets of ways, of a cache or a TLB.
struct Sets {
    std::uint64_t number = 1;
    unsigned ways = 1;
};

/// A cache or a TLB of a machine.
struct Level {
    bool is_cache;
    std::size_t index;

    const std::string& name(const MachineDescription& of) const {
        return is_cache ? of.caches[index].name : of.tlbs[index].name;
    }
    bool fully_associative(const MachineDescription& of) const {
        return (is_cache ? of.caches[index].ways : of.tlbs[index].ways) == 0;
    }
    Sets sets(const MachineDescription& of) const {
        const std::uint64_t entries =
            is_cache ? of.caches[index].size / of.caches[index].line : std::uint64_t{of.tlbs[index].entries};
        const unsigned ways = is_cache ? of.caches[index].ways : of.tlbs[index].ways;
        if (ways == 0) return {1, static_cast<unsigned>(entries)};
        return {entries / ways, ways};
    }
    MachineDescription with(MachineDescription machine, const Sets& sets) const {
        unsigned& ways = is_cache ? machine.caches[index].ways : machine.tlbs[index].ways;
        if (ways != 0) ways = sets.ways;
        if (is_cache)
            machine.caches[index].size = sets.number * sets.ways * machine.caches[index].line;
        else
            machine.tlbs[index].entries = static_cast<unsigned>(sets.number * sets.ways);
        return machine;
    }
    std::string size(const MachineDescription& of) const {
        return is_cache ? format_size(of.caches[index].size) : fmt::format("{}", of.tlbs[index].entries);
    }
};

constexpr unsigned most_fully_associative = 256;  ///< entries of a TLB

/// By ways, coarsely by sets, too; a small TLB in one set, too, as first TLBs often are.
FitKey size_of(const Level& level, const MachineDescription& machine) {
    const auto values = [level](const MachineDescription& from, FitStep step) {
        const Sets now = level.sets(from);
        const bool fine = step == FitStep::fine;
        std::vector<Sets> tried;
        for (const double factor : fine ? std::span<const double>(fine_factors) : coarse_factors) {
            const auto ways = static_cast<unsigned>(std::lround(factor * now.ways));
            if (ways > 0 && (tried.empty() || ways > tried.back().ways)) tried.push_back({now.number, ways});
        }
        if (!fine && !level.fully_associative(from)) {
            tried.push_back({now.number * 2, now.ways});
            if (now.number % 2 == 0) tried.push_back({now.number / 2, now.ways});
            for (const double factor : coarse_factors) {
                const auto entries =
                    static_cast<unsigned>(std::lround(factor * static_cast<double>(now.number * now.ways)));
                if (!level.is_cache && now.number > 1 && entries <= most_fully_associative)
                    tried.push_back({1, entries});
            }
        }
        std::vector<FitCandidate> all;
        for (const Sets& each : tried) {
            MachineDescription changed = level.with(from, each);
            all.push_back({level.size(changed), std::move(changed)});
        }
        return all;
    };
    return {level.name(machine), level.is_cache ? "size" : "entries", FitKey::Kind::number, least_gain_of_size, values};
}

/// At the same size.
FitKey ways_of(const Level& level, const MachineDescription& machine, double least_gain) {
    const auto values = [level](const MachineDescription& from, FitStep) {
        const Sets now = level.sets(from);
        std::vector<FitCandidate> all;
        for (const double factor : factors_of_two) {
            const auto ways = static_cast<unsigned>(factor * now.ways);
            const auto sets = static_cast<std::uint64_t>(static_cast<double>(now.number) / factor);
            if (sets * ways == now.number * now.ways)
                all.push_back({fmt::format("{}", ways), level.with(from, {sets, ways})});
        }
        return all;
    };
    return {level.name(machine), "ways", FitKey::Kind::policy, least_gain, values};
}

/// A key whose values have names; `member` gives it in a machine.
template <class Enum, class Member>
FitKey policy_of(std::string component, std::string name, double least_gain, Member member) {
    const auto values = [member](const MachineDescription& from, FitStep) {
        std::vector<FitCandidate> all;
        unsigned number = 0;
        for (const std::string_view value : names_of<Enum>()) {
            FitCandidate candidate{std::string(value), from};
            member(candidate.machine) = static_cast<Enum>(number++);
            all.push_back(std::move(candidate));
        }
        return all;
    };
    return {std::move(component), std::move(name), FitKey::Kind::policy, least_gain, values};
}

FitKey walk_references(double least_gain) {
    const auto values = [](const MachineDescription& from, FitStep) {
        std::vector<FitCandidate> all{{"true", from}, {"false", from}};
        for (FitCandidate& each : all) each.machine.pages.walk_references = each.value == "true";
        return all;
    };
    return {"pages", "walk references", FitKey::Kind::policy, least_gain, values};
}

}  // namespace

std::string FitKey::value_in(const MachineDescription& machine) const {
    for (const FitCandidate& candidate : values(machine, FitStep::fine))
        if (candidate.machine == machine) return candidate.value;
    return "";
}

std::vector<FitCandidate> mappings_from(const MachineDescription& machine) {
    std::vector<FitCandidate> all{{std::string(name_of(machine.pages.mapping)), machine}};
    for (const Mapping mapping : {Mapping::contiguous, Mapping::random}) {
        if (mapping == machine.pages.mapping) continue;
        all.push_back({std::string(name_of(mapping)), machine});
        all.back().machine.pages.mapping = mapping;
    }
    return all;
}

std::vector<FitKey> fit_keys(const MachineDescription& machine, double as_close) {
    const std::vector<std::size_t> caches = data_caches(machine), tlbs = data_tlbs(machine);
    std::vector<Level> levels;
    for (const std::size_t i : caches) levels.push_back({true, i});
    for (const std::size_t i : tlbs) levels.push_back({false, i});
    std::vector<FitKey> keys;
    for (const Level& level : levels) {
        keys.push_back(size_of(level, machine));
        if (!level.fully_associative(machine)) keys.push_back(ways_of(level, machine, as_close));
    }
    keys.push_back({"pages", "mapping", FitKey::Kind::policy, as_close,
                    [](const MachineDescription& from, FitStep) { return mappings_from(from); }});
    if (!tlbs.empty()) keys.push_back(walk_references(as_close));
    for (const std::size_t i : caches) {
        const std::string& name = machine.caches[i].name;
        keys.push_back(policy_of<Replacement>(
            name, "replacement", as_close, [i](auto& m) -> auto& { return m.caches[i].replacement; }));
        if (i != caches.front())
            keys.push_back(policy_of<Inclusion>(
                name, "inclusion", as_close, [i](auto& m) -> auto& { return m.caches[i].inclusion; }));
    }
    return keys;
}

}  // namespace cachetally
