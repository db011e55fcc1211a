// SPDX-License-Identifier: BSD-3-Clause
// Running ahead in a background thread changes nothing but the time, whatever happens in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <atomic>

#include "tests/storage/temporary.hpp"
#include "tests/workloads/traces/trace_testing.hpp"
#include "workloads/traces/block_source.hpp"

namespace cachetally {
namespace {

using namespace testing;

RC_GTEST_PROP(RunAhead, ChangesNothing, ()) {
    const Stream stream =
        random_stream(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange<std::size_t>(0, 100000));
    const auto batch = *rc::gen::element<std::size_t>(1, 100, 40000);
    const auto source = run_ahead(std::make_unique<MemorySource>(std::vector<Stream>{stream}, batch));
    RC_ASSERT(read_stream(*source) == ended(stream));
    RC_ASSERT(source->regions().size() == 2U);
    RC_ASSERT(source->functions().size() == 2U);
}

/// Yields some references, then throws; counts how often it is asked.
class FailingSource : public ReferenceSource {
public:
    FailingSource(unsigned batches, std::atomic<unsigned>& asked) : batches_(batches), asked_(asked) {}
    unsigned cores() const override { return 1; }
    Batch next(unsigned) override {
        if (asked_++ == batches_) throw std::runtime_error("t:7:1: damaged");
        return {references_, {Control::Kind::monitor_on, asked_}};
    }

private:
    unsigned batches_;
    std::atomic<unsigned>& asked_;
    std::vector<Reference> references_ = std::vector<Reference>(100, Reference{64, 0, 8, ReferenceKind::load, 0});
};

TEST(RunAhead, ThrowsAtThePlaceOfTheDamage) {
    for (const unsigned batches : {0U, 1U, 3U, 5000U}) {
        std::atomic<unsigned> asked = 0;
        const auto source = run_ahead(std::make_unique<FailingSource>(batches, asked));
        std::string failure;
        const Stream stream = read_stream(*source, 0, &failure);
        EXPECT_EQ(failure, "t:7:1: damaged");
        EXPECT_EQ(stream.size(), batches * 101U);
        EXPECT_THROW(source->next(0), std::runtime_error) << "and stays so";
    }
}

TEST(RunAhead, StopsInTheMiddleAndKeepsItsDistance) {
    std::atomic<unsigned> asked = 0;
    {
        const auto source = run_ahead(std::make_unique<FailingSource>(1U << 31, asked));  // endless
        for (int i = 0; i < 10; ++i) source->next(0);
    }
    EXPECT_LT(asked, 5U * 32768U / 100U + 10U) << "a bounded number of blocks is made ahead";
}

TEST(RunAhead, RefusesSeveralStreams) {
    EXPECT_THROW(run_ahead(std::make_unique<MemorySource>(std::vector<Stream>(2))), std::invalid_argument);
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
