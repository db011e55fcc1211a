// SPDX-License-Identifier: BSD-3-Clause
#include "probes/validation/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/targets/simulated.hpp"
#include "probes/validation/behaviour_truth.hpp"
#include "probes/validation/effective_capacity.hpp"
#include "probes/validation/sharing_truth.hpp"
#include "sim/model/prefetch/table.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr double tolerance_of_means = 0.05, interval_tolerance = 0.1;
constexpr std::uint64_t large_page = std::uint64_t{2} << 20;  ///< that probes are offered besides the machine's own

/// A victim cache that is smaller than the level whose victims it takes. (Jouppi 1990, 3.2)
bool extends(const CacheConfig& cache, const CacheConfig& above) {
    return cache.inclusion == Inclusion::victim && cache.size < above.size;
}

double ways_of(const CacheConfig& cache) {
    return cache.ways == 0 ? static_cast<double>(cache.size / cache.line) : cache.ways;
}

/// That the bus below a cache is taken for by a line.
double transfer_time(const CacheConfig& cache) {
    const unsigned bytes = cache.bus.bytes_per_cycle;
    return bytes == 0 ? 0 : static_cast<double>((cache.transfer() + bytes - 1) / bytes);
}

/// What a miss adds that waits for nobody (docs/timing.md): the request's way down, and the line's way up.
double time_of_link(const CacheConfig& cache) { return cache.bus.latency + transfer_time(cache); }

/// Whether the keys of links alone say how loads overlap: lines go up when they are asked for, and nothing goes down.
bool only_links_bound(const MachineDescription& machine) {
    const auto levels = data_caches(machine);
    const auto any = [&](auto is) {
        return std::ranges::any_of(levels, [&](std::size_t index) { return is(machine.caches[index]); });
    };
    return any([](const CacheConfig& cache) { return cache.outstanding_misses != 0; }) &&
           !any([](const CacheConfig& cache) {
               return filled_by_victims(cache.inclusion) || cache.prefetch.kind != PrefetchKind::none;
           });
}

/// Of the first TLB that holds pages of this size; null = none does.
const TlbConfig* first_tlb_of(const MachineDescription& machine, std::uint64_t page) {
    const auto tlbs = data_tlbs(machine, page);
    return tlbs.empty() ? nullptr : &machine.tlbs[tlbs.front()];
}

/// Cycles by which a translated load takes less on large pages, where tests prefer these; they do not where it takes
/// more.
double saved_by_large_pages(const MachineDescription& machine) {
    const TlbConfig* own = first_tlb_of(machine, machine.pages.size);
    const TlbConfig* large = first_tlb_of(machine, large_page);
    if (own == nullptr || large == nullptr || own->latency < large->latency) return 0;
    return own->latency - large->latency;
}

/// What a level holds for a program, from its own size on: at least what those above it hold besides.
struct Extent {
    double capacity_low = 0, capacity_high = 0, ways_low = 0, ways_high = 0;
};

Extent extent_of(const CacheConfig& cache, const Extent& above) {
    const auto size = static_cast<double>(cache.size);
    const double ways = ways_of(cache);
    if (!filled_by_victims(cache.inclusion)) return {size, size, ways, ways};
    const double all = above.capacity_high + size;
    // Lines that meet in one set: those of it, and those of one set above.
    return {std::max(size, above.capacity_low), all, ways,
            std::floor(std::max(ways, std::min(all / (size / ways), ways + above.ways_high)))};
}

/// Of a level with its victim cache.
Extent extended(const Extent& own, const Extent& with_victims) {
    return {own.capacity_low, with_victims.capacity_high, own.ways_low, with_victims.ways_high};
}

Fact latency_fact(const std::string& level, double cycles, const MachineDescription& machine) {
    const double saved = saved_by_large_pages(machine);
    return {level, "latency", {cycles - saved, ""}, saved > 0 ? cycles : 0};
}

class CacheTruth {
public:
    CacheTruth(const MachineDescription& machine, bool part_of_above, std::vector<Fact>& facts)
        : machine_(machine), facts_(facts) {
        if (const TlbConfig* first = first_tlb_of(machine, machine.pages.size)) latency_ = first->latency;
        const auto all = data_caches(machine);
        overlaps_are_known_ = only_links_bound(machine);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const CacheConfig& cache = machine.caches[all[i]];
            const bool next = part_of_above && i + 1 < all.size() && extends(machine.caches[all[i + 1]], cache);
            latency_ += cache.latency;
            extent_ = extent_of(cache, extent_);
            add_level(cache, next ? extended(extent_, extent_of(machine.caches[all[i + 1]], extent_)) : extent_);
            passed_.push_back({latency_, &cache});
            latency_ += time_of_link(cache) + asked_of_others(machine, cache);
            if (!next) continue;
            const CacheConfig& part = machine.caches[all[++i]];
            extent_ = extended(extent_, extent_of(part, extent_));
            latency_ += part.latency + time_of_link(part) + asked_of_others(machine, part);
        }
        const MemoryConfig* nearest = memory(all);
        memory_is_known_ = nearest != nullptr;
        if (memory_is_known_) latency_ += nearest->latency;
        if (memory_is_known_ && nearest->bank_busy == 0) add_parallelism("memory");
    }

    /// False where a page may be in any of several memories.
    bool memory_is_known() const { return memory_is_known_; }

    double memory_latency() const { return latency_; }
    unsigned levels() const { return level_; }

private:
    /// The one that loads of the first core come to; null where that depends on the page.
    const MemoryConfig* memory(const std::vector<std::size_t>& all) const {
        const std::string next = all.empty() ? machine_.memories.front().name : machine_.caches[all.back()].next;
        const auto named = std::ranges::find(machine_.memories, next, &MemoryConfig::name);
        if (named != machine_.memories.end()) return &*named;
        if (machine_.numa.policy != HomePolicy::first_touch) return nullptr;
        const auto first = std::ranges::find(machine_.memories, 0U, &MemoryConfig::node);  // of the node of core 0
        return first == machine_.memories.end() ? nullptr : &*first;
    }

    void add_level(const CacheConfig& cache, const Extent& seen) {
        const std::string name = fmt::format("L{}", ++level_);
        const auto add = [&](const char* parameter, Value value, double high = 0) {
            facts_.push_back({name, parameter, std::move(value), high});
        };
        add("capacity", {seen.capacity_low, ""}, seen.capacity_high);
        add("ways", {seen.ways_low, ""}, seen.ways_high);
        add("line", {static_cast<double>(cache.line), ""});
        facts_.push_back(latency_fact(name, latency_, machine_));
        if (machine_.cores > 1) {
            const unsigned cores = cache.shared_by == 0 ? machine_.cores : cache.shared_by;
            add("shared_by", {static_cast<double>(cores), ""});
        }
        add("replacement", {0, std::string(name_of(cache.replacement))});
        add("indexing", {0, cache.indexing == Indexing::modulo ? "modulo" : "hashed"});
        if (level_ > 1) add_parallelism(name);
        // A level that takes victims alone is exclusive to programs, whatever becomes of a line that they use again.
        const bool of_victims = cache.inclusion == Inclusion::victim;
        if (level_ > 1)
            add("inclusion", {0, std::string(name_of(of_victims ? Inclusion::exclusive : cache.inclusion))});
    }

    /// By docs/timing.md, of many loads that miss all levels passed so far: one may begin each cycle; each takes a
    /// place of a level's outstanding misses from its lookup there to its end, and each bus for one line.
    void add_parallelism(const std::string& level) {
        if (!overlaps_are_known_ || passed_.empty()) return;
        double least = 1;  // cycles per load
        for (const auto& [looked_up, cache] : passed_) {
            least = std::max(least, transfer_time(*cache));
            if (cache->outstanding_misses > 0)
                least = std::max(least, (latency_ - looked_up) / cache->outstanding_misses);
        }
        const double one = latency_ - saved_by_large_pages(machine_);
        facts_.push_back({level, "parallelism", {one / least, ""}});
        // Of lines in order, of which each is asked for once.
        const std::uint64_t line = passed_.front().cache->transfer();
        if (line <= Streaming::block &&
            std::ranges::all_of(passed_, [&](const Passed& each) { return each.cache->transfer() == line; }))
            facts_.push_back({level, "read_bandwidth", {static_cast<double>(line) / least, ""}});
    }

    struct Passed {
        double looked_up = 0;  ///< cycles from the begin of the load
        const CacheConfig* cache = nullptr;
    };

    const MachineDescription& machine_;
    std::vector<Fact>& facts_;
    std::vector<Passed> passed_;
    bool overlaps_are_known_ = false;
    double latency_ = 0;
    bool memory_is_known_ = false;
    Extent extent_;
    unsigned level_ = 0;
};

void add_caches(const MachineDescription& machine, bool part_of_above, std::vector<Fact>& facts) {
    const CacheTruth caches(machine, part_of_above, facts);
    if (caches.memory_is_known()) facts.push_back(latency_fact("memory", caches.memory_latency(), machine));
    if (caches.memory_is_known() && !machine.pages.walk_references && !machine.tlbs.empty()) {
        double walk = machine.pages.walk_latency;
        const auto tlbs = data_tlbs(machine);
        for (std::size_t i = 1; i < tlbs.size(); ++i) walk += machine.tlbs[tlbs[i]].latency;
        facts.push_back({"walk", "latency", {caches.memory_latency() + walk, ""}});
    }
    facts.push_back({"", "levels", {static_cast<double>(caches.levels()), ""}});
    bool prefetches = false, pairs = false;
    for (const std::size_t index : data_caches(machine)) {
        const CacheConfig& cache = machine.caches[index];
        (cache.prefetch.kind == prefetchers::adjacent_line ? pairs : prefetches) |= prefetches_lines(cache);
    }
    // Lines that always come in pairs are like lines of twice the length.
    if (prefetches || !pairs) facts.push_back({"", "prefetcher", {0, prefetches ? "present" : "absent"}});
}

void add_tlbs(const MachineDescription& machine, Evidence evidence, std::vector<Fact>& facts) {
    unsigned level = 0;
    const auto tlbs = data_tlbs(machine);
    for (std::size_t i = 0; i < tlbs.size(); ++i) {
        const TlbConfig& tlb = machine.tlbs[tlbs[i]];
        if (evidence == Evidence::times_alone && i + 1 < tlbs.size() && machine.tlbs[tlbs[i + 1]].latency == 0)
            continue;
        const std::string name = fmt::format("TLB{}", ++level);
        facts.push_back({name, "entries", {static_cast<double>(tlb.entries), ""}});
        facts.push_back({name, "ways", {static_cast<double>(tlb.ways == 0 ? tlb.entries : tlb.ways), ""}});
        facts.push_back({name, "page", {static_cast<double>(bytes_per_entry(machine, tlb)), ""}});
    }
    facts.push_back({"", "tlb_levels", {static_cast<double>(level), ""}});
}

/// Whether a number lies within this share of a true one.
bool is_near(double number, double truth, double share) { return std::abs(number - truth) <= share * std::abs(truth); }

bool agrees(const Finding& finding, const Fact& fact) {
    const Value &value = *finding.value, &truth = fact.value;
    const double high = fact.high;
    if (!truth.word.empty() || !value.word.empty()) return value.word == truth.word;
    if (fact.tolerance || !is_whole(finding.parameter)) {
        const double share = fact.tolerance.value_or(tolerance_of_means);
        return is_near(value.number, truth.number, share) || (high > 0 && is_near(value.number, high, share));
    }
    if (high > truth.number && finding.high - finding.low <= interval_tolerance * high)
        return finding.low <= high && finding.high >= truth.number;
    // Between two sizes of a coarse sample, of what depends on where pages lie.
    if (finding.parameter == "effective_capacity")
        return finding.low <= std::max(high, truth.number) && finding.high >= truth.number;
    if (value.number == truth.number && finding.low == finding.high) return true;
    const bool holds = finding.low <= truth.number && truth.number <= finding.high;
    return holds && finding.high - finding.low <= interval_tolerance * truth.number;
}

bool has_fact(const std::vector<Fact>& facts, const std::string& parameter) {
    return std::ranges::find(facts, parameter, &Fact::parameter) != facts.end();
}

/// What every cache, or every TLB, has: claimed of a level that does not exist it is wrong.
bool of_a_level(const Finding& finding) {
    constexpr std::string_view of_caches[] = {"capacity", "effective_capacity", "ways",        "line",
                                              "latency",  "inclusion",          "replacement", "shared_by",
                                              "write",    "write_allocate"};
    constexpr std::string_view of_tlbs[] = {"entries", "ways", "page"};
    const auto is_among = [&](const auto& names) { return std::ranges::find(names, finding.parameter) != names.end(); };
    if (finding.level.starts_with("TLB")) return is_among(std::span(of_tlbs));
    return finding.level.starts_with("L") && is_among(std::span(of_caches));
}

}  // namespace

Evidence evidence_of(const Capabilities& capabilities) {
    return capabilities.tlb_events > 0 ? Evidence::counts : Evidence::times_alone;
}

std::vector<Fact> facts_of(const MachineDescription& machine, Reading reading, Evidence evidence) {
    std::vector<Fact> facts;
    add_caches(machine, reading == Reading::part_of_above, facts);
    add_tlbs(machine, evidence, facts);
    std::ranges::copy(transfer_facts(machine), std::back_inserter(facts));
    std::ranges::copy(behaviour_facts(machine), std::back_inserter(facts));
    return facts;
}

bool has_readings(const MachineDescription& machine) {
    const auto all = data_caches(machine);
    for (std::size_t i = 1; i < all.size(); ++i)
        if (extends(machine.caches[all[i]], machine.caches[all[i - 1]])) return true;
    return false;
}

std::vector<Fact> stated_by_test(const std::string& test, const MachineDescription& machine) {
    const auto tests = probe_tests();
    const auto found = std::ranges::find(tests, test, &ProbeTest::name);
    return found == tests.end() || !found->truth ? std::vector<Fact>{} : found->truth(machine);
}

std::vector<Fact> with_precedence(std::vector<Fact> first, std::span<const Fact> others) {
    const std::size_t stated = first.size();
    for (const Fact& other : others) {
        const auto same = [&](const Fact& fact) {
            return fact.level == other.level && fact.parameter == other.parameter;
        };
        if (std::none_of(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(stated), same))
            first.push_back(other);
    }
    return first;
}

void judge(TestReport& report, const std::vector<Fact>& facts) {
    for (Finding& finding : report.findings) {
        const auto fact = std::ranges::find_if(facts, [&](const Fact& other) {
            return other.level == finding.level && other.parameter == finding.parameter;
        });
        finding.truth.reset();
        finding.truth_high = 0;
        if (fact != facts.end()) {
            finding.truth = fact->value;
            finding.truth_high = fact->high;
        }
        if (!finding.value) {
            finding.verdict = Verdict::not_identifiable;
        } else if (!finding.truth) {
            finding.verdict = of_a_level(finding) || (finding.level.empty() && has_fact(facts, finding.parameter))
                                  ? Verdict::wrong
                                  : Verdict::unknown;
        } else {
            finding.verdict = agrees(finding, *fact) ? Verdict::right : Verdict::wrong;
        }
    }
}

void judge(TestReport& report, const MachineDescription& machine, const std::vector<Fact>& more, Evidence evidence) {
    const std::vector<Fact> own = stated_by_test(report.test, machine);
    // Placements are drawn for it, which takes some milliseconds.
    const bool about_effective = std::ranges::count(report.findings, "effective_capacity", &Finding::parameter) > 0;
    const std::vector<Fact> effective = about_effective ? effective_capacity_facts(machine) : std::vector<Fact>{};
    const auto by = [&](Reading reading) {
        std::vector<Fact> facts = facts_of(machine, reading, evidence);
        facts.insert(facts.end(), more.begin(), more.end());
        facts.insert(facts.end(), effective.begin(), effective.end());
        judge(report, with_precedence(own, facts));
        for (Finding& finding : report.findings)
            if (finding.value && !finding.truth && has_fact(own, finding.parameter)) finding.verdict = Verdict::wrong;
        return std::ranges::count(report.findings, Verdict::wrong, &Finding::verdict);
    };
    const auto wrong = by(Reading::as_built);
    if (wrong > 0 && has_readings(machine) && by(Reading::part_of_above) >= wrong) by(Reading::as_built);
}

}  // namespace cachetally
