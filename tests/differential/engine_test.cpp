// The engine against the reference simulator: count for count, event for event, end time for end time.
#include <stdexcept>

#include "tests/differential/cases.hpp"
#include "tests/differential/engine_run.hpp"

namespace cachetally::differential {
namespace {

void agree(const Case& test_case, const std::vector<Driving>& drivings) {
    const Outcome expected = simulate(test_case.machine, test_case.programs, test_case.quantum);
    for (const Driving driving : drivings) {
        const EngineOutcome actual = run_engine(test_case.machine, test_case.programs, test_case.quantum, driving);
        const std::string found = difference(test_case.machine, expected, actual, driving);
        if (!found.empty()) {
            RC_FAIL("driving " + std::to_string(static_cast<int>(driving)) + ": " + found);
        }
    }
}

TEST(Differential, SingleLevelAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = 1;
    limits.prefetchers = limits.tlbs = limits.mappings = false;
    check_cases(1000, [=] { agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged}); });
}

TEST(Differential, OneCoreAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.prefetchers = limits.tlbs = limits.mappings = false;
    check_cases(3000, [=] { agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged}); });
}

TEST(Differential, TranslationAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = 2;
    limits.prefetchers = false;
    check_cases(2000, [=] { agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged}); });
}

/// Whether the reference simulator finds a frame for every page.
bool fits(const Case& test_case) {
    try {
        simulate(test_case.machine, test_case.programs, test_case.quantum);
    } catch (const std::runtime_error&) {
        return false;
    }
    return true;
}

// Few frames are free, so that draws hit taken ones again and again.
TEST(Differential, ScarceMemoryAgrees) {
    MachineLimits limits;
    limits.cores = 1;
    limits.levels = 1;
    check_cases(300, [=] {
        Case test_case = *arbitrary_case(limits);
        PagesConfig& pages = test_case.machine.pages;
        pages.size = 4096;
        pages.ranges.clear();
        if (pages.mapping == Mapping::identity) pages.mapping = Mapping::random;
        test_case.machine.memories.front().size = 4096 * (rapidcheck_chooser()(60) + 10);
        RC_PRE(fits(test_case));
        agree(test_case, {Driving::each, Driving::unwatched});
    });
}

TEST(Differential, PrefetchersAgree) {
    MachineLimits limits;
    limits.cores = 1;
    limits.tlbs = false;
    check_cases(2000, [=] { agree(*arbitrary_case(limits), {Driving::each, Driving::unwatched, Driving::merged}); });
}

TEST(Differential, ReferencesOneAtATimeAgree) {
    MachineLimits limits;
    limits.cores = 1;
    check_cases(1500, [=] { agree(*arbitrary_case(limits), {Driving::one_by_one}); });
}

TEST(Differential, MachinesOfSeveralCoresAgree) {
    check_cases(2500, [] {
        agree(*arbitrary_case({}, 6), {Driving::each, Driving::unwatched, Driving::merged, Driving::some});
    });
}

}  // namespace
}  // namespace cachetally::differential
