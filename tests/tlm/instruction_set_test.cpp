// SPDX-License-Identifier: BSD-3-Clause
// TlmMonitor under an instruction-set simulator written by others (Unicorn, which is QEMU's translator): a RISC-V
// program works on data, drives the monitor as its driver would, and adds up the ring buffer by itself.
#include <gtest/gtest.h>
#include <unicorn/unicorn.h>

#include <array>

#include "tests/tlm/mocks.hpp"

namespace cachetally {
namespace {

using namespace testing;

constexpr std::uint64_t code_base = 0x1000, bus_base = 0x40000000, data = 0x40000000, ring_base = 0x50000000,
                        register_base = 0x70000000;

// RV64I, as the instruction set manual encodes it
using Word = std::uint32_t;
enum Register : Word { zero = 0, t0 = 5, t1 = 6, t2 = 7, s0 = 8, s1 = 9, a0 = 10, a1 = 11, a2 = 12, a3 = 13, t3 = 28 };
constexpr Word lui(Register to, std::uint64_t value) { return static_cast<Word>(value & 0xfffff000) | to << 7 | 0x37; }
constexpr Word add(Register to, Register a, Register b) { return b << 20 | a << 15 | to << 7 | 0x33; }
constexpr Word addi(Register to, Register a, int value) {
    return static_cast<Word>(value) << 20 | a << 15 | to << 7 | 0x13;
}
constexpr Word lw(Register to, Word offset, Register base) {
    return offset << 20 | base << 15 | 2U << 12 | to << 7 | 0x03;
}
constexpr Word sw(Register from, Word offset, Register base) {
    return (offset >> 5) << 25 | from << 20 | base << 15 | 2U << 12 | (offset & 31U) << 7 | 0x23;
}
/// To an instruction so many before this one.
constexpr Word bne_back(Register a, Register b, int instructions) {
    const Word offset = static_cast<Word>(-4 * instructions);
    return (offset >> 12 & 1U) << 31 | (offset >> 5 & 63U) << 25 | b << 20 | a << 15 | 1U << 12 |
           (offset >> 1 & 15U) << 8 | (offset >> 11 & 1U) << 7 | 0x63;
}

constexpr std::array program{
    lui(a0, data), addi(a1, zero, 64),
    // s0 = running sum of 64 words; each sum is stored 1 KiB further on
    lw(t0, 0, a0), add(s0, s0, t0), sw(s0, 1024, a0), addi(a0, a0, 4), addi(a1, a1, -1), bne_back(a1, zero, 5),
    // barrier, then wait for the 8 records: 4 lines read, 4 written
    lui(a2, register_base), addi(t1, zero, 1), sw(t1, 0x08, a2), addi(t3, zero, 8), lw(t2, 0x28, a2),
    bne_back(t2, t3, 1),
    // s1 = sum of the counts in the ring
    lui(a3, ring_base), lw(t0, 12, a3), add(s1, s1, t0), addi(a3, a3, 16), addi(t2, t2, -1), bne_back(t2, zero, 4)};

struct Core : sc_core::sc_module {
    SC_HAS_PROCESS(Core);
    explicit Core(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        SC_THREAD(run);
        set_stack_size(1 << 20);
    }

    void run() {
        uc_engine* engine = nullptr;
        ASSERT_EQ(uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &engine), UC_ERR_OK);
        ASSERT_EQ(uc_mem_map(engine, code_base, 0x1000, UC_PROT_ALL), UC_ERR_OK);
        ASSERT_EQ(uc_mem_write(engine, code_base, program.data(), sizeof program), UC_ERR_OK);
        ASSERT_EQ(uc_mmio_map(engine, bus_base, 0x40000000, &Core::read, this, &Core::write, this), UC_ERR_OK);
        EXPECT_EQ(uc_emu_start(engine, code_base, code_base + sizeof program, 0, 0), UC_ERR_OK);
        uc_reg_read(engine, UC_RISCV_REG_S0, &sum_of_data);
        uc_reg_read(engine, UC_RISCV_REG_S1, &sum_of_counts);
        uc_close(engine);
    }

    void transport(bool write, std::uint64_t address, std::uint64_t& value, unsigned size) {
        Payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(size);
        payload.set_streaming_width(size);
        sc_time delay = nanosecond;
        socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        wait(delay);
        ++accesses;
    }
    static std::uint64_t read(uc_engine*, std::uint64_t offset, unsigned size, void* self) {
        std::uint64_t value = 0;
        static_cast<Core*>(self)->transport(false, bus_base + offset, value, size);
        return value;
    }
    static void write(uc_engine*, std::uint64_t offset, unsigned size, std::uint64_t value, void* self) {
        static_cast<Core*>(self)->transport(true, bus_base + offset, value, size);
    }

    tlm_utils::simple_initiator_socket<Core> socket;
    std::uint64_t sum_of_data = 0, sum_of_counts = 0;
    unsigned accesses = 0;
};

TEST(TlmInstructionSet, ARiscVProgramReadsItsOwnHistogram) {
    Core core("core");
    TlmMonitor monitor("monitor",
                       Platform::config_of("counters=16,capacity=64,base=0x50000000,range=0x40000000-0x50000000"));
    Bus bus("bus");
    Memory memory("memory");
    bus.split = register_base;
    memory.latency = 5 * nanosecond;  // so that the program has to wait for its records
    core.socket.bind(monitor.in);
    monitor.out.bind(bus.in);
    bus.first.bind(memory.socket);
    bus.second.bind(monitor.control);
    for (unsigned i = 0; i < 64; ++i) memory.bytes[data + 4 * i] = static_cast<unsigned char>(i);
    sc_core::sc_start();

    EXPECT_EQ(core.sum_of_data, 63U * 64 / 2);
    EXPECT_EQ(memory.number(data + 1024 + 4 * 63, 4), 63U * 64 / 2);
    EXPECT_EQ(core.sum_of_counts, 128U);
    EXPECT_GT(core.accesses, 128U + 1 + 1 + 8);
    const TlmMonitorResult result = monitor.finish();
    EXPECT_EQ(result.events, 128U);
    EXPECT_EQ(result.records, 8U);
    ASSERT_EQ(result.rows.size(), 8U);
    for (const TlmMonitorRow& row : result.rows) {
        EXPECT_EQ(row.phase, 0U);
        EXPECT_EQ(row.count, 16U) << row.address;
    }
}

}  // namespace
}  // namespace cachetally
