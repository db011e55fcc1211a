// SPDX-License-Identifier: BSD-3-Clause
// Whoever has to empty a full ring is never made to wait for it; and where nobody empties it, that is reported.
#include <gtest/gtest.h>

#include "tests/tlm/mocks.hpp"
#include "tests/tlm/warnings.hpp"

namespace cachetally {
namespace {

using namespace testing;
namespace reg = tlm_monitor_register;
using sc_core::sc_start;
using Counts = std::map<std::uint64_t, std::uint64_t>;

constexpr std::uint64_t control_block = 0x10000000, ring_start = 0x4000;
constexpr std::uint32_t busy = 8;

/// A processor, the monitor, and behind it memory and the monitor's registers. The processor's time goes ahead of
/// SystemC's: an access takes 1 ns, and it waits once in a microsecond.
struct Decoupled {
    using Program = std::function<void(Decoupled&)>;
    Decoupled(Program program, const std::string& settings, std::uint32_t watermark = 0, bool software_reads = true)
        : cpu("cpu", [this, program = std::move(program)](Initiator&) { program(*this); }),
          monitor("monitor", config_of(settings, watermark, software_reads)) {
        bus.split = control_block;
        cpu.socket.bind(monitor.in);
        monitor.out.bind(bus.in);
        bus.first.bind(memory.socket);
        bus.second.bind(monitor.control);
        monitor.interrupt.bind(interrupt);
        memory.extra = nanosecond;
    }
    static TlmMonitorConfig config_of(const std::string& settings, std::uint32_t watermark, bool software_reads) {
        TlmMonitorConfig config;
        config.settings = settings + ",base=0x4000,range=0-0x4000";
        config.watermark = watermark;
        config.software_reads = software_reads;
        return config;
    }

    std::uint64_t access(bool write, std::uint64_t address, std::uint64_t value, unsigned bytes) {
        Payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        cpu.socket->b_transport(payload, local);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        local += nanosecond;
        if (local > 1000 * nanosecond) wait(std::exchange(local, sc_core::SC_ZERO_TIME));
        return value;
    }
    std::uint32_t get(std::uint64_t offset) {
        return static_cast<std::uint32_t>(access(false, control_block + offset, 0, 4));
    }
    void set(std::uint64_t offset, std::uint32_t value) { access(true, control_block + offset, value, 4); }

    /// What a driver does: reads records from the tail to the head, and moves the tail.
    void drain(std::uint32_t capacity) {
        const std::uint32_t head = get(reg::head);
        for (std::uint32_t tail = get(reg::tail); tail != head; ++tail) {
            const std::uint64_t place = ring_start + tail % capacity * 16;
            const std::uint64_t address = access(false, place, 0, 8);
            read.push_back(address);
            counts[address] += access(false, place + 12, 0, 4);
        }
        set(reg::tail, head);
    }

    sc_time local;
    Counts counts;
    std::vector<std::uint64_t> read;  ///< records, in order
    Initiator cpu;
    TlmMonitor monitor;
    Bus bus{"bus"};
    Memory memory{"memory"};
    sc_core::sc_signal<bool> interrupt{"interrupt"};
};

void expect_all_read(const Decoupled& platform, std::uint64_t lines, std::uint64_t each) {
    EXPECT_TRUE(platform.cpu.finished);
    ASSERT_EQ(platform.counts.size(), lines);
    for (const auto& [address, count] : platform.counts) EXPECT_EQ(count, each) << address;
    EXPECT_EQ(platform.monitor.result().lost_events, 0U);
    EXPECT_TRUE(warnings().empty());
}

// One counter: each access swaps one out. The ring has 4 places, and the processor looks at it after 3 accesses.
TEST(TlmStalling, ADecoupledCoreThatPollsDrainsItsOwnRing) {
    Decoupled platform(
        [](Decoupled& cpu) {
            for (std::uint64_t i = 0; i < 300; ++i) {
                cpu.access(false, i % 50 * 64, 0, 4);
                if (i % 3 == 2 && cpu.get(reg::head) - cpu.get(reg::tail) >= 2) cpu.drain(4);
                if (i % 3 == 2) {
                    EXPECT_EQ(cpu.local, nanosecond) << "of the last access to a register";
                }
            }
            cpu.set(reg::command, 1);
            while ((cpu.get(reg::status) & busy) != 0) {
            }
            cpu.drain(4);
        },
        "counters=1,capacity=4");
    sc_start();
    expect_all_read(platform, 50, 6);
}

TEST(TlmStalling, ADecoupledCoreThatIsInterruptedDrainsItsOwnRing) {
    Decoupled platform(
        [](Decoupled& cpu) {
            for (std::uint64_t i = 0; i < 300; ++i) {
                cpu.access(false, i % 50 * 64, 0, 4);
                if (cpu.interrupt.read()) cpu.drain(4);
            }
            cpu.set(reg::command, 1);
            while ((cpu.get(reg::status) & busy) != 0) {
            }
            cpu.drain(4);
        },
        "counters=1,capacity=4", 2);
    sc_start();
    expect_all_read(platform, 50, 6);
}

// 64 counters and a ring of 16: whoever asks for the barrier empties the ring four times before it is over.
TEST(TlmStalling, ACoreDrainsTheBarrierThatItAskedFor) {
    unsigned rounds = 0;
    Decoupled platform(
        [&](Decoupled& cpu) {
            for (std::uint64_t i = 0; i < 64; ++i) cpu.access(true, i * 64, 0, 4);
            cpu.set(reg::command, 1);
            EXPECT_EQ(cpu.get(reg::status) & busy, busy);
            EXPECT_TRUE(cpu.monitor.is_busy());
            EXPECT_EQ(cpu.get(reg::phase), 1U);
            while ((cpu.get(reg::status) & busy) != 0) {
                cpu.drain(16);
                ++rounds;
            }
            cpu.drain(16);
            EXPECT_FALSE(cpu.monitor.is_busy());
        },
        "counters=64,capacity=16");
    sc_start();
    expect_all_read(platform, 64, 1);
    EXPECT_GE(rounds, 3U);
    for (std::size_t i = 0; i < platform.read.size(); ++i) EXPECT_EQ(platform.read[i], 64 * i) << "in order";
    EXPECT_EQ(platform.monitor.result().high_water, 16U);
}

// The same by C++, with nobody to read the ring: it counts as read at once.
TEST(TlmStalling, ABarrierByCppLosesNothing) {
    Platform platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 64; ++i) cpu.touch(true, i * 64);
        },
        "counters=64,capacity=16,base=0x4000");
    sc_start(nanosecond);
    platform.monitor.barrier();
    EXPECT_TRUE(platform.monitor.is_busy());
    sc_start(nanosecond);
    EXPECT_FALSE(platform.monitor.is_busy());
    const TlmMonitorResult result = platform.monitor.result();
    EXPECT_EQ(result.records, 64U);
    EXPECT_EQ(result.lost_records, 0U);
    EXPECT_EQ(result.rows.size(), 64U);
    EXPECT_EQ(platform.memory.number(ring_start + 15 * 16, 8), 63U * 64);
}

// Nobody moves the tail: 16 are in the ring, 48 wait, and are told of.
TEST(TlmStalling, WhatABarrierCannotWriteIsResidentAndReported) {
    Decoupled platform(
        [](Decoupled& cpu) {
            for (std::uint64_t i = 0; i < 64; ++i) cpu.access(true, i * 64, 0, 4);
            cpu.set(reg::command, 1);
        },
        "counters=64,capacity=16");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_TRUE(platform.monitor.is_busy());
    const TlmMonitorResult result = platform.monitor.result();
    EXPECT_EQ(result.records, 16U);
    EXPECT_EQ(result.resident, 48U);
    EXPECT_EQ(result.lost_records, 0U);
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_EQ(warnings()[0].rfind("/cachetally/tlm_monitor/starvation: monitor: the ring of 16 records has been full "
                                  "for 1 ms",
                                  0),
              0U)
        << warnings()[0];
    EXPECT_EQ(platform.monitor.finish().rows.size(), 64U);
}

TEST(TlmStalling, ADroppingRingLosesWhatABarrierCannotWrite) {
    Decoupled platform(
        [](Decoupled& cpu) {
            for (std::uint64_t i = 0; i < 64; ++i) cpu.access(true, i * 64, 0, 4);
            cpu.set(reg::command, 1);
            while ((cpu.get(reg::status) & busy) != 0) {
            }
            EXPECT_EQ(cpu.get(reg::status), 2U);
            EXPECT_EQ(cpu.get(reg::lost), 48U);
            cpu.drain(16);
        },
        "counters=64,capacity=16,overflow=drop");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_EQ(platform.counts.size(), 16U);
    EXPECT_EQ(platform.monitor.result().lost_records, 48U);
}

// Line 0 is in the ring, line 1 waits for a place when another processor asks for the barrier; line 2 is in the
// counter. Records carry no phase: their order has to tell it.
TEST(TlmStalling, RecordsThatWaitGoBeforeThoseOfTheBarrier) {
    Decoupled platform(
        [](Decoupled& cpu) {
            for (std::uint64_t i = 0; i < 4; ++i) cpu.access(false, i * 64, 0, 4);
        },
        "counters=1,capacity=1,write_cost=5");
    std::vector<std::uint64_t> lines;
    Initiator driver("driver", [&](Initiator& self) {
        wait(100 * nanosecond);
        EXPECT_EQ(self.set(control_block + reg::command, 1), tlm::TLM_OK_RESPONSE);
        for (std::uint32_t tail = 1; tail <= 3; ++tail) {
            wait(10 * nanosecond);
            lines.push_back(platform.memory.number(ring_start, 8));
            EXPECT_EQ((self.get(control_block + reg::status) & busy) != 0, tail < 3);
            EXPECT_EQ(self.set(control_block + reg::tail, tail), tlm::TLM_OK_RESPONSE);
        }
    });
    driver.socket.bind(platform.bus.in);
    sc_start(1000 * nanosecond);
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_TRUE(driver.finished);
    EXPECT_EQ(lines, (std::vector<std::uint64_t>{0, 64, 128}));
    const TlmMonitorResult result = platform.monitor.finish();
    EXPECT_EQ(result.rows, (std::vector<TlmMonitorRow>{{0, 1, 0, 1}, {64, 1, 0, 1}, {128, 1, 0, 1}, {192, 1, 1, 1}}));
}

TEST(TlmStalling, StarvationIsReportedOnceAfterItsTime) {
    TlmMonitorConfig config = Decoupled::config_of("counters=1,capacity=2", 0, true);
    config.starvation = 50 * nanosecond;
    Platform platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 10; ++i) cpu.touch(false, i * 64);
        },
        config);
    sc_start();
    EXPECT_FALSE(platform.cpu.finished);
    EXPECT_EQ(sc_core::sc_time_stamp(), 50 * nanosecond);
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_NE(warnings()[0].find(tlm_monitor_report::starvation), std::string::npos);
    const TlmMonitorResult result = platform.monitor.result();
    EXPECT_EQ(result.records + result.resident, result.events);
}

TEST(TlmStalling, NobodyStarvesWhereTheTailMovesInTime) {
    TlmMonitorConfig config = Decoupled::config_of("counters=1,capacity=2", 0, true);
    config.starvation = 50 * nanosecond;
    Platform platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 10; ++i) cpu.touch(false, i * 64);
        },
        config);
    Initiator driver("driver", [&](Initiator& self) {
        for (std::uint32_t tail = 1; tail <= 9; ++tail) {
            wait(49 * nanosecond);
            EXPECT_EQ(self.set(reg::tail, tail), tlm::TLM_OK_RESPONSE);
        }
    });
    driver.socket.bind(platform.monitor.control);
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_TRUE(warnings().empty());
}

/// Non-blocking requests, each complete at once.
struct StalledRequester : sc_core::sc_module {
    SC_HAS_PROCESS(StalledRequester);
    explicit StalledRequester(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        SC_THREAD(run);
    }
    void run() {
        for (std::uint64_t i = 0; i < 10; ++i) {
            Payload payload;
            payload.set_read();
            payload.set_address(i * 64);
            payload.set_data_ptr(data);
            payload.set_data_length(4);
            payload.set_streaming_width(4);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_time delay;
            socket->nb_transport_fw(payload, phase, delay);
        }
    }
    tlm_utils::simple_initiator_socket<StalledRequester> socket;
    unsigned char data[4] = {};
};

struct CompletesAtOnce : sc_core::sc_module {
    explicit CompletesAtOnce(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        socket.register_nb_transport_fw(this, &CompletesAtOnce::nb_transport_fw);
        socket.register_b_transport(this, &CompletesAtOnce::b_transport);
    }
    void b_transport(Payload& payload, sc_time&) { payload.set_response_status(tlm::TLM_OK_RESPONSE); }
    tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase&, sc_time&) {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    tlm_utils::simple_target_socket<CompletesAtOnce> socket;
};

TEST(TlmStalling, LossesOfThoseWhoCannotWaitAreReported) {
    StalledRequester requester("requester");
    TlmMonitor monitor("monitor", Decoupled::config_of("counters=1,capacity=2", 0, true));
    CompletesAtOnce memory("memory");
    requester.socket.bind(monitor.in);
    monitor.out.bind(memory.socket);
    sc_start();
    EXPECT_EQ(monitor.result().lost_records, 7U);
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_NE(warnings()[0].find(tlm_monitor_report::cannot_stall), std::string::npos);
}

}  // namespace
}  // namespace cachetally
