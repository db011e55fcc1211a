// SPDX-License-Identifier: BSD-3-Clause
// Random cases for rapidcheck.
#include "tests/differential/cases.hpp"

#include <cstdlib>
#include <sstream>

#include "cachetally/topology.hpp"

namespace cachetally::differential {
namespace {

/// Of all sizes alike: rapidcheck would begin with the smallest.
std::uint64_t draw(std::uint64_t bound) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, bound));
}

Burst draw_burst(bool barrier) {
    Burst burst;
    burst.pattern = static_cast<unsigned>(draw(8));
    burst.base = static_cast<unsigned>(draw(6));
    burst.count = static_cast<unsigned>(draw(60));
    constexpr unsigned strides[] = {4, 8, 64, 24, 200, 520, 4096, 32};
    burst.stride = strides[draw(8)];
    burst.seed = static_cast<unsigned>(draw(1000));
    burst.kinds = static_cast<unsigned>(draw(5));
    burst.barrier = barrier;
    return burst;
}

/// The distance of lines that meet in one set of the first level.
std::uint64_t way_bytes(const MachineDescription& machine) {
    if (machine.caches.empty()) return 4096;
    const CacheConfig& first = machine.caches.front();
    return first.ways != 0 ? first.size / first.ways : first.line;
}

}  // namespace

Chooser rapidcheck_chooser() { return draw; }

rc::Gen<Case> arbitrary_case(MachineLimits limits, unsigned most_bursts) {
    return rc::gen::exec([=] {
        Case test_case;
        test_case.machine = random_machine(rapidcheck_chooser(), limits);
        constexpr Tick quanta[] = {0, 50'000, 1'000'000};
        test_case.quantum = quanta[draw(3)];
        const auto programs = test_case.machine.cores - (draw(8) == 7 && test_case.machine.cores > 1 ? 1 : 0);
        for (unsigned core = 0; core < programs; ++core) {
            const auto bursts = static_cast<unsigned>(draw(most_bursts + 1));
            test_case.bursts.emplace_back();
            for (unsigned i = 0; i < bursts; ++i) test_case.bursts.back().push_back(draw_burst(draw(8) == 7));
            test_case.programs.push_back(expand(test_case.bursts.back(), way_bytes(test_case.machine)));
        }
        return test_case;
    });
}

std::ostream& operator<<(std::ostream& out, const Case& test_case) {
    out << write_machine(test_case.machine) << "quantum " << test_case.quantum << " ps\n";
    for (std::size_t core = 0; core < test_case.bursts.size(); ++core) {
        for (const Burst& burst : test_case.bursts[core]) out << "core " << core << ' ' << to_text(burst) << '\n';
    }
    return out;
}

#ifdef CACHETALLY_SANITIZED
constexpr int one_of = 10;  // sanitizers watch memory, not agreement: the full number is for the build without
#else
constexpr int one_of = 1;
#endif

void check_cases(unsigned cases, const std::function<void()>& property) {
    const char* more = std::getenv("CACHETALLY_CASES");
    const int times = more != nullptr ? std::max(1, std::atoi(more)) : 1;
    rc::detail::TestParams params = rc::detail::configuration().testParams;
    params.maxSuccess = static_cast<int>(cases) * times / one_of;
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    rc::detail::TestMetadata metadata;
    metadata.id = std::string(info->test_suite_name()) + "/" + info->name();
    metadata.description = info->name();
    const auto result = rc::detail::checkTestable(property, metadata, params);
    if (result.template is<rc::detail::SuccessResult>()) return;
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    FAIL() << "rapidcheck seed " << params.seed << " (set RC_PARAMS=\"seed=" << params.seed << "\" to repeat)\n"
           << text.str();
}

}  // namespace cachetally::differential
