#include "sim/tlm/memory_port.hpp"

#include <algorithm>

namespace cachetally {

MemoryPort::MemoryPort(Socket& socket, MemoryTiming timing, std::uint32_t bytes)
    : socket_(socket), timing_(timing), data_(bytes), disabled_(bytes, TLM_BYTE_DISABLED) {
    payload_.set_extension(&info_);
    payload_.set_data_ptr(data_.data());
    payload_.set_data_length(bytes);
    payload_.set_streaming_width(bytes);
}

MemoryPort::~MemoryPort() { payload_.clear_extension(&info_); }

MemoryReply MemoryPort::request(Address address, Cause cause, Tick time) {
    return send(cause.kind() == EventKind::store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, cause,
                time);
}

MemoryReply MemoryPort::write(Address address, Cause cause, Tick time) {
    return send(tlm::TLM_WRITE_COMMAND, address, cause, time);
}

void MemoryPort::write_records(std::uint64_t records) {
    info_.records = records;
    send(tlm::TLM_IGNORE_COMMAND, 0, Cause(0, EventKind::ring_write, 0), 0);
    info_.records = 0;
}

/// When it is complete is counted from `time`: SystemC may be some picoseconds ahead.
MemoryReply MemoryPort::send(tlm::tlm_command command, Address address, Cause cause, Tick time) {
    info_.kind = cause.kind();
    info_.core = cause.core();
    info_.site = cause.site();
    info_.time = std::max(time, begin_);
    info_.conflict = false;
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_byte_enable_length(0);
    if (command == tlm::TLM_WRITE_COMMAND) keep_content(address);
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    const Tick before = std::max(info_.time, scale_.now());
    sc_core::sc_time delay = scale_.time(before - scale_.now());
    socket_->b_transport(payload_, delay);
    if (payload_.get_response_status() < tlm::TLM_INCOMPLETE_RESPONSE && response_ == tlm::TLM_OK_RESPONSE) {
        response_ = payload_.get_response_status();
        failed_address_ = address;
    }
    return {time + (scale_.now() + scale_.ticks(delay) - before), info_.conflict};
}

/// There are no data in the caches: what is written back is what memory has. Where it does not tell, nothing is
/// written.
void MemoryPort::keep_content(Address address) {
    const auto bytes = static_cast<unsigned>(data_.size());
    if (debug(tlm::TLM_READ_COMMAND, address, data_.data(), bytes) == bytes) return;
    payload_.set_byte_enable_ptr(disabled_.data());
    payload_.set_byte_enable_length(bytes);
}

unsigned MemoryPort::debug(tlm::tlm_command command, Address address, unsigned char* data, unsigned bytes) {
    debug_payload_.set_command(command);
    debug_payload_.set_address(address);
    debug_payload_.set_data_ptr(data);
    debug_payload_.set_data_length(bytes);
    debug_payload_.set_streaming_width(bytes);
    return socket_->transport_dbg(debug_payload_);
}

}  // namespace cachetally
