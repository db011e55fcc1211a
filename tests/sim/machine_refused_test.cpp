// SPDX-License-Identifier: BSD-3-Clause
// What all refusals of machine files have in common, and files that are made to hurt.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "tests/sim/machine_text.hpp"

namespace cachetally {
namespace {

TEST(MachineFile, AllThatIsWrongIsSaidAtOnce) {
    EXPECT_EQ(
        complaints("cores: no\ncaches:\n  - {name: L1, next: memory, size: x, ways: y}\n  - {nam: L2}\n"),
        "m:1:8: error: 'no' is not a value of 'cores'; write a whole number from 1 to 256\n"
        "m:3:36: error: 'x' is not a size for 'size'; write whole bytes, or a number with KiB, MiB, GiB or TiB, as "
        "in 32 KiB\n"
        "m:3:45: error: 'y' is not a value of 'ways'; write a whole number from 1 to 65536, or full for fully "
        "associative\n"
        "m:4:5: error: a cache needs 'name', as in '{name: L1, next: memory, size: 32 KiB, ways: 8}'\n"
        "m:4:5: error: a cache needs 'next', as in '{name: L1, next: memory, size: 32 KiB, ways: 8}'\n"
        "m:4:5: error: a cache needs 'size', as in '{name: L1, next: memory, size: 32 KiB, ways: 8}'\n"
        "m:4:5: error: a cache needs 'ways', as in '{name: L1, next: memory, size: 32 KiB, ways: 8}'\n"
        "m:4:6: error: unknown key 'nam' in a cache; did you mean 'name'? known are: name, next, serves, shared_by, "
        "size, ways, line, sector, latency, replacement, seed, empty_way, indexing, slices, virtually_indexed, "
        "inclusion, "
        "write, "
        "write_allocate, write_back_first, write_back_miss, write_back_traffic, store_hit_refreshes, "
        "write_back_refreshes, prefetch, bus, outstanding_misses, write_buffer");
    // Rules of the graph, of geometry and of neighbours, in the order of the file.
    EXPECT_EQ(complaints("caches:\n"
                         "  - {name: L1, next: L2, size: 1000, ways: 2}\n"
                         "  - {name: L2, next: L9, size: 2K, ways: 2, line: 32}\n"
                         "pages: {size: 3K}\n"),
              "m:2:32: error: the size of 'L1' is 1000 bytes, which is not a multiple of ways x line = 2 x 64 = 128; "
              "write 896 or 1 KiB\n"
              "m:3:22: error: 'next' of 'L2' names 'L9', which is not there; did you mean 'L1'? known are: L1, memory\n"
              "m:3:51: error: lines shrink from 64 bytes in 'L1' to 32 in 'L2'; write at least 64 here\n"
              "m:4:15: error: the page size is 3072 bytes; write a power of two from 4 KiB to 1 GiB");
}

TEST(MachineFile, TheErrorHoldsEachComplaintWithItsPlace) {
    try {
        (void)read_machine("cores: 0\nclock: 0 GHz\n", "dir/m.yaml");
        FAIL();
    } catch (const MachineError& error) {
        ASSERT_EQ(error.diagnostics().size(), 2U);
        EXPECT_EQ(error.diagnostics()[0].mark, (Mark{1, 8}));
        EXPECT_EQ(error.diagnostics()[1].mark, (Mark{2, 8}));
        EXPECT_TRUE(std::string(error.what()).starts_with("dir/m.yaml:1:8: error: '0' is not a value of 'cores'"));
    }
}

TEST(MachineFile, AForeignFileDoesNotFillTheScreen) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "setting" + std::to_string(i) + ": 1\n";
    const std::string words = complaints(text);
    EXPECT_EQ(std::ranges::count(words, '\n'), 50);
    EXPECT_TRUE(words.ends_with("\nm: 950 more errors, not shown")) << words;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() + piece.size() <= bytes) text += piece;
    return text;
}

TEST(MachineFile, NestingIsBounded) {
    constexpr std::size_t bytes = 1 << 20;
    for (const char* piece : {"[", "{", "- ", "? ", "{a: ", "[[", "- - ", "{[", "[{"}) {
        const std::string words = complaints(repeated(piece, bytes));
        EXPECT_NE(words.find("nested more than 16 deep"), std::string::npos) << piece << ": " << words.substr(0, 200);
    }
    std::string stairs;
    for (int i = 0; i < 1000; ++i) stairs += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
    EXPECT_EQ(complaints(stairs), "m:17:17: error: nested more than 16 deep, which no machine file needs");
}

TEST(MachineFile, AliasesAreRefusedBeforeTheyGrow) {
    std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n";
    for (char c = 'b'; c <= 'i'; ++c) {
        const std::string before = std::string("*") + static_cast<char>(c - 1);
        bomb += std::string{c} + ": &" + c + " [" + before + ", " + before + ", " + before + ", " + before + "]\n";
    }
    EXPECT_EQ(complaints(bomb),
              "m:1:4: error: anchors (&name) are not for machine files; write the value out where it is needed");
}

TEST(MachineFile, SizeIsBounded) {
    EXPECT_EQ(complaints(std::string((1 << 20) + 1, '#')),
              "m: error: the file is larger than 1 MiB, which no machine file is");
    EXPECT_EQ(complaints("name: a\n" + std::string((1 << 20) - 8, '#')), "");
}

TEST(MachineFile, LargeFilesAreJudgedInTime) {
#ifdef CACHETALLY_SANITIZED
    constexpr std::size_t bytes = 1 << 16;
#else
    constexpr std::size_t bytes = 1 << 18;
#endif
    const std::clock_t begin = std::clock();  // of the processor: other programs may be running
    for (const auto& [head, piece] : std::initializer_list<std::pair<const char*, const char*>>{
             {"caches:\n", "  - {name: a, next: a, size: 1K, ways: 2}\n"},
             {"tlbs:\n", "  - {name: a, entries: 2, ways: 2, size: 3}\n"},
             {"pages: {ranges: [", "{from: 0, to: 4K, size: 4K},"},
             {"monitors:\n", "  - {link: [a, b, c]}\n"},
             {"", "a: 1\n"},
             {"name: ", "a"},
             {"", "a"},
             {"name: \"", "\\n"},
             {"", "? a\n"},
             {"", "# a\n"},
             {"", "\xff"},
             {"name: |\n", " a\n"}}) {
        (void)complaints(head + repeated(piece, bytes) + (std::string_view(piece).ends_with(',') ? "]}" : ""));
    }
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 30.0);
}

TEST(MachineFile, BytesThatAreNoTextAreRefusedInWords) {
    for (const std::string& text :
         {std::string("\0\0\0\0", 4), std::string("\xff\xfe\x00\xd8", 4), std::string("\x89HDF\r\n\x1a\n"),
          std::string("\x7f"
                      "ELF\x02\x01\x01\0\0",
                      9),
          std::string("name: \xc3", 7)}) {
        const std::string words = complaints(text);
        EXPECT_TRUE(words.empty() || words.starts_with("m:")) << words;
        EXPECT_EQ(std::ranges::find_if(words, [](unsigned char c) { return c < 0x20 && c != '\n'; }), words.end());
    }
}

}  // namespace
}  // namespace cachetally
