// SPDX-License-Identifier: BSD-3-Clause
// Warmup: what is counted after W references is the difference between runs of W + C and of W references.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "cachetally/run.hpp"
#include "monitor/attribution/hierarchy_attribution.hpp"
#include "monitor/causes/hierarchy_causes.hpp"
#include "monitor/exact_histogram.hpp"
#include "monitor/intrusion/link_traffic.hpp"
#include "monitor/monitor.hpp"
#include "monitor/spec_placement.hpp"
#include "tests/differential/random_machine.hpp"

namespace cachetally {
namespace {

constexpr std::uint32_t site_count = 6;

struct Part {
    std::vector<Reference> references;
    Control control;
};
using Program = std::vector<Part>;

class Source final : public ReferenceSource {
public:
    explicit Source(const std::vector<Program>& programs) : programs_(programs), at_(programs.size()) {
        for (std::uint32_t site = 1; site < site_count; ++site) sites_.add({site, site % 3});
    }
    unsigned cores() const override { return static_cast<unsigned>(programs_.size()); }
    Batch next(unsigned core) override {
        const Part& part = programs_[core][at_[core]++];
        return {part.references, part.control};
    }
    const SiteTable* sites() const override { return &sites_; }
    SiteNames site_names() const override {
        SiteNames names;
        names.code.resize(site_count);
        names.objects = {"", "A", "B"};
        return names;
    }

private:
    const std::vector<Program>& programs_;
    std::vector<std::size_t> at_;
    SiteTable sites_;
};

using Random = std::mt19937_64;

/// `controls`: of which kinds there are between parts.
std::vector<Program> programs(Random& random, unsigned cores, const std::vector<Control::Kind>& controls) {
    std::vector<Program> all(cores);
    for (Program& program : all) {
        for (unsigned part = 0; part < 6; ++part) {
            Part& made = program.emplace_back();
            const Address base = random() % 3 * 0x10000, stride = 8 + random() % 3 * 28;
            for (std::uint64_t i = 0, count = random() % 80; i < count; ++i)
                made.references.push_back({.address = base + (random() % 3 == 0 ? random() % 3000 : i * stride),
                                           .site = static_cast<std::uint32_t>(random() % site_count),
                                           .size = static_cast<std::uint16_t>(random() % 20 == 0 ? 70 : 8),
                                           .kind = static_cast<ReferenceKind>(random() % 5 % 3)});
            const Control::Kind kind = controls[random() % controls.size()];
            made.control = {part == 5 ? Control::Kind::end : kind, static_cast<std::uint32_t>(random() % 3)};
        }
    }
    return all;
}

MachineDescription machine(Random& random, unsigned cores = 4) {
    differential::MachineLimits limits;
    limits.cores = cores;
    limits.coherence = random() % 2 == 0;
    limits.numa = true;
    limits.any_row = true;
    return differential::random_machine([&](std::uint64_t bound) { return random() % bound; }, limits);
}

/// All that is counted, by what it is of; phases together.
using Counted = std::map<std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t>;

Counted operator-(Counted all, const Counted& some) {
    for (const auto& [what, count] : some) all[what] -= count;
    std::erase_if(all, [](const auto& row) { return row.second == 0; });
    return all;
}

struct Result {
    RunResult run;
    Counted counted;
};

/// With everything that listens.
class Watched {
public:
    explicit Watched(const MachineDescription& machine) : topology_(machine), hierarchy_(topology_) {
        for (std::size_t link = 0; link < topology_.links().size(); ++link) {
            MonitorSpec spec;
            spec.link = topology_.links()[link].name;
            spec.line = 64;
            spec = completed(spec, topology_);
            for (unsigned copy = 0; copy < hierarchy_.copies(link); ++copy) {
                spec.kinds = bit(EventKind::load) | bit(EventKind::write_back) | bit(EventKind::fill);
                histograms_.push_back(std::make_unique<ExactHistogram>(spec));
                hierarchy_.listen(link, copy, *histograms_.back());
                traffic_.push_back(std::make_unique<LinkTraffic>());
                hierarchy_.listen(link, copy, *traffic_.back());
            }
        }
    }

    Result run(const std::vector<Program>& programs, std::uint64_t warmup, std::uint64_t count) {
        Source source(programs);
        HierarchyCauses causes(topology_, hierarchy_, {}, {}, source.sites());
        HierarchyAttribution attribution(topology_, hierarchy_);
        RunOptions options;
        options.warmup = warmup;
        options.max_references = count;
        Result result{cachetally::run(hierarchy_, source, options), {}};
        Counted& counted = result.counted;
        for (std::size_t i = 0; i < histograms_.size(); ++i)
            for (const HistogramRow& row : histograms_[i]->finish().rows())
                counted[{"histogram", i, row.address, 0}] += row.count;
        for (std::size_t i = 0; i < traffic_.size(); ++i)
            for (std::size_t kind = 0; kind < event_kind_count; ++kind)
                if (const std::uint64_t count_of = traffic_[i]->counts()[kind])
                    counted[{"traffic", i, kind, 0}] = count_of;
        for (const LevelCauses& level : causes.found()) {
            for (const StructureCauses& row : level.misses)
                for (unsigned cause = 0; cause < miss_cause_count; ++cause)
                    if (row.misses[cause] != 0) counted[{level.level, 0, cause, row.structure}] += row.misses[cause];
            for (const Evictions& row : level.evictions) counted[{level.level, 1, row.by, row.victim}] += row.count;
        }
        Attribution found = attribution.found(*source.sites(), source.site_names());
        if (!found.empty()) causes.attribute(found);
        for (const Attribution::Row& row : found.rows) {
            if (row.accesses != 0) counted[{"accesses", row.site, 0, 0}] += row.accesses;
            for (std::size_t level = 0; level < row.misses.size(); ++level)
                if (row.misses[level] != 0) counted[{"misses", row.site, level, 0}] += row.misses[level];
            for (std::size_t level = 0; level < row.causes.size(); ++level)
                for (unsigned cause = 0; cause < miss_cause_count; ++cause)
                    if (row.causes[level][cause] != 0)
                        counted[{"causes", row.site, level, cause}] += row.causes[level][cause];
        }
        for (const ObjectEvictions& level : found.evictions)
            for (const Evictions& row : level.pairs)
                counted[{"evicts " + level.level, row.by, row.victim, 0}] += row.count;
        return result;
    }

private:
    Topology topology_;
    Hierarchy hierarchy_;
    std::vector<std::unique_ptr<ExactHistogram>> histograms_;
    std::vector<std::unique_ptr<LinkTraffic>> traffic_;
};

std::uint64_t references_in(const std::vector<Program>& programs) {
    std::uint64_t references = 0;
    for (const Program& program : programs)
        for (const Part& part : program) references += part.references.size();
    return references;
}

TEST(Warmup, CountsAreTheDifferenceOfTwoRuns) {
    using K = Control::Kind;
    for (unsigned seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const MachineDescription drawn = machine(random);
        const auto all = programs(random, drawn.cores, {K::none, K::barrier, K::meet, K::enter_function});
        const std::uint64_t most = references_in(all);
        if (most < 3) continue;
        const std::uint64_t warmup = 1 + random() % (most - 2), count = 1 + random() % (most - warmup);
        const Result longer = Watched(drawn).run(all, 0, warmup + count), shorter = Watched(drawn).run(all, 0, warmup);
        const Result warm = Watched(drawn).run(all, warmup, count);
        ASSERT_TRUE(warm.run.complete);
        ASSERT_EQ(warm.run.counts.references, count);
        EXPECT_EQ(warm.run.counts, longer.run.counts - shorter.run.counts);
        EXPECT_EQ(warm.run.end(), longer.run.end() - shorter.run.end());
        EXPECT_EQ(warm.counted, longer.counted - shorter.counted);
        EXPECT_EQ(warm.run.phases.front().begin, 0U);
        EXPECT_EQ(warm.run.phases.back().end, warm.run.end());
    }
}

/// A monitor of a small array on the first link.
MonitorResult monitored(const MachineDescription& machine, const std::vector<Program>& programs, MonitorSpec spec,
                        std::uint64_t warmup) {
    const Topology topology(machine);
    Hierarchy hierarchy(topology);
    spec.link = topology.links()[topology.core_link(false)].name;
    spec.counters = 4;
    spec = completed(spec, topology);
    Monitor monitor(spec, 0, machine.period);
    hierarchy.listen(topology.link(spec.link), 0, monitor);
    Source source(programs);
    RunOptions options;
    options.warmup = warmup;
    run(hierarchy, source, options);
    monitor.finish();
    return monitor.result();
}

// As if the program had its monitors off during the warmup, with no barriers there.
TEST(Warmup, MonitorsBeginEmpty) {
    using K = Control::Kind;
    for (unsigned seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const MachineDescription drawn = machine(random, 1);
        const auto before = programs(random, 1, {K::none, K::enter_function, K::leave_function}),
                   after = programs(random, 1, {K::none, K::barrier, K::enter_function, K::leave_function});
        std::vector<Program> whole = before, switched(1);
        whole[0].back().control = {};
        const auto add = [](Program& to, const Program& from) { to.insert(to.end(), from.begin(), from.end()); };
        switched[0].push_back({{}, {K::monitor_off, 0}});
        add(switched[0], whole[0]);
        switched[0].push_back({{}, {K::monitor_on, 0}});
        add(switched[0], after[0]);
        add(whole[0], after[0]);
        if (references_in(before) == 0) continue;
        MonitorSpec spec;
        spec.functions = seed % 2 == 0;
        const MonitorResult warm = monitored(drawn, whole, spec, references_in(before)),
                            expected = monitored(drawn, switched, spec, 0);
        EXPECT_EQ(warm.events, expected.events);
        EXPECT_EQ(warm.swapouts, expected.swapouts);
        EXPECT_TRUE(std::ranges::equal(warm.histogram.rows(), expected.histogram.rows()));
        EXPECT_GT(warm.events, 0U);
    }
}

TEST(Warmup, OfMoreThanTheProgramIsAFailure) {
    Random random(1);
    const MachineDescription drawn = machine(random);
    const auto all = programs(random, drawn.cores, {Control::Kind::none});
    const Result result = Watched(drawn).run(all, references_in(all) + 1, 0);
    EXPECT_FALSE(result.run.complete);
    EXPECT_NE(result.run.failure.find("within the warmup"), std::string::npos) << result.run.failure;
    EXPECT_EQ(result.run.counts.references, 0U);
    EXPECT_TRUE(result.counted.empty());
    EXPECT_EQ(result.run.end(), 0U);
}

}  // namespace
}  // namespace cachetally
