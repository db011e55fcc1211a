// SPDX-License-Identifier: BSD-3-Clause
// DynamoRIO's records: their bytes as docs/formats-of-others.md has them, threads, and what is wrong.
#include "tests/storage/temporary.hpp"
#include "tests/workloads/traces/record_testing.hpp"

namespace cachetally {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto drmemtrace = TraceFormat::drmemtrace;

struct Entry {
    unsigned type;
    unsigned size;
    std::uint64_t value;
};

std::string packed(const std::vector<Entry>& entries) {
    std::string bytes;
    for (const Entry& e : entries) bytes += le(e.type, 2) + le(e.size, 2) + le(e.value);
    return bytes;
}
std::string padded(const std::vector<Entry>& entries) {
    std::string bytes;
    for (const Entry& e : entries) bytes += le(e.type, 2) + le(e.size, 2) + "\xcd\xcd\xcd\xcd" + le(e.value);
    return bytes;
}
std::string short_ones(const std::vector<Entry>& entries) {
    std::string bytes;
    for (const Entry& e : entries) bytes += le(e.type, 2) + le(e.size, 2) + le(e.value, 4);
    return bytes;
}

const std::vector<Entry> one_thread = {{25, 0, 7},          {28, 12, 7},          {22, 4, 77},        {24, 4, 70},
                                       {47, 3, 0xc3c3c3},   {10, 3, 0x401000},    {0, 8, 0x7ffe1000}, {48, 2, 0x401003},
                                       {17, 3, 0x00050402}, {1, 4, 0x20000},      {29, 2, 0x401010},  {0, 1, 0x30000},
                                       {30, 2, 0x401010},   {30, 2, 0x401012},    {3, 1, 0x5000},     {31, 2, 0x401014},
                                       {49, 6, 0x401016},   {20, 64, 0x7ffe1000}, {23, 4, 77},        {26, 0, 0}};

const auto drmemtrace_references =
    ElementsAre(fetch_of(0x401000, 3), load_of(0x7ffe1000, 8), fetch_of(0x401003, 2), fetch_of(0x401005, 2),
                fetch_of(0x401007, 4), fetch_of(0x40100b, 5), store_of(0x20000, 4), load_of(0x30000, 1),
                fetch_of(0x401012, 2), fetch_of(0x401014, 2), fetch_of(0x401016, 6));

TEST(Drmemtrace, ReadsTheBytesOfTheDocumentation) {
    EXPECT_THAT(read_records(drmemtrace, bytes_of("19 00 00 00 07 00 00 00 00 00 00 00 "
                                                  "16 00 04 00 4d 00 00 00 00 00 00 00 "
                                                  "0a 00 03 00 00 10 40 00 00 00 00 00 "
                                                  "01 00 08 00 08 10 fe 7f 00 00 00 00 ")),
                ElementsAre(fetch_of(0x401000, 3), store_of(0x7ffe1008, 8)));
}

TEST(Drmemtrace, ReadsEntriesOfEveryLayout) {
    EXPECT_THAT(read_records(drmemtrace, packed(one_thread)), drmemtrace_references);
    EXPECT_THAT(read_records(drmemtrace, padded(one_thread)), drmemtrace_references);
    EXPECT_THAT(read_records(drmemtrace, short_ones(one_thread)), drmemtrace_references);
    TraceOptions options;
    options.data_only = true;
    EXPECT_EQ(read_records(drmemtrace, packed(one_thread), nullptr, options).size(), 3U);
}

TEST(Drmemtrace, IsTakenApartWhereverItIsCut) {
    check_beginnings(drmemtrace, packed(one_thread));
    check_beginnings(drmemtrace, padded(one_thread));
}

std::string entry_failure(const std::string& bytes) {
    std::string failure;
    read_records(drmemtrace, bytes, &failure);
    return failure;
}

TEST(Drmemtrace, SaysWhereItIsWrong) {
    const Entry header{25, 0, 7}, thread{22, 4, 77};
    EXPECT_THAT(entry_failure(packed({header, thread, {50, 0, 0}})),
                HasSubstr("t: byte 24, record 3 of drmemtrace: type 50; types are from 0 to 49"));
    EXPECT_THAT(entry_failure(packed({header, thread, {17, 9, 0}})),
                HasSubstr("a bundle of 9 instructions; there is room"));
    EXPECT_THAT(entry_failure(packed({header, thread, {1, 2, ~0ULL}})),
                HasSubstr("beyond the end of the address space"));
    EXPECT_THAT(entry_failure(packed({header, thread, {22, 4, 78}})),
                HasSubstr("records of thread 78 after those of thread 77: a trace of several threads must be given by "
                          "the name of its file"));
    for (const auto& begin : {packed({thread, header}), packed({{25, 0, 0}, thread}), packed({{25, 0, 65}, thread}),
                              packed({header, header})})
        EXPECT_THAT(entry_failure(begin), HasSubstr("t: byte 0, record 1 of drmemtrace: a trace begins with a header"));
    EXPECT_THAT(read_records(drmemtrace, packed({header, thread, {0, 0, 64}})), IsEmpty()) << "of no bytes";
}

TEST(Drmemtrace, ThreadsOfAFileAreStreams) {
    const TemporaryDirectory directory;
    std::vector<Entry> entries{{25, 0, 7}, {28, 12, 7}};
    for (unsigned turn = 0; turn < 3000; ++turn) {
        const unsigned thread = turn < 3 ? turn : turn * 7 % 3;
        entries.push_back({22, 4, 100 - thread});
        entries.push_back({10, 4, 0x1000});
        entries.push_back({0, 8, thread * 0x10000 + turn});
    }
    write_contents(directory / "t", packed(entries));
    TraceOptions options;
    options.notes = std::make_shared<TextNotes>();
    const auto source = open_trace(directory / "t", options);
    ASSERT_EQ(source->cores(), 3U);
    for (unsigned core = 0; core < 3; ++core) {
        const auto references = references_of(read_stream(*source, core));
        ASSERT_EQ(references.size(), 2000U);
        for (std::size_t i = 1; i < references.size(); i += 2) {
            EXPECT_EQ(references[i - 1], fetch_of(0x1000, 4));
            EXPECT_EQ(references[i].address / 0x10000, core);
            EXPECT_TRUE(i == 1 || references[i - 2].address < references[i].address);
        }
    }
    EXPECT_EQ(options.notes->lines, entries.size()) << "counted once";
    EXPECT_EQ(options.notes->skipped, 2U + 3000U) << "header, marker, threads";
    write_contents(directory / "t", packed(entries) + "cut");
    const TraceInfo info = trace_info(directory / "t");
    EXPECT_EQ(info.cores, 3U);
    EXPECT_THAT(info.failure, HasSubstr("the file ends within a record, 3 bytes into it"));
}

TEST(Drmemtrace, IsRecognisedByContent) {
    for (const auto& bytes : {packed(one_thread), padded(one_thread), short_ones(one_thread)})
        EXPECT_EQ(detect_binary_format("t", bytes, true), drmemtrace);
    EXPECT_EQ(detect_binary_format("t", packed({{25, 0, 7}}), true), std::nullopt);
}

}  // namespace
}  // namespace cachetally
