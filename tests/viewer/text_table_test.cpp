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
    EXPECT_EQ(rounded_text(999), "999");
    EXPECT_EQ(rounded_text(4096), "4.10k");
    EXPECT_EQ(rounded_text(12345678), "12.3M");
    EXPECT_EQ(rounded_text(999999), "1.00M");
    EXPECT_EQ(rounded_text(static_cast<double>(~std::uint64_t{0})), "18.4E");
    EXPECT_EQ(count_cell(2.5).full, "2.5");
    EXPECT_EQ(count_cell(1234.56).full, "1,234.6");
    EXPECT_EQ(rounded_text(3.5), "3.5");
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
    EXPECT_EQ(bytes_text(8712), "8712 B");
    EXPECT_EQ(bytes_text(256 * 1024 + 8), "256 KiB");
    EXPECT_EQ(bytes_text(130 * 1024 + 600), "130.6 KiB");
}

TEST(Names, WithoutTheirMiddleAreOfSoManyCharacters) {
    EXPECT_EQ(abridged("0123456789", 10), "0123456789");
    EXPECT_EQ(abridged("0123456789a", 10), "01234 … 9a");
    EXPECT_EQ(abridged("äöüßäöüßäöü", 10), "äöüßä … öü");
}

TEST(Table, AlignsAndShortensTextsWhereItIsTooWide) {
    TextTable table({{"name", TextTable::Align::left}, {"count"}});
    table.add({{"a structure", "a"}, count_cell(std::uint64_t{1234567})});
    table.add_line("between");
    table.add({"längst", count_cell(std::uint64_t{5})});
    EXPECT_EQ(table.text(22),
              "name             count\n"
              "a structure  1,234,567\n"
              "between\n"
              "längst               5\n");
    EXPECT_EQ(table.text(21),
              "name            count\n"
              "a structure 1,234,567\n"
              "between\n"
              "längst              5\n");
    EXPECT_EQ(table.text(20),
              "name        count\n"
              "a       1,234,567\n"
              "between\n"
              "längst          5\n");
}

TEST(Table, BreaksTitlesBeforeItShortensTexts) {
    TextTable table({{"data structure", TextTable::Align::left}, {"misses"}, {"first use of all"}});
    table.add({{"heap:a", "heap"}, "1", "2,345"});
    EXPECT_EQ(table.text(40),
              "data structure  misses  first use of all\n"
              "heap:a               1             2,345\n");
    EXPECT_EQ(table.text(39),
              "data               first use\n"
              "structure  misses     of all\n"
              "heap:a          1      2,345\n");
    EXPECT_EQ(table.text(27),
              "data             first use\n"
              "structure misses    of all\n"
              "heap:a         1     2,345\n");
    table.add({{"stack of a thread", "stack"}, "1", "2,345"});
    EXPECT_EQ(table.text(27),
              "data             first use\n"
              "structure misses    of all\n"
              "heap           1     2,345\n"
              "stack          1     2,345\n");
}

TEST(Table, ShortensNoTextsThatWouldBeTheSame) {
    TextTable table({{"name", TextTable::Align::left}, {"x"}});
    table.add({{"heap:a", "heap"}, "12"});
    EXPECT_EQ(table.text(8), "name   x\nheap  12\n");
    table.add({{"heap:b", "heap"}, "12"});
    EXPECT_EQ(table.text(9), "name    x\nheap:a 12\nheap:b 12\n");
    EXPECT_FALSE(table.fits(8));
}

TEST(Table, SplitsWhatDoesNotFitAndLosesNothing) {
    TextTable table(
        {{"name", TextTable::Align::left}, {"no"}, {"first"}, {"%", TextTable::Align::right, true}, {"second"}, {"x"}},
        2);
    table.add({"a", "1", count_cell(std::uint64_t{1234567}), "5", count_cell(std::uint64_t{98765}), "y"});
    table.add_line("between");
    table.add({"b", "2", "3"});
    EXPECT_TRUE(table.fits(28));
    EXPECT_EQ(table.text(33),
              "name  no      first  %  second  x\n"
              "a      1  1,234,567  5  98,765  y\n"
              "between\n"
              "b      2          3\n");
    EXPECT_EQ(table.text(28),
              "name no     first % second x\n"
              "a     1 1,234,567 5 98,765 y\n"
              "between\n"
              "b     2         3\n");
    EXPECT_FALSE(table.fits(27));
    EXPECT_EQ(table.text(27),
              "name  no      first  %\n"
              "a      1  1,234,567  5\n"
              "between\n"
              "b      2          3\n"
              "\n"
              "name  no  second  x\n"
              "a      1  98,765  y\n"
              "between\n"
              "b      2\n");
    // a bound column stays with the one before it, and one that is wider than all there is stands alone
    for (const unsigned width : {1U, 16U, 21U})
        EXPECT_EQ(table.text(width).substr(0, 22), "name  no      first  %") << width;
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
    EXPECT_EQ(table.text(14),
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
    EXPECT_EQ(shortened_name("heap: main prog.cpp:9 < __libc_start_call_main", 30), "heap: main prog.cpp:9~");
    EXPECT_EQ(shortened_name("heap: main prog.cpp:9 < __libc_start_call_main", 12), "heap~.cpp:9~");
    EXPECT_EQ(shortened_name("heap: xmalloc x.c:5 < main prog.cpp:9", 20), "heap: x~n prog.cpp:9")
        << "its caller has one";
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
