// SPDX-License-Identifier: BSD-3-Clause
// What a source that runs ahead filters for its reader: all of a batch, or nothing.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "workloads/traces/block.hpp"

namespace cachetally {
namespace {

constexpr std::size_t blocks = 20, block_references = 5000;
const FilterPlan plan{.data = {.line_bits = 6, .line_slots = 8}, .fetches = {}};

/// Blocks with controls in their middle; some references cross lines; fetches only in some blocks.
class Producer final : public BlockProducer {
public:
    explicit Producer(bool fetches) : fetches_(fetches) {}

    void produce(ReferenceBlock& block, const std::optional<FilterPlan>&) override {
        Reference* references = block.start(block_references);
        for (std::size_t i = 0; i < block_references; ++i) {
            state_ = state_ * 6364136223846793005U + 1442695040888963407U;
            const Address address = state_ >> 40;
            const bool fetch = fetches_ && made_ % 2 == 1 && i % 7 == 0;
            references[i] = {address, 0, 8, fetch ? ReferenceKind::fetch : ReferenceKind::load, 0};
        }
        block.set_size(block_references);
        for (const std::uint32_t position : {0U, 100U, 100U, 3333U})
            block.controls.push_back({position, {Control::Kind::monitor_on, 0}});
        block.last = ++made_ == blocks;
    }

private:
    bool fetches_;
    std::size_t made_ = 0;
    std::uint64_t state_ = 1;
};

std::unique_ptr<ReferenceSource> source_of(bool fetches) {
    std::vector<std::unique_ptr<BlockProducer>> producers;
    producers.push_back(std::make_unique<Producer>(fetches));
    return make_block_source(std::move(producers), {}, true);
}

struct Seen {
    std::size_t whole = 0, filtered = 0;  ///< batches
    std::size_t references = 0;
    double accesses_each = 0;  ///< accesses per reference of filtered ones
};

Seen seen_of(bool fetches, bool wishes) {
    const auto source = source_of(fetches);
    if (wishes) source->wish(plan);
    Seen seen;
    double filtered_references = 0, accesses = 0;
    while (true) {
        const Batch batch = source->next(0);
        seen.whole += !batch.references.empty();
        seen.filtered += !batch.blocks.empty();
        EXPECT_TRUE(batch.references.empty() || batch.blocks.empty());
        seen.references += batch.references.size();
        for (const FilteredBlock& block : batch.blocks) {
            seen.references += block.references;
            filtered_references += block.references;
            accesses += static_cast<double>(block.data.marks.size());
            seen.accesses_each = accesses / filtered_references;
            EXPECT_EQ(block.data.marks.size(), block.data.retained.size() + block.data.redundant.all());
            EXPECT_TRUE(block.fetches.marks.empty());
        }
        if (batch.control.kind == Control::Kind::end) return seen;
    }
}

TEST(SourceAhead, FiltersABatchOrNothingOfIt) {
    // Some blocks are made before the wish is known. Three batches of a block are not empty.
    const Seen seen = seen_of(false, true);
    EXPECT_EQ(seen.whole + seen.filtered, 3 * blocks);
    EXPECT_GE(seen.filtered, 3 * (blocks - 4));
    EXPECT_EQ(seen.references, blocks * block_references);
    EXPECT_GT(seen.accesses_each, 1.05);  // 7 of 64 straddle lines
}

TEST(SourceAhead, LeavesOutFetchesThatNothingServes) {
    const Seen seen = seen_of(true, true);
    EXPECT_EQ(seen.references, blocks * block_references);
    EXPECT_LT(seen.accesses_each, 0.95 * seen_of(false, true).accesses_each);  // 1 of 14 is a fetch
}

TEST(SourceAhead, FiltersNothingUnasked) { EXPECT_EQ(seen_of(false, false).filtered, 0U); }

}  // namespace
}  // namespace cachetally
