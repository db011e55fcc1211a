// SPDX-License-Identifier: BSD-3-Clause
// ChampSim's records: their bytes as docs/formats-of-others.md has them, how they are told apart, and what is wrong.
#include "tests/storage/temporary.hpp"
#include "tests/workloads/traces/record_testing.hpp"

namespace cachetally {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto champsim = TraceFormat::champsim;
constexpr auto cloudsuite = TraceFormat::cloudsuite;

struct Instruction {
    Address pc;
    std::vector<Address> loads = {}, stores = {};
    std::string registers = "\x19\x06\x01\x02\x03\x04";
};

std::string addresses(std::vector<Address> of, std::size_t count) {
    of.resize(count);
    std::string bytes;
    for (const Address address : of) bytes += le(address);
    return bytes;
}

/// In 64 bytes.
std::string small(const Instruction& i) {
    return le(i.pc) + le(1, 1) + le(0, 1) + i.registers + addresses(i.stores, 2) + addresses(i.loads, 4);
}
/// In 96 bytes.
std::string large(const Instruction& i) {
    return le(i.pc) + le(0, 2) + i.registers + le(0, 2) + le(0, 6) + addresses(i.stores, 4) + addresses(i.loads, 4) +
           le(1, 2) + le(0, 6);
}

const Instruction instructions[] = {
    {0x401000, {0x7ffe1000}}, {0x40100f, {0x1003c, 0x20000}, {0x30000}}, {0x401010, {}, {0x7ffe1008}}, {0x401000}};

std::string file_of(std::string (*record)(const Instruction&)) {
    std::string bytes;
    for (const Instruction& instruction : instructions) bytes += record(instruction);
    return bytes;
}

const auto champsim_references =
    ElementsAre(fetch_of(0x401000), load_of(0x7ffe1000), load_of(0x1003c), load_of(0x20000), store_of(0x30000),
                fetch_of(0x401010), store_of(0x7ffe1008), fetch_of(0x401000));

TEST(Champsim, ReadsTheBytesOfTheDocumentation) {
    const std::string record = bytes_of(
        "f0 0f 40 00 00 00 00 00 01 01 1a 00 1a 19 00 00 "
        "08 10 fe 7f 00 00 00 00 00 00 00 00 00 00 00 00 "
        "3c 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_THAT(read_records(champsim, record.substr(0, 64)),
                ElementsAre(fetch_of(0x400ff0), load_of(0x1003c), store_of(0x7ffe1008)));
}

TEST(Champsim, ReadsInstructions) {
    EXPECT_THAT(read_records(champsim, file_of(small)), champsim_references);
    EXPECT_THAT(read_records(cloudsuite, file_of(large)), champsim_references);
    const Instruction most{0x401000, {1, 2, 3, 4}, {5, 6, 7, 8}};
    EXPECT_THAT(read_records(cloudsuite, large(most)),
                ElementsAre(fetch_of(0x401000), load_of(1), load_of(2), load_of(3), load_of(4), store_of(5),
                            store_of(6), store_of(7), store_of(8)));
}

TEST(Champsim, LeavesFetchesOut) {
    TraceOptions options;
    options.data_only = true;
    EXPECT_EQ(read_records(champsim, file_of(small), nullptr, options).size(), 5U);
    EXPECT_THAT(read_records(champsim, small({1, {64}})), ElementsAre(load_of(64))) << "there is no code in page 0";
}

TEST(Champsim, IsTakenApartWhereverItIsCut) {
    check_beginnings(champsim, file_of(small));
    check_beginnings(cloudsuite, file_of(large));
}

TEST(Champsim, SaysWhereItIsWrong) {
    std::string failure;
    std::string wrong = file_of(small);
    wrong[64 + 9] = 2;
    EXPECT_EQ(read_records(champsim, wrong, &failure).size(), 2U);
    EXPECT_EQ(failure,
              "t: byte 64, record 2 of champsim: bytes 8 and 9 of a record say whether it is a branch and was taken, "
              "each 0 or 1; here they are 1 and 2");
    read_records(champsim, file_of(small).substr(0, 100), &failure);
    EXPECT_EQ(failure, "t: byte 64, record 2 of champsim: the file ends within a record, 36 bytes into it");
    read_records(champsim, "", &failure);
    EXPECT_EQ(failure, "t: holds no record of champsim");
}

TEST(Champsim, ManyRecordsPassTheBuffer) {
    std::string bytes;
    std::size_t references = 0;
    for (Address i = 0; i < 5000; ++i, references += 3) bytes += small({0x400000 + 16 * i, {i + 1}, {i + 2}});
    TraceOptions options;
    options.buffer_bytes = 0;
    OpenedStream stream = memory_stream("t", bytes);
    const auto source = open_binary_trace(std::move(stream), champsim, options);
    const auto read = references_of(read_stream(*source));
    ASSERT_EQ(read.size(), references);
    EXPECT_EQ(read.back(), store_of(5001));
}

TEST(Champsim, IsRecognisedByContent) {
    EXPECT_EQ(detect_binary_format("t", file_of(small), true), champsim);
    EXPECT_EQ(detect_binary_format("t", file_of(large), true), cloudsuite);
    EXPECT_EQ(detect_binary_format("t", file_of(small) + "x", true), std::nullopt) << "no whole number of records";
    EXPECT_EQ(detect_binary_format("t", file_of(small) + "x", false), champsim);
    EXPECT_EQ(detect_binary_format("t", std::string(960, '\0'), true), std::nullopt);
    EXPECT_EQ(detect_binary_format("t", std::string(960, 'x'), true), std::nullopt);
}

TEST(Champsim, TwoThatFitAreToldApartByNameOnly) {
    // Every other record loads from an odd address in page 0, which is a program counter too.
    std::string both;
    for (int i = 0; i < 6; ++i) both += small({0x401000, {0x401000, 0, 0, 0}, {}, std::string(6, '\0')});
    EXPECT_EQ(detect_binary_format("a/b.champsim.xz", both, true), champsim);
    EXPECT_EQ(detect_binary_format("a/b.cloudsuite.xz", both, true), cloudsuite);
    for (const auto* name : {"champsim/t", "t", "champsim-cloudsuite"}) {
        std::string failure;
        try {
            detect_binary_format(name, both, true);
        } catch (const TraceError& error) {
            failure = error.what();
        }
        EXPECT_EQ(failure, std::string(name) +
                               ": its bytes fit several formats; say which it is with --format champsim or --format "
                               "cloudsuite");
    }
}

TEST(Champsim, IsOpenedLikeAnyTrace) {
    const TemporaryDirectory directory;
    write_contents(directory / "t", file_of(small));
    TraceOptions options;
    options.notes = std::make_shared<TextNotes>();
    const TraceInfo info = trace_info(directory / "t", options);
    EXPECT_EQ(info.format, champsim);
    EXPECT_EQ(info.loads, 3U);
    EXPECT_EQ(info.stores, 2U);
    EXPECT_EQ(info.fetches, 3U);
    EXPECT_EQ(info.text_lines, 4U);
    EXPECT_TRUE(info.failure.empty());
    EXPECT_EQ(name_of(champsim), "champsim");
    EXPECT_EQ(parse_trace_format("cloudsuite"), cloudsuite);
    EXPECT_THAT(trace_formats_in_words(false), HasSubstr("champsim (ChampSim), cloudsuite (ChampSim, CloudSuite)"));
}

}  // namespace
}  // namespace cachetally
