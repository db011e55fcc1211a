// SPDX-License-Identifier: BSD-3-Clause
// The line below the answer, by hand. The same cases as those of the page (tests/browser/workbench.mjs, which also
// compares both on files).
#include "viewer/remedy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cachetally {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// L1: A misses by causes as given; B evicts 9 of its lines, A itself 4.
RunView caused(CauseCounts causes) {
    RunView view;
    view.first_levels = view.counts.names.levels = {"L1"};
    CacheCounts counts;
    counts.loads = 100, counts.load_misses = 20;
    view.counts.run.counts.caches = {counts};
    view.counts.run.counts.references = 100;
    view.structures.regions = {{"A", 4096, 640, 8}, {"B", 8192, 64, 8}};
    view.causes = {{"L1", {{0, 0, causes}}, {{0, 0, 0, 4}, {0, 1, 0, 90}, {1, 0, 0, 9}}}};
    return view;
}

TEST(Remedy, OfEachCause) {
    EXPECT_EQ(remedy(caused({9, 0, 0, 1}), "L1"),
              "What to try: prefetch, longer lines. Lines are used for the first time.");
    EXPECT_EQ(remedy(caused({0, 9, 0, 1}), "L1"),
              "What to try: share less. Other cores or a level below take the lines.");
    EXPECT_EQ(remedy(caused({0, 0, 9, 1}), "L1"),
              "What to try: loop blocking, or smaller blocks. More lines are in use than the cache has.");
    EXPECT_EQ(remedy(caused({1, 0, 0, 9}), "L1"),
              "What to try: move it, or pad. B evicts its lines, which a fully associative cache would keep.");
}

TEST(Remedy, OfOneMissInTenThousandIsNone) {
    RunView view = caused({0, 0, 9, 1});
    CacheCounts& counts = view.counts.run.counts.caches[0];
    counts.loads = 200'000;
    EXPECT_THAT(remedy(view, "L1"), StartsWith("What to try: loop blocking,"));
    counts.loads = 200'001;
    EXPECT_EQ(remedy(view, "L1"), "What to try: little to gain. Only 0.010 % of the accesses miss.");
}

TEST(Remedy, OfCapacityIsByTheAccessesThatUseEachLine) {
    RunView view = caused({0, 0, 9, 1});
    view.structures.levels = {{"L1", true, {{0, 0, {40, 10}}, {1, 0, {60, 0}}}}};
    EXPECT_THAT(remedy(view, "L1"), StartsWith("What to try: loop blocking,"));
    view.structures.levels[0].tallies[0].tally = {39, 10};
    EXPECT_EQ(remedy(view, "L1"),
              "What to try: use more of each line. 3.9 accesses use each line that comes, and more lines are in use "
              "than the cache has.");
    view.first_levels.clear();  // of lower levels, accesses are misses of others
    EXPECT_THAT(remedy(view, "L1"), StartsWith("What to try: loop blocking,"));
    view.first_levels = {"L1"};
    view.causes[0].misses = {{0, 0, {0, 0, 1, 9}}};
    EXPECT_THAT(remedy(view, "L1"), StartsWith("What to try: move it"));
}

TEST(Remedy, OfConflictsIsByWhatEvicts) {
    RunView view = caused({1, 0, 0, 9});
    view.causes[0].evictions = {{0, 0, 0, 4}, {1, 0, 0, 3}};
    EXPECT_EQ(
        remedy(view, "L1"),
        "What to try: pad rows or blocks, or another layout. A evicts its own lines, which a fully associative cache "
        "would keep.");
    view.causes[0].evictions = {{0, 0, 0, 4}, {1, 0, 0, 3}, {1, 0, 1, 3}};  // B in both phases more than A
    EXPECT_THAT(remedy(view, "L1"), HasSubstr(" B evicts its lines"));
    view.causes[0].evictions = {{2, 0, 0, 4}};
    EXPECT_THAT(remedy(view, "L1"), HasSubstr(" (elsewhere) evicts its lines"));
    view.causes[0].evictions.clear();
    EXPECT_THAT(remedy(view, "L1"), HasSubstr(" Another line evicts its lines"));
}

TEST(Remedy, OfDataWithoutANameIsNotThatItEvictsItself) {
    RunView view = caused({1, 0, 0, 9});
    view.structures.regions.clear();
    EXPECT_EQ(answer(view, "L1"), "L1 misses 20.00 % of 100 accesses; 90.00 % of the misses are conflicts.");
    EXPECT_EQ(
        remedy(view, "L1"),
        "What to try: move it, or pad. Another line evicts its lines, which a fully associative cache would keep.");
}

TEST(Remedy, SaysWhatHelpsInTheWorstPhases) {
    RunView view = caused({0, 0, 8, 2});
    view.causes[0].misses.push_back({0, 1, {0, 0, 3, 9}});
    EXPECT_THAT(remedy(view, "L1"), StartsWith("What to try: loop blocking,"));
    EXPECT_THAT(remedy(view, "L1"), Not(HasSubstr("worst")));
    view.causes[0].misses.push_back({0, 2, {0, 0, 3, 1}});
    EXPECT_THAT(remedy(view, "L1"), EndsWith(" the cache has. In the worst phases: move it, or pad."));
}

TEST(Remedy, OfInvalidationsIsByTheSharing) {
    RunView view = caused({1, 9, 0, 0});
    view.sharing = {{"L1"}, 64, {{0, 0, 4096, 0, 0, 1, 0, 1, 3}, {0, 0, 8192, 0, 0, 1, 0, 50, 0}}};  // B's are not A's
    EXPECT_EQ(remedy(view, "L1"),
              "What to try: pad to lines. 75.00 % of the misses after invalidations are false sharing.");
    view.sharing.rows[0].true_sharing = 9;
    EXPECT_EQ(remedy(view, "L1"),
              "What to try: share less. 75.00 % of the misses after invalidations are true sharing.");
}

TEST(Remedy, OfProgramsIsByWhatTheirSitesAreFor) {
    RunView view = caused({});
    view.causes.clear();
    view.attribution.levels = view.attribution.caused = {"L1"};
    view.attribution.names.objects = {"", "heap", "stack"};
    view.attribution.sites = {{0, 1, 0}, {0, 2, 0}};
    Attribution::Row row;
    row.misses = {9}, row.causes = {{0, 0, 1, 8}};
    view.attribution.rows = {row};
    view.attribution.evictions = {{"L1", {{1, 1, 0, 2}, {2, 1, 0, 7}}, {}}};
    EXPECT_EQ(remedy(view, "L1"),
              "What to try: move it, or pad. stack evicts its lines, which a fully associative cache would keep.");
}

TEST(Remedy, WithoutCausesIsOfTlbsAlone) {
    RunView view = caused({1, 0, 0, 9});
    view.causes.clear();
    view.structures.levels = {{"L1", true, {{0, 0, {40, 4}}}}, {"TLB", true, {{0, 0, {40, 4}}}}};
    view.counts.names.tlbs = {"TLB"};
    view.counts.run.counts.tlbs.resize(1);
    view.counts.run.counts.tlbs[0].accesses = 40, view.counts.run.counts.tlbs[0].misses = 4;
    EXPECT_EQ(remedy(view, "L1"), "");
    EXPECT_THAT(remedy(view, "TLB"), StartsWith("What to try: larger pages. "));
    EXPECT_EQ(remedy(RunView(), "L1"), "");
}

TEST(Remedy, ShortensNamesAndIsInJson) {
    RunView view = caused({1, 0, 0, 9});
    EXPECT_EQ(to_json(view)["remedy"],
              "What to try: move it, or pad. B evicts its lines, which a fully associative cache would keep.");
    view.structures.regions[1].name = std::string(40, 'x') + std::string(40, 'y');
    EXPECT_THAT(remedy(view, "L1"), HasSubstr(" pad. " + std::string(30, 'x') + " … " + std::string(27, 'y') + " ev"));
    view.causes.clear();
    EXPECT_FALSE(to_json(view).contains("remedy"));
}

TEST(Remedy, IsBelowTheAnswer) {
    TextOptions options;
    options.width = 200;
    EXPECT_THAT(
        to_text(caused({0, 0, 9, 1}), options),
        StartsWith("L1 misses 20.00 % of 100 accesses; A causes 100.00 % of them, 90.00 % of those are capacity "
                   "misses.\nWhat to try: loop blocking, "));
}

}  // namespace
}  // namespace cachetally
