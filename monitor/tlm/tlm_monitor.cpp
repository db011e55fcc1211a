// SPDX-License-Identifier: BSD-3-Clause
#define SC_INCLUDE_DYNAMIC_PROCESSES  // sc_spawn, in SystemC 2.3
#include "cachetally/tlm_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "monitor/tlm/interposer.hpp"

namespace cachetally {
namespace {

using Payload = tlm::tlm_generic_payload;
using Phase = tlm::tlm_phase;
using sc_core::sc_time;

constexpr std::string_view modelled = "the platform's own software reads the ring: see TlmMonitorConfig";
constexpr std::string_view of_programs = "software asks for it by the command register, or barrier()";
constexpr RefusedKey not_here[] = {
    {"link", "the monitor is where its sockets are bound"},
    {"name", "the module has a name"},
    {"barriers", of_programs},
    {"functions", of_programs},
    {"path", "records leave by the socket 'out'"},
    {"drain", modelled},
    {"watermark", "set TlmMonitorConfig::watermark"},
    {"period", modelled},
    {"drain_cost", modelled},
};

constexpr RequiredKey needed_here[] = {
    {"base", "the monitor writes records there, so give an address of memory that nothing else uses: base=0x80000000"},
};

sc_time given_or(const sc_time& time, double standard, sc_core::sc_time_unit unit) {
    return time > sc_core::SC_ZERO_TIME ? time : sc_time(standard, unit);
}

/// The address range that a transaction covers; with a streaming width it is the same bytes again and again.
std::uint64_t bytes_of(const Payload& payload) {
    const std::uint64_t length = payload.get_data_length(), width = payload.get_streaming_width();
    return width == 0 ? length : std::min(length, width);
}

/// As it lies in memory: address (8 bytes), lines (4), count (4), zeros; each with its low byte first.
std::vector<unsigned char> bytes_of(const Interposer::Record& record, std::uint32_t bytes, std::uint32_t lines) {
    std::vector<unsigned char> data(bytes);
    const auto put = [&](std::size_t at, std::size_t count, std::uint64_t value) {
        for (std::size_t i = 0; i < count; ++i) data[at + i] = static_cast<unsigned char>(value >> 8 * i);
    };
    put(0, 8, record.address);
    put(8, 4, lines);
    put(12, 4, record.count);
    return data;
}

bool in_thread() {
    const sc_core::sc_curr_proc_kind kind = sc_core::sc_get_current_process_handle().proc_kind();
    return kind == sc_core::SC_THREAD_PROC_ || kind == sc_core::SC_CTHREAD_PROC_;
}

}  // namespace

struct TlmMonitor::Parts {
    Parts(TlmMonitor& module, const TlmMonitorConfig& settings)
        : owner(module),
          core(parse_common(settings.settings, not_here, needed_here), settings.watermark, settings.software_reads),
          core_of(settings.core_of),
          cycle(given_or(settings.cycle, 1, sc_core::SC_NS)),
          starvation(given_or(settings.starvation, 1, sc_core::SC_MS)),
          write_cost(static_cast<double>(core.spec().ring.write_cost) * cycle),
          upstream(*this),
          downstream(*this),
          registers(*this) {}

    struct Upstream;
    struct Downstream;
    struct Registers;

    /// Counts a transaction as it comes, before anybody further down can change it.
    void observe(const Payload& payload, sc_time& delay, bool may_wait) {
        if (!core.on() || !(payload.is_read() || payload.is_write())) return;
        core.count(payload.is_write(), payload.get_address(), bytes_of(payload), core_of ? core_of(payload) : 0,
                   scratch);
        if (!scratch.empty()) send(delay, may_wait);
    }

    /// Other initiators may come in while this one waits for places in the ring, and the simulation may end.
    void send(sc_time& delay, bool may_wait) {
        const Interposer::Batch batch = core.begin_batch(scratch);
        std::size_t left = batch->size();
        for (; left != 0; --left) {
            const bool has_place = wait_for_place(delay, may_wait);
            if (Interposer::is_sent(batch)) break;  // a barrier has taken them along
            if (!has_place) {
                core.lose_first(batch);
                continue;
            }
            core.enqueue_first(batch);
            delay += write_cost;
        }
        delay += static_cast<double>(left) * write_cost;
        core.end_batch(batch);
        queued.notify(sc_core::SC_ZERO_TIME);
        // Who runs ahead of SystemC's time would see the interrupt too late: when the ring is full.
        if (may_wait && core.wants_software()) synchronise(delay);
    }

    static void synchronise(sc_time& delay) {
        if (in_thread() && delay > sc_core::SC_ZERO_TIME) sc_core::wait(std::exchange(delay, sc_core::SC_ZERO_TIME));
    }

    bool stalls() const { return core.spec().ring.overflow == RingSpec::Overflow::stall; }

    /// False where there is none and waiting is not wanted, or not possible here.
    bool wait_for_place(sc_time& delay, bool may_wait) {
        while (core.full()) {
            if (!stalls()) return false;
            if (!may_wait || !in_thread()) {
                warn(tlm_monitor_report::cannot_stall,
                     "the ring is full, and neither nb_transport nor a method process can wait for it: records are "
                     "lost in spite of 'overflow=stall'; use b_transport, or a larger 'capacity'");
                return false;
            }
            queued.notify(sc_core::SC_ZERO_TIME);
            if (delay > sc_core::SC_ZERO_TIME)
                synchronise(delay);
            else
                await_place();
        }
        return true;
    }

    void await_place() {
        if (told.count(tlm_monitor_report::starvation) != 0) return sc_core::wait(place_free);
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the original goes on
        const sc_time begin = sc_core::sc_time_stamp();
        sc_core::wait(starvation, place_free);
        if (sc_core::sc_time_stamp() - begin < starvation) return;
        warn(tlm_monitor_report::starvation,
             "the ring of " + std::to_string(core.spec().ring.capacity) + " records has been full for " +
                 starvation.to_string() +
                 ": whoever waits for a place does so until software moves the tail. Let software that does not wait "
                 "itself read the ring earlier (TlmMonitorConfig::watermark), or give a larger 'capacity', or "
                 "'overflow=drop'");
    }

    /// A process of its own writes the records: who caused them may hold what `out` waits for, or may not wait at all.
    void write_records() {
        for (;;) {
            while (!core.has_next()) sc_core::wait(queued);
            if (core.has_place()) {
                write_next();
            } else if (stalls()) {
                await_place();
                continue;
            } else {
                core.next_dropped();
            }
            ring_changed();
        }
    }

    void write_next() {
        const std::uint32_t generation = core.generation();
        std::vector<unsigned char> data = bytes_of(core.next(), core.spec().ring.record, core.next().span);
        const Address place = core.next_place();
        Payload payload;
        payload.set_command(tlm::TLM_WRITE_COMMAND);
        payload.set_address(place);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(data.size()));
        payload.set_streaming_width(static_cast<unsigned>(data.size()));
        payload.set_byte_enable_ptr(nullptr);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        sc_time delay;
        owner.out->b_transport(payload, delay);
        if (delay > sc_core::SC_ZERO_TIME) sc_core::wait(delay);
        if (generation != core.generation()) return;  // the ring was emptied meanwhile, this record with it
        // Targets that forget to set a status leave it as it was; only an error is one.
        if (payload.get_response_status() >= tlm::TLM_INCOMPLETE_RESPONSE) return core.next_written();
        core.next_failed();
        warn(tlm_monitor_report::failed_record, "a record could not be written to " + fmt::format("{:#x}", place) +
                                                    " (" + payload.get_response_string() +
                                                    ") and is lost, as may be others; is 'base' memory?");
    }

    /// Once of each type.
    void warn(const char* type, const std::string& text) {
        if (!told.insert(type).second) return;
        SC_REPORT_WARNING(type, (std::string(owner.name()) + ": " + text).c_str());
    }

    void ring_changed() {
        place_free.notify(sc_core::SC_ZERO_TIME);
        level_changed.notify(sc_core::SC_ZERO_TIME);
    }

    void drive_interrupt() {
        if (owner.interrupt.size() != 0) owner.interrupt->write(core.interrupt());
    }

    /// Sockets can be used from when the simulation starts, or a request for a pointer has come through them.
    void forget_direct_memory(bool was_on) {
        if (was_on || !core.on()) return;
        if (pointers_given || sc_core::sc_start_of_simulation_invoked())
            owner.in->invalidate_direct_mem_ptr(0, ~sc_dt::uint64{0});
        if (std::exchange(pointers_given, false))
            warn(tlm_monitor_report::direct_memory,
                 "while the monitor was off, initiators got direct memory pointers; these are invalidated now, but "
                 "what an initiator that keeps its pointer reads and writes is not counted");
    }

    TlmMonitorResult result() const {
        const Interposer::Totals totals = core.totals();
        TlmMonitorResult result;
        result.events = totals.events;
        result.records = totals.records;
        result.lost_records = totals.lost_records;
        result.lost_events = totals.lost_events;
        result.resident = totals.resident;
        result.high_water = totals.high_water;
        result.bytes = totals.records * core.spec().ring.record;
        result.line_bytes = core.spec().unit();
        for (const auto& [key, count] : core.sums())
            result.rows.push_back({std::get<1>(key), std::get<2>(key), std::get<0>(key), count});
        return result;
    }

    struct Upstream final : tlm::tlm_fw_transport_if<> {
        explicit Upstream(Parts& all) : parts(all) {}
        void b_transport(Payload& payload, sc_time& delay) override {
            parts.observe(payload, delay, true);
            parts.owner.out->b_transport(payload, delay);
            parts.clear_hint(payload);
        }
        tlm::tlm_sync_enum nb_transport_fw(Payload& payload, Phase& phase, sc_time& delay) override {
            if (phase == tlm::BEGIN_REQ) parts.observe(payload, delay, false);
            const tlm::tlm_sync_enum sync = parts.owner.out->nb_transport_fw(payload, phase, delay);
            if (sync != tlm::TLM_ACCEPTED) parts.clear_hint(payload);  // else it is the target's business by now
            return sync;
        }
        bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& dmi) override {
            if (!parts.core.on()) {
                const bool given = parts.owner.out->get_direct_mem_ptr(payload, dmi);
                parts.pointers_given |= given;
                return given;
            }
            dmi.init();
            return false;
        }
        unsigned transport_dbg(Payload& payload) override { return parts.owner.out->transport_dbg(payload); }
        Parts& parts;
    };

    struct Downstream final : tlm::tlm_bw_transport_if<> {
        explicit Downstream(Parts& all) : parts(all) {}
        tlm::tlm_sync_enum nb_transport_bw(Payload& payload, Phase& phase, sc_time& delay) override {
            parts.clear_hint(payload);
            return parts.owner.in->nb_transport_bw(payload, phase, delay);
        }
        void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
            parts.owner.in->invalidate_direct_mem_ptr(first, last);
        }
        Parts& parts;
    };

    struct Registers final : tlm::tlm_fw_transport_if<> {
        explicit Registers(Parts& all) : parts(all) {}
        void b_transport(Payload& payload, sc_time& delay) override { parts.access(payload, delay, true); }
        tlm::tlm_sync_enum nb_transport_fw(Payload& payload, Phase& phase, sc_time& delay) override {
            if (phase == tlm::BEGIN_REQ) parts.access(payload, delay, false);
            return tlm::TLM_COMPLETED;
        }
        bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi& dmi) override {
            dmi.init();
            return false;
        }
        unsigned transport_dbg(Payload& payload) override {
            if (!payload.is_read() || parts.fault_of(payload) != tlm::TLM_OK_RESPONSE) return 0;
            parts.read(payload);
            return payload.get_data_length();
        }
        Parts& parts;
    };

    void clear_hint(Payload& payload) const {
        if (core.on()) payload.set_dmi_allowed(false);
    }

    /// A register access: 4 or 8 bytes, aligned to their number.
    static tlm::tlm_response_status fault_of(const Payload& payload) {
        const std::uint64_t length = payload.get_data_length(), address = payload.get_address();
        if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
        if ((length != 4 && length != 8) || address % length != 0 || bytes_of(payload) != length)
            return tlm::TLM_BURST_ERROR_RESPONSE;
        return address < tlm_monitor_register::end ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }

    /// What registers say depends on time: whoever asks does not run ahead of it. Who asks again and again without
    /// taking time waits a cycle, so that the records that he waits for get on.
    void access(Payload& payload, sc_time& delay, bool may_wait) {
        payload.set_dmi_allowed(false);
        tlm::tlm_response_status status = fault_of(payload);
        if (may_wait && delay > sc_core::SC_ZERO_TIME) {
            synchronise(delay);
        } else if (may_wait && in_thread() && payload.is_read() && core.has_next() && core.has_place()) {
            sc_core::wait(cycle);
        }
        if (status == tlm::TLM_OK_RESPONSE && payload.is_read()) read(payload);
        if (status == tlm::TLM_OK_RESPONSE && payload.is_write() && !write(payload))
            status = tlm::TLM_GENERIC_ERROR_RESPONSE;
        payload.set_response_status(status);
    }

    void read(Payload& payload) const {
        for (unsigned at = 0; at < payload.get_data_length(); at += 4) {
            const std::uint32_t value = core.read(payload.get_address() + at);
            std::memcpy(payload.get_data_ptr() + at, &value, sizeof value);
        }
    }

    bool write(const Payload& payload) {
        const bool was_on = core.on();
        const unsigned count = payload.get_data_length() / 4;
        std::uint64_t value = 0;
        for (unsigned i = 0; i < count; ++i) {
            std::uint32_t part = 0;
            std::memcpy(&part, payload.get_data_ptr() + std::size_t{4} * i, sizeof part);
            value |= std::uint64_t{part} << 32 * i;
        }
        const bool taken = core.write(payload.get_address(), value, count);
        forget_direct_memory(was_on);
        queued.notify(sc_core::SC_ZERO_TIME);
        ring_changed();
        return taken;
    }

    TlmMonitor& owner;
    Interposer core;
    std::function<unsigned(const Payload&)> core_of;
    sc_time cycle, starvation, write_cost;
    Upstream upstream;
    Downstream downstream;
    Registers registers;
    Interposer::Records scratch;      ///< of the event at hand; empty while anybody waits
    bool pointers_given = false;      ///< since they were last invalidated
    std::set<std::string_view> told;  ///< types of reports
    sc_core::sc_event queued, place_free, level_changed;
};

TlmMonitor::TlmMonitor(const sc_core::sc_module_name& name, const TlmMonitorConfig& config)
    : sc_module(name),
      in("in"),
      out("out"),
      control("control"),
      interrupt("interrupt"),
      parts_(std::make_unique<Parts>(*this, config)) {
    in.bind(parts_->upstream);
    out.bind(parts_->downstream);
    control.bind(parts_->registers);
    Parts* const parts = parts_.get();
    sc_core::sc_spawn([parts] { parts->write_records(); }, "write_records");
    sc_core::sc_spawn_options level;
    level.spawn_method();
    level.set_sensitivity(&parts_->level_changed);
    sc_core::sc_spawn([parts] { parts->drive_interrupt(); }, "drive_interrupt", &level);
}

TlmMonitor::~TlmMonitor() = default;

void TlmMonitor::switch_on(bool on) {
    const bool was_on = parts_->core.on();
    parts_->core.switch_on(on);
    parts_->forget_direct_memory(was_on);
}

bool TlmMonitor::is_on() const { return parts_->core.on(); }

void TlmMonitor::barrier() {
    parts_->core.barrier();
    parts_->queued.notify(sc_core::SC_ZERO_TIME);
}

bool TlmMonitor::is_busy() const { return parts_->core.is_busy(); }

TlmMonitorResult TlmMonitor::result() const { return parts_->result(); }

TlmMonitorResult TlmMonitor::finish() {
    parts_->core.finish();
    return parts_->result();
}

}  // namespace cachetally
