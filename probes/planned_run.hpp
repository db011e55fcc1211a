// SPDX-License-Identifier: BSD-3-Clause
// What of the tests is to be run.
#pragma once

#include <string>
#include <vector>

#include "probes/suite.hpp"

namespace cachetally {

/// Whether the test is asked for.
bool is_wanted(const SuiteOptions& options, const ProbeTest& test);

/// One variant of a test, to be run.
struct PlannedRun {
    const ProbeTest* test;
    bool robust;
    bool kept;  ///< in the reports; else others need it

    std::string variant() const { return robust ? "robust" : "published"; }
    unsigned parts() const { return robust ? test->parts : 1; }
};

/// In order.
std::vector<PlannedRun> plan_of(const SuiteOptions& options);

}  // namespace cachetally
