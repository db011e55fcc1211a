// SPDX-License-Identifier: BSD-3-Clause
// Figures: drawn whole or not at all, the same each time, and what cannot be drawn is told.
#include "viewer/figures/figure.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monitor/result_file.hpp"
#include "storage/file.hpp"
#include "tests/storage/temporary.hpp"
#include "tests/viewer/figures/figures.hpp"
#include "viewer/figures/figure_choice.hpp"
#include "viewer/structure_advice.hpp"

namespace cachetally {
namespace {

using testing::contents;
using testing::Figures;
using testing::write_contents;

TEST_F(Figures, EqualResultsGiveEqualFiguresWithTheNamesOfStructures) {
    draw_figure(request("histogram", "one.svg"));
    draw_figure(request("histogram", "two.svg"));
    const std::string svg = contents(directory_ / "one.svg");
    EXPECT_EQ(svg, contents(directory_ / "two.svg"));
    EXPECT_NE(svg.find("<svg"), std::string::npos);
    for (const char* text : {">A<", ">B<", "misses per line", ">L1 (lines of 64 bytes)<"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
}

TEST_F(Figures, LevelsWithoutAccessesAreLeftOutUnlessTheyAreNamed) {
    for (const char* kind : {"histogram", "heat"}) {
        draw_figure(request(kind, std::string(kind) + ".svg"));
        EXPECT_EQ(contents(directory_ / (std::string(kind) + ".svg")).find("L1I"), std::string::npos) << kind;
        EXPECT_NE(refusal(request(kind, "x.svg", {"--level=L1I"})).find("L1I has no accesses; there are some of: L1"),
                  std::string::npos)
            << kind;
    }
    // as the page begins with misses, and says what addresses are
    for (const char* text : {">L1, lines of 64 bytes<", ">misses per line and phase<", ">virtual<"})
        EXPECT_NE(contents(directory_ / "heat.svg").find(text), std::string::npos) << text;
}

TEST_F(Figures, FormatsAreThoseOfTheName) {
    EXPECT_EQ(figure_format("a.pdf"), "pdf");
    EXPECT_EQ(figure_format("a.b.svg"), "svg");
    EXPECT_EQ(figure_format("pdf"), "");
    EXPECT_EQ(figure_format("a.jpeg"), "");
    draw_figure(request("heat", "h.pdf", {"--what=misses"}));
    EXPECT_TRUE(contents(directory_ / "h.pdf").starts_with("%PDF"));
    draw_figure(request("phases", "p.png", {"--structure=A:0x0:0x280"}));
    EXPECT_TRUE(contents(directory_ / "p.png").starts_with("\x89PNG"));
}

TEST_F(Figures, WhatCannotBeDrawnIsToldAndLeavesNothing) {
    EXPECT_NE(refusal(request("histogram", "x.svg", {"--level=L9"})).find("no level 'L9'; there are: L1I, L1"),
              std::string::npos);
    EXPECT_NE(refusal(request("histogram", "x.svg", {"--structure=C"})).find("known are: A, B"), std::string::npos);
    EXPECT_NE(refusal(request("sweep", "x.svg")).find("is no sweep"), std::string::npos);
    ResultFile bare(directory_ / "bare.h5");
    bare.root().set_attribute("format", "cachetally result");
    bare.root().create_group("sweep");
    bare.finish();
    FigureRequest damaged = request("sweep", "x.svg");
    damaged.file = directory_ / "bare.h5";
    EXPECT_NE(refusal(damaged).find("bare.h5: is damaged, or not whole"), std::string::npos) << refusal(damaged);
    std::filesystem::remove(damaged.file);
    write_contents(directory_ / "there.svg", "mine");
    EXPECT_NE(refusal(request("histogram", "there.svg")).find("exists already"), std::string::npos);
    EXPECT_EQ(contents(directory_ / "there.svg"), "mine");
    ::setenv("CACHETALLY_PYTHON", "/no/such/python", 1);
    EXPECT_NE(refusal(request("histogram", "x.svg")).find("/no/such/python: cannot be started"), std::string::npos);
    ::unsetenv("CACHETALLY_PYTHON");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 2);  // r.h5, there.svg
}

TEST_F(Figures, OfTlbsSpeakOfPages) {
    result_ = directory_ / "pages.h5";
    ResultFile file(result_);
    file.root().set_attribute("format", std::string("cachetally result"));
    write_combined(file.root(), {{"L1", 64, {0, 0}, {0x1000, 0x1040}, {1, 2}, {1, 1}},
                                 {"DTLB", 4096, {0, 0}, {0x1000, 0x2000}, {1, 2}, {1, 1}}});
    file.root().create_group("tlbs").set_attribute("names", std::vector<std::string>{"DTLB"});
    file.finish();
    draw_figure(request("histogram", "pages.svg"));
    const std::string drawn = contents(directory_ / "pages.svg");
    for (const char* text :
         {"L1 (lines of 64 bytes)", "DTLB (pages of 4096 bytes)", "misses per line", "misses per page"})
        EXPECT_NE(drawn.find(std::string(">") + text + "<"), std::string::npos) << text;
}

TEST_F(Figures, OfUnknownStructuresNameTheFirstOfMany) {
    std::vector<Region> many;
    for (unsigned i = 0; i < 22; ++i) many.push_back({fmt::format("s{}", i), 0x1000 + 0x100 * i, 0x100, 8});
    const std::string said = structure_advice("unlike", names_of(many));
    EXPECT_NE(said.find("of 22, the first are: s0, s1,"), std::string::npos) << said;
    EXPECT_NE(said.find("s19"), std::string::npos) << said;
    EXPECT_EQ(said.find("s20"), std::string::npos) << said;
    result_ = directory_ / "many.h5";
    ResultFile file(result_);
    file.root().set_attribute("format", "cachetally result");
    write_combined(file.root(), {{"L1", 64, {0}, {0x1000}, {1.0}, {0.0}}});
    StructureTable table;
    table.regions = many;
    write_structures(file.root(), table, {});
    file.finish();
    EXPECT_NE(refusal(request("histogram", "x.svg", {"--structure=unlike"})).find(said), std::string::npos);
}

TEST_F(Figures, ScalesAreAsChosenAndOneInAllPhases) {
    result_ = directory_ / "uneven.h5";
    ResultFile file(result_);
    file.root().set_attribute("format", std::string("cachetally result"));
    LevelLines lines;
    lines.level = "L1";
    lines.line_bytes = 64;
    for (std::uint32_t phase = 0; phase < 4; ++phase)  // nothing in phase 2
        for (std::uint64_t line = 0; line < 20 && phase != 2; ++line) {
            lines.phase.push_back(phase);
            lines.address.push_back(0x1000 + 64 * line);
            lines.accesses.push_back(line < 18 ? 10.0 * (phase + 1) : 20000);
            lines.misses.push_back(phase == 1 ? 0 : 3);
        }
    write_combined(file.root(), {lines});
    file.finish();
    const auto text = [&](const std::string& kind, std::vector<std::string> options) {
        const std::string name = directory_ / "u.svg";
        std::filesystem::remove(name);
        draw_figure(request(kind, "u.svg", std::move(options)));
        return contents(name);
    };
    const auto count = [](const std::string& where, const std::string& what) {
        int found = 0;
        for (std::size_t at = where.find(what); at != std::string::npos; at = where.find(what, at + 1)) ++found;
        return found;
    };
    for (const char* kind : {"histogram", "heat"}) {
        EXPECT_EQ(count(text(kind, {}), "logarithmic"), 0) << kind;
        EXPECT_EQ(count(text(kind, {"--log", "--what=accesses"}), "logarithmic"), 1) << kind;
    }
    const std::string phases = text("phases", {"--log", "--what=accesses"});
    EXPECT_EQ(count(phases, "logarithmic"), 1);
    EXPECT_NE(phases.find("left out: phase 2, without accesses"), std::string::npos);
    for (const char* tick : {">100<", ">10k<"}) EXPECT_EQ(count(phases, tick), 4) << tick;  // 3 phases and all
    const std::string misses = text("phases", {"--what=misses", "--phases=0-3"});
    for (const char* once : {">nothing<", ">no misses<"}) EXPECT_EQ(count(misses, once), 1) << once;
    EXPECT_EQ(count(misses, "logarithmic"), 0);
}

TEST(FigureChoice, NamesOfStructuresMayHaveColons) {
    testing::TemporaryDirectory directory;
    ResultFile file(directory / "c.h5");
    StructureTable table;
    table.regions = {{"libc", 0x1000, 256, 8}, {"libc:arena", 0x2000, 512, 8}, {"libc:arena:0:64", 0x3000, 128, 8}};
    write_structures(file.root(), table, {});
    file.finish();
    const InputFile input(directory / "c.h5");
    const auto begin_and_last = [&](const std::string& name) {
        const ByteRange range = named_range(input, name);
        return std::pair{range.first, range.last};
    };
    using Pair = std::pair<Address, Address>;
    EXPECT_EQ(begin_and_last("libc"), (Pair{0x1000, 0x10ff}));
    EXPECT_EQ(begin_and_last("libc:arena"), (Pair{0x2000, 0x21ff}));
    EXPECT_EQ(begin_and_last("libc:arena:8:0x10"), (Pair{0x2008, 0x2017}));
    EXPECT_EQ(begin_and_last("libc:arena:0:64"), (Pair{0x3000, 0x307f})) << "a name before a part of another";
    EXPECT_EQ(begin_and_last("libc:arena:0:64:8:8"), (Pair{0x3008, 0x300f}));
    for (const char* wrong : {"lib", "libc:arena:1", "libc:arena:0:513", "libc:arena:"})
        EXPECT_THROW(named_range(input, wrong), StorageError) << wrong;
}

TEST_F(Figures, ColumnsThatAreNotEquallyLongAreTold) {
    result_ = directory_ / "lens.h5";
    ResultFile file(result_);
    file.root().set_attribute("format", std::string("cachetally result"));
    Group combined = file.root().create_group("combined");
    combined.set_attribute("names", std::vector<std::string>{"L1"});
    Group level = combined.create_group("L1");
    level.set_attribute("line_bytes", 64);
    level.write("address", std::vector<std::uint64_t>{0x1000, 0x1040});
    level.write("phase", std::vector<std::uint32_t>{0, 0});
    level.write("accesses", std::vector<double>{1, 2});
    level.write("misses", std::vector<double>{1});
    file.finish();
    for (const char* kind : {"histogram", "phases", "heat"}) {
        const std::string said = refusal(request(kind, "x.svg", {"--what=misses"}));
        EXPECT_NE(said.find("lens.h5:/combined/L1: the column 'misses' has 1 rows instead of 2; the file is damaged"),
                  std::string::npos)
            << said;
        EXPECT_EQ(said.find("Traceback"), std::string::npos) << said;
    }
}

}  // namespace
}  // namespace cachetally
