// SPDX-License-Identifier: BSD-3-Clause
// What CacheHierarchy leaves as its initiators made it: devices' addresses, byte enables, extensions, bus widths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/tlm/both_hosts.hpp"
#include "tests/tlm/mocks.hpp"

namespace cachetally::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

constexpr Address device = 0x40000000, device_end = 0x40001000;

/// L1 of two lines, 1 ns; memory 10 ns.
MachineDescription one_level_machine() {
    MachineDescription machine;
    machine.name = "small";
    CacheConfig cache;
    cache.name = "L1";
    cache.next = "memory";
    cache.size = 128;
    cache.ways = 2;
    machine.caches = {cache};
    machine.memories.emplace_back();
    machine.memories.back().latency = 10;
    return machine;
}

/// A core, the hierarchy, a bus, and behind it memory and a device from `device` on, of which addresses are rewritten.
struct DeviceBoard {
    explicit DeviceBoard(std::function<void(Initiator&)> program) : core("core", std::move(program)) {
        bus.split = device;
        core.socket.bind(hierarchy.core[0]);
        hierarchy.memory[0].bind(bus.in);
        bus.first.bind(memory.socket);
        bus.second.bind(registers.socket);
    }
    CacheCounts counts() { return hierarchy.hierarchy().counts().caches[0]; }

    Initiator core;
    CacheHierarchy hierarchy{"hierarchy", Topology(one_level_machine())};
    Bus bus{"bus"};
    Memory memory{"memory"}, registers{"registers"};
};

/// Says who made a transaction.
struct Master : tlm::tlm_extension<Master> {
    int number = 0;
    tlm_extension_base* clone() const override { return new Master(*this); }
    void copy_from(const tlm_extension_base& other) override { *this = static_cast<const Master&>(other); }
};

void set_up(Payload& payload, tlm::tlm_command command, Address address, unsigned char* data, unsigned bytes) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
}

// The device sees the core's own payload, at the core's time, and what it answers comes back.
TEST(CacheHierarchy, UncachedRangesPassThroughUnchanged) {
    Payload read;
    Master master;
    unsigned char word[4] = {}, enables[1] = {TLM_BYTE_ENABLED};
    unsigned seen = 0;
    DeviceBoard board([&](Initiator& core) {
        sc_time delay = 5 * nanosecond;
        set_up(read, tlm::TLM_READ_COMMAND, device + 0x10, word, 4);
        read.set_byte_enable_ptr(enables);
        read.set_byte_enable_length(1);
        read.set_extension(&master);
        core.socket->b_transport(read, delay);
        EXPECT_TRUE(read.is_response_ok());
        EXPECT_FALSE(read.is_dmi_allowed());
        EXPECT_EQ(delay, 12 * nanosecond);
        read.clear_extension(&master);
        EXPECT_EQ(word[0], 0x5a);
        std::uint32_t value = 0x11223344;
        EXPECT_EQ(core.access(true, device_end - 4, &value, 4), tlm::TLM_OK_RESPONSE);
        Payload debug;
        set_up(debug, tlm::TLM_READ_COMMAND, device + 0x10, word, 4);
        EXPECT_EQ(core.socket->transport_dbg(debug), 0U) << "the bus has no debug transport";
    });
    board.hierarchy.pass_through(device, device_end);
    board.registers.bytes[0x10] = 0x5a;
    board.registers.extra = 7 * nanosecond;
    board.registers.on_access = [&](Payload& payload) {
        if (++seen != 1) return;
        EXPECT_EQ(&payload, &read);
        EXPECT_EQ(payload.get_data_length(), 4U);
        EXPECT_EQ(payload.get_byte_enable_ptr(), enables);
        EXPECT_EQ(payload.get_extension<Master>(), &master);
        EXPECT_EQ(payload.get_extension<AccessInfo>(), nullptr);
    };
    sc_core::sc_start();
    EXPECT_TRUE(board.core.finished);
    EXPECT_EQ(seen, 2U);
    EXPECT_EQ(board.registers.number(0xffc, 4), 0x11223344U);
    EXPECT_TRUE(board.memory.seen.empty());
    EXPECT_EQ(board.counts(), CacheCounts{});
}

TEST(CacheHierarchy, WhatIsPartlyUncachedIsRefusedAndTheRestIsCached) {
    DeviceBoard board([](Initiator& core) {
        std::uint64_t data = 0;
        EXPECT_EQ(core.access(false, device_end - 4, &data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(core.access(false, device - 4, &data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(core.access(false, device - 8, &data, 8), tlm::TLM_ADDRESS_ERROR_RESPONSE) << "no debug transport";
        core.touch(false, device_end - 8, 8);
    });
    board.hierarchy.pass_through(device, device_end);
    sc_core::sc_start();
    EXPECT_EQ(board.counts().loads, 1U);
    EXPECT_EQ(board.registers.seen.size(), 1U);
}

// A device that waits for something that only another core does: nobody else has to wait for the device meanwhile.
TEST(CacheHierarchy, ADeviceThatWaitsHoldsNobodyUp) {
    MachineDescription machine = one_level_machine();
    machine.cores = 2;
    machine.caches[0].shared_by = 0;
    CacheHierarchy hierarchy("hierarchy", Topology(machine));
    hierarchy.pass_through(device, device_end);
    Memory memory("memory");
    sc_core::sc_event written;
    memory.on_access = [&](Payload& payload) {
        if (payload.get_address() >= device) sc_core::wait(written);
    };
    hierarchy.memory[0].bind(memory.socket);
    Initiator first("first", [](Initiator& core) { core.touch(false, device); });
    Initiator second("second", [&](Initiator& core) {
        sc_core::wait(nanosecond);
        core.touch(true, 0x40);
        written.notify();
    });
    first.socket.bind(hierarchy.core[0]);
    second.socket.bind(hierarchy.core[1]);
    sc_core::sc_start();
    EXPECT_TRUE(first.finished);
    EXPECT_TRUE(second.finished);
}

TEST(CacheHierarchy, UncachedRangesThatCannotBeAreRefused) {
    CacheHierarchy hierarchy("hierarchy", Topology(one_level_machine()));
    hierarchy.pass_through(0x1000, 0x2000);
    EXPECT_THAT([&] { hierarchy.pass_through(0x3000, 0x3000); },
                ThrowsMessage<std::invalid_argument>("an uncached range is [from, to), and 'to' is above 'from'"));
    EXPECT_THAT([&] { hierarchy.pass_through(0x1fff, 0x3000); },
                ThrowsMessage<std::invalid_argument>("an uncached range overlaps another"));
    EXPECT_THAT(
        [&] { hierarchy.pass_through(0x3000, 0x4000, 1); },
        ThrowsMessage<std::invalid_argument>("an uncached range leads to memory 1; there are 1, numbered from 0"));
    EXPECT_NO_THROW(hierarchy.pass_through(0x2000, 0x3000));
}

/// The hierarchy straight in front of a memory with debug transport.
struct Straight {
    explicit Straight(std::function<void(Initiator&)> program) : core("core", std::move(program)) {
        core.socket.bind(hierarchy.core[0]);
        hierarchy.memory[0].bind(memory.socket);
    }
    Initiator core;
    CacheHierarchy hierarchy{"hierarchy", Topology(one_level_machine())};
    Memory memory{"memory"};
};

// Every third byte, twice over the same 8: what is disabled stays as it was, on either side.
TEST(CacheHierarchy, OnlyEnabledBytesMove) {
    unsigned char enables[3] = {TLM_BYTE_DISABLED, TLM_BYTE_ENABLED, TLM_BYTE_ENABLED};
    std::vector<unsigned char> read(8, 0xee);
    Straight board([&](Initiator& core) {
        unsigned char data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        sc_time delay;
        Payload write;
        set_up(write, tlm::TLM_WRITE_COMMAND, 0x3c, data, 16);
        write.set_streaming_width(8);
        write.set_byte_enable_ptr(enables);
        write.set_byte_enable_length(3);
        core.socket->b_transport(write, delay);
        EXPECT_TRUE(write.is_response_ok());
        Payload again;
        set_up(again, tlm::TLM_READ_COMMAND, 0x3c, read.data(), 8);
        again.set_byte_enable_ptr(enables);
        again.set_byte_enable_length(3);
        core.socket->b_transport(again, delay);
        EXPECT_TRUE(again.is_response_ok());
    });
    for (Address i = 0; i < 8; ++i) board.memory.bytes[0x3c + i] = 0x80;
    sc_core::sc_start();
    // bytes 0, 3, 6, 9, 12, 15 are disabled; byte i of the data goes to place i mod 8
    unsigned char place[8];
    std::fill_n(place, 8, 0x80);
    for (unsigned i = 0; i < 16; ++i)
        if (i % 3 != 0) place[i % 8] = static_cast<unsigned char>(i + 1);
    for (unsigned i = 0; i < 8; ++i) {
        EXPECT_EQ(board.memory.bytes[0x3c + i], place[i]) << i;
        EXPECT_EQ(read[i], i % 3 != 0 ? place[i] : 0xee) << i;
    }
    const CacheCounts counts = board.hierarchy.hierarchy().counts().caches[0];
    EXPECT_EQ(counts.stores, 2U) << "two lines";
    EXPECT_EQ(counts.loads, 2U);
}

// A store that misses and writes a line back: the fetch, the write-back, and the debug accesses for data.
TEST(CacheHierarchy, AccessesCarryTheirInitiatorsExtensions) {
    std::vector<int> masters, debugging;
    Straight board([](Initiator& core) {
        unsigned char word[4] = {};
        for (int i = 0; i < 3; ++i) {
            Master master;
            master.number = 7 + i;
            sc_time delay;
            Payload payload;
            set_up(payload, tlm::TLM_WRITE_COMMAND, 0x40 * static_cast<Address>(i), word, 4);
            payload.set_extension(&master);
            core.socket->b_transport(payload, delay);
            EXPECT_EQ(payload.get_extension<Master>(), &master);
            payload.clear_extension(&master);
        }
        core.touch(false, 0x1000);  // without
    });
    const auto number = [](Payload& payload) {
        const Master* master = payload.get_extension<Master>();
        return master != nullptr ? master->number : 0;
    };
    board.memory.on_access = [&](Payload& payload) {
        EXPECT_NE(payload.get_extension<AccessInfo>(), nullptr);
        masters.push_back(number(payload));
    };
    board.memory.on_debug = [&](Payload& payload) { debugging.push_back(number(payload)); };
    sc_core::sc_start();
    EXPECT_THAT(masters, ElementsAre(7, 8, 9, 9, 0, 0));
    EXPECT_THAT(debugging, ElementsAre(7, 8, 9, 9, 0, 0)) << "data, and the line that is written back before them";
}

template <unsigned width>
struct Asks : sc_core::sc_module {
    explicit Asks(const sc_core::sc_module_name& name) : sc_module(name), out("out") {}
    tlm_utils::simple_initiator_socket<Asks, width> out;
};

template <unsigned width>
struct Answers : sc_core::sc_module {
    explicit Answers(const sc_core::sc_module_name& name) : sc_module(name), in("in") {
        in.register_b_transport(this, &Answers::b_transport);
    }
    void b_transport(Payload& payload, sc_time&) {
        ++seen;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm_utils::simple_target_socket<Answers, width> in;
    unsigned seen = 0;
};

TEST(CacheHierarchy, SocketsOfOtherBusWidthsBind) {
    MachineDescription machine = one_level_machine();
    machine.cores = 2;
    CacheHierarchy hierarchy("hierarchy", Topology(machine));
    Asks<64> word("word");
    Asks<128> vector("vector");
    Answers<256> line("line");
    word.out.bind(hierarchy.core[0]);
    hierarchy.core[1].bind(vector.out);
    hierarchy.memory[0].bind(line.in);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    sc_time delay;
    Payload payload;
    set_up(payload, tlm::TLM_READ_COMMAND, 0x40, nullptr, 4);
    word.out->b_transport(payload, delay);
    EXPECT_TRUE(payload.is_response_ok());
    payload.set_address(0x2040);
    vector.out->b_transport(payload, delay);
    EXPECT_TRUE(payload.is_response_ok());
    EXPECT_EQ(line.seen, 2U);
}

}  // namespace
}  // namespace cachetally::testing
