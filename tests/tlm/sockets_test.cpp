// SPDX-License-Identifier: BSD-3-Clause
// What initiators get hold of through TlmMonitor's sockets (direct memory), and what binds to them.
#include <gtest/gtest.h>

#include "tests/tlm/mocks.hpp"
#include "tests/tlm/warnings.hpp"

namespace cachetally {
namespace {

using namespace testing;
using sc_core::sc_start;
using Counts = std::map<std::uint64_t, std::uint64_t>;

TEST(TlmTransport, DirectMemoryIsDeniedWhileOn) {
    using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    Platform platform([&](Initiator& cpu) {
        tlm::tlm_dmi dmi;
        Payload payload;
        cpu.touch(false, 0x40);
        EXPECT_FALSE(cpu.hint);
        EXPECT_FALSE(cpu.socket->get_direct_mem_ptr(payload, dmi));
        EXPECT_TRUE(dmi.is_none_allowed());
        platform.monitor.switch_on(false);
        EXPECT_FALSE(platform.monitor.is_on());
        cpu.touch(false, 0x40);
        EXPECT_TRUE(cpu.hint);
        EXPECT_TRUE(cpu.socket->get_direct_mem_ptr(payload, dmi));
        EXPECT_EQ(dmi.get_end_address(), 0xffffU);
        EXPECT_EQ(cpu.invalidated, Ranges());
        platform.monitor.switch_on(true);
        EXPECT_EQ(cpu.invalidated, (Ranges{{0, ~std::uint64_t{0}}}));
        ASSERT_EQ(warnings().size(), 1U) << "who keeps the pointer bypasses the monitor";
        EXPECT_EQ(warnings()[0].rfind(tlm_monitor_report::direct_memory, 0), 0U);
        platform.monitor.switch_on(true);  // is on already
        EXPECT_EQ(cpu.invalidated.size(), 1U);
        platform.memory.socket->invalidate_direct_mem_ptr(0x100, 0x1ff);
        EXPECT_EQ(cpu.invalidated.back(), (std::pair<std::uint64_t, std::uint64_t>(0x100, 0x1ff)));
    });
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_EQ(platform.counts(), (Counts{{0x40, 1}}));
    EXPECT_EQ(warnings().size(), 1U);
}

/// Asks for a pointer before the simulation has started.
struct EarlyBird : Initiator {
    using Initiator::Initiator;
    void end_of_elaboration() override {
        Payload payload;
        tlm::tlm_dmi dmi;
        EXPECT_TRUE(socket->get_direct_mem_ptr(payload, dmi));
    }
};

TEST(TlmTransport, PointersFromBeforeTheStartAreInvalidatedAndToldOnce) {
    EarlyBird cpu("cpu", [](Initiator&) {});
    TlmMonitor monitor("monitor", Platform::config_of("start=off,base=0x100000"));
    Memory memory("memory");
    cpu.socket.bind(monitor.in);
    monitor.out.bind(memory.socket);
    sc_start(sc_core::SC_ZERO_TIME);
    monitor.switch_on(true);
    EXPECT_EQ(cpu.invalidated.size(), 1U);
    monitor.switch_on(false);
    Payload payload;
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(cpu.socket->get_direct_mem_ptr(payload, dmi));
    monitor.switch_on(true);
    EXPECT_EQ(cpu.invalidated.size(), 2U);
    EXPECT_EQ(warnings().size(), 1U);
}

TEST(TlmTransport, SwitchedOffInTheBeginning) {
    Platform platform([](Initiator& cpu) { cpu.touch(false, 0x40); }, "start=off,base=0x100000");
    sc_start();
    EXPECT_TRUE(platform.cpu.hint);
    EXPECT_EQ(platform.monitor.finish().events, 0U);
    EXPECT_EQ(platform.memory.seen.size(), 1U);
}

/// A part of a platform of 128 bits, with the monitor inside.
struct Inside : sc_core::sc_module {
    explicit Inside(const sc_core::sc_module_name& name)
        : sc_module(name), in("in"), out("out"), monitor("monitor", Platform::config_of("base=0x100000")) {
        in.bind(monitor.in);
        monitor.out.bind(out);
    }
    tlm::tlm_target_socket<128> in;
    tlm::tlm_initiator_socket<128> out;
    TlmMonitor monitor;
};

template <unsigned width>
struct Wide : sc_core::sc_module {
    explicit Wide(const sc_core::sc_module_name& name) : sc_module(name), out("out"), in("in") {
        in.register_b_transport(this, &Wide::b_transport);
    }
    void b_transport(Payload& payload, sc_time&) {
        ++seen;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    void send(std::uint64_t address) {
        unsigned char data[4] = {};
        Payload payload;
        payload.set_address(address);
        payload.set_data_ptr(data);
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        payload.set_read();
        sc_time delay;
        out->b_transport(payload, delay);
    }
    tlm_utils::simple_initiator_socket<Wide, width> out;
    tlm_utils::simple_target_socket<Wide, width> in;
    unsigned seen = 0;
};

// Each initiator is its own target, by a monitor in between; whichever side binds.
TEST(TlmTransport, SocketsOfOtherBusWidthsBind) {
    Wide<64> word("word");
    Wide<128> deep("deep");
    Wide<512> line("line");
    TlmMonitor of_word("of_word", Platform::config_of("base=0x100000"));
    TlmMonitor of_line("of_line", Platform::config_of("base=0x100000"));
    Inside inside("inside");
    word.out.bind(of_word.in);
    of_word.out.bind(word.in);
    of_line.in.bind(line.out);
    line.in.bind(of_line.out);
    deep.out(inside.in);
    inside.out(deep.in);
    sc_start(sc_core::SC_ZERO_TIME);
    word.send(0x40);
    line.send(0x80);
    deep.send(0xc0);
    for (const unsigned seen : {word.seen, line.seen, deep.seen}) EXPECT_EQ(seen, 1U);
    for (TlmMonitor* monitor : {&of_word, &of_line, &inside.monitor}) EXPECT_EQ(monitor->finish().events, 1U);
}

}  // namespace
}  // namespace cachetally
