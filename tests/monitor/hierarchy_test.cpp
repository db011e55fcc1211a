// SPDX-License-Identifier: BSD-3-Clause
// Monitors on the links of a whole hierarchy: what they see agrees with what the caches count.
#include <gtest/gtest.h>

#include <memory>

#include "base/random.hpp"
#include "cachetally/run.hpp"
#include "monitor/exact_histogram.hpp"
#include "monitor/level_lines.hpp"
#include "monitor/monitor.hpp"

namespace cachetally {
namespace {

constexpr const char* machine_text = R"(
name: two levels
cores: 1
caches:
  - {name: L1, next: L2, size: 2 KiB, ways: 2, line: 32, latency: 1}
  - {name: L2, next: memory, size: 16 KiB, ways: 4, line: 64, latency: 10}
memory: {latency: 100}
)";

/// Strided stretches at random places, with barriers in between.
class RandomSource final : public ReferenceSource {
public:
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override {
        if (++batch_ > 12) return {{}, {Control::Kind::end, 0}};
        references_.clear();
        while (references_.size() < 4000) {
            const Address start = random_.below(1 << 16), step = 4 << random_.below(4);
            const auto kind = random_.below(3) == 0 ? ReferenceKind::store : ReferenceKind::load;
            for (Address i = 0; i < random_.below(60); ++i)
                references_.push_back({.address = (start + i * step) & ~Address{7}, .size = 8, .kind = kind});
        }
        return {references_, {batch_ % 4 == 0 ? Control::Kind::barrier : Control::Kind::none, 0}};
    }

private:
    Random random_{11};
    int batch_ = 0;
    std::vector<Reference> references_;
};

MonitorSpec spec_on(const std::string& link, std::uint32_t line) {
    MonitorSpec spec;
    spec.link = link;
    spec.line = line;
    spec.counters = 16;
    return spec;
}

/// A run of RandomSource with listeners on links.
struct Simulation {
    Topology topology{read_machine(machine_text, "test.yaml")};
    Hierarchy hierarchy{topology};
    RunResult result;

    void listen(const std::string& link, LinkListener& listener) { hierarchy.listen(topology.link(link), 0, listener); }
    void go() {
        RandomSource source;
        result = run(hierarchy, source);
    }
};

/// Makes the hierarchy hand over every event by itself.
class EachEvent final : public LinkListener {
public:
    std::uint32_t kinds() const override { return bit(EventKind::load); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent&, Injector&) override {}
    void on_control(const Control&, Tick, Injector&) override {}
};

/// One phase of these references.
class GivenReferences final : public ReferenceSource {
public:
    explicit GivenReferences(std::vector<Reference> references) : references_(std::move(references)) {}
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override { return {references_, {Control::Kind::end, 0}}; }

private:
    std::vector<Reference> references_;
};

/// Eight lines of 64 bytes, each an access of its own or all of them one, with a counter and a ring that cost time.
struct OverLines {
    std::uint64_t lost, records;
    Tick stall, end;
    friend bool operator==(const OverLines&, const OverLines&) = default;

    static OverLines run_with(std::vector<Reference> references, RingSpec::Overflow overflow) {
        const Topology topology(
            read_machine("name: m\ncores: 1\ncaches:\n  - {name: L1, next: memory, size: 4 KiB, "
                         "ways: 2, line: 64, latency: 1}\nmemory: {latency: 10}\n",
                         "test.yaml"));
        MonitorSpec spec = spec_on("core-L1", 64);
        spec.counters = 1;
        spec.ring.capacity = 2;
        spec.ring.base = 1 << 20;
        spec.ring.drain_cost = 10;
        spec.ring.write_cost = 5;
        spec.ring.overflow = overflow;
        Monitor monitor(spec);
        Hierarchy hierarchy(topology);
        hierarchy.listen(topology.link("core-L1"), 0, monitor);
        GivenReferences source(std::move(references));
        const RunResult result = run(hierarchy, source);
        monitor.finish();
        const MonitorResult seen = monitor.result();
        return {seen.lost, seen.swapouts, seen.stall, result.end()};
    }
};

TEST(MonitoredHierarchy, AReferenceOverLinesIsAsOneReferencePerLine) {
    const Reference whole{.address = 0x1000, .size = 512};
    std::vector<Reference> lines;
    for (Address line = 0; line < 8; ++line) lines.push_back({.address = 0x1000 + line * 64, .size = 64});
    for (const auto overflow : {RingSpec::Overflow::drop, RingSpec::Overflow::stall}) {
        const OverLines as_one = OverLines::run_with({whole}, overflow), apart = OverLines::run_with(lines, overflow);
        EXPECT_EQ(as_one, apart);
        // By hand: each access takes 11 cycles, and all but the first write a record, which takes 5. The ring is full
        // at 32; a record leaves at 42, and the next write begins at 43.
        EXPECT_EQ(as_one.lost, 0U);
        EXPECT_EQ(as_one.end, (8 * 11 + 7 * 5) * 1000U);
    }
}

TEST(MonitoredHierarchy, HistogramsCombineToTheCountsOfTheCaches) {
    Simulation simulation;
    Monitor core(spec_on("core-L1", 32)), middle(spec_on("L1-L2", 32)), below(spec_on("L2-memory", 64));
    simulation.listen("core-L1", core);
    simulation.listen("L1-L2", middle);
    simulation.listen("L2-memory", below);
    simulation.go();
    std::vector<Histogram> histograms;
    for (Monitor* monitor : {&core, &middle, &below}) {
        monitor->finish();
        histograms.push_back(monitor->result().histogram);
        EXPECT_EQ(histograms.back().phases(), simulation.result.phases.size());
    }
    StructureTable table;
    for (std::size_t level = 0; level < 2; ++level)
        table.levels.push_back(
            {"", true, by_structure(level_lines({"", {&histograms[level]}, {&histograms[level + 1]}}), {})});
    for (std::uint32_t phase = 0; phase < simulation.result.phases.size(); ++phase) {
        for (std::size_t level = 0; level < 2; ++level) {
            const CacheCounts& counts = simulation.result.phases[phase].counts.caches[level];
            EXPECT_EQ(table.totals(level, phase)[0].accesses, static_cast<double>(counts.loads + counts.stores));
            EXPECT_EQ(table.totals(level, phase)[0].misses,
                      static_cast<double>(counts.load_misses + counts.store_misses));
        }
    }
}

TEST(MonitoredHierarchy, MergedDeliveryChangesNothing) {
    for (unsigned eviction = 0; eviction < eviction_names().size(); ++eviction) {
        MonitorSpec spec = spec_on("core-L1", 32);
        spec.eviction = static_cast<Eviction>(eviction);
        spec.width = 4;
        Monitor merged(spec), single(spec);
        ASSERT_TRUE(merged.accepts_merged(32));
        EachEvent each;
        Simulation first, second;
        first.listen("core-L1", merged);
        second.listen("core-L1", single);
        second.listen("core-L1", each);
        first.go();
        second.go();
        merged.finish();
        single.finish();
        const MonitorResult a = merged.result(), b = single.result();
        EXPECT_EQ(a.histogram, b.histogram);
        EXPECT_EQ(a.swapouts_per_phase, b.swapouts_per_phase);
        EXPECT_EQ(first.result.counts, second.result.counts);
        EXPECT_EQ(first.result.core_ends, second.result.core_ends);
    }
}

TEST(MonitoredHierarchy, AMonitorThatIsOffIsAbsent) {
    MonitorSpec spec = spec_on("L1-L2", 32);
    spec.start = false;
    spec.ring.path = RingSpec::Path::link;
    spec.ring.write_cost = 100;
    Monitor monitor(spec);
    Simulation with, without;
    with.listen("L1-L2", monitor);
    with.go();
    without.go();
    EXPECT_EQ(with.result.counts, without.result.counts);
    EXPECT_EQ(with.result.core_ends, without.result.core_ends);
}

TEST(MonitoredHierarchy, RecordsThatBypassCachesChangeNothingButTheirCount) {
    Monitor monitor(spec_on("L1-L2", 32));
    Simulation with, without;
    with.listen("L1-L2", monitor);
    with.go();
    without.go();
    monitor.finish();
    const MonitorResult result = monitor.result();
    EXPECT_EQ(with.result.counts.caches, without.result.counts.caches);
    EXPECT_EQ(with.result.core_ends, without.result.core_ends);
    EXPECT_EQ(with.result.counts.memories[0].ring_writes, result.swapouts - result.resident_counters);
}

TEST(MonitoredHierarchy, RecordsFromLinksOfTlbsGoToMemory) {
    const Topology topology(load_machine("generic3"));
    for (const auto path : {RingSpec::Path::memory, RingSpec::Path::link}) {
        Hierarchy hierarchy(topology);
        MonitorSpec spec = spec_on("DTLB-STLB", 64);
        spec.counters = 1;
        spec.ring.path = path;
        Monitor monitor(spec);
        hierarchy.listen(topology.link(spec.link), 0, monitor);
        RandomSource source;
        const RunResult run_result = run(hierarchy, source);
        monitor.finish();
        const MonitorResult result = monitor.result();
        EXPECT_GT(result.swapouts, 10U);
        EXPECT_EQ(run_result.counts.memories[0].ring_writes, result.swapouts - result.resident_counters);
    }
}

TEST(MonitoredHierarchy, RecordsThroughTheLinkGoIntoTheCacheBelow) {
    MonitorSpec spec = spec_on("core-L1", 32);
    spec.ring.path = RingSpec::Path::link;
    spec.ring.write_cost = 7;
    Monitor monitor(spec);
    Simulation with, without;
    with.listen("core-L1", monitor);
    with.go();
    without.go();
    monitor.finish();
    const MonitorResult result = monitor.result();
    const std::uint64_t written = result.swapouts - result.resident_counters;
    EXPECT_EQ(with.result.counts.caches[0].ring_writes, written);
    EXPECT_EQ(result.stall, written * 7 * 1000);
    EXPECT_GT(with.result.counts.caches[0].load_misses, without.result.counts.caches[0].load_misses);
}

TEST(MonitoredHierarchy, RecordsAreNoEventsOnTheLinkThatSendsThem) {
    MonitorSpec spec = spec_on("core-L1", 1);
    spec.ring.path = RingSpec::Path::link;
    spec.kinds = (1U << event_kind_count) - 1;
    Monitor monitor(spec);
    Simulation simulation;
    simulation.listen("core-L1", monitor);
    simulation.go();
    monitor.finish();
    const CacheCounts& first = simulation.result.counts.caches[0];
    EXPECT_EQ(monitor.result().events, first.loads + first.stores + first.fetches);
    EXPECT_GT(first.ring_writes, 100U);
}

}  // namespace
}  // namespace cachetally
