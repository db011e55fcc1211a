// SPDX-License-Identifier: BSD-3-Clause
// L1 where the physical address chooses the set, and where nobody knows whose time that of a load is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/robust.hpp"

namespace cachetally {
namespace {

using ::testing::HasSubstr;

MachineDescription physically_indexed(const std::string& l1, const std::string& pages) {
    return read_machine(
        fmt::format("name: physical\ncaches:\n  - {{name: L1, {}, latency: 4, next: L2}}\n"
                    "  - {{name: L2, size: 1 MiB, ways: 16, latency: 14, next: memory}}\n"
                    "tlbs:\n  - {{name: T, entries: 48, ways: full}}\npages: {{{}}}\nmemory: {{latency: 150}}\n",
                    l1, pages),
        "physical.yaml");
}

// The first as a Cortex-A72 has it. Pages that lie anywhere look like other caches, and otherwise elsewhere.
TEST(Placement, AnL1WhoseWaysAreLongerThanPagesIsFound) {
    for (const char* l1 :
         {"size: 32 KiB, ways: 2", "size: 64 KiB, ways: 4", "size: 16 KiB, ways: 1", "size: 8 KiB, ways: 1"})
        for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
            const TestReport report =
                robust(physically_indexed(l1, "size: 4 KiB, mapping: random"), "l1", small_pages(seed));
            for (const char* parameter : {"capacity", "ways", "line", "latency"})
                EXPECT_EQ(finding(report, "L1", parameter).verdict, Verdict::right)
                    << l1 << ' ' << parameter << ' ' << seed;
        }
}

// Placements do not matter: ways are pages, or pages have the colours of their addresses, or follow each other.
TEST(Placement, AnL1ThatPagesFillEvenlyIsFound) {
    for (const auto& [l1, pages] : {std::pair{"size: 32 KiB, ways: 8", "size: 4 KiB, mapping: random"},
                                    {"size: 32 KiB, ways: 2", "size: 4 KiB, mapping: coloured, colours: 4"},
                                    {"size: 32 KiB, ways: 2", "size: 4 KiB, mapping: contiguous"},
                                    {"size: 32 KiB, ways: 2, virtually_indexed: true", "size: 4 KiB, mapping: random"},
                                    {"size: 32 KiB, ways: 2", "size: 16 KiB, mapping: random"}}) {
        const TestReport report = robust(physically_indexed(l1, pages), "l1", small_pages(3));
        for (const char* parameter : {"capacity", "ways", "line", "latency"})
            EXPECT_EQ(finding(report, "L1", parameter).verdict, Verdict::right)
                << l1 << ' ' << pages << ' ' << parameter;
    }
}

// Lines a power of two apart go round three sets, so that three times as many stay as there are ways.
TEST(Placement, ThreeTimesAPowerOfTwoSetsAreNotTakenForMoreWays) {
    for (const char* l1 : {"size: 24 KiB, ways: 2", "size: 12 KiB, ways: 1", "size: 36 KiB, ways: 3"})
        for (std::uint64_t seed = 1; seed <= seeds(8); ++seed)
            EXPECT_NE(finding(robust(physically_indexed(l1, "size: 4 KiB, mapping: identity"), "l1", small_pages(seed)),
                              "L1", "ways")
                          .verdict,
                      Verdict::wrong)
                << l1 << ' ' << seed;
}

TEST(Placement, LargePagesFindAnL1WhoseWaysAreLonger) {
    const TestReport report = robust(physically_indexed("size: 32 KiB, ways: 2", "size: 4 KiB, mapping: random"), "l1");
    EXPECT_EQ(finding(report, "L1", "capacity").verdict, Verdict::right);
    EXPECT_EQ(finding(report, "L1", "ways").verdict, Verdict::right);
}

// Times rise where the TLB holds parts of pages only. That is no cache.
TEST(Placement, ATlbWithoutCachesHasNoLatencyOfL1) {
    const TestReport report = robust(read_machine("name: bare\ntlbs:\n"
                                                  "  - {name: A, entries: 8, ways: full, granule: 4 KiB, next: B}\n"
                                                  "  - {name: B, entries: 512, ways: 4, latency: 7}\n"
                                                  "memory: {latency: 200}\n",
                                                  "bare.yaml"),
                                     "l1");
    expect_none_wrong(report);
    EXPECT_THAT(finding(report, "L1", "latency").reason, HasSubstr("no cache has it"));
}

// Where its sets are not found, lines take longer when they are used first.
TEST(Placement, AHashedL1HasALatency) {
    for (const char* noise : {"none", "realistic"}) {
        SimulatedOptions options = small_pages(1);
        options.noise = noise_named(noise);
        const TestReport report =
            robust(physically_indexed("size: 16 KiB, ways: 2, indexing: xor_hash", "size: 4 KiB, mapping: random"),
                   "l1", options);
        expect_none_wrong(report);
        EXPECT_FALSE(finding(report, "L1", "capacity").value) << noise;
        EXPECT_EQ(finding(report, "L1", "latency").verdict, Verdict::right) << noise;
    }
}

// Two pages fill a way of L1, and those of even numbers, which meet in it, half of the sets of L2.
TEST(Placement, PagesThatFollowEachOtherMeetInSomeSetsOnly) {
    const TestReport report =
        robust(read_machine("name: half\ncaches:\n  - {name: L1, size: 8 KiB, ways: 1, latency: 4, next: L2}\n"
                            "  - {name: L2, size: 64 KiB, ways: 4, latency: 12, next: memory}\n"
                            "pages: {size: 4 KiB, mapping: contiguous}\nmemory: {latency: 100}\n",
                            "half.yaml"),
               "physical", small_pages(1));
    expect_none_wrong(report);
    EXPECT_THAT(finding(report, "L2", "capacity").reason, HasSubstr("some sets only"));
}

/// Without the geometry of L1 `prefetcher` is not asked.
MachineDescription behind_hashed_l1(const std::string& prefetch) {
    return read_machine(
        "name: hashed\ncaches:\n"
        "  - {name: L1, size: 12 KiB, ways: 3, line: 128, latency: 4, indexing: xor_hash, next: L2}\n"
        "  - {name: L2, size: 48 KiB, ways: 24, line: 128, latency: 16, replacement: tree_plru" +
            prefetch +
            ", next: L3}\n"
            "  - {name: L3, size: 640 KiB, ways: 20, line: 128, latency: 80, next: memory}\n"
            "memory: {latency: 500}\n",
        "hashed.yaml");
}

TEST(Placement, LinesThatArePrefetchedBehindAnL1ThatIsNotFound) {
    const TestReport fetched =
        robust(behind_hashed_l1(", prefetch: {kind: next_line, degree: 2, distance: 2}"), "events");
    expect_none_wrong(fetched);
    EXPECT_THAT(finding(fetched, "L3", "line").reason, HasSubstr("there is a prefetcher"));
    const TestReport plain = robust(behind_hashed_l1(""), "events");
    EXPECT_EQ(finding(plain, "L1", "line").verdict, Verdict::right);
    EXPECT_EQ(finding(plain, "L3", "line").verdict, Verdict::right);
}

}  // namespace
}  // namespace cachetally
