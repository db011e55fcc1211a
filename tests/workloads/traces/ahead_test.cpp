// SPDX-License-Identifier: BSD-3-Clause
// Decoding ahead in a background thread keeps its distance, and ends cleanly whatever happens in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/storage/temporary.hpp"
#include "tests/workloads/traces/trace_testing.hpp"
#include "workloads/traces/block.hpp"

namespace cachetally {
namespace {

using namespace testing;

/// Makes some blocks, then throws; counts how often it is asked.
class FailingProducer : public BlockProducer {
public:
    FailingProducer(unsigned blocks, std::atomic<unsigned>& asked) : blocks_(blocks), asked_(asked) {}
    void produce(ReferenceBlock& block, const std::optional<FilterPlan>&) override {
        if (asked_++ >= blocks_) throw std::runtime_error("t:7:1: damaged");
        std::fill_n(block.start(100), 100, Reference{64, 0, 8, ReferenceKind::load, 0});
        block.set_size(100);
        block.controls.push_back({100, {Control::Kind::monitor_on, asked_}});
    }

private:
    unsigned blocks_;
    std::atomic<unsigned>& asked_;
};

std::unique_ptr<ReferenceSource> failing_source(unsigned blocks, std::atomic<unsigned>& asked) {
    std::vector<std::unique_ptr<BlockProducer>> producers;
    producers.push_back(std::make_unique<FailingProducer>(blocks, asked));
    return make_block_source(std::move(producers), {}, true);
}

TEST(Ahead, ThrowsAtThePlaceOfTheDamage) {
    for (const unsigned blocks : {0U, 1U, 3U, 5000U}) {
        std::atomic<unsigned> asked = 0;
        const auto source = failing_source(blocks, asked);
        std::string failure;
        const Stream stream = read_stream(*source, 0, &failure);
        EXPECT_EQ(failure, "t:7:1: damaged");
        EXPECT_EQ(stream.size(), blocks * 101U);
        EXPECT_THROW(source->next(0), std::runtime_error) << "and stays so";
    }
}

TEST(Ahead, StopsInTheMiddleAndKeepsItsDistance) {
    std::atomic<unsigned> asked = 0;
    {
        const auto source = failing_source(1U << 31, asked);  // endless
        for (int i = 0; i < 10; ++i) source->next(0);
    }
    EXPECT_LT(asked, 16U) << "a bounded number of blocks is made ahead";
}

TEST(Ahead, StopsPackedStreamsInTheMiddle) {
    const TemporaryDirectory directory;
    PackedOptions options;
    options.block_references = 16;
    const std::vector<Stream> streams{random_stream(1, 5000), random_stream(2, 5000), random_stream(3, 10)};
    std::vector<Stream> without = streams;
    for (Stream& stream : without)
        std::erase_if(stream, [](const Event& e) { return e.control.kind == Control::Kind::barrier; });
    write_packed(directory / "t.h5", without, options);
    for (int calls = 0; calls < 60; calls += 7) {
        const auto source = open_trace(directory / "t.h5");
        Stream first;
        for (int i = 0; i < calls; ++i) add(first, source->next(1));
        EXPECT_TRUE(std::equal(first.begin(), first.end(), without[1].begin()));
    }
}

}  // namespace
}  // namespace cachetally
