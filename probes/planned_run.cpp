// SPDX-License-Identifier: BSD-3-Clause
#include "probes/planned_run.hpp"

#include <algorithm>

namespace cachetally {
namespace {

bool is_named(const SuiteOptions& options, const std::string& name) {
    return std::ranges::find(options.tests, name) != options.tests.end();
}

}  // namespace

bool is_wanted(const SuiteOptions& options, const ProbeTest& test) {
    return is_named(options, test.name) || (options.tests.empty() && (options.curves || !test.only_curves));
}

std::vector<PlannedRun> plan_of(const SuiteOptions& options) {
    const auto others_go_by = [&](const std::string& name) {
        return options.robust && std::ranges::any_of(probe_tests(), [&](const ProbeTest& other) {
                   return is_named(options, other.name) && std::ranges::count(other.goes_by, name) != 0;
               });
    };
    std::vector<PlannedRun> plan;
    for (const ProbeTest& test : probe_tests()) {
        const bool wanted = is_wanted(options, test), first = test.name == "l1";
        const bool needed = first || others_go_by(test.name);
        if (!wanted && !needed) continue;
        const bool too_much = test.costly && options.tests.empty() && options.cheap;
        if (test.published && options.published && !too_much && (wanted || first))
            plan.push_back({&test, false, wanted});
        if (test.robust && (options.robust || first)) plan.push_back({&test, true, wanted && options.robust});
    }
    return plan;
}

}  // namespace cachetally
