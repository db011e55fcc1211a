// The engine against the reference simulator: count for count, event for event, end time for end time.
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
