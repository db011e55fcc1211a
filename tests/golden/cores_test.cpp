// SPDX-License-Identifier: BSD-3-Clause
// Several cores: who goes first, and how barriers align them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/golden/golden.hpp"

namespace cachetally::golden {
namespace {

using testing::ElementsAre;

/// Streams of references, each ending at an optional barrier, then the next.
class Streams final : public ReferenceSource {
public:
    explicit Streams(std::vector<std::vector<std::string_view>> texts) {
        for (const auto& core : texts) {
            parts_.emplace_back();
            for (const auto text : core) parts_.back().push_back(references(text));
        }
        position_.resize(parts_.size());
    }
    unsigned cores() const override { return static_cast<unsigned>(parts_.size()); }
    Batch next(unsigned core) override {
        const auto part = position_[core]++;
        const bool last = position_[core] == parts_[core].size();
        return {parts_[core].at(part), {last ? Control::Kind::end : Control::Kind::barrier, 0}};
    }

private:
    std::vector<std::vector<std::vector<Reference>>> parts_;
    std::vector<std::size_t> position_;
};

class CoreOrder final : public LinkListener {
public:
    std::string order;
    std::uint32_t kinds() const override { return bit(EventKind::load); }
    bool accepts_merged(std::uint32_t) const override { return false; }
    void on_event(const LinkEvent& event, Injector&) override { order += static_cast<char>('0' + event.core); }
    void on_control(const Control&, Tick, Injector&) override {}
};

struct Outcome {
    std::string order;  ///< the core of each load, in order
    RunResult result;
};

Outcome run_two(std::vector<std::vector<std::string_view>> texts, Tick quantum) {
    MachineDescription description = machine({cache("L1", "memory", 64)});
    description.cores = 2;
    description.caches[0].shared_by = 1;
    const Topology topology(description);
    Hierarchy hierarchy(topology);
    CoreOrder order;
    const auto link = topology.link("core-L1");
    for (unsigned copy = 0; copy < 2; ++copy) hierarchy.listen(link, copy, order);
    Streams source(std::move(texts));
    RunOptions options;
    options.quantum = quantum;
    Outcome outcome;
    outcome.result = run(hierarchy, source, options);
    outcome.order = order.order;
    return outcome;
}

// Misses cost 11 ns, hits 1 ns. Core 1 is 1 ps late. Core 0 at 0, core 1 at 0; then core 0 at 11, 12, 13 alternates
// with 1.
TEST(Cores, TheLeastTimeGoesFirst) {
    const Outcome outcome = run_two({{"L0 L0 L0"}, {"L0 L0 L0"}}, 0);
    EXPECT_EQ(outcome.order, "010101");
    EXPECT_THAT(outcome.result.core_ends, ElementsAre(13'000, 13'001));
    EXPECT_EQ(outcome.result.end(), 13'000U);
}

// Core 0 misses twice (0, 11); core 1 hits after its first miss: it hits at 11, 12, 13 and 14 before core 0 is at 22.
TEST(Cores, AFastCoreOvertakes) { EXPECT_EQ(run_two({{"L0 L40 L0"}, {"L0 L0 L0 L0 L0"}}, 0).order, "01011110"); }

// Until its time has reached 12 ns: core 0 goes at 0 and 11; core 1 as well. From 12 to 24 both make the rest.
TEST(Cores, QuantumBatchesReferences) {
    EXPECT_EQ(run_two({{"L0 L0 L0 L0"}, {"L0 L0 L0 L0"}}, 12'000).order, "00110011");
}

// Core 0 arrives at 11 ns, core 1 at 22 ns: both go on at 22 ns.
TEST(Cores, BarriersAlign) {
    const Outcome outcome = run_two({{"L0", "L0"}, {"L0 L40", "L80"}}, 0);
    EXPECT_THAT(outcome.result.core_ends, ElementsAre(23'000, 33'001));
    ASSERT_EQ(outcome.result.phases.size(), 2U);
    EXPECT_EQ(outcome.result.phases[0].counts.caches[0].load_misses, 3U);
    EXPECT_EQ(outcome.result.phases[1].counts.caches[0].load_misses, 1U);
}

// A core that is at its end does not keep the others waiting.
TEST(Cores, BarriersDoNotWaitForTheDead) {
    const Outcome outcome = run_two({{"L0", "L0"}, {"L0 L40 L80"}}, 0);
    EXPECT_EQ(outcome.result.core_ends[1], 33'001U);
    EXPECT_EQ(outcome.result.core_ends[0], 12'000U);
}

}  // namespace
}  // namespace cachetally::golden
