// SPDX-License-Identifier: BSD-3-Clause
// What holds for every kernel: right numbers, determinism, references within regions, progress, early destruction.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "tests/workloads/kernels/recording.hpp"

namespace cachetally::test {
namespace {

class EveryKernel : public testing::TestWithParam<Small> {
protected:
    static Options processors(unsigned count) {
        return with(GetParam().options, "processors=" + std::to_string(count));
    }
    static std::map<Address, std::uint64_t> histogram(const Recording& recording, ReferenceKind kind) {
        std::map<Address, std::uint64_t> result;
        for (const Reference& reference : recording.all())
            if (reference.kind == kind) ++result[reference.address];
        return result;
    }
};

/// The kernels whose results do not depend on the number of processors to the last bit: chase gives each processor a
/// chain of its own, and water adds forces in an order that depends on who computes them.
class KernelOfOneResult : public EveryKernel {};

/// The kernels whose processors together make the references of one: those of radix also keep a histogram each.
class KernelOfSharedWork : public EveryKernel {};

std::vector<Small> without(const std::set<std::string>& names) {
    std::vector<Small> kernels = small_runs();
    std::erase_if(kernels, [&](const Small& kernel) { return names.contains(kernel.name); });
    return kernels;
}

TEST_P(EveryKernel, ComputesRightForAnyNumberOfProcessors) {
    for (const unsigned count : {1U, 2U, 3U, 4U, 8U, 16U}) {
        const Recording result = record(GetParam().name, processors(count));
        EXPECT_TRUE(result.verdict.passed()) << count << " processors: " << result.verdict.meaning << " is "
                                             << result.verdict.residual << ", bound " << result.verdict.bound;
    }
}

TEST_P(KernelOfOneResult, GivesItForAnyNumberOfProcessors) {
    const std::uint64_t alone = record(GetParam().name, GetParam().options).fingerprint;
    for (const unsigned count : {2U, 5U, 16U}) EXPECT_EQ(record(GetParam().name, processors(count)).fingerprint, alone);
}

TEST_P(KernelOfSharedWork, MakesTheSameReferencesForAnyNumberOfProcessors) {
    const Options options = GetParam().name == "lu" ? with(GetParam().options, "stack=off") : GetParam().options;
    const Recording alone = record(GetParam().name, options);
    const Recording shared = record(GetParam().name, with(options, "processors=6"));
    for (const auto kind : {ReferenceKind::load, ReferenceKind::store})
        EXPECT_EQ(histogram(shared, kind), histogram(alone, kind));
}

TEST_P(EveryKernel, IsDeterministicInWhateverOrderStreamsAreAsked) {
    const Recording first = record(GetParam().name, processors(4));
    for (const Order order : {Order::ascending, Order::descending, Order::in_turn}) {
        const Recording other = record(GetParam().name, processors(4), order);
        EXPECT_EQ(other.phases, first.phases);
        EXPECT_EQ(other.fingerprint, first.fingerprint);
    }
}

TEST_P(EveryKernel, ReferencesLieWithinRegions) {
    const Recording result = record(GetParam().name, processors(3));
    std::map<std::string, std::uint64_t> touched;
    for (const Reference& reference : result.all()) {
        const auto region =
            std::ranges::find_if(result.regions, [&](const Region& r) { return r.contains(reference.address); });
        ASSERT_NE(region, result.regions.end()) << std::hex << reference.address;
        ASSERT_TRUE(region->contains(reference.address + reference.size - 1));
        ASSERT_NE(reference.site, 0U);
        ++touched[region->name];
    }
    EXPECT_EQ(touched.size(), result.regions.size()) << "each region is used, and no two have one name";
    for (std::size_t i = 1; i < result.regions.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_TRUE(!result.regions[i].contains(result.regions[j].base) &&
                        !result.regions[j].contains(result.regions[i].base));
}

TEST_P(EveryKernel, EstimatesItsLength) {
    const Recording result = record(GetParam().name, processors(2));
    EXPECT_NEAR(result.expected / static_cast<double>(result.references), 1.0, 0.35);
    EXPECT_EQ(result.references, result.all().size());
}

TEST_P(EveryKernel, ProgressGrowsFrom0To1) {
    WorkloadSource source(make_workload(GetParam().name, GetParam().options));
    double last = source.progress();
    EXPECT_EQ(last, 0.0);
    for (std::vector<Reference> unused; take(source, 0, unused) != Control::Kind::end;) {
        EXPECT_FALSE(source.ended());
        EXPECT_GE(source.progress(), last);
        EXPECT_LT(source.progress(), 1.0);
        last = source.progress();
    }
    EXPECT_TRUE(source.ended());
    EXPECT_EQ(source.progress(), 1.0);
    EXPECT_EQ(source.next(0).control.kind, Control::Kind::end);
}

TEST_P(EveryKernel, MayBeDestroyedInTheMiddle) {
    for (const unsigned batches : {0U, 1U, 2U, 7U}) {
        WorkloadSource source(make_workload(GetParam().name, processors(2)));
        std::vector<Reference> unused;
        for (unsigned taken = 0; taken < batches; ++taken)
            if (stops(take(source, 0, unused))) break;
    }
}

TEST_P(EveryKernel, EntersAndLeavesFunctionsInPairs) {
    WorkloadSource source(make_workload(GetParam().name, GetParam().options));
    int depth = 0;
    bool named = false;
    const Control first = source.next(0).control;
    ASSERT_EQ(first.kind, Control::Kind::meet);
    EXPECT_EQ(source.phase_names().at(first.argument - 1), "initialise");
    for (bool ended = false; !ended;) {
        const Control control = source.next(0).control;
        ended = control.kind == Control::Kind::end;
        if (control.kind == Control::Kind::enter_function) {
            ++depth;
            ASSERT_LT(control.argument, source.functions().size());
        } else if (control.kind == Control::Kind::leave_function) {
            ASSERT_GT(depth--, 0);
        } else if (control.kind == Control::Kind::barrier) {
            ASSERT_EQ(depth, 0);
            ASSERT_LE(control.argument, source.phase_names().size());
            named |= control.argument != 0;
        }
    }
    EXPECT_EQ(depth, 0);
    EXPECT_TRUE(named) << "phases have names";
}

std::string name_of(const testing::TestParamInfo<Small>& kernel) {
    return kernel.param.name + std::to_string(kernel.index);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, testing::ValuesIn(small_runs()), name_of);
INSTANTIATE_TEST_SUITE_P(Kernels, KernelOfOneResult, testing::ValuesIn(without({"chase", "water"})), name_of);
INSTANTIATE_TEST_SUITE_P(Kernels, KernelOfSharedWork, testing::ValuesIn(without({"chase", "water", "radix"})), name_of);

TEST(Kernels, AreAllListedWithDefaultsThatRun) {
    std::vector<std::string> names;
    for (const WorkloadInfo& info : workload_list()) {
        names.push_back(info.name);
        EXPECT_FALSE(info.description.empty());
        Options defaults;
        for (const WorkloadOption& option : info.options) defaults.push_back(option.name + "=" + option.initial);
        const Recording unsaid = record(info.name, {});
        EXPECT_TRUE(unsaid.verdict.passed());
        EXPECT_EQ(record(info.name, defaults).fingerprint, unsaid.fingerprint);
    }
    EXPECT_EQ(names,
              (std::vector<std::string>{"lu", "radix", "water", "fft", "ocean", "matmul", "stream", "gups", "chase"}));
}

TEST(Layout, BeginsOnPagesOneAfterTheOther) {
    Layout layout;
    EXPECT_EQ(layout.place("a", 1, 1), 0x10000000U);
    EXPECT_EQ(layout.place("b", 4096, 8, 40), 0x10001028U);
    EXPECT_EQ(layout.place("c", 8, 8), 0x10003000U);
    EXPECT_EQ(layout.stack(0), 0x7fff0020U);
    EXPECT_EQ(layout.regions()[1], (Region{"b", 0x10001028, 4096, 8}));
    EXPECT_EQ(layout.regions()[3], (Region{"stack0", 0x7ffef000, 8192, 4}));
}

RC_GTEST_PROP(Layout, SharesArePartsOfTheWhole, ()) {
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 10000);
    const auto processors = *rc::gen::inRange<unsigned>(1, 70);
    std::uint64_t next = 0, least = count, most = 0;
    for (unsigned number = 0; number < processors; ++number) {
        const Share share = share_of(count, number, processors);
        RC_ASSERT(share.begin == next);
        next = share.end;
        least = std::min(least, share.end - share.begin);
        most = std::max(most, share.end - share.begin);
    }
    RC_ASSERT(next == count);
    RC_ASSERT(most - least <= 1);
}

TEST(Fiber, PassesExceptionsOutAndUnwindsWhatIsLeft) {
    bool unwound = false;
    struct Note {
        bool& flag;
        ~Note() { flag = true; }
    };
    {
        Fiber* self = nullptr;
        Fiber fiber([&] {
            const Note note{unwound};
            self->suspend();
        });
        self = &fiber;
        fiber.resume();
        EXPECT_FALSE(unwound);
    }
    EXPECT_TRUE(unwound);
    Fiber failing([] { throw std::runtime_error("no"); });
    EXPECT_THROW(failing.resume(), std::runtime_error);
    EXPECT_TRUE(failing.ended());
    const Fiber never_begun([] { FAIL(); });
}

}  // namespace
}  // namespace cachetally::test
