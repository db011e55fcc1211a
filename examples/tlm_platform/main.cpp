// SPDX-License-Identifier: BSD-3-Clause
// A small TLM-2.0 platform with a cache monitor in it: a processor walks over a matrix, first by rows, then by columns,
// and the monitor between it and the memory counts how often it touches each line. Nothing here is part of cachetally
// but the one header; the processor, the bus and the memory could be anybody's.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cachetally/tlm_monitor.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <systemc>
#include <tlm>
#include <vector>

namespace {

constexpr std::uint64_t memory_bytes = 1 << 20, matrix = 0x1000, ring = 0x80000, registers = 0x40000000;
constexpr unsigned rows = 16, columns = 16;

struct Memory : sc_core::sc_module {
    explicit Memory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket"), bytes(memory_bytes) {
        socket.register_b_transport(this, &Memory::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (payload.get_address() + payload.get_data_length() > bytes.size()) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        unsigned char* const place = bytes.data() + payload.get_address();
        if (payload.is_write()) std::memcpy(place, payload.get_data_ptr(), payload.get_data_length());
        if (payload.is_read()) std::memcpy(payload.get_data_ptr(), place, payload.get_data_length());
        delay += sc_core::sc_time(20, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    tlm_utils::simple_target_socket<Memory> socket;
    std::vector<unsigned char> bytes;
};

/// Memory below, the monitor's registers from 0x40000000 on.
struct Bus : sc_core::sc_module {
    explicit Bus(const sc_core::sc_module_name& name)
        : sc_module(name), in("in"), memory("memory"), devices("devices") {
        in.register_b_transport(this, &Bus::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (payload.get_address() < registers) return memory->b_transport(payload, delay);
        payload.set_address(payload.get_address() - registers);
        devices->b_transport(payload, delay);
    }
    tlm_utils::simple_target_socket<Bus> in;
    tlm_utils::simple_initiator_socket<Bus> memory, devices;
};

struct Processor : sc_core::sc_module {
    SC_HAS_PROCESS(Processor);
    explicit Processor(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") { SC_THREAD(run); }

    void run() {
        for (unsigned row = 0; row < rows; ++row)
            for (unsigned column = 0; column < columns; ++column) increment(row, column);
        barrier();
        for (unsigned column = 0; column < columns; ++column)
            for (unsigned row = 0; row < rows; ++row) increment(row, column);
        barrier();
    }

    void increment(unsigned row, unsigned column) {
        const std::uint64_t address = matrix + (row * columns + column) * sizeof(std::uint32_t);
        std::uint32_t value = access(tlm::TLM_READ_COMMAND, address, 0);
        access(tlm::TLM_WRITE_COMMAND, address, ++value);
    }
    /// The monitor swaps all its counters out; what comes is another phase.
    void barrier() { access(tlm::TLM_WRITE_COMMAND, registers + cachetally::tlm_monitor_register::command, 1); }
    std::uint32_t access(tlm::tlm_command command, std::uint64_t address, std::uint32_t value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        sc_core::sc_time delay;
        socket->b_transport(payload, delay);
        if (payload.is_response_error()) SC_REPORT_ERROR(name(), payload.get_response_string().c_str());
        wait(delay);
        return value;
    }

    tlm_utils::simple_initiator_socket<Processor> socket;
};

cachetally::TlmMonitorConfig settings() {
    cachetally::TlmMonitorConfig config;
    config.settings = "counters=4,eviction=lru,base=0x80000,range=0x1000-0x2000";
    return config;
}

}  // namespace

int sc_main(int, char**) {
    Processor processor("processor");
    cachetally::TlmMonitor monitor("monitor", settings());
    Bus bus("bus");
    Memory memory("memory");
    processor.socket.bind(monitor.in);
    monitor.out.bind(bus.in);
    bus.memory.bind(memory.socket);
    bus.devices.bind(monitor.control);
    sc_core::sc_start();

    const cachetally::TlmMonitorResult result = monitor.finish();
    std::printf("%llu events, %llu records of 16 bytes\n", static_cast<unsigned long long>(result.events),
                static_cast<unsigned long long>(result.records));
    for (const cachetally::TlmMonitorRow& row : result.rows)
        std::printf("phase %u, line %#llx: %llu\n", static_cast<unsigned>(row.phase),
                    static_cast<unsigned long long>(row.address), static_cast<unsigned long long>(row.count));
    std::uint64_t first = 0;
    std::memcpy(&first, memory.bytes.data() + ring, sizeof first);
    std::printf("first record in memory: line %#llx\n", static_cast<unsigned long long>(first));
    return 0;
}
