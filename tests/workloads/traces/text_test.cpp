// SPDX-License-Identifier: BSD-3-Clause
// Lackey and din text: what is read, what is skipped, and what is said of a line that is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "tests/storage/temporary.hpp"
#include "tests/workloads/traces/trace_testing.hpp"

namespace cachetally {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto load = ReferenceKind::load;
constexpr auto store = ReferenceKind::store;
constexpr auto fetch = ReferenceKind::fetch;

Reference ref(Address address, std::uint16_t size, ReferenceKind kind) { return {address, 0, size, kind, 0}; }

std::vector<Reference> parse(TraceFormat format, const std::string& text, std::string* failure = nullptr,
                             TraceOptions options = {}) {
    const auto source = open_text_trace(memory_stream("t", text), format, options);
    return references_of(read_stream(*source, 0, failure));
}
std::vector<Reference> lackey(const std::string& text, std::string* failure = nullptr) {
    return parse(TraceFormat::lackey, text, failure);
}
std::vector<Reference> din(const std::string& text, std::string* failure = nullptr) {
    return parse(TraceFormat::din, text, failure);
}

/// The text that valgrind 3.19 writes, with a line of the program's own in between.
constexpr char lackey_text[] =
    "==77== Lackey, an example Valgrind tool\n"
    "==77== \n"
    "I  0401ab70,3\n"
    "I  0401ab73,5\n"
    " S 1ffefffe48,8\n"
    "hello, world\n"
    " L 0403abd0,16\n"
    " M 0421c7cc,4\n"
    "\n"
    "==77== Counted 1 call to main()\n";

TEST(Lackey, ReadsWhatValgrindWrites) {
    EXPECT_THAT(lackey(lackey_text),
                ElementsAre(ref(0x401ab70, 3, fetch), ref(0x401ab73, 5, fetch), ref(0x1ffefffe48, 8, store),
                            ref(0x403abd0, 16, load), ref(0x421c7cc, 4, load), ref(0x421c7cc, 4, store)));
}

TEST(Lackey, LeavesFetchesOutAndCountsLines) {
    TraceOptions options;
    options.data_only = true;
    options.notes = std::make_shared<TextNotes>();
    EXPECT_EQ(parse(TraceFormat::lackey, lackey_text, nullptr, options).size(), 4U);
    EXPECT_EQ(options.notes->lines, 10U);
    EXPECT_EQ(options.notes->skipped, 5U);
}

TEST(Lackey, TakesTheExtremes) {
    EXPECT_THAT(lackey(" L 0,1\r\n S ffffffffffffffff,1\n L fffffffffffff000,4096\n L 00000000DeadBeef,65535"),
                ElementsAre(ref(0, 1, load), ref(~Address{0}, 1, store), ref(~Address{4095}, 4096, load),
                            ref(0xdeadbeef, 65535, load)));
}

TEST(Lackey, SkipsWhatIsNotOfTheTrace) {
    EXPECT_THAT(lackey(" L\nI\nI \nLxyz\n  L 10,4\nL 10,4\n L 10,4\n I  20,4\nSB 0400\n"),
                ElementsAre(ref(0x10, 4, load)));
}

struct Wrong {
    const char* line;
    const char* message;
};

TEST(Lackey, SaysWhatIsWrongAndWhere) {
    for (const auto& [line, message] : {
             Wrong{" L ", "t:2:4: the hexadecimal address is missing"},
             Wrong{" L xyz,4", "t:2:4: the hexadecimal address is missing"},
             Wrong{"I  ,4", "t:2:4: the hexadecimal address is missing"},
             Wrong{" L 1f", "t:2:6: a comma is missing after the address"},
             Wrong{" L 1fg,4", "t:2:6: a comma is missing after the address"},
             Wrong{" S 1f,", "t:2:7: the size is missing"},
             Wrong{" S 1f,x", "t:2:7: the size is missing"},
             Wrong{" M 1f,8x", "t:2:8: the line goes on after the size"},
             Wrong{"I  1f,0", "t:2:7: a size is from 1 to 65535"},
             Wrong{"I  1f,65536", "t:2:7: a size is from 1 to 65535"},
             Wrong{"I  1f,4294967304", "t:2:7: a size is from 1 to 65535"},
             Wrong{" L 11112222333344445,8", "t:2:4: an address has at most 16 digits"},
             Wrong{" L ffffffffffffffff,2", "t:2:4: the reference runs beyond the end of the address space"},
         }) {
        std::string failure;
        const auto references = lackey(std::string(" L 10,4\n") + line + "\n L 20,4\n", &failure);
        EXPECT_THAT(references, ElementsAre(ref(0x10, 4, load))) << line;
        EXPECT_THAT(failure, StartsWith(message)) << line;
        EXPECT_THAT(failure, HasSubstr("a line is like ' L 1ffefff0,8'")) << line;
    }
}

TEST(Lackey, SaysThatThereIsNoTrace) {
    std::string failure;
    EXPECT_TRUE(lackey("==1== Lackey\nno such program\n", &failure).empty());
    EXPECT_THAT(failure, StartsWith("t: holds no line of the trace; one is like"));
}

/// Cut anywhere, a trace yields the references of its whole lines, and the last either whole, or an error.
TEST(Lackey, CutAtEveryByteYieldsWholeLines) {
    const std::string text = lackey_text;
    const auto whole = lackey(text);
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
        const std::size_t last_line = bytes == 0 ? 0 : text.rfind('\n', bytes - 1) + 1;
        std::string ignored, failure;
        const auto before = lackey(text.substr(0, last_line), &ignored);
        const auto references = lackey(text.substr(0, bytes), &failure);
        ASSERT_GE(references.size(), before.size()) << bytes;
        ASSERT_TRUE(std::equal(before.begin(), before.end(), references.begin())) << bytes;
        ASSERT_LE(references.size(), before.size() + 2) << bytes;
    }
    EXPECT_EQ(whole.size(), 6U);
}

/// A second reader, line by line with the standard library, must agree on a long random text.
TEST(Lackey, AgreesWithAnObviousReader) {
    Random random(3);
    std::string text;
    std::vector<Reference> expected;
    while (text.size() < 5000000) {
        const Address address = random.next() >> (4 * random.below(15) + 4);
        const auto size = static_cast<std::uint16_t>(1 + random.below(64));
        const char* kinds[] = {"I ", " L", " S", " M"};
        const auto kind = random.below(5);
        if (kind == 4) {
            text += std::string(random.below(100), '#') + "\n";
            continue;
        }
        char line[64];
        std::snprintf(line, sizeof line, "%s %08llx,%u\n", kinds[kind], static_cast<unsigned long long>(address), size);
        text += line;
        if (kind == 0) expected.push_back(ref(address, size, fetch));
        if (kind == 1 || kind == 3) expected.push_back(ref(address, size, load));
        if (kind == 2 || kind == 3) expected.push_back(ref(address, size, store));
    }
    EXPECT_EQ(lackey(text), expected);
    TraceOptions small;
    small.buffer_bytes = 0;  // lines meet the ends of the buffer at all places
    EXPECT_EQ(parse(TraceFormat::lackey, text, nullptr, small), expected);
}

TEST(Lackey, PassesVeryLongLinesOfTheProgram) {
    const std::string noise(3000000, 'x');
    EXPECT_THAT(lackey(" L 10,4\n" + noise + "\n L 20,4\n" + noise),
                ElementsAre(ref(0x10, 4, load), ref(0x20, 4, load)));
}

TEST(Din, ReadsLabelsSizesAndComments) {
    EXPECT_THAT(din("0 1000\n1 0x1004\n2 dead more text\n\n  0\t20 8\n1 30 16 comment\r\n3 40\n4 0\n1 50 - dash\n"),
                ElementsAre(ref(0x1000, 4, load), ref(0x1004, 4, store), ref(0xdead, 4, fetch), ref(0x20, 8, load),
                            ref(0x30, 16, store), ref(0x50, 4, store)));
}

TEST(Din, TakesTheSizeOfReferencesThatStateNone) {
    TraceOptions options;
    options.din_reference_bytes = 1;
    EXPECT_THAT(parse(TraceFormat::din, "0 ffffffffffffffff\n", nullptr, options),
                ElementsAre(ref(~Address{0}, 1, load)));
}

TEST(Din, SaysWhatIsWrongAndWhere) {
    for (const auto& [line, message] : {
             Wrong{"5 1000", "t:2:1: a line begins with a label from 0 to 4"},
             Wrong{"  read 1000", "t:2:3: a line begins with a label from 0 to 4"},
             Wrong{"01000", "t:2:1: a line begins with a label from 0 to 4"},
             Wrong{"0 ", "t:2:3: the hexadecimal address is missing"},
             Wrong{"0 0x", "t:2:5: the hexadecimal address is missing"},
             Wrong{"0 12h4", "t:2:5: the address has a digit that is none"},
             Wrong{"0 11112222333344445", "t:2:3: an address has at most 16 digits"},
             Wrong{"0 10 0", "t:2:6: a size is from 1 to 65535"},
             Wrong{"1 10 -8", "t:2:6: a size is from 1 to 65535, without a sign"},
             Wrong{"1 10 +8", "t:2:6: a size is from 1 to 65535, without a sign"},
             Wrong{"0 10 8k", "t:2:7: the size is not a decimal number"},
             Wrong{"0 fffffffffffffffe", "t:2:3: the reference runs beyond the end of the address space"},
         }) {
        std::string failure;
        const auto references = din(std::string("0 10\n") + line + "\n0 20\n", &failure);
        EXPECT_THAT(references, ElementsAre(ref(0x10, 4, load))) << line;
        EXPECT_THAT(failure, StartsWith(message)) << line;
    }
}

TEST(Formats, AreRecognisedByTheirFirstLines) {
    EXPECT_EQ(detect_format("I  0401ab70,3\n"), TraceFormat::lackey);
    EXPECT_EQ(detect_format("some output\n1 2\n==12== x\n"), TraceFormat::lackey);
    EXPECT_EQ(detect_format("some output\n M 10,4\n"), TraceFormat::lackey);
    EXPECT_EQ(detect_format("\n 2 0x10 8\r\n"), TraceFormat::din);
    EXPECT_EQ(detect_format("\x89HDF\r\n\x1a\n"), TraceFormat::packed);
    EXPECT_EQ(detect_format(" L 10,4"), std::nullopt) << "the line is not over";
    EXPECT_EQ(detect_format("7 10\n# 3\n"), std::nullopt);
    for (const auto name : {"auto", "lackey", "din", "packed"})
        EXPECT_EQ(name_of(parse_trace_format(name).value()), name);
    EXPECT_EQ(parse_trace_format("pin"), std::nullopt);
}

TEST(Open, ExplainsWhatCannotBeOpened) {
    const TemporaryDirectory directory;
    EXPECT_THAT(message_of([&] { open_trace(directory / "absent"); }), HasSubstr("absent: cannot be opened: No such"));
    EXPECT_THAT(message_of([&] { open_trace(directory.path().string()); }), HasSubstr("is a directory"));
    write_contents(directory / "empty", "");
    EXPECT_THAT(message_of([&] { open_trace(directory / "empty"); }), HasSubstr("empty: is empty"));
    write_contents(directory / "foreign", "%PDF-1.4\n");
    EXPECT_THAT(message_of([&] { open_trace(directory / "foreign"); }),
                HasSubstr("foreign: is not a trace of a known format (" + trace_formats_in_words(true) + ")"));
    write_contents(directory / "short", " L 10,4");
    EXPECT_EQ(read_stream(*open_trace(directory / "short")).size(), 2U);
}

TEST(Open, ReadsCompressedText) {
    const TemporaryDirectory directory;
    std::string text = lackey_text;
    while (text.size() < 300000) text += " L 10,4\n";
    write_contents(directory / "t", text);
    const auto expected = lackey(text);
    for (const std::string command : {"gzip", "xz", "zstd", "bzip2"}) {
        const std::string packed = directory / ("t." + command);
        if (std::system((command + " -c " + (directory / "t") + " > " + packed + " 2>/dev/null").c_str()) != 0)
            continue;
        EXPECT_EQ(references_of(read_stream(*open_trace(packed))), expected) << command;

        const std::string bytes = contents(packed);
        write_contents(packed, bytes.substr(0, bytes.size() / 2));
        std::string failure;
        try {
            const auto source = open_trace(packed);
            read_stream(*source, 0, &failure);
        } catch (const TraceError& error) {
            failure = error.what();
        }
        EXPECT_THAT(failure, HasSubstr("the " + command + " file is damaged or cut off: "));
    }
}

TEST(Open, ReadsPipesAsTheyFill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const std::string path = "/dev/fd/" + std::to_string(ends[0]);
    std::thread writer([&] {
        for (const char* part : {"==1== x\n L 1", "0,4\n S", " 20,8", "\n"}) {
            EXPECT_EQ(::write(ends[1], part, std::strlen(part)), static_cast<ssize_t>(std::strlen(part)));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        ::close(ends[1]);
    });
    const auto source = open_trace(path);
    EXPECT_EQ(source->progress(), -1.0);
    EXPECT_THAT(references_of(read_stream(*source)), ElementsAre(ref(0x10, 4, load), ref(0x20, 8, store)));
    writer.join();
    ::close(ends[0]);
}

/// Giving up on a pipe that stays silent must not hang.
TEST(Open, LetsGoOfASilentPipe) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], " L 10,4\n L 20,4\n", 16), 16);
    {
        const auto source = open_trace("/dev/fd/" + std::to_string(ends[0]));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace
}  // namespace cachetally
