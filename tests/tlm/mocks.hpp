// SPDX-License-Identifier: BSD-3-Clause
// Mocks of a platform's parts, with the habits that other people's models have.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "cachetally/tlm_monitor.hpp"

namespace cachetally::testing {

using Payload = tlm::tlm_generic_payload;
using sc_core::sc_time;

inline const sc_time nanosecond(1, sc_core::SC_NS);

/// Memory of sparse bytes; remembers what came, and behaves as it is told.
struct Memory : sc_core::sc_module {
    explicit Memory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
        socket.register_b_transport(this, &Memory::b_transport);
        socket.register_transport_dbg(this, &Memory::transport_dbg);
        socket.register_get_direct_mem_ptr(this, &Memory::get_direct_mem_ptr);
    }

    struct Access {
        const Payload* payload;
        bool write;
        std::uint64_t address;
        friend bool operator==(const Access&, const Access&) = default;
    };

    void b_transport(Payload& payload, sc_time& delay) {
        if (latency > sc_core::SC_ZERO_TIME) wait(latency);
        seen.push_back({&payload, payload.is_write(), payload.get_address()});
        if (on_access) on_access(payload);
        delay += extra;
        if (payload.get_address() < first_valid) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        move(payload);
        payload.set_dmi_allowed(true);
        if (sets_status) payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned transport_dbg(Payload& payload) {
        ++debugged;
        if (on_debug) on_debug(payload);
        move(payload);
        return payload.get_data_length();
    }
    bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi& dmi) {
        dmi.allow_read_write();
        dmi.set_start_address(0);
        dmi.set_end_address(0xffff);
        return true;
    }

    void move(const Payload& payload) {
        for (unsigned i = 0; i < payload.get_data_length() && payload.get_data_ptr() != nullptr; ++i) {
            unsigned char& byte = bytes[payload.get_address() + i];
            (payload.is_write() ? byte : payload.get_data_ptr()[i]) =
                payload.is_write() ? payload.get_data_ptr()[i] : byte;
        }
    }

    std::uint64_t number(std::uint64_t address, unsigned count) {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < count; ++i) value |= std::uint64_t{bytes[address + i]} << 8 * i;
        return value;
    }

    tlm_utils::simple_target_socket<Memory> socket;
    std::map<std::uint64_t, unsigned char> bytes;
    std::vector<Access> seen;
    std::function<void(Payload&)> on_access, on_debug;
    sc_time latency, extra;
    std::uint64_t first_valid = 0;  ///< below: address errors
    bool sets_status = true;
    unsigned debugged = 0;
};

/// Any number of initiators to two targets: addresses from `split` on go to `second`, less `split`, which stays so when
/// the transaction returns. One transaction at a time where `locks`.
struct Bus : sc_core::sc_module {
    explicit Bus(const sc_core::sc_module_name& name) : sc_module(name), in("in"), first("first"), second("second") {
        in.register_b_transport(this, &Bus::b_transport);
    }
    void b_transport(int, Payload& payload, sc_time& delay) {
        if (locks) lock.lock();
        auto& target = payload.get_address() < split ? first : second;
        if (payload.get_address() >= split) payload.set_address(payload.get_address() - split);
        target->b_transport(payload, delay);
        if (locks) lock.unlock();
    }
    tlm_utils::multi_passthrough_target_socket<Bus> in;
    tlm_utils::simple_initiator_socket_optional<Bus> first, second;
    sc_core::sc_mutex lock{"lock"};
    std::uint64_t split = ~std::uint64_t{0};
    bool locks = false;
};

/// Runs a function as its thread and offers it simple accesses.
struct Initiator : sc_core::sc_module {
    SC_HAS_PROCESS(Initiator);
    Initiator(const sc_core::sc_module_name& name, std::function<void(Initiator&)> program)
        : sc_module(name), socket("socket"), program_(std::move(program)) {
        socket.register_invalidate_direct_mem_ptr(this, &Initiator::invalidate);
        SC_THREAD(run);
    }

    tlm::tlm_response_status access(bool write, std::uint64_t address, void* data, unsigned bytes) {
        Payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        sc_time delay;
        socket->b_transport(payload, delay);
        hint = payload.is_dmi_allowed();
        lost_time += delay;
        return payload.get_response_status();
    }
    void touch(bool write, std::uint64_t address, unsigned bytes = 4) {
        std::vector<unsigned char> data(bytes);
        access(write, address, data.data(), bytes);
    }
    tlm::tlm_response_status set(std::uint64_t address, std::uint32_t value) {
        return access(true, address, &value, sizeof value);
    }
    std::uint32_t get(std::uint64_t address) {
        std::uint32_t value = 0;
        access(false, address, &value, sizeof value);
        return value;
    }

    void invalidate(sc_dt::uint64 from, sc_dt::uint64 to) { invalidated.emplace_back(from, to); }

    tlm_utils::simple_initiator_socket<Initiator> socket;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> invalidated;
    bool hint = false;
    sc_time lost_time;
    bool finished = false;

private:
    void run() {
        program_(*this);
        finished = true;
    }
    std::function<void(Initiator&)> program_;
};

/// Initiator, monitor, memory in a row; the monitor's registers on a socket of their own.
struct Platform {
    using Program = std::function<void(Initiator&)>;
    explicit Platform(Program program, const std::string& settings = "base=0x100000")
        : Platform(std::move(program), config_of(settings)) {}
    Platform(Program program, const TlmMonitorConfig& config)
        : cpu("cpu", std::move(program)), monitor("monitor", config), memory("memory") {
        cpu.socket.bind(monitor.in);
        monitor.out.bind(memory.socket);
        monitor.interrupt.bind(interrupt);
    }
    static TlmMonitorConfig config_of(const std::string& settings) {
        TlmMonitorConfig config;
        config.settings = settings;
        return config;
    }

    /// Address (of lines of the phase) to events.
    std::map<std::uint64_t, std::uint64_t> counts(std::uint32_t phase = 0) {
        std::map<std::uint64_t, std::uint64_t> sums;
        for (const TlmMonitorRow& row : monitor.finish().rows)
            if (row.phase == phase) sums[row.address] += row.count;
        return sums;
    }

    Initiator cpu;
    TlmMonitor monitor;
    Memory memory;
    sc_core::sc_signal<bool> interrupt{"interrupt"};
};

}  // namespace cachetally::testing
