// SPDX-License-Identifier: BSD-3-Clause
// Tables of a program's data and code: what their accesses are of.
#include "viewer/attribution_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cachetally {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A load of "A", and so many fetches of "main".
Attribution made(std::uint64_t fetches) {
    Attribution attribution;
    attribution.levels = {"L1D"};
    attribution.names.objects = {"", "A"};
    attribution.names.code = {{}, {1, "main", "", 0, ""}};
    attribution.sites = {{1, 0, 0}, {1, 1, 0}};
    for (std::uint32_t site = 0; site < 2; ++site) {
        Attribution::Row row;
        row.site = site;
        row.accesses = site == 0 ? fetches : 1;
        row.misses = {1};
        attribution.rows.push_back(row);
    }
    return attribution;
}

TEST(AttributionText, AccessesOfCodeSayThatFetchesAreAmongThem) {
    TextOptions options;
    options.width = 200;
    const AttributionText text = attribution_text(made(7), options);
    EXPECT_THAT(text.data, HasSubstr("data structure  accesses  L1D"));
    EXPECT_THAT(text.code, HasSubstr("function  accesses with fetches  L1D"));
    EXPECT_THAT(attribution_text(made(0), options).code, Not(HasSubstr("with fetches")));
}

}  // namespace
}  // namespace cachetally
