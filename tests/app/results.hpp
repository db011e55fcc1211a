// SPDX-License-Identifier: BSD-3-Clause
// Result files of one run.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/program.hpp"

namespace cachetally::testing {

using Words = std::vector<std::string>;

/// Two cores, split lines, a TLB, pages in random frames, monitors that err and one of them twice.
inline constexpr char mixed_machine[] = R"(name: mixed
cores: 2
caches:
  - {name: L1, size: 2 KiB, ways: 4, line: 32, shared_by: 1, next: L2}
  - {name: L2, size: 16 KiB, ways: 8, line: 64, next: memory, latency: 10}
tlbs:
  - {name: DTLB, entries: 8, ways: 4}
pages: {mapping: random}
memory: {name: memory, latency: 100}
)";

class Results : public ::testing::Test {
protected:
    Results() { write_contents(directory / "mixed.yaml", mixed_machine); }
    Finished call(const Words& words, const Circumstances& circumstances = {}) const {
        return cachetally(directory.path(), words, circumstances);
    }
    nlohmann::json good_json(const Words& words) const {
        const Finished finished = call(words + Words{"--json"});
        EXPECT_EQ(finished.status, 0) << finished.err;
        return finished.status == 0 ? finished.json() : nlohmann::json();
    }
    TemporaryDirectory directory;
};

inline const Words radix{"run", "radix", "keys=2048", "radix=64", "processors=2", "--machine", "mixed.yaml"};

/// Demand accesses and misses of a level as its counters have them.
inline std::pair<std::uint64_t, std::uint64_t> demand(const nlohmann::json& level) {
    std::uint64_t accesses = 0, misses = 0;
    for (const char* kind : {"loads", "stores", "fetches"}) accesses += level[kind].get<std::uint64_t>();
    for (const char* kind : {"load_misses", "store_misses", "fetch_misses"}) misses += level[kind].get<std::uint64_t>();
    return {accesses, misses};
}

}  // namespace cachetally::testing
