// Figures: what is drawn is what the file has. The comparisons are in drawn.py, with numpy and h5py on the file.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/storage/temporary.hpp"
#include "viewer/figures/figure.hpp"

namespace cachetally {
namespace {

using testing::contents;
using testing::write_contents;

class Drawn : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::system("/usr/bin/python3 -c 'import h5py, numpy, matplotlib' 2>/dev/null") != 0)
            GTEST_SKIP() << "python3-h5py or python3-matplotlib is not there";
    }

    /// Whether a function of drawn.py comes to its end.
    bool holds(const std::string& name) {
        const testing::TemporaryDirectory directory;
        const std::string script(figure_script());
        write_contents(directory / "drawn.py", script.substr(0, script.rfind("main()")) +
                                                   contents(CACHETALLY_SOURCE_DIR "/tests/viewer/figures/drawn.py"));
        return std::system(
                   ("/usr/bin/python3 " + (directory / "drawn.py") + " " + directory.path().string() + " " + name)
                       .c_str()) == 0;
    }
};

TEST_F(Drawn, GapsOf400StretchesTakeATenthOfTheAxis) {
    EXPECT_TRUE(holds("gaps_of_400_stretches_take_a_tenth_of_the_axis"));
}
TEST_F(Drawn, StretchesBeyond1000AreJoinedOverTheSmallestHoles) {
    EXPECT_TRUE(holds("stretches_beyond_1000_are_joined_over_the_smallest_holes"));
}
TEST_F(Drawn, HeatCellsAreMeansPerLineAndPhase) { EXPECT_TRUE(holds("heat_cells_are_means_per_line_and_phase")); }
TEST_F(Drawn, HeatOfAUniformFileIsUniform) { EXPECT_TRUE(holds("heat_of_a_uniform_file_is_uniform")); }
TEST_F(Drawn, HeatTellsNoLineNothingAndTheLeastApart) {
    EXPECT_TRUE(holds("heat_tells_no_line_nothing_and_the_least_apart"));
}
TEST_F(Drawn, HeatWithoutAnySaysSo) { EXPECT_TRUE(holds("heat_without_any_says_so")); }
TEST_F(Drawn, TitlesNameProgramMachineAndSelection) { EXPECT_TRUE(holds("titles_name_program_machine_and_selection")); }
TEST_F(Drawn, FrontsAreStaircasesOverAllRows) { EXPECT_TRUE(holds("fronts_are_staircases_over_all_rows")); }
TEST_F(Drawn, CellsAtOnePlaceAreAllNamed) { EXPECT_TRUE(holds("cells_at_one_place_are_all_named")); }
TEST_F(Drawn, LabelsDoNotStandOverEachOther) { EXPECT_TRUE(holds("labels_do_not_stand_over_each_other")); }
TEST_F(Drawn, LegendsStayWithinTheFigure) { EXPECT_TRUE(holds("legends_stay_within_the_figure")); }
TEST_F(Drawn, SweepsSayWhichPolicyTheyShow) { EXPECT_TRUE(holds("sweeps_say_which_policy_they_show")); }
TEST_F(Drawn, EqualCurvesAreOneWithBothNames) { EXPECT_TRUE(holds("equal_curves_are_one_with_both_names")); }
TEST_F(Drawn, CurvesLookDifferentBeyondEight) { EXPECT_TRUE(holds("curves_look_different_beyond_eight")); }

}  // namespace
}  // namespace cachetally
