// Scores of the tests over random machines.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "probes/ours/levels.hpp"
#include "probes/ours/tlb.hpp"
#include "probes/targets/simulated.hpp"
#include "probes/validation/random_machine.hpp"
#include "probes/validation/truth.hpp"
#include "probes/xray/l1.hpp"

namespace cachetally {
namespace {

TEST(Scoring, DISABLED_Try) {
    const char* count = std::getenv("N");
    const char* noise = std::getenv("NOISE");
    std::map<std::string, std::map<std::string, int>> scores;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < (count ? std::atoi(count) : 100); ++i) {
        if (std::getenv("ONE") && std::atoi(std::getenv("ONE")) != i) continue;
        const MachineDescription machine = random_machine(1, static_cast<std::uint64_t>(i));
        if (std::getenv("ONE")) std::printf("%s", write_machine(machine).c_str());
        SimulatedOptions options;
        options.noise = noise_named(noise ? noise : "none");
        SimulatedTarget target(machine, options);
        Meter meter(target, 1);
        std::vector<TestReport> reports{xray_l1_hardened(meter)};
        if (const auto l1 = l1_geometry(reports.front())) {
            if (!std::getenv("NOLEVELS")) reports.push_back(levels_hardened(meter, *l1));
            if (!std::getenv("NOTLB")) reports.push_back(tlb_hardened(meter, *l1));
        }
        for (TestReport report : reports) {
            judge(report, facts_of(machine));
            if (std::getenv("ONE")) {
                for (const auto& decision : report.decisions) std::printf("  %s\n", decision.c_str());
                for (const auto& curve : report.curves)
                    for (std::size_t p = 0; p < curve.x.size(); ++p)
                        std::printf("    %g %g\n", curve.x[p], curve.cycles[p]);
            }
            for (const Finding& finding : report.findings) {
                ++scores[finding.test + " " + finding.variant + " " + finding.level + " " + finding.parameter]
                        [name_of(finding.verdict)];
                if (finding.verdict != Verdict::right && report.variant == "hardened")
                    std::printf("%d %s %s: %g true %g %s\n", i, finding.level.c_str(), finding.parameter.c_str(),
                                finding.value ? finding.value->number : -1, finding.truth ? finding.truth->number : -1,
                                finding.reason.c_str());
            }
        }
    }
    for (const auto& [name, verdicts] : scores) {
        std::printf("%-40s", name.c_str());
        for (const auto& [verdict, times] : verdicts) std::printf(" %s %d", verdict.c_str(), times);
        std::printf("\n");
    }
    std::printf("%f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace
}  // namespace cachetally
