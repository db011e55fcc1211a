// SPDX-License-Identifier: BSD-3-Clause
// CVP-1's instructions: their bytes as docs/formats-of-others.md has them, and what is wrong.
#include "tests/workloads/traces/record_testing.hpp"

namespace cachetally {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto cvp = TraceFormat::cvp;

std::string bytes(std::initializer_list<unsigned> values) {
    std::string all;
    for (const unsigned value : values) all += le(value, 1);
    return all;
}

/// Numbers of registers behind their count, and for those that are written the values.
std::string registers(std::initializer_list<unsigned> read, std::initializer_list<unsigned> written) {
    std::string values;
    for (const unsigned number : written) values += std::string(number >= 32 && number <= 63 ? 16 : 8, '\x99');
    return le(read.size(), 1) + bytes(read) + le(written.size(), 1) + bytes(written) + values;
}

std::string memory(Address pc, unsigned type, Address address, unsigned size, const std::string& rest) {
    return le(pc) + le(type, 1) + le(address) + le(size, 1) + rest;
}
std::string other(Address pc, unsigned type, const std::string& rest) { return le(pc) + le(type, 1) + rest; }

const std::string program = other(0x401000, 0, registers({1, 2}, {3, 64})) +                //
                            memory(0x401004, 1, 0x7ffe1000, 8, registers({31}, {5, 31})) +  //
                            memory(0x401008, 2, 0x20000, 16, registers({31, 40}, {})) +     //
                            other(0x40100c, 3, le(0, 1) + registers({64}, {})) +            //
                            memory(0x401010, 1, 0x30000, 16, registers({4}, {32, 63})) +    //
                            other(0x401014, 5, le(1, 1) + le(0x400000) + registers({30}, {})) +
                            memory(0x400000, 1, 0x40000, 0, registers({4}, {})) + other(0x401000, 8, registers({}, {}));

TEST(Cvp, ReadsTheBytesOfTheDocumentation) {
    EXPECT_THAT(read_records(cvp, bytes_of("00 10 40 00 00 00 00 00 01 00 10 fe 7f 00 00 00 00 08 "
                                           "01 1f 01 05 2a 00 00 00 00 00 00 00 "
                                           "04 10 40 00 00 00 00 00 03 01 20 10 40 00 00 00 00 00 01 40 00 ")),
                ElementsAre(fetch_of(0x401000), load_of(0x7ffe1000, 8)));
}

TEST(Cvp, ReadsInstructions) {
    EXPECT_THAT(read_records(cvp, program),
                ElementsAre(fetch_of(0x401000), load_of(0x7ffe1000, 8), store_of(0x20000, 16), fetch_of(0x401010),
                            load_of(0x30000, 16), fetch_of(0x400000), fetch_of(0x401000)));
    check_beginnings(cvp, program);
}

TEST(Cvp, IsRecognisedByContent) {
    EXPECT_EQ(detect_binary_format("t", program, true), cvp);
    EXPECT_EQ(detect_binary_format("t", program.substr(0, 100), false), cvp);
    EXPECT_EQ(detect_binary_format("t", program.substr(0, 100), true), std::nullopt) << "ends within a record";
    EXPECT_EQ(detect_binary_format("t", program.substr(0, 10), false), std::nullopt);
    EXPECT_EQ(detect_binary_format("t", program + other(0x401002, 0, registers({}, {})), true), std::nullopt);
}

TEST(Cvp, SaysWhereItIsWrong) {
    const auto fails_with = [](const std::string& record, const std::string& what) {
        std::string failure;
        EXPECT_EQ(read_records(cvp, program + record, &failure).size(), 7U);
        EXPECT_EQ(failure, "t: byte " + std::to_string(program.size()) + ", record 9 of cvp: " + what);
    };
    fails_with(other(0x401000, 9, registers({}, {})), "an instruction of class 9; they are 0 to 8");
    fails_with(other(0x401000, 3, le(2, 1)), "a branch is taken (1) or not (0); here it is 2");
    const std::string known = "; they are 0 to 31, vectors 32 to 63, flags 64";
    fails_with(other(0x401000, 0, bytes({1, 65})), "register 65" + known);
    fails_with(other(0x401000, 0, bytes({0, 1, 255})), "register 255" + known);
    fails_with(memory(0x401000, 1, ~Address{0}, 2, registers({}, {})),
               "the reference runs beyond the end of the address space");
    fails_with(other(0x401000, 0, bytes({0, 1, 32, 0})), "the file ends within a record, 13 bytes into it");
}

}  // namespace
}  // namespace cachetally
