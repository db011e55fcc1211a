// Figures: drawn whole or not at all, the same each time, and what cannot be drawn is told.
#include "viewer/figures/figure.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "monitor/result_file.hpp"
#include "storage/file.hpp"
#include "tests/storage/temporary.hpp"

namespace cachetally {
namespace {

using testing::contents;
using testing::message_of;
using testing::TemporaryDirectory;
using testing::write_contents;

class Figures : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::system("/usr/bin/python3 -c 'import h5py, numpy, matplotlib' 2>/dev/null") != 0)
            GTEST_SKIP() << "python3-h5py or python3-matplotlib is not there";
        ResultFile file(result_);
        Group& root = file.root();
        root.set_attribute("format", "cachetally result");
        LevelLines lines;
        lines.level = "L1";
        lines.line_bytes = 64;
        for (std::uint32_t phase = 0; phase < 2; ++phase)
            for (std::uint64_t line = 0; line < 200; ++line) {
                lines.phase.push_back(phase);
                lines.address.push_back(0x1000 + 64 * line);
                lines.accesses.push_back(static_cast<double>(10 + line % 7));
                lines.misses.push_back(static_cast<double>(line % 3));
            }
        write_combined(root, {lines});
        StructureTable table;
        table.regions = {{"A", 0x1000, 6400, 8}, {"B", 0x1000 + 6400, 6400, 8}};
        write_structures(root, table, {});
        file.finish();
    }

    FigureRequest request(const std::string& kind, const std::string& name, std::vector<std::string> options = {}) {
        return {kind, result_, directory_ / name, false, std::move(options)};
    }
    std::string refusal(const FigureRequest& wanted) {
        return message_of([&] { draw_figure(wanted); });
    }

    TemporaryDirectory directory_;
    std::string result_ = directory_ / "r.h5";
};

TEST_F(Figures, EqualResultsGiveEqualFiguresWithTheNamesOfStructures) {
    draw_figure(request("histogram", "one.svg"));
    draw_figure(request("histogram", "two.svg"));
    const std::string svg = contents(directory_ / "one.svg");
    EXPECT_EQ(svg, contents(directory_ / "two.svg"));
    EXPECT_NE(svg.find("<svg"), std::string::npos);
    for (const char* text : {">A<", ">B<", "accesses per line", ">L1<"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
}

TEST_F(Figures, FormatsAreThoseOfTheName) {
    EXPECT_EQ(figure_format("a.pdf"), "pdf");
    EXPECT_EQ(figure_format("a.b.svg"), "svg");
    EXPECT_EQ(figure_format("pdf"), "");
    EXPECT_EQ(figure_format("a.jpeg"), "");
    draw_figure(request("heat", "h.pdf", {"--what=misses"}));
    EXPECT_TRUE(contents(directory_ / "h.pdf").starts_with("%PDF"));
    draw_figure(request("phases", "p.png", {"--structure=A:0:640"}));
    EXPECT_TRUE(contents(directory_ / "p.png").starts_with("\x89PNG"));
}

TEST_F(Figures, WhatCannotBeDrawnIsToldAndLeavesNothing) {
    EXPECT_NE(refusal(request("histogram", "x.svg", {"--level=L9"})).find("no level 'L9'; there are: L1"),
              std::string::npos);
    EXPECT_NE(refusal(request("histogram", "x.svg", {"--structure=C"})).find("there are: A, B"), std::string::npos);
    EXPECT_NE(refusal(request("sweep", "x.svg")).find("is no sweep"), std::string::npos);
    write_contents(directory_ / "there.svg", "mine");
    EXPECT_NE(refusal(request("histogram", "there.svg")).find("exists already"), std::string::npos);
    EXPECT_EQ(contents(directory_ / "there.svg"), "mine");
    ::setenv("CACHETALLY_PYTHON", "/no/such/python", 1);
    EXPECT_NE(refusal(request("histogram", "x.svg")).find("/no/such/python: cannot be started"), std::string::npos);
    ::unsetenv("CACHETALLY_PYTHON");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 2);  // r.h5, there.svg
}

}  // namespace
}  // namespace cachetally
