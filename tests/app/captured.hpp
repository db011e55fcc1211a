// SPDX-License-Identifier: BSD-3-Clause
// Runs of the program tests/workloads/capture/programs/known.c.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/app/program.hpp"

namespace cachetally::testing {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

inline const std::string known = CACHETALLY_KNOWN;

class Captured : public ::testing::Test {
protected:
    void SetUp() override {
#ifndef CACHETALLY_CAPTURES
        GTEST_SKIP() << "the capture tool was not built: the package valgrind is not installed";
#endif
    }
    /// The known program; what it printed is `out`.
    Finished run(const Words& options, const Words& program, const Circumstances& circumstances = {}) {
        return cachetally(directory.path(), options + Words{"--", known} + program, circumstances);
    }
    Json report() const {
        std::ifstream file(directory / "report");
        return Json::parse(file);
    }
    /// Exact counts of the known program's data.
    Json counts(const Words& options, const Words& program) {
        const Finished finished =
            run(Words{"run", "--monitor", "none", "--report", "report", "--json", "-o", "r.h5", "--force"} + options,
                program);
        EXPECT_EQ(finished.status, 0) << finished.err;
        return report();
    }
    TemporaryDirectory directory;
};

inline const Words reported = {"run", "--monitor", "none", "--report", "report", "--json"};

/// The first row whose name begins so; null if there is none.
inline const Json& named(const Json& list, const std::string& begin) {
    static const Json nothing;
    for (const Json& row : list)
        if (row["name"].get<std::string>().starts_with(begin)) return row;
    return nothing;
}

inline std::uint64_t sum_of(const Json& list, const std::string& level) {
    std::uint64_t sum = 0;
    for (const Json& row : list) sum += row["misses"][level].get<std::uint64_t>();
    return sum;
}

}  // namespace cachetally::testing
