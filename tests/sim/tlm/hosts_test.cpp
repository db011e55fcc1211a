// The engine and the SystemC host: every count, every event and record in order and with its time, every end time.
#include <gtest/gtest.h>

#include <array>

#include "tests/sim/tlm/random_case.hpp"

namespace cachetally::testing {
namespace {

constexpr std::array<Tick, 4> quanta{0, 50'000, 1'000'000, 1'000'000'000};

#ifdef CACHETALLY_SANITIZED
constexpr unsigned cases_of_each = 5;  // sanitizers watch memory, not agreement
#else
constexpr unsigned cases_of_each = 40;
#endif

/// All in one simulation: a process has no second one.
void agree_on(unsigned cores) {
    std::vector<Case> cases;
    for (const Tick quantum : quanta)
        for (unsigned i = 0; i < cases_of_each; ++i) {
            cases.push_back(random_case(1000 * cores + i, cores));
            cases.back().options.quantum = quantum;
        }
    expect_equal_hosts(cases);
}

TEST(Hosts, AgreeOnOneCore) { agree_on(1); }
TEST(Hosts, AgreeOnTwoCores) { agree_on(2); }
TEST(Hosts, AgreeOnFourCores) { agree_on(4); }
TEST(Hosts, AgreeOnEightCores) { agree_on(8); }

TEST(Hosts, AgreeWhereReferencesAreHandedOverByNumber) {
    std::vector<Case> cases;
    for (const Tick quantum : quanta)
        for (unsigned i = 0; i < cases_of_each; ++i) {
            cases.push_back(random_plain_case(i));
            cases.back().options.quantum = quantum;
        }
    expect_equal_hosts(cases);
}

}  // namespace
}  // namespace cachetally::testing
