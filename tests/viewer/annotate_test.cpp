// SPDX-License-Identifier: BSD-3-Clause
// Profiles in callgrind's format: functions, and what was inlined into them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "viewer/annotate.hpp"

namespace cachetally {
namespace {

Attribution attribution_of(std::vector<CodePlace> code, const std::vector<std::uint64_t>& accesses) {
    Attribution attribution;
    attribution.levels = {"L1"};
    attribution.names.code = std::move(code);
    attribution.names.objects = {"", "A"};
    for (std::uint32_t site = 0; site < accesses.size(); ++site) {
        attribution.sites.push_back({site, 1});
        Attribution::Row& row = attribution.row(0, site);
        row.accesses = accesses[site];
        row.misses = {accesses[site] / 2};
    }
    return attribution;
}

// f is of a.c, with a line of v.h within; g of b.c. A part of f lies behind g, and begins with code of v.h.
TEST(CallgrindProfile, InlinedCodeIsWithinItsFunction) {
    const Attribution attribution = attribution_of({{},
                                                    {0x10, "f", "a.c", 1, "m"},
                                                    {0x18, "f", "v.h", 7, "m"},
                                                    {0x20, "f", "a.c", 2, "m"},
                                                    {0x30, "g", "b.c", 5, "m"},
                                                    {0x40, "f", "v.h", 8, "m"},
                                                    {0x48, "f", "a.c", 3, "m"}},
                                                   {0, 2, 4, 6, 8, 10, 12});
    const std::string profile = callgrind_profile(attribution, "program");
    EXPECT_THAT(profile, ::testing::EndsWith("events: Accesses L1_misses\n"
                                             "\nob=(1) m\n"
                                             "fl=(1) a.c\nfn=(1) f\n"
                                             "0x10 1 2 1\n"
                                             "fi=(2) v.h\n0x18 7 4 2\n"
                                             "fe=(1)\n0x20 2 6 3\n"
                                             "fl=(3) b.c\nfn=(2) g\n"
                                             "0x30 5 8 4\n"
                                             "fl=(1)\nfn=(1)\n"
                                             "fi=(2)\n0x40 8 10 5\n"
                                             "fe=(1)\n0x48 3 12 6\n"
                                             "\ntotals: 42 21\n"));
    EXPECT_THAT(profile, ::testing::Not(::testing::HasSubstr("???")));
}

TEST(CallgrindProfile, CyclesAreThereIfTheyWereAskedFor) {
    Attribution attribution = attribution_of({{}, {0x10, "f", "a.c", 1, "m"}}, {0, 2});
    attribution.rows.back().cycles = 30;
    EXPECT_THAT(callgrind_profile(attribution, "program"),
                ::testing::EndsWith("events: Accesses L1_misses Cycles_lost\n\nob=(1) m\nfl=(1) a.c\nfn=(1) f\n"
                                    "0x10 1 2 1 30\n\ntotals: 2 1 30\n"));
}

}  // namespace
}  // namespace cachetally
