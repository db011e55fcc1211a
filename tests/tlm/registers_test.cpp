// SPDX-License-Identifier: BSD-3-Clause
// The registers of TlmMonitor, the ring buffer that software reads, and the interrupt, as a driver sees them.
#include <gtest/gtest.h>

#include "tests/tlm/mocks.hpp"

namespace cachetally {
namespace {

using namespace testing;
namespace reg = tlm_monitor_register;
using sc_core::sc_start;
using Counts = std::map<std::uint64_t, std::uint64_t>;

constexpr std::uint64_t registers = 0x10000000, ring = 0x4000;
constexpr tlm::tlm_response_status good = tlm::TLM_OK_RESPONSE, refused = tlm::TLM_GENERIC_ERROR_RESPONSE;

/// Processor, monitor, bus, and behind it memory and the monitor's own registers.
struct Driven {
    explicit Driven(Platform::Program program, const std::string& settings, bool software_reads = false,
                    std::uint32_t watermark = 0)
        : cpu("cpu", std::move(program)), monitor("monitor", config_of(settings, software_reads, watermark)) {
        bus.split = registers;
        bus.locks = true;  // a record that is written while the barrier is on the bus would wait for ever
        cpu.socket.bind(monitor.in);
        monitor.out.bind(bus.in);
        bus.first.bind(memory.socket);
        bus.second.bind(monitor.control);
        monitor.interrupt.bind(interrupt);
    }
    static TlmMonitorConfig config_of(const std::string& settings, bool software_reads, std::uint32_t watermark) {
        TlmMonitorConfig config;
        config.settings = settings + ",base=0x4000,range=0-0x4000";
        config.software_reads = software_reads;
        config.watermark = watermark;
        return config;
    }
    Counts counts(std::uint32_t phase) {
        Counts sums;
        for (const TlmMonitorRow& row : monitor.finish().rows)
            if (row.phase == phase) sums[row.address] += row.count;
        return sums;
    }

    Initiator cpu;
    TlmMonitor monitor;
    Bus bus{"bus"};
    Memory memory{"memory"};
    sc_core::sc_signal<bool> interrupt{"interrupt"};
};

TEST(TlmRegisters, SayWhatTheMonitorIs) {
    Driven platform(
        [](Initiator& cpu) {
            EXPECT_EQ(cpu.get(registers + reg::id), 0x43544d31U);
            EXPECT_EQ(cpu.get(registers + reg::control), 1U);
            EXPECT_EQ(cpu.get(registers + reg::kinds), 3U);
            EXPECT_EQ(cpu.get(registers + reg::granularity), 0x20004U);
            EXPECT_EQ(cpu.get(registers + reg::ring_size), 32U);
            EXPECT_EQ(cpu.get(registers + reg::ring_base), ring);
            EXPECT_EQ(cpu.get(registers + reg::ranges_on), 1U);
            EXPECT_EQ(cpu.get(registers + reg::ranges + 8), 0x4000U);
            EXPECT_EQ(cpu.get(registers + 0x60), 0U);
            std::uint64_t base = 0;
            EXPECT_EQ(cpu.access(false, registers + reg::ring_base, &base, 8), good);
            EXPECT_EQ(base, ring);
        },
        "granularity=dynamic:4,capacity=32");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_EQ(platform.monitor.finish().events, 0U);  // registers lie outside of the range
}

TEST(TlmRegisters, SwitchBarrierAndKinds) {
    Driven platform(
        [](Initiator& cpu) {
            cpu.touch(true, 0x40);
            EXPECT_EQ(cpu.set(registers + reg::control, 0), good);
            cpu.touch(true, 0x40);
            EXPECT_EQ(cpu.set(registers + reg::control, 1), good);
            EXPECT_EQ(cpu.invalidated.size(), 1U);
            EXPECT_EQ(cpu.set(registers + reg::command, 1), good);
            EXPECT_EQ(cpu.get(registers + reg::phase), 1U);
            EXPECT_EQ(cpu.set(registers + reg::kinds, 1), good);
            cpu.touch(true, 0x80);
            cpu.touch(false, 0xc0);
            EXPECT_EQ(cpu.get(registers + reg::events), 2U);
        },
        "counters=4");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_EQ(platform.memory.number(ring, 8), 0x40U);
    EXPECT_EQ(platform.counts(0), (Counts{{0x40, 1}}));
    EXPECT_EQ(platform.counts(1), (Counts{{0xc0, 1}}));
}

TEST(TlmRegisters, GranularityChangesWithTheCountersSwappedOut) {
    Driven platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 8; ++i) cpu.touch(false, i * 64);
            EXPECT_EQ(cpu.set(registers + reg::granularity, 4), good);
            for (std::uint64_t i = 0; i < 8; ++i) cpu.touch(false, i * 64);
            EXPECT_EQ(cpu.set(registers + reg::granularity, 1U << 16 | 7), good);
            for (std::uint64_t i = 0; i < 8; ++i) cpu.touch(false, i * 64);
            EXPECT_EQ(cpu.set(registers + reg::granularity, 0), refused);
            EXPECT_EQ(cpu.set(registers + reg::granularity, 3U << 16 | 1), refused);
            EXPECT_EQ(cpu.set(registers + reg::granularity, 1U << 16 | 5), refused);  // finer than a line
            EXPECT_EQ(cpu.set(registers + reg::granularity, 5000), refused);
            EXPECT_EQ(cpu.get(registers + reg::granularity), 1U << 16 | 7);
        },
        "counters=16");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    const TlmMonitorResult result = platform.monitor.finish();
    ASSERT_EQ(result.rows.size(), 8U + 4 + 2);
    std::uint64_t total = 0;
    for (const TlmMonitorRow& row : result.rows) {
        EXPECT_EQ(row.count, row.span);
        total += row.count;
    }
    EXPECT_EQ(total, 24U);
    EXPECT_EQ(platform.memory.number(ring + 8 * 16 + 8, 4), 4U);  // lines of the first record after the change
}

TEST(TlmRegisters, FiltersComeIntoForceAsAWhole) {
    Driven platform(
        [](Initiator& cpu) {
            const std::uint64_t second = registers + reg::ranges + 16;
            EXPECT_EQ(cpu.set(registers + reg::ranges_on, 2), refused);  // empty
            EXPECT_EQ(cpu.set(second, 0x100), good);
            EXPECT_EQ(cpu.set(second + 8, 0x180), good);
            EXPECT_EQ(cpu.set(registers + reg::ranges_on, 2), good);
            EXPECT_EQ(cpu.set(second, 0), refused);  // in force
            for (std::uint64_t i = 0; i < 8; ++i) cpu.touch(false, i * 64);
            std::uint64_t high = 0x500000000;
            EXPECT_EQ(cpu.access(true, registers + reg::ranges + 32, &high, 8), good);
            EXPECT_EQ(cpu.get(registers + reg::ranges + 36), 5U);
            EXPECT_EQ(cpu.set(registers + reg::ranges_on, 0x100), refused);
        },
        "counters=16");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_EQ(platform.counts(0), (Counts{{0x100, 1}, {0x140, 1}}));
}

TEST(TlmRegisters, WrongAccessesAreRefused) {
    Driven platform(
        [](Initiator& cpu) {
            std::uint64_t data = 0;
            EXPECT_EQ(cpu.access(false, registers + 2, &data, 4), tlm::TLM_BURST_ERROR_RESPONSE);
            EXPECT_EQ(cpu.access(false, registers + 4, &data, 8), tlm::TLM_BURST_ERROR_RESPONSE);
            EXPECT_EQ(cpu.access(true, registers, &data, 1), tlm::TLM_BURST_ERROR_RESPONSE);
            EXPECT_EQ(cpu.access(true, registers + reg::end, &data, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
            EXPECT_EQ(cpu.set(registers + reg::id, 1), refused);
            EXPECT_EQ(cpu.set(registers + reg::head, 1), refused);
            EXPECT_EQ(cpu.set(registers + reg::command, 2), refused);
            EXPECT_EQ(cpu.set(registers + reg::kinds, 0), refused);
            EXPECT_EQ(cpu.set(registers + reg::control, 8), refused);
            EXPECT_EQ(cpu.set(registers + reg::ring_size, 0), refused);
            EXPECT_EQ(cpu.set(registers + reg::ring_size, 0x80000000), refused);
            EXPECT_EQ(cpu.set(registers + reg::tail, 1), refused);  // no software reads
            EXPECT_EQ(cpu.get(registers + reg::control), 1U);
        },
        "counters=4");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
}

// Two registers at once: where the second is refused, the first has not changed either.
TEST(TlmRegisters, AWriteOf64BitsIsTakenOrRefusedAsAWhole) {
    Driven platform(
        [](Initiator& cpu) {
            const auto set = [&](std::uint64_t offset, std::uint64_t low, std::uint64_t high) {
                std::uint64_t both = high << 32 | low;
                return cpu.access(true, registers + offset, &both, 8);
            };
            EXPECT_EQ(set(reg::kinds, 1, 5000), refused);  // no such granularity
            EXPECT_EQ(cpu.get(registers + reg::kinds), 3U);
            EXPECT_EQ(cpu.get(registers + reg::granularity), 1U);
            EXPECT_EQ(set(reg::kinds, 1, 2), good);
            EXPECT_EQ(cpu.get(registers + reg::kinds), 1U);
            EXPECT_EQ(cpu.get(registers + reg::granularity), 2U);
            EXPECT_EQ(set(reg::id, reg::identity, 0), refused);
            EXPECT_EQ(cpu.get(registers + reg::control), 1U);
            EXPECT_EQ(set(reg::watermark, 4, 0), refused);
            EXPECT_EQ(cpu.get(registers + reg::watermark), 0U);
            EXPECT_EQ(set(reg::watermark, 4, 3), good);
            EXPECT_EQ(cpu.get(registers + reg::watermark), 3U);
            EXPECT_EQ(cpu.get(registers + reg::ring_size), 3U);
            EXPECT_EQ(set(reg::command, 2, 0), refused);
            EXPECT_EQ(set(reg::phase, 0, 0), refused);
            EXPECT_EQ(cpu.get(registers + reg::ranges_on), 1U);
            // 48 bytes: they fit before the last address where both words say so, whichever is the larger one
            EXPECT_EQ(set(reg::ring_base, 0xfffffff0, 0xffffffff), refused);
            EXPECT_EQ(set(reg::ring_base, 0xffffff00, 0xffffffff), good);
            EXPECT_EQ(set(reg::ring_base, 0xfffffff0, 0), good);
            EXPECT_EQ(cpu.get(registers + reg::ring_base), 0xfffffff0U);
            EXPECT_EQ(cpu.get(registers + reg::ring_base + 4), 0U);
        },
        "counters=4,capacity=8");
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
}

/// What a driver does: waits for the interrupt, reads records from the tail to the head, and moves the tail.
Counts drain(Initiator& cpu, unsigned& rounds, const sc_core::sc_signal<bool>& interrupt, std::uint32_t size) {
    Counts counts;
    const std::uint32_t head = cpu.get(registers + reg::head);
    for (std::uint32_t tail = cpu.get(registers + reg::tail); tail != head; ++tail) {
        const std::uint64_t place = ring + tail % size * 16;
        std::uint64_t address = 0;
        cpu.access(false, place, &address, 8);
        counts[address] += cpu.get(place + 12);
    }
    EXPECT_EQ(cpu.set(registers + reg::tail, head + 1), refused);  // not written yet
    EXPECT_EQ(cpu.set(registers + reg::tail, head), good);
    sc_core::wait(nanosecond);
    EXPECT_FALSE(interrupt.read());
    ++rounds;
    return counts;
}

TEST(TlmRegisters, SoftwareReadsTheRingOnInterrupts) {
    constexpr std::uint64_t lines = 50;
    Counts found;
    unsigned rounds = 0;
    Driven* driven = nullptr;
    Driven platform(
        [&](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 400; ++i) {
                cpu.touch(false, i * 7 % lines * 64);
                sc_core::wait(10 * nanosecond);
                if (!driven->interrupt.read()) continue;
                EXPECT_EQ(cpu.get(registers + reg::status), 1U);
                for (const auto& [address, count] : drain(cpu, rounds, driven->interrupt, 8)) found[address] += count;
            }
            EXPECT_EQ(cpu.set(registers + reg::command, 1), good);
            sc_core::wait(100 * nanosecond);
            for (const auto& [address, count] : drain(cpu, rounds, driven->interrupt, 8)) found[address] += count;
        },
        "counters=4,capacity=8,eviction=lru", true, 5);
    driven = &platform;
    platform.memory.latency = nanosecond;
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    ASSERT_EQ(found.size(), lines);
    for (const auto& [address, count] : found) EXPECT_EQ(count, 400 / lines) << address;
    EXPECT_EQ(rounds, 396U / 5 + 1);
    EXPECT_EQ(platform.monitor.finish().high_water, 5U);
    EXPECT_EQ(platform.counts(0), found);
}

TEST(TlmRegisters, TheRingCanReachItsWatermark) {
    Driven* driven = nullptr;
    Driven platform(
        [&](Initiator& cpu) {
            EXPECT_EQ(cpu.set(registers + reg::watermark, 9), refused);
            EXPECT_EQ(cpu.set(registers + reg::watermark, 0xffffffff), refused);
            EXPECT_EQ(cpu.get(registers + reg::watermark), 5U);
            EXPECT_EQ(cpu.set(registers + reg::watermark, 8), good);
            EXPECT_EQ(cpu.set(registers + reg::ring_size, 16), good);
            EXPECT_EQ(cpu.get(registers + reg::watermark), 8U);
            EXPECT_EQ(cpu.set(registers + reg::ring_size, 2), good);
            EXPECT_EQ(cpu.get(registers + reg::watermark), 2U);
            for (std::uint64_t i = 0; i < 3; ++i) {
                EXPECT_FALSE(driven->interrupt.read());
                cpu.touch(false, i * 64);
                sc_core::wait(nanosecond);
            }
            EXPECT_TRUE(driven->interrupt.read());
        },
        "counters=1,capacity=8", true, 5);
    driven = &platform;
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
}

TEST(TlmRegisters, AFullRingLosesRecordsAndTellsIt) {
    Driven platform(
        [](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 20; ++i) {
                cpu.touch(false, i * 64);
                sc_core::wait(nanosecond);
            }
            EXPECT_EQ(cpu.get(registers + reg::status), 2U);
            EXPECT_EQ(cpu.get(registers + reg::lost), 19U - 8);
            EXPECT_EQ(cpu.set(registers + reg::status, 2), good);
            EXPECT_EQ(cpu.get(registers + reg::status), 0U);
            EXPECT_EQ(cpu.set(registers + reg::ring_base, 0x8000), good);  // empties the ring
            cpu.touch(false, 0x1000);
            sc_core::wait(nanosecond);
            EXPECT_EQ(cpu.get(registers + reg::head), 1U);
        },
        "counters=1,capacity=8,overflow=drop", true);
    sc_start();
    EXPECT_TRUE(platform.cpu.finished);
    EXPECT_EQ(platform.memory.number(0x8000, 8), 19U * 64);
    const TlmMonitorResult result = platform.monitor.finish();
    EXPECT_EQ(result.lost_records, 11U);
    EXPECT_EQ(result.records, 9U);
    EXPECT_EQ(result.events, 21U);
    std::uint64_t sum = 0;
    for (const TlmMonitorRow& row : result.rows) sum += row.count;
    EXPECT_EQ(sum + result.lost_events + result.resident, result.events);
}

TEST(TlmRegisters, AFullRingMakesTheInitiatorWait) {
    sc_time done;
    Driven* driven = nullptr;
    Driven platform(
        [&](Initiator& cpu) {
            for (std::uint64_t i = 0; i < 5; ++i) cpu.touch(false, i * 64);
            done = sc_core::sc_time_stamp();
        },
        "counters=1,capacity=2,overflow=stall", true);
    driven = &platform;
    Initiator reader("reader", [&](Initiator& self) {
        for (std::uint32_t tail = 1; tail <= 2; ++tail) {
            sc_core::wait(100 * nanosecond);
            EXPECT_EQ(self.set(registers + reg::tail, tail), good);
        }
    });
    reader.socket.bind(platform.bus.in);
    sc_start();
    EXPECT_TRUE(driven->cpu.finished);
    EXPECT_EQ(done, 200 * nanosecond);  // the third and the fourth record waited for a place each
    EXPECT_EQ(platform.monitor.result().lost_records, 0U);
    EXPECT_EQ(platform.monitor.result().high_water, 2U);
}

TEST(TlmRegisters, DebugReadsLookWithoutTouching) {
    Driven platform([](Initiator&) {}, "counters=4");
    sc_start();
    std::uint32_t value = 0;
    Payload payload;
    payload.set_read();
    payload.set_address(registers + reg::id);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    payload.set_address(reg::id);
    EXPECT_EQ(platform.bus.second->transport_dbg(payload), 4U);
    EXPECT_EQ(value, reg::identity);
    payload.set_write();
    EXPECT_EQ(platform.bus.second->transport_dbg(payload), 0U);
}

}  // namespace
}  // namespace cachetally
