// SPDX-License-Identifier: BSD-3-Clause
// The sentence that reports begin with, by hand. The same cases as those of the page (tests/browser/answers.mjs,
// which also compares both on files).
#include "viewer/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cachetally {
namespace {

/// L1: 100 accesses, 20 misses; A misses 4 and 11 in the phases, B 5 in the second.
RunView made() {
    RunView view;
    view.first_levels = view.counts.names.levels = {"L1"};
    CacheCounts counts;
    counts.loads = 70, counts.stores = 30, counts.load_misses = 15, counts.store_misses = 5;
    view.counts.run.counts.caches = {counts};
    view.structures.regions = {{"A", 4096, 640, 8}, {"B", 8192, 64, 8}};
    view.structures.levels = {{"L1", true, {{0, 0, {40, 4}}, {0, 1, {30, 11}}, {1, 1, {30, 5}}}}};
    view.causes = {{"L1", {{0, 0, {4, 0, 0, 0}}, {0, 1, {1, 0, 1, 9}}, {1, 1, {1, 0, 4, 0}}}, {}}};
    return view;
}

TEST(Answer, SaysHowMuchWhereWhyAndWhen) {
    RunView view = made();
    EXPECT_EQ(answered_level(view), "L1");
    EXPECT_EQ(answer(view, "L1"),
              "L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, 60.00 % of those are conflicts, worst in "
              "phase 1.");
    view.counts.run.phases.resize(2);
    view.counts.run.phases[1].name = "solve";
    EXPECT_TRUE(answer(view, "L1").ends_with(" are conflicts, worst in phase 1 (solve)."));
    view.chosen_phases = {1};
    EXPECT_EQ(answer(view, "L1"),
              "L1 misses 20.00 % of 100 accesses in phase 1 (solve); A causes 75.00 % of them, 60.00 % of those are "
              "conflicts.");
    view.chosen_phases = {};
    view.counts.run.phases.clear();
    view.causes[0].misses[0].misses = {0, 0, 0, 4};
    EXPECT_TRUE(answer(view, "L1").ends_with("86.67 % of those are conflicts, worst in phase 1."));
    view.causes.clear();
    EXPECT_EQ(answer(view, "L1"), "L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, worst in phase 1.");
    view.structures.levels.clear();
    EXPECT_EQ(answer(view, "L1"), "L1 misses 20.00 % of 100 accesses.");
}

/// A misses 8 in phases, in others 1 or nothing.
TEST(Answer, NamesThePhasesThatAreAsBad) {
    RunView view = made();
    view.causes.clear();
    view.structures.levels[0].tallies = {{0, 0, {40, 8}}, {0, 1, {30, 8}}, {1, 1, {30, 5}}, {0, 2, {9, 0}}};
    EXPECT_TRUE(answer(view, "L1").ends_with(", all in phases 0, 1."));
    view.counts.run.phases.resize(3);
    view.counts.run.phases[0].name = "solve";
    EXPECT_TRUE(answer(view, "L1").ends_with(", all in phases 0 (solve), 1."));
    view.counts.run.phases[1].name = "solve";
    EXPECT_TRUE(answer(view, "L1").ends_with(", all in phases 0, 1 (solve)."));
    view.counts.run.phases.clear();
    view.structures.levels[0].tallies = {{0, 0, {9, 8}}, {0, 1, {9, 8}}, {0, 2, {9, 8}},
                                         {0, 3, {9, 8}}, {0, 4, {9, 1}}, {0, 12, {9, 1}}};
    EXPECT_TRUE(answer(view, "L1").ends_with(", worst in phases 0-3."));
    auto& tallies = view.structures.levels[0].tallies;
    for (std::uint32_t phase = 5; phase < 9; ++phase) tallies.push_back({0, phase, {9, 8}});
    EXPECT_TRUE(answer(view, "L1").ends_with("; no phase stands out.")) << "ten of thirteen are accessed";
    for (std::uint32_t phase = 10; phase < 12; ++phase) tallies.push_back({0, phase, {9, 0}});
    EXPECT_TRUE(answer(view, "L1").ends_with(", worst in phases 0-3, 5-8."));
    tallies.push_back({0, 9, {9, 8}});
    auto scattered = view;
    for (const std::uint32_t phase : {11, 13, 15, 17, 19, 21, 23, 25, 26})
        scattered.structures.levels[0].tallies.push_back({0, phase, {9, 8}});
    for (std::uint32_t phase = 13; phase < 27; ++phase)
        scattered.structures.levels[0].tallies.push_back({0, phase, {9, 0}});
    EXPECT_TRUE(answer(scattered, "L1").ends_with(", worst in phases 0-3, 5-9, 11, 13, 15, 17, 19, 21 and 3 more."));
    view.counts.run.phases.resize(13);
    for (PhaseResult& phase : view.counts.run.phases) phase.name = "solve";
    EXPECT_THAT(answer(view, "L1"), ::testing::EndsWith(", worst in phases 0-3, 5-9 (solve)."));
}

/// What is said of the phases where A misses so often in so many accesses.
std::string of_phases(const std::vector<StructureTally>& tallies, const std::vector<std::string>& names,
                      const std::vector<std::size_t>& chosen = {}) {
    RunView view = made();
    view.causes.clear();
    view.structures.levels[0].tallies = tallies;
    view.counts.run.phases.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) view.counts.run.phases[i].name = names[i];
    view.chosen_phases = chosen;
    const std::string text = answer(view, "L1");
    return text.substr(text.find("of them") + 7);
}

// A step that a loop repeats has the misses of all its turns, each of which may miss less than another step.
TEST(Answer, PhasesOfOneNameCountTogether) {
    const std::vector<StructureTally> tallies = {
        {0, 0, {90, 10}}, {0, 1, {90, 70}}, {0, 2, {90, 41}}, {0, 3, {90, 41}}};
    const std::string of_three = ", worst in phases 1-3 (solve), most of all in phase 1.";
    EXPECT_EQ(of_phases(tallies, {"load", "solve", "solve", "solve"}), of_three);
    EXPECT_EQ(of_phases(tallies, {"", "solve", "solve", "solve"}), of_three);
    EXPECT_EQ(of_phases(tallies, {"", "", "", ""}), ", worst in phase 1.");
    EXPECT_EQ(of_phases(tallies, {"load", "solve", "check", "load"}), ", worst in phase 1 (solve).");
    EXPECT_EQ(of_phases(tallies, {"load", "solve", "check", "solve"}),
              ", worst in phases 1, 3 (solve), most of all in phase 1.");
    const std::vector<StructureTally> later(tallies.begin() + 1, tallies.end()),
        last = {{0, 2, {90, 20}}, {0, 3, {90, 10}}};
    EXPECT_EQ(of_phases(later, {"load", "solve", "check", "check"}, {1, 2, 3}), "; no phase stands out.")
        << "70 and 82";
    EXPECT_EQ(of_phases(last, {"load", "solve", "check", "check"}, {2, 3}), ", worst in phase 2 (check).")
        << "of one name alone";
}

TEST(Answer, TurnsBelowTheMeanOfAllPhasesAreNotNamed) {
    EXPECT_EQ(of_phases({{0, 0, {90, 10}}, {0, 1, {90, 100}}, {0, 2, {90, 41}}, {0, 3, {90, 2}}},
                        {"load", "solve", "solve", "solve"}),
              ", worst in phases 1, 2 (solve), most of all in phase 1.");
    EXPECT_EQ(of_phases({{0, 0, {9, 2}}, {0, 1, {9, 3}}, {0, 2, {9, 3}}, {0, 3, {9, 0}}},
                        {"load", "solve", "solve", "solve"}),
              ", worst in phases 1, 2 (solve).");
}

// Much of the time may have most misses, though it misses less often than the rest.
TEST(Answer, PhasesThatMissOftenerThanAllGoFirst) {
    EXPECT_EQ(of_phases({{0, 0, {1000, 60}}, {0, 1, {50, 50}}, {0, 2, {50, 10}}}, {}),
              ", worst in phase 1; 50.00 % in phase 0, at a lower rate.");
    EXPECT_EQ(of_phases({{0, 0, {1000, 60}}, {0, 1, {50, 50}}, {0, 2, {50, 1}}}, {}),
              ", worst in phase 0; 45.05 % in phase 1, at a higher rate.")
        << "most are in phase 0";
    EXPECT_EQ(of_phases({{0, 0, {1000, 60}}, {0, 1, {10, 9}}, {0, 2, {10, 1}}}, {}), ", worst in phase 0.")
        << "they are too few to stand out";
    EXPECT_EQ(of_phases({{0, 0, {210, 60}}, {0, 1, {100, 55}}, {0, 2, {90, 5}}}, {}), ", worst in phases 0, 1.")
        << "0.29 is about the 0.30 of all";
}

// As of the page (tests/browser/answers.mjs): a name that comes again is not told twice, and commas do not part them.
TEST(Answer, TellsNamesOnceWherePhasesAlternate) {
    RunView view = made();
    view.causes.clear();
    view.structures.levels[0].tallies = {
        {0, 0, {9, 1}}, {0, 1, {45, 50}}, {0, 2, {90, 100}}, {0, 3, {45, 50}}, {0, 4, {9, 1}}};
    view.counts.run.phases.resize(5);
    view.counts.run.phases[1].name = view.counts.run.phases[3].name = "solve";
    const std::string end = ", most of all in phase 2.";
    EXPECT_TRUE(answer(view, "L1").ends_with(", worst in phases 1 (solve), 2, 3 (solve)" + end));
    view.counts.run.phases[2].name = "check";
    EXPECT_TRUE(answer(view, "L1").ends_with(", worst in phases 1-3 (solve; check)" + end));
    view.counts.run.phases[2].name = "reduce, correct";
    EXPECT_TRUE(answer(view, "L1").ends_with(", worst in phases 1-3 (solve; reduce, correct)" + end));
}

TEST(Answer, OfOneStructureIsAboutIt) {
    const RunView view = made();
    EXPECT_EQ(answer_of_structure(view, "L1", "B"),
              "L1 misses 16.67 % of 30 accesses to B, 25.00 % of all misses of L1; 80.00 % of those are capacity "
              "misses, all in phase 1.");
    RunView without = view;
    without.structures.levels[0].tallies[2].tally.misses = 0;
    EXPECT_EQ(answer_of_structure(without, "L1", "B"), "L1 has no misses in 30 accesses to B.");
    without.structures.levels[0].tallies.pop_back();
    EXPECT_EQ(answer_of_structure(without, "L1", "B"), "L1 has no accesses to B.");
}

TEST(Answer, IsAboutTheFirstOfEqualStructuresAndCauses) {
    RunView view = made();
    view.structures.levels[0].tallies = {{0, 0, {40, 10}}, {1, 0, {60, 10}}};
    view.causes[0].misses = {{0, 0, {5, 0, 5, 0}}, {1, 0, {10, 0, 0, 0}}};
    EXPECT_EQ(answer(view, "L1"),
              "L1 misses 20.00 % of 100 accesses; A causes 50.00 % of them, 50.00 % of those are first uses.");
}

// Below 1.25 times the mean of all phases none is called worst.
TEST(Answer, ThatNoPhaseStandsOut) {
    RunView view = made();
    view.causes.clear();
    auto& tallies = view.structures.levels[0].tallies;
    tallies = {{0, 0, {40, 8}}, {0, 1, {30, 8}}};
    EXPECT_EQ(answer(view, "L1"), "L1 misses 20.00 % of 100 accesses; A causes 100.00 % of them; no phase stands out.");
    tallies = {{0, 0, {40, 5}}, {0, 1, {40, 3}}};  // 5 of a mean of 4
    EXPECT_TRUE(answer(view, "L1").ends_with(", worst in phase 0."));
    tallies = {{0, 0, {400, 49}}, {0, 1, {400, 31}}};  // 49 of a mean of 40
    EXPECT_TRUE(answer(view, "L1").ends_with("; no phase stands out."));
    tallies.push_back({0, 2, {40, 0}});
    EXPECT_TRUE(answer(view, "L1").ends_with(", worst in phase 0."));
}

TEST(Answer, OfNoMissesAndNoAccesses) {
    RunView view = made();
    view.counts.run.counts.caches[0].load_misses = view.counts.run.counts.caches[0].store_misses = 0;
    EXPECT_EQ(answer(view, "L1"), "L1 has no misses in 100 accesses.");
    view.counts.run.counts.caches[0] = {};
    EXPECT_EQ(answer(view, "L1"), "");
    EXPECT_EQ(answer(view, "L9"), "");
    view.chosen_phases = {3};
    EXPECT_EQ(answer(view, "L1"), "L1 has no accesses in phase 3.");
    view.chosen_phases.clear();
    EXPECT_EQ(answered_level(RunView()), "");
}

// A misses by capacity in most phases, and by conflicts where it misses most.
TEST(Answer, TellsTheCauseInTheWorstPhasesWhereItIsAnother) {
    RunView view = made();
    view.structures.levels[0].tallies = {{0, 0, {20, 5}}, {0, 1, {20, 5}}, {0, 2, {20, 9}}};
    view.causes[0].misses = {{0, 0, {0, 0, 5, 0}}, {0, 1, {0, 0, 5, 0}}, {0, 2, {0, 0, 2, 7}}};
    EXPECT_TRUE(
        answer(view, "L1")
            .ends_with("63.16 % of those are capacity misses, worst in phase 2, where 77.78 % of them are conflicts."));
    view.causes[0].misses[2].misses = {0, 0, 7, 2};
    EXPECT_TRUE(answer(view, "L1").ends_with("are capacity misses, worst in phase 2."));
}

TEST(Answer, TellsTheCauseWhereThereAreMoreAtALowerRate) {
    RunView view = made();
    view.structures.levels[0].tallies = {{0, 0, {1000, 60}}, {0, 1, {50, 50}}, {0, 2, {50, 10}}};
    view.causes[0].misses = {{0, 0, {0, 0, 20, 40}}, {0, 1, {0, 0, 50, 0}}, {0, 2, {0, 0, 10, 0}}};
    EXPECT_TRUE(answer(view, "L1")
                    .ends_with("66.67 % of those are capacity misses, worst in phase 1; 50.00 % in phase 0, at a lower "
                               "rate, where 66.67 % of them are conflicts."));
}

TEST(Answer, OfCausesAloneIsOfTheirMisses) {
    RunView view = made();
    view.structures.levels.clear();
    EXPECT_EQ(answer(view, "L1"),
              "L1 misses 20.00 % of 100 accesses; A causes 75.00 % of them, 60.00 % of those are conflicts, worst in "
              "phase 1.");
}

// Sites of A, code, B: B has most misses, half of them first uses.
TEST(Answer, OfProgramsIsByWhatTheirSitesAreFor) {
    RunView view = made();
    view.attribution.levels = view.attribution.caused = {"L1"};
    view.attribution.names.objects = {"", "A", "B", "A"};
    view.attribution.sites = {{0, 1, 0}, {0, 0, 0}, {0, 2, 0}, {0, 3, 0}};
    const auto row = [](std::uint32_t site, std::uint64_t misses, CauseCounts causes) {
        Attribution::Row made;
        made.site = site, made.misses = {misses}, made.causes = {causes};
        return made;
    };
    view.attribution.rows = {row(0, 4, {4, 0, 0, 0}), row(1, 3, {3, 0, 0, 0}), row(2, 8, {4, 0, 1, 3}),
                             row(3, 3, {3, 0, 0, 0})};
    EXPECT_EQ(answer(view, "L1"),
              "L1 misses 20.00 % of 100 accesses; B causes 44.44 % of them, 50.00 % of those are first uses.");
}

// As the page: 60 letters are the most.
TEST(Answer, LongNamesLoseTheirMiddle) {
    RunView view = made();
    const auto named = [&](const std::string& name) {
        view.structures.regions[0].name = name;
        const std::string text = answer(view, "L1");
        const std::size_t begin = text.find("; ") + 2;
        return text.substr(begin, text.find(" causes ") - begin);
    };
    EXPECT_EQ(named(std::string(60, 'x')), std::string(60, 'x'));
    EXPECT_EQ(named(std::string(40, 'x') + std::string(40, 'y')), std::string(30, 'x') + " … " + std::string(27, 'y'));
    EXPECT_THAT(answer_of_structure(view, "L1", view.structures.regions[0].name),
                ::testing::HasSubstr(" accesses to " + std::string(30, 'x') + " … "));
}

/// Numbers as the page's percent() writes them.
std::string rate(std::uint64_t misses, std::uint64_t accesses) {
    RunView view = made();
    CacheCounts counts;
    counts.loads = accesses, counts.load_misses = misses;
    view.counts.run.counts.caches[0] = counts;
    view.structures.levels.clear();
    view.causes.clear();
    const std::string text = answer(view, "L1");
    return text.substr(10, text.find(" of ") - 10);
}

TEST(Answer, PercentagesAreThoseOfThePage) {
    EXPECT_EQ(rate(1, 800), "0.13 %");  // half a hundredth is rounded up
    EXPECT_EQ(rate(1, 1600), "0.063 %");
    EXPECT_EQ(rate(3, 1000), "0.30 %");
    EXPECT_EQ(rate(1, 1001), "0.10 %");
    EXPECT_EQ(rate(123, 1000000), "0.012 %");
    EXPECT_EQ(rate(1, 100000000), "0.0000010 %");
    EXPECT_EQ(rate(1, 1000000000), "1.0e-7 %");
    EXPECT_EQ(rate(7, 7), "100.00 %");
    EXPECT_EQ(rate(19999, 20000), ">99.99 %");
    EXPECT_EQ(rate(19998, 20000), "99.99 %");
}

}  // namespace
}  // namespace cachetally
