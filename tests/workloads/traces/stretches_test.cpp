// SPDX-License-Identifier: BSD-3-Clause
// What a source that runs ahead finds for its reader: all stretches of every batch, or none.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "workloads/traces/block_source.hpp"

namespace cachetally {
namespace {

constexpr std::size_t blocks = 20, block_references = 5000;
constexpr LineWish data_of_64{
    64, 1U << static_cast<unsigned>(ReferenceKind::load) | 1U << static_cast<unsigned>(ReferenceKind::store)};

/// Blocks with controls in their middle; some references cross lines; fetches only in some blocks.
class Producer final : public BlockProducer {
public:
    explicit Producer(bool fetches) : fetches_(fetches) {}

    void produce(ReferenceBlock& block, LineWish) override {
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

/// References of the batch that do not cross a line, in order.
std::vector<const Reference*> within_lines(const Batch& batch) {
    std::vector<const Reference*> found;
    for (const Reference& reference : batch.references)
        if (reference.address % 64 + reference.size <= 64) found.push_back(&reference);
    return found;
}

std::vector<const Reference*> held(const Batch& batch) {
    std::vector<const Reference*> found;
    for (const Stretch& stretch : batch.stretches)
        for (const Reference& reference : stretch.references) found.push_back(&reference);
    return found;
}

std::size_t batches_with_stretches(bool fetches) {
    const auto source = source_of(fetches);
    source->wish(data_of_64);
    std::size_t with = 0;
    while (true) {
        const Batch batch = source->next(0);
        if (!batch.stretches.empty()) {
            ++with;
            EXPECT_EQ(held(batch), within_lines(batch));
        }
        if (batch.control.kind == Control::Kind::end) return with;
    }
}

TEST(SourceAhead, FindsAllStretchesOfABatchOrNone) {
    // Some blocks are made before the wish is known. Three batches of a block are not empty.
    const std::size_t with = batches_with_stretches(false);
    EXPECT_GE(with, 3 * (blocks - 4));
    EXPECT_LE(with, 3 * blocks);
}

TEST(SourceAhead, FindsNoneInBlocksWithFetchesThatGoAnotherWay) {
    EXPECT_LE(batches_with_stretches(true), 3 * blocks / 2);
}

TEST(SourceAhead, FindsNothingUnasked) {
    const auto source = source_of(false);
    for (Batch batch = source->next(0); batch.control.kind != Control::Kind::end; batch = source->next(0))
        EXPECT_TRUE(batch.stretches.empty());
}

}  // namespace
}  // namespace cachetally
