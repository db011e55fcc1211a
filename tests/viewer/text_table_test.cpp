// Numbers and tables for terminals, by hand.
#include "viewer/text_table.hpp"

#include <gtest/gtest.h>

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

TEST(Table, CutsTexts) {
    EXPECT_EQ(shortened("matrix", 6), "matrix");
    EXPECT_EQ(shortened("matrix", 4), "mat~");
    EXPECT_EQ(shortened("längst", 3), "lä~");
    EXPECT_EQ(shortened("x", 0), "");
}

TEST(TextTable, OneThingIsNotPlural) {
    EXPECT_EQ(counted(0, "cycle"), "0 cycles");
    EXPECT_EQ(counted(1, "cycle"), "1 cycle");
    EXPECT_EQ(counted(1000, "cycle"), "1,000 cycles");
}

}  // namespace
}  // namespace cachetally
