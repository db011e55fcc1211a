// SPDX-License-Identifier: BSD-3-Clause
// TlmMonitor: the cache monitor as an interposer for any TLM-2.0 platform. docs/tlm.md says how to use it. Installed
// as cachetally/tlm_monitor.hpp; it needs nothing of the project but two headers beside it, and C++17.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "cachetally/any_width.hpp"  // both by names that hold where they are installed, too
#include "cachetally/tlm_monitor_registers.hpp"

namespace cachetally {

struct TlmMonitorConfig {
    /// Settings as docs/monitors.md has them, e.g. "counters=64,granularity=4,base=0x80000000". `base`, the place of
    /// the ring in the platform's memory, has to be among them. Keys of links, of programs and of modelled software
    /// (link, name, barriers, functions, path, drain, watermark, period, drain_cost) are refused.
    std::string settings;
    // Times are 0 here: any other one would settle SystemC's time resolution.
    /// Of the monitor's clock, in which the setting `write_cost` counts; 0: 1 ns.
    sc_core::sc_time cycle;
    /// What waits so long at a full ring is reported once (tlm_monitor_report::starvation); 0: 1 ms.
    sc_core::sc_time starvation;
    /// Records in the ring at which the interrupt is raised, up to the setting `capacity`; 0: never.
    std::uint32_t watermark = 0;
    /// The platform's software moves the tail of the ring. Else the tail follows the head, as if it were read at once.
    bool software_reads = false;
    /// The core that made a transaction, 0 to 255, for the setting `cores`; empty: core 0.
    std::function<unsigned(const tlm::tlm_generic_payload&)> core_of;
};

/// Types of the reports that a monitor gives, each at most once: warnings whose message begins with the module's name.
namespace tlm_monitor_report {
inline constexpr char failed_record[] = "/cachetally/tlm_monitor/failed_record";  ///< it could not be written
inline constexpr char starvation[] = "/cachetally/tlm_monitor/starvation";        ///< nobody reads the full ring
inline constexpr char cannot_stall[] = "/cachetally/tlm_monitor/cannot_stall";  ///< an initiator that cannot wait loses
inline constexpr char direct_memory[] = "/cachetally/tlm_monitor/direct_memory";  ///< pointers that bypass the monitor
}  // namespace tlm_monitor_report

struct TlmMonitorRow {
    std::uint64_t address = 0;  ///< of the first byte
    std::uint32_t span = 1;     ///< lines that the count is for, from `address` on
    std::uint32_t phase = 0;    ///< barriers before
    std::uint64_t count = 0;

    friend bool operator==(const TlmMonitorRow& a, const TlmMonitorRow& b) {
        return a.address == b.address && a.span == b.span && a.phase == b.phase && a.count == b.count;
    }
};

/// Law: the counts of all rows + lost_events + resident = events.
struct TlmMonitorResult {
    std::uint64_t events = 0;        ///< counted, after switch and filters
    std::uint64_t records = 0;       ///< written to the ring buffer
    std::uint64_t lost_records = 0;  ///< the ring was full, or the write failed
    std::uint64_t lost_events = 0;   ///< of these records
    std::uint64_t resident = 0;    ///< events still in counters, or in records that wait for the ring or are under way
    std::uint64_t high_water = 0;  ///< most records in the ring at once
    std::uint64_t bytes = 0;       ///< of records written
    std::uint32_t line_bytes = 0;
    std::vector<TlmMonitorRow> rows;  ///< ascending by phase, address, span
};

/// Counts reads and writes that pass from `in` to `out`, as Schulz et al. 2002, section 3, have it: counters, ring
/// buffer in the platform's memory, barriers. A transaction that covers several lines is an event on each. What it
/// forwards is the caller's payload, as it came.
class TlmMonitor : public sc_core::sc_module {
public:
    /// Throws std::invalid_argument with a message that names the setting.
    TlmMonitor(const sc_core::sc_module_name& name, const TlmMonitorConfig& config);
    ~TlmMonitor() override;

    // They bind to sockets of any bus width.
    any_width::Target<tlm::tlm_target_socket<>> in;
    /// Also takes the monitor's own writes of records.
    any_width::Initiator<tlm::tlm_initiator_socket<>> out;
    /// The registers (tlm_monitor_registers.hpp), at addresses from 0; may be left unbound.
    any_width::Target<tlm::tlm_target_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>>
        control;
    /// High while the ring holds at least `watermark` records and the interrupt is enabled; may be left unbound.
    sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt;

    /// What the registers do, for C++. While the monitor is on, DMI is denied and its hint cleared.
    void switch_on(bool on);
    bool is_on() const;
    /// Swaps all counters out and begins a new phase. Nobody waits: the records go out as the ring has places for them.
    void barrier();
    /// Records of a barrier are on their way.
    bool is_busy() const;

    /// What the records written up to now add up to.
    TlmMonitorResult result() const;
    /// The same when the simulation is over: reads the counters too, without traffic and without loss.
    TlmMonitorResult finish();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace cachetally
