// SPDX-License-Identifier: BSD-3-Clause
// gem5's packets: their bytes as docs/formats-of-others.md has them, and what is wrong.
#include "tests/workloads/traces/record_testing.hpp"

namespace cachetally {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto gem5 = TraceFormat::gem5;

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
    return bytes + static_cast<char>(value);
}
std::string field(unsigned number, std::uint64_t value) { return varint(number << 3) + varint(value); }
std::string field(unsigned number, const std::string& text) {
    return varint(number << 3 | 2) + varint(text.size()) + text;
}
std::string message(const std::string& fields) { return varint(fields.size()) + fields; }

std::string packet(std::uint64_t tick, unsigned command, Address address, unsigned size, const std::string& more = "") {
    return message(field(1, tick) + field(2, command) + field(3, address) + field(4, size) + more);
}

const std::string header = "gem5" + message(field(1, std::string("system.monitor")) + field(3, 1000000000000) +
                                            field(4, field(1, 7) + field(2, std::string("cpu.data"))));

TEST(Gem5, ReadsTheBytesOfTheDocumentation) {
    EXPECT_THAT(read_records(gem5, bytes_of("67 65 6d 35 0a 0a 01 6d 18 80 a0 94 a5 8d 1d "
                                            "0f 08 e8 07 10 01 18 80 20 20 08 28 00 38 80 08 "
                                            "0a 08 d0 0f 10 04 18 c0 20 20 40 ")),
                ElementsAre(load_of(0x1000, 8), store_of(0x1040, 64)));
}

TEST(Gem5, ReadsRequestsAlone) {
    const std::string bytes = header + packet(1, 1, 0x1000, 8) + packet(2, 2, 0x2000, 8) + packet(3, 4, 0x3000, 4) +
                              packet(4, 1, 0x400000, 64, field(5, 0x100)) + packet(5, 7, 0x5000, 64) +
                              packet(6, 1, 0x6000, 0) + packet(7, 1, ~Address{0}, 1, field(6, 9) + field(7, 0x401000)) +
                              packet(8, 1, 64, 65535, "\x45" + le(1, 4) + "\x49" + le(1, 8) + field(20, 3));
    EXPECT_THAT(read_records(gem5, bytes), ElementsAre(load_of(0x1000, 8), store_of(0x3000, 4), fetch_of(0x400000, 64),
                                                       load_of(~Address{0}), load_of(64, 65535)));
    EXPECT_EQ(detect_binary_format("t", bytes, true), gem5);
    check_beginnings(gem5, bytes);
}

std::string packet_failure(const std::string& bytes) {
    std::string failure;
    read_records(gem5, bytes, &failure);
    return failure;
}

TEST(Gem5, SaysWhereItIsWrong) {
    const std::string place = "t: byte " + std::to_string(header.size()) + ", record 2 of gem5: ";
    const auto fails_with = [&](const std::string& bytes, const std::string& what) {
        EXPECT_THAT(packet_failure(header + bytes), HasSubstr(place + what));
    };
    fails_with(message(field(1, 1) + field(2, 1) + field(4, 8)), "a packet without field 3; it has a tick (1)");
    fails_with(packet(1, 1, 64, 65536), "a packet of 65536 bytes; they have at most 65535");
    fails_with(packet(1, 4, ~Address{0}, 2), "the packet runs beyond the end of the address space");
    fails_with(message("\x0b"), "a field of the unknown kind 3");
    fails_with(message("\x08\x80"), "the message ends within a number");
    fails_with(message(field(1, std::string("ab")).substr(0, 3)), "a field of 2 bytes in a message of fewer");
    fails_with(varint(~0ULL) + "x", "a message of 18446744073709551615 bytes; they have at most 524288");
    fails_with(std::string(11, '\xff'), "a number of more than 10 bytes");
    fails_with(varint(1000) + "abc", "the file ends within a record, 5 bytes into it");
    EXPECT_THAT(packet_failure("gem6" + header),
                HasSubstr("t: byte 0, record 1 of gem5: a trace of packets begins with"));
    for (const auto& fields : {field(1, std::string("x")) + field(3, 1) + field(4, 64), field(1, 1) + field(3, 1),
                               field(1, std::string("x"))})
        EXPECT_THAT(packet_failure("gem5" + message(fields)), HasSubstr("the header is not one of packets"));
}

TEST(Gem5, LongHeadersPassTheBuffer) {
    std::string fields = field(1, std::string("x")) + field(3, 1);
    while (fields.size() < 100000) fields += field(4, field(1, 7) + field(2, std::string("name of a requestor")));
    TraceOptions options;
    options.buffer_bytes = 0;
    const auto source =
        open_binary_trace(memory_stream("t", "gem5" + message(fields) + packet(1, 1, 64, 8)), gem5, options);
    EXPECT_THAT(references_of(read_stream(*source)), ElementsAre(load_of(64, 8)));
}

}  // namespace
}  // namespace cachetally
