// SPDX-License-Identifier: BSD-3-Clause
// run --reuse and replay --reuse: what is printed, kept and documented is one and the same.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "tests/app/results.hpp"

namespace cachetally::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReuseOfRuns : public Results {};

std::uint64_t misses_at(const nlohmann::json& reuse, std::uint64_t lines) {
    std::uint64_t misses = 0;
    for (const auto& point : reuse["curve"])
        if (point["lines"].get<std::uint64_t>() <= lines) misses = point["misses"];
    return misses;
}

TEST_F(ReuseOfRuns, InTheFileIsWhatIsTold) {
    const auto told = good_json(radix + Words{"--reuse", "-o", "r.h5"});
    EXPECT_EQ(good_json({"show", "r.h5"})["reuse"], told["reuse"]);
    ASSERT_EQ(told["reuse"].size(), 2U);  // lines of 32 and of 64 bytes
    EXPECT_EQ(told["reuse"][1]["line_bytes"], 64);
    for (const auto& reuse : told["reuse"]) {
        EXPECT_EQ(reuse["link"], "core-L1");
        EXPECT_EQ(reuse["references"], demand(told["levels"]["L1"]).first);
        std::uint64_t all = 0, first = 0;
        for (const auto& row : reuse["distances"]) {
            all += row["count"].get<std::uint64_t>();
            if (row["distance"].is_null()) first += row["count"].get<std::uint64_t>();
        }
        EXPECT_EQ(all, reuse["references"]);
        EXPECT_EQ(first, reuse["first_uses"]);
        EXPECT_EQ(first, reuse["curve"].back()["misses"]);
    }
}

// A packed trace marks what a first level may pass over; the distances are those of all references all the same.
TEST_F(ReuseOfRuns, OfPackedTracesIsThatOfTheKernel) {
    const auto run = good_json({"run", "lu", "n=48", "--reuse"})["reuse"][0];
    ASSERT_EQ(call({"trace", "convert", "lu", "lu.ct.h5", "n=48"}).status, 0);
    const auto replayed = good_json({"replay", "lu.ct.h5", "--reuse"})["reuse"][0];
    EXPECT_EQ(replayed["curve"], run["curve"]);
    EXPECT_EQ(replayed["distances"], run["distances"]);
    EXPECT_EQ(good_json({"run", "lu", "n=48", "--reuse", "--host", "systemc"})["reuse"][0], run);
}

// The curve at 512 lines is what a machine with such a cache misses.
TEST_F(ReuseOfRuns, TellsWhatAFullyAssociativeCacheMisses) {
    const auto reuse = good_json({"run", "lu", "n=64", "--reuse", "--monitor", "none"})["reuse"][0];
    write_contents(directory / "full.yaml",
                   "name: full\ncaches:\n  - {name: L1, size: 8 KiB, ways: 128, line: 64, next: memory}\n");
    const auto full = good_json({"run", "lu", "n=64", "-m", "full.yaml", "--monitor", "none"});
    EXPECT_EQ(misses_at(reuse, 128), demand(full["levels"]["L1"]).second);
}

TEST_F(ReuseOfRuns, IsPrintedAsDocumented) {
    const std::string page = contents(CACHETALLY_SOURCE_DIR "/docs/reuse.md");
    const std::string out = call({"run", "lu", "n=128", "-m", "schulz2002", "--monitor", "none", "--reuse"}).out;
    std::istringstream lines(page);
    unsigned rows = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("    ") || line.find('$') != std::string::npos) continue;
        EXPECT_THAT(out, HasSubstr(line.substr(4)));
        ++rows;
    }
    EXPECT_EQ(rows, 12U);
    EXPECT_EQ(call({"run", "lu", "n=16"}).out.find("fully associative"), std::string::npos);
}

TEST_F(ReuseOfRuns, OfOnePhaseAndStructureIsShown) {
    ASSERT_EQ(call({"run", "lu", "n=32", "-m", "schulz2002", "--reuse", "-o", "lu.h5"}).status, 0);
    const std::string out = call({"show", "lu.h5", "--phase", "0", "--structure", "A"}).out;
    EXPECT_THAT(out, HasSubstr("513 of 1,024"));  // two elements to a line, of which the first begins in the middle
    EXPECT_THAT(out, HasSubstr("A %"));
    EXPECT_THAT(out, Not(HasSubstr("stack0 %")));
}

// All lines have one distance: no power of two lies between the capacities of the curve.
TEST_F(ReuseOfRuns, OfOneDistanceIsDrawn) {
    std::string references;
    for (unsigned i = 0; i < 300; ++i) references += fmt::format("0 {:x} 8\n", 0x400000 + 64 * (i % 90));
    write_contents(directory / "round.din", references);
    ASSERT_EQ(call({"replay", "round.din", "-m", "generic3", "--reuse", "-o", "r.h5"}).status, 0);
    const Finished drawn = call({"figure", "reuse", "r.h5", "-o", "r.svg"});
    EXPECT_EQ(drawn.status, 0) << drawn.err;
}

TEST_F(ReuseOfRuns, OfMachinesWithoutCachesIsToldToBeNone) {
    write_contents(directory / "bare.yaml", "name: bare\n");
    const Finished run = call({"run", "lu", "n=16", "-m", "bare.yaml", "--reuse"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("--reuse: the machine has no cache"));
}

}  // namespace
}  // namespace cachetally::testing
