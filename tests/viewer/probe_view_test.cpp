// SPDX-License-Identifier: BSD-3-Clause
// Probes' results: read back as written, shown as text, curves and heat maps drawn by hand-worked cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "probes/probe_file.hpp"
#include "tests/storage/temporary.hpp"
#include "viewer/plot.hpp"
#include "viewer/probe_text.hpp"

namespace cachetally {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::TemporaryDirectory;

std::vector<TestReport> made_up_reports() {
    TestReport levels;
    levels.test = "levels";
    levels.variant = "published";
    levels.answer("L2", "capacity", 524288, 520000, 530000, "bytes", "steps");
    levels.findings.back().truth = Value{524288, ""};
    levels.findings.back().truth_high = 1048576;
    levels.findings.back().verdict = Verdict::right;
    levels.answer("L2", "policy", "LRU", "who is missed");
    levels.findings.back().truth = Value{0, "tree-PLRU"};
    levels.findings.back().verdict = Verdict::wrong;
    levels.refuse("L3", "latency", "there is none");
    levels.findings.back().verdict = Verdict::not_identifiable;
    levels.curves.push_back({"levels", "published", "times", "span", "bytes", {1024, 2048}, {4, 14.5}, {3, 4}, {0, 1}});
    levels.decisions = {"first", "second"};
    levels.cost = {10, 2000, 1500, 3e6};
    levels.saved = {5, 1000, 0, 1e6};
    TestReport latency;
    latency.test = "latency";
    latency.variant = "published";
    latency.curves.push_back(
        {"latency", "published", "ping-pong of 8 KiB", "latency", "cycles", {4, 5}, {990, 10}, {}, {}, "loads"});
    return {levels, latency};
}

class ProbeFiles : public ::testing::Test {
protected:
    std::vector<TestReport> written_and_read(const std::vector<TestReport>& reports) {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        write_probe(file.root(), reports);
        file.finish();
        return read_probe(InputFile(path_).root());
    }
    TemporaryDirectory directory_;
    std::string path_ = directory_ / "p.h5";
};

TEST_F(ProbeFiles, AreReadBackAsWritten) {
    const std::vector<TestReport> reports = made_up_reports(), read = written_and_read(reports);
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(to_json(read, ""), to_json(reports, ""));
    EXPECT_EQ(to_text(read, 100), to_text(reports, 100));
    EXPECT_EQ(read[0].decisions, reports[0].decisions);
    const Curve &curve = read[0].curves.at(0), &loads = read[1].curves.at(0);
    EXPECT_EQ(curve.x, (std::vector<double>{1024, 2048}));
    EXPECT_EQ(curve.cycles, (std::vector<double>{4, 14.5}));
    EXPECT_EQ(curve.trials, (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(curve.knocked_out, (std::vector<std::uint8_t>{0, 1}));
    EXPECT_EQ(curve.x_name + " in " + curve.x_unit + ", " + curve.unit, "span in bytes, cycles");
    EXPECT_EQ(loads.name + ": " + loads.unit, "ping-pong of 8 KiB: loads");
    EXPECT_TRUE(loads.trials.empty());
    EXPECT_EQ(InputFile(path_).root().open_group("curves").children(),
              (std::vector<std::string>{"00_levels_published_times", "01_latency_published_ping-pong_of_8_KiB"}));
}

TEST_F(ProbeFiles, TheTextTellsIntervalsTruthsAndSavings) {
    const std::string text = to_text(made_up_reports(), 100);
    EXPECT_THAT(text, HasSubstr("512 KiB (520000 .. 530000)"));
    EXPECT_THAT(text, HasSubstr("512 KiB .. 1 MiB"));
    EXPECT_THAT(text, ContainsRegex("tree-PLRU +WRONG"));
    EXPECT_THAT(text, HasSubstr("(there is none)"));
    EXPECT_THAT(text, HasSubstr("levels published: 5 runs, 1000 references (33 %), 1.0 Mcycles saved"));
    EXPECT_EQ(text.find("host s"), std::string::npos) << "nothing was timed";
}

TEST_F(ProbeFiles, TheTextFitsTheWidth) {
    for (const unsigned width : {80U, 100U, 200U}) {
        std::istringstream lines(to_text(made_up_reports(), width));
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
    }
    const std::string narrow = to_text(made_up_reports(), 80);
    EXPECT_THAT(narrow, HasSubstr("\nlevels published:\n")) << "test and variant stand above their findings";
    EXPECT_THAT(narrow, HasSubstr("512 KiB (520000 .. 530000)"));
    EXPECT_THAT(narrow, ContainsRegex("tree-PLRU +WRONG"));
    EXPECT_THAT(narrow, HasSubstr("    (there is none)\n"));
}

TEST_F(ProbeFiles, DamageIsTold) {
    {
        ResultFile file(path_, ResultFile::Existing::overwrite);
        write_probe(file.root(), made_up_reports());
        Group curve = file.root().open_group("curves").create_group("09_x");
        curve.set_attribute("test", "l1");
        curve.set_attribute("variant", "published");
        curve.set_attribute("name", "n");
        curve.set_attribute("x_name", "span");
        curve.write("x", std::vector<double>{1, 2}).set_attribute("units", "bytes");
        curve.write("value", std::vector<double>{1}).set_attribute("units", "cycles");
        file.finish();
    }
    try {
        read_probe(InputFile(path_).root());
        FAIL() << "columns of different lengths";
    } catch (const StorageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("different lengths"));
    }
}

TEST(CurvePlot, PointsLieWhereTheirLogarithmsDo) {
    Curve curve{"levels", "robust", "times", "span", "bytes", {1024, 4096, 16384}, {1, 10, 100}, {}, {0, 1, 0}};
    PlotStyle style;
    style.width = 8 + 25;
    style.height = 3;
    style.unicode = false;
    EXPECT_EQ(draw_curve(curve, style),
              "levels robust, times: cycles per\n"
              "  load over span (logarithmic\n"
              "  scales)\n"
              "    100|                        *\n"
              "     10|            x\n"
              "      1|*\n"
              "        1 KiB     4 KiB    16 KiB\n");
    style.height = 4;
    curve.cycles = {0, 1, 100};  // 0 has a line of its own beneath the least
    EXPECT_EQ(draw_curve(curve, style),
              "levels robust, times: cycles per\n"
              "  load over span (logarithmic\n"
              "  scales)\n"
              "    100|                        *\n"
              "     10|\n"
              "      1|            x\n"
              "      0|*\n"
              "        1 KiB     4 KiB    16 KiB\n");
    curve.cycles = {0, 0, 0};
    EXPECT_THAT(draw_curve(curve, style), HasSubstr("(0 everywhere)"));
    curve.x = {1024};
    curve.cycles = {7};
    curve.knocked_out.clear();
    EXPECT_THAT(draw_curve(curve, style), HasSubstr("      7|*\n")) << "one point";
}

TEST(HeatPlot, PhasesAreRowsAndAddressesColumns) {
    PlotInput input;
    input.title = "misses";
    // four lines of A in two columns: phase 0 touches the first half, phase 1 a quarter as much of the second, phase 2
    // nothing
    for (const auto& [address, phase, value] : std::vector<std::tuple<Address, std::uint32_t, double>>{
             {0x1000, 0, 4}, {0x1040, 0, 4}, {0x1080, 1, 1}, {0x10c0, 1, 1}, {0x1000, 3, 3}, {0x1040, 3, 3}}) {
        input.points.push_back({address, value, 1});
        input.phases.push_back(phase);
    }
    const std::vector<Region> regions{{"A", 0x1000, 4 * 64, 8}};
    PlotStyle style;
    style.width = 13 + 8;
    style.unicode = false;
    EXPECT_EQ(draw_heat(input, regions, style),
              "misses, by phase (# = 4)\n"
              "             A\n"
              "           0|####\n"
              "           1|    ....\n"
              "           2|\n"
              "           3|++++\n");
    EXPECT_EQ(draw_heat(input, regions, style, 2),
              "misses, by phase (means) (# = 2)\n"
              "             A\n"
              "         0-1|####....\n"
              "         2-3|++++\n");
    input.rate = true;
    for (PlotPoint& point : input.points) point.weight = 8;
    EXPECT_THAT(draw_heat(input, regions, style), HasSubstr("(# = 50.00%)"));
    EXPECT_THAT(draw_heat({}, regions, style), HasSubstr("(no events)"));
}

}  // namespace
}  // namespace cachetally
