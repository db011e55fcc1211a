// SPDX-License-Identifier: BSD-3-Clause
// Numbers and tables for terminals, by hand.
#include "viewer/text_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace cachetally {
namespace {

TEST(Numbers, AreGroupedOrShort) {
    EXPECT_EQ(count_cell(std::uint64_t{0}).full, "0");
    EXPECT_EQ(count_cell(std::uint64_t{999}).full, "999");
    EXPECT_EQ(count_cell(std::uint64_t{1000}).full, "1,000");
    EXPECT_EQ(count_cell(std::uint64_t{12345678}).full, "12,345,678");
    EXPECT_EQ(count_cell(std::uint64_t{999}).brief, "999");
    EXPECT_EQ(count_cell(std::uint64_t{4096}).brief, "4.10k");
    EXPECT_EQ(count_cell(std::uint64_t{12345678}).brief, "12.3M");
    EXPECT_EQ(count_cell(std::uint64_t{999999}).brief, "1.00M");
    EXPECT_EQ(count_cell(~std::uint64_t{0}).brief, "18.4E");
    EXPECT_EQ(count_cell(2.5).full, "2.5");
    EXPECT_EQ(count_cell(1234.56).full, "1,234.6");
    EXPECT_EQ(count_cell(3.5).brief, "3.5");
}

TEST(Numbers, PercentAndBytes) {
    EXPECT_EQ(percent_text(1, 3), "33.33");
    EXPECT_EQ(percent_text(0, 3), "0");
    EXPECT_EQ(percent_text(0, 0), "-");
    EXPECT_EQ(percent_text(1, 1000), "0.100");
    EXPECT_EQ(percent_text(1, 10000000), "<0.001");
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(48 * 1024), "48 KiB");
    EXPECT_EQ(bytes_text(1536 * 1024), "1.5 MiB");
}

TEST(Table, AlignsAndShortensWhereItIsTooWide) {
    TextTable table({{"name", TextTable::Align::left}, {"count"}});
    table.add({"a", count_cell(std::uint64_t{1234567})});
    table.add_line("between");
    table.add({"längst", count_cell(std::uint64_t{5})});
    EXPECT_EQ(table.text(80),
              "name        count\n"
              "a       1,234,567\n"
              "between\n"
              "längst          5\n");
    EXPECT_EQ(table.text(15),
              "name    count\n"
              "a       1.23M\n"
              "between\n"
              "längst      5\n");
}

TEST(Table, SplitsWhatDoesNotFitAndLosesNothing) {
    TextTable table(
        {{"name", TextTable::Align::left}, {"no"}, {"first"}, {"%", TextTable::Align::right, true}, {"second"}, {"x"}},
        2);
    table.add({"a", "1", count_cell(std::uint64_t{1234567}), "5", count_cell(std::uint64_t{98765}), "y"});
    table.add_line("between");
    table.add({"b", "2", "3"});
    EXPECT_TRUE(table.fits(29));
    EXPECT_EQ(table.text(29),
              "name  no  first  %  second  x\n"
              "a      1  1.23M  5   98.8k  y\n"
              "between\n"
              "b      2      3\n");
    EXPECT_FALSE(table.fits(28));
    EXPECT_EQ(table.text(28),
              "name  no  first  %  second\n"
              "a      1  1.23M  5   98.8k\n"
              "between\n"
              "b      2      3\n"
              "\n"
              "name  no  x\n"
              "a      1  y\n"
              "between\n"
              "b      2\n");
    // a bound column stays with the one before it, and one that is wider than all there is stands alone
    for (const unsigned width : {1U, 16U, 17U})
        EXPECT_EQ(table.text(width).substr(0, 18), "name  no  first  %") << width;
}

TEST(Table, MarksEndEachPart) {
    TextTable table(
        {{"key", TextTable::Align::left}, {"a"}, {.title = "", .align = TextTable::Align::left, .marks = true}, {"b"}});
    table.add({"k", "123", "*", "45678"});
    table.add({"l", "9", "", "7"});
    EXPECT_EQ(table.text(18),
              "key    a      b\n"
              "k    123  45678  *\n"
              "l      9      7\n");
    EXPECT_EQ(table.text(17),
              "key    a\n"
              "k    123  *\n"
              "l      9\n"
              "\n"
              "key      b\n"
              "k    45678  *\n"
              "l        7\n");
}

TEST(Table, FitsEveryWidthThatItsWidestColumnsFit) {
    TextTable table({{"key", TextTable::Align::left}, {"a"}, {"b"}, {"c"}, {"d"}, {"e"}});
    table.add({"k", "12345678", "2", "345", "6", "78901"});
    for (unsigned width = 13; width <= 60; ++width) {
        const std::string text = table.text(width);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << text;
        for (const char* field : {"12345678", "345", "6", "78901", "a", "e"})
            EXPECT_NE(text.find(field), std::string::npos) << field << '\n' << text;
    }
}

TEST(Text, IsWrappedAtWords) {
    EXPECT_EQ(wrapped("one two three", 7), "one two\nthree\n");
    EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three\n");
    EXPECT_EQ(wrapped("  one two three", 8, 3), "  one\n   two\n   three\n");
    EXPECT_EQ(wrapped("längst da", 9), "längst da\n");
    EXPECT_EQ(wrapped("unbreakable", 4), "unbreakable\n");
}

TEST(Table, CutsTexts) {
    EXPECT_EQ(shortened("matrix", 6), "matrix");
    EXPECT_EQ(shortened("matrix", 4), "mat~");
    EXPECT_EQ(shortened("längst", 3), "lä~");
    EXPECT_EQ(shortened("x", 0), "");
    EXPECT_EQ(shortened_name("matrix", 6), "matrix");
    EXPECT_EQ(shortened_name("heap: main prog.cpp:9", 12), "heap~g.cpp:9");
    EXPECT_EQ(shortened_name("länglichste", 5), "l~ste");
    EXPECT_EQ(shortened_name("x", 0), "");
}

TEST(TextTable, OneThingIsNotPlural) {
    EXPECT_EQ(counted(0, "cycle"), "0 cycles");
    EXPECT_EQ(counted(1, "cycle"), "1 cycle");
    EXPECT_EQ(counted(1000, "cycle"), "1,000 cycles");
}

}  // namespace
}  // namespace cachetally
