// SPDX-License-Identifier: BSD-3-Clause
#include "sim/tlm/memory_port.hpp"

#include <algorithm>

namespace cachetally {
namespace {

/// Calls with the number and the pointer of each extension of the payload but ours.
template <class Visit>
void for_extensions(tlm::tlm_generic_payload& payload, Visit visit) {
    payload.resize_extensions();
    for (unsigned i = 0; i < tlm::max_num_extensions(); ++i)
        if (tlm::tlm_extension_base* extension = payload.get_extension(i);
            extension != nullptr && i != AccessInfo::ID && i != ReferenceBatch::ID)
            visit(i, extension);
}

void lend_extensions(tlm::tlm_generic_payload& from, tlm::tlm_generic_payload& to) {
    to.resize_extensions();
    for_extensions(from, [&](unsigned number, tlm::tlm_extension_base* each) { to.set_extension(number, each); });
}

/// They belong to somebody else: the payload must not free them.
void return_extensions(tlm::tlm_generic_payload& payload) {
    for_extensions(payload, [&](unsigned number, tlm::tlm_extension_base*) { payload.set_extension(number, nullptr); });
}

}  // namespace

MemoryPort::MemoryPort(Socket& socket, MemoryTiming timing, std::uint32_t bytes)
    : socket_(socket), timing_(timing), data_(bytes), disabled_(bytes, TLM_BYTE_DISABLED) {
    payload_.set_extension(&info_);
    payload_.set_data_ptr(data_.data());
    payload_.set_data_length(bytes);
    payload_.set_streaming_width(bytes);
}

MemoryPort::~MemoryPort() { payload_.clear_extension(&info_); }

void MemoryPort::begin(Tick time, tlm::tlm_generic_payload* payload) {
    begin_ = time;
    response_ = tlm::TLM_OK_RESPONSE;
    from_ = payload;
    if (payload != nullptr) lend_extensions(*payload, payload_);
}

void MemoryPort::end() {
    begin_ = 0;
    if (from_ != nullptr) return_extensions(payload_);
    from_ = nullptr;
}

MemoryReply MemoryPort::request(Address address, RequestInfo info, Tick time) {
    return send(info.kind() == EventKind::store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, info, time);
}

MemoryReply MemoryPort::write(Address address, RequestInfo info, Tick time) {
    return send(tlm::TLM_WRITE_COMMAND, address, info, time);
}

void MemoryPort::write_records(std::uint64_t records) {
    info_.records = records;
    send(tlm::TLM_IGNORE_COMMAND, 0, RequestInfo(0, EventKind::ring_write, 0), 0);
    info_.records = 0;
}

/// When it is complete is counted from `time`: SystemC may be some picoseconds ahead.
MemoryReply MemoryPort::send(tlm::tlm_command command, Address address, RequestInfo info, Tick time) {
    info_.kind = info.kind();
    info_.core = info.core();
    info_.site = info.site();
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

/// There are no data in the caches: what is written back is what memory has. If it does not answer, nothing is
/// written.
void MemoryPort::keep_content(Address address) {
    const auto bytes = static_cast<unsigned>(data_.size());
    payload_.set_command(tlm::TLM_READ_COMMAND);
    if (debug(payload_, address, data_.data(), bytes) == bytes) return;
    payload_.set_byte_enable_ptr(disabled_.data());
    payload_.set_byte_enable_length(bytes);
}

unsigned MemoryPort::debug(tlm::tlm_generic_payload& like, Address address, unsigned char* data, unsigned bytes) {
    debug_payload_.set_command(like.get_command());
    debug_payload_.set_address(address);
    debug_payload_.set_data_ptr(data);
    debug_payload_.set_data_length(bytes);
    debug_payload_.set_streaming_width(bytes);
    lend_extensions(like, debug_payload_);
    const unsigned done = socket_->transport_dbg(debug_payload_);
    return_extensions(debug_payload_);
    return done;
}

}  // namespace cachetally
