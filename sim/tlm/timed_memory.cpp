// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/timed_memory.hpp"

#include "cachetally/extensions.hpp"
#include "sim/model/memory/memory.hpp"

namespace cachetally {
namespace {

/// What a payload that does not say it is.
AccessInfo plain(const tlm::tlm_generic_payload& payload, Tick time) {
    AccessInfo info;
    info.kind = payload.is_write() ? EventKind::store : EventKind::load;
    info.time = time;
    return info;
}

}  // namespace

TimedMemory::TimedMemory(const sc_core::sc_module_name& name, const MemoryConfig& config, Tick period)
    : sc_module(name), in("in"), model_(std::make_unique<Memory>(config, period)) {
    in.register_b_transport(this, &TimedMemory::b_transport);
}

TimedMemory::~TimedMemory() = default;

bool TimedMemory::timeless() const { return model_->timeless(); }

const MemoryCounts& TimedMemory::counts() const { return model_->counts(); }

void TimedMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    AccessInfo* given = nullptr;
    payload.get_extension(given);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (given != nullptr && given->records != 0) return model_->write_records(given->records);
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return;
    const AccessInfo access = given != nullptr ? *given : plain(payload, scale_.now() + scale_.ticks(delay));
    const RequestInfo info(access.site, access.kind, access.core);
    MemoryReply reply;
    if (access.kind == EventKind::write_back || access.kind == EventKind::ring_write) {
        reply = model_->write(payload.get_address(), info, access.time);
    } else {
        reply = model_->request(payload.get_address(), info, access.time);
        delay += scale_.time(reply.time - access.time);
    }
    if (given != nullptr) given->conflict = reply.conflict;
}

}  // namespace cachetally
