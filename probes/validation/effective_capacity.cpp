// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/effective_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "probes/targets/data_path.hpp"

namespace cachetally {
namespace {

constexpr unsigned drawn_placements = 208;  ///< eight times the runs of a size that is stable at once
constexpr double seen_by_rounding = 0.5;    ///< cycles
constexpr double bytes_of_entry = 8;        ///< of a page table
constexpr double upper_tables = 3;          ///< lines of the table's upper levels

/// A level as pages fill it.
struct FilledLevel {
    std::uint64_t colours = 1;  ///< classes of sets that pages meet in
    std::uint64_t ways = 1;     ///< pages of a class that stay
    bool lru = false;
    double miss = 0;  ///< cycles that a miss takes more than a hit
};

/// Pages that a program gets, of the average placement and the best one.
struct PagesKept {
    std::uint64_t average = 0, best = 0;
};

/// Pages are drawn one by one. Of a class with too many all miss in a circle, or at best those that are too many.
PagesKept pages_kept(const FilledLevel& level) {
    const std::uint64_t most = level.colours * level.ways;
    std::vector<double> sum(most + 1, 0), least(most + 1, 1);  // shares of pages that miss
    for (unsigned placement = 0; placement < drawn_placements; ++placement) {
        Random random(splitmix64(placement));
        std::vector<std::uint64_t> of_class(level.colours, 0);
        double lost = 0, too_many = 0;
        for (std::uint64_t pages = 1; pages <= most; ++pages) {
            const std::uint64_t now = ++of_class[random.below(level.colours)];
            if (now > level.ways) lost += now == level.ways + 1 ? static_cast<double>(now) : 1, ++too_many;
            const auto all = static_cast<double>(pages);
            sum[pages] += lost / all;
            least[pages] = std::min(least[pages], (level.lru ? lost : too_many) / all);
        }
    }
    PagesKept kept;
    const double visible = seen_by_rounding / level.miss;
    while (kept.average < most && sum[kept.average + 1] < visible * drawn_placements) ++kept.average;
    for (std::uint64_t pages = 1; pages <= most; ++pages)
        if (least[pages] < visible) kept.best = pages;
    return kept;
}

double reach_of_tlbs(const MachineDescription& machine) {
    double reach = 0;
    for (const std::size_t index : data_tlbs(machine)) {
        const TlbConfig& tlb = machine.tlbs[index];
        reach = std::max(reach, static_cast<double>(tlb.entries * bytes_per_entry(machine, tlb)));
    }
    return reach;
}

double number_of(const std::vector<Fact>& facts, const std::string& level, const char* parameter) {
    const auto found = std::ranges::find_if(
        facts, [&](const Fact& fact) { return fact.level == level && fact.parameter == parameter; });
    return found == facts.end() ? 0 : found->value.number;
}

/// `low`: of a cache with these lines, with the entries of page tables beside the program's own.
double beside_tables(const MachineDescription& machine, const CacheConfig& cache, double low) {
    const double reach = reach_of_tlbs(machine);
    if (machine.tlbs.empty() || !machine.pages.walk_references || reach >= low) return low;
    const double line = cache.line, page = static_cast<double>(machine.pages.size);
    return std::max(reach, (low - upper_tables * line) / (1 + bytes_of_entry / page));
}

}  // namespace

std::vector<Fact> effective_capacity_facts(const MachineDescription& machine) {
    const std::vector<Fact> known = facts_of(machine);
    const auto levels = data_caches(machine);
    std::vector<Fact> facts;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const CacheConfig& cache = machine.caches[levels[i]];
        const std::string name = fmt::format("L{}", i + 1);
        const std::string below = i + 1 < levels.size() ? fmt::format("L{}", i + 2) : "memory";
        double low = number_of(known, name, "capacity"), high = low;
        const double miss = number_of(known, below, "latency") - number_of(known, name, "latency");
        const std::uint64_t ways = cache.ways == 0 ? cache.size / cache.line : cache.ways;
        const std::uint64_t colours = cache.size / ways / machine.pages.size;
        const bool drawn = machine.pages.mapping == Mapping::random || machine.pages.mapping == Mapping::coloured;
        if (drawn && !cache.virtually_indexed && colours > 1 && miss > 0) {
            const PagesKept kept = pages_kept({colours, ways, cache.replacement == Replacement::lru, miss});
            const auto page = static_cast<double>(machine.pages.size);
            low = static_cast<double>(kept.average) * page;
            const bool even = machine.pages.mapping == Mapping::coloured || cache.indexing != Indexing::modulo;
            if (!even) high = static_cast<double>(kept.best) * page;
        }
        low = std::floor(beside_tables(machine, cache, low));
        facts.push_back({name, "effective_capacity", {low, ""}, std::max(low, high)});
    }
    return facts;
}

}  // namespace cachetally
