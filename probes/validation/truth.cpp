#include "probes/validation/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probes/targets/simulated.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

constexpr double latency_tolerance = 0.05, interval_tolerance = 0.1;

bool adds_to_those_above(Inclusion inclusion) { return inclusion == Inclusion::exclusive; }

void add_caches(const MachineDescription& machine, std::vector<Fact>& facts) {
    double latency = 0, above = 0;
    unsigned level = 0;
    const auto levels = data_caches(machine);
    for (const std::size_t index : levels) {
        const CacheConfig& cache = machine.caches[index];
        const std::string name = fmt::format("L{}", ++level);
        const auto size = static_cast<double>(cache.size);
        const double effective = adds_to_those_above(cache.inclusion) ? above + size : size;
        const double ways = cache.ways == 0 ? size / cache.line : cache.ways;
        latency += cache.latency;
        facts.push_back({name, "capacity", {size, ""}, effective});
        facts.push_back({name, "ways", {ways, ""}, effective / (size / ways)});
        facts.push_back({name, "line", {static_cast<double>(cache.line), ""}});
        facts.push_back({name, "latency", {latency, ""}});
        facts.push_back({name, "replacement", {0, std::string(name_of(cache.replacement))}});
        if (level > 1) facts.push_back({name, "inclusion", {0, std::string(name_of(cache.inclusion))}});
        above = effective;
    }
    facts.push_back({"memory", "latency", {latency + machine.memories.front().latency, ""}});
    if (!machine.pages.walk_references && !machine.tlbs.empty()) {
        double walk = machine.pages.walk_latency;
        for (const std::size_t index : data_tlbs(machine)) walk += machine.tlbs[index].latency;
        facts.push_back({"walk", "latency", {latency + machine.memories.front().latency + walk, ""}});
    }
    facts.push_back({"", "levels", {static_cast<double>(level), ""}});
    const bool prefetches = std::ranges::any_of(
        levels, [&](std::size_t index) { return machine.caches[index].prefetch.kind != PrefetchKind::none; });
    facts.push_back({"", "prefetcher", {0, prefetches ? "present" : "absent"}});
}

void add_tlbs(const MachineDescription& machine, std::vector<Fact>& facts) {
    unsigned level = 0;
    for (const std::size_t index : data_tlbs(machine)) {
        const TlbConfig& tlb = machine.tlbs[index];
        const std::string name = fmt::format("TLB{}", ++level);
        facts.push_back({name, "entries", {static_cast<double>(tlb.entries), ""}});
        facts.push_back({name, "ways", {static_cast<double>(tlb.ways == 0 ? tlb.entries : tlb.ways), ""}});
        const auto page = static_cast<double>(machine.pages.size);
        facts.push_back(
            {name, "page", {tlb.granule == 0 ? page : std::min(page, static_cast<double>(tlb.granule)), ""}});
    }
    facts.push_back({"", "tlb_levels", {static_cast<double>(level), ""}});
}

bool agrees(const Finding& finding, const Value& truth, double high) {
    const Value& value = *finding.value;
    if (truth.word.empty() && high > truth.number && finding.high - finding.low <= interval_tolerance * high)
        return finding.low <= high && finding.high >= truth.number;
    if (!truth.word.empty() || !value.word.empty()) return value.word == truth.word;
    if (finding.parameter == "latency")
        return std::abs(value.number - truth.number) <= latency_tolerance * truth.number;
    if (value.number == truth.number && finding.low == finding.high) return true;
    const bool holds = finding.low <= truth.number && truth.number <= finding.high;
    return holds && finding.high - finding.low <= interval_tolerance * truth.number;
}

}  // namespace

std::vector<Fact> facts_of(const MachineDescription& machine) {
    std::vector<Fact> facts;
    add_caches(machine, facts);
    add_tlbs(machine, facts);
    return facts;
}

void judge(TestReport& report, const std::vector<Fact>& facts) {
    for (Finding& finding : report.findings) {
        const auto fact = std::ranges::find_if(facts, [&](const Fact& other) {
            return other.level == finding.level && other.parameter == finding.parameter;
        });
        if (fact != facts.end()) {
            finding.truth = fact->value;
            finding.truth_high = fact->high;
        }
        if (!finding.value) {
            finding.verdict = Verdict::not_identifiable;
        } else if (!finding.truth) {
            const bool known =
                std::ranges::find(facts, finding.parameter, &Fact::parameter) != facts.end() && finding.level != "walk";
            finding.verdict = known ? Verdict::wrong : Verdict::unknown;
        } else {
            finding.verdict = agrees(finding, *finding.truth, finding.truth_high) ? Verdict::right : Verdict::wrong;
        }
    }
}

}  // namespace cachetally
