// SPDX-License-Identifier: BSD-3-Clause
#include "cachetally/cache_hierarchy.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "sim/tlm/memory_port.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

/// The longest line of the caches above a memory.
std::uint32_t bytes_to(const MachineDescription& machine, const MemoryConfig& memory) {
    const std::uint32_t bytes = longest_line_to(machine, machine.has_nodes() ? numa_name : memory.name.c_str());
    return bytes != 0 ? bytes : 8;
}

/// The memory at the end of the way of data or instructions; nothing where no component serves them.
std::optional<std::size_t> memory_behind(const Topology& topology, bool fetch) {
    std::size_t link = 0;
    try {
        link = topology.core_link(fetch);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
    std::size_t component = topology.links()[link].to;
    while (topology.components()[component].kind != Component::Kind::memory) {
        const auto below = std::ranges::find(topology.links(), component, &LinkInfo::from);
        component = below->to;
    }
    return topology.components()[component].index;
}

/// Of the addresses from the first one on; with a streaming width they come again and again.
unsigned bytes_of(const tlm::tlm_generic_payload& payload) {
    const unsigned length = payload.get_data_length(), width = payload.get_streaming_width();
    return width == 0 ? length : std::min(length, width);
}

bool is_enabled(const tlm::tlm_generic_payload& payload, unsigned byte) {
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    return enables == nullptr || enables[byte % payload.get_byte_enable_length()] != TLM_BYTE_DISABLED;
}

}  // namespace

/// Transactions come one after the other, also where a memory waits within one.
class CacheHierarchy::Visit {
public:
    explicit Visit(CacheHierarchy& hierarchy) : hierarchy_(hierarchy) {
        while (hierarchy_.busy_) sc_core::wait(hierarchy_.free_);
        hierarchy_.busy_ = true;
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() {
        for (const auto& port : hierarchy_.ports_) port->end();
        hierarchy_.busy_ = false;
        hierarchy_.free_.notify();
    }

private:
    CacheHierarchy& hierarchy_;
};

CacheHierarchy::CacheHierarchy(const sc_core::sc_module_name& name, const Topology& topology, MemoryTiming timing)
    : CacheHierarchy(name, topology, std::make_unique<Hierarchy>(topology), nullptr, timing) {}

CacheHierarchy::CacheHierarchy(const sc_core::sc_module_name& name, const Topology& topology, Hierarchy& hierarchy,
                               MemoryTiming timing)
    : CacheHierarchy(name, topology, nullptr, &hierarchy, timing) {}

CacheHierarchy::CacheHierarchy(const sc_core::sc_module_name& name, const Topology& topology,
                               std::unique_ptr<Hierarchy> own, Hierarchy* other, MemoryTiming timing)
    : sc_module(name),
      core("core", topology.machine().cores),
      memory("memory", topology.machine().memories.size()),
      own_(std::move(own)),
      hierarchy_(other != nullptr ? *other : *own_),
      same_addresses_(topology.machine().pages.mapping == Mapping::identity),
      has_nodes_(topology.machine().has_nodes()) {
    for (unsigned i = 0; i < core.size(); ++i) {
        core[i].register_b_transport(this, &CacheHierarchy::b_transport, static_cast<int>(i));
        core[i].register_transport_dbg(this, &CacheHierarchy::transport_dbg, static_cast<int>(i));
        core[i].register_get_direct_mem_ptr(this, &CacheHierarchy::get_direct_mem_ptr, static_cast<int>(i));
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const std::uint32_t bytes = bytes_to(topology.machine(), topology.machine().memories[i]);
        ports_.push_back(std::make_unique<MemoryPort>(memory[i], timing, bytes));
        hierarchy_.lead_out(i, ports_.back().get());
    }
    content_.fill(ports_.front().get());
    for (const bool fetch : {false, true})
        if (const auto behind = has_nodes_ ? std::nullopt : memory_behind(topology, fetch))
            content_[fetch ? 1 : 0] = ports_[*behind].get();
}

CacheHierarchy::~CacheHierarchy() {
    for (std::size_t i = 0; i < ports_.size(); ++i) hierarchy_.lead_out(i, nullptr);
}

void CacheHierarchy::pass_through(Address from, Address to, std::optional<std::size_t> memory_number) {
    const auto data = std::ranges::find(ports_, content_[0], &std::unique_ptr<MemoryPort>::get) - ports_.begin();
    const Uncached range{from, to - 1, memory_number.value_or(static_cast<std::size_t>(data))};
    if (from >= to) throw std::invalid_argument("an uncached range is [from, to), and 'to' is above 'from'");
    if (range.memory >= ports_.size())
        throw std::invalid_argument("an uncached range leads to memory " + std::to_string(range.memory) +
                                    "; there are " + std::to_string(ports_.size()) + ", numbered from 0");
    for (const Uncached& other : uncached_)
        if (range.from <= other.last && other.from <= range.last)
            throw std::invalid_argument("an uncached range overlaps another");
    uncached_.push_back(range);
}

/// A range that holds some or all of what the payload is for.
const CacheHierarchy::Uncached* CacheHierarchy::uncached_part(const Payload& payload) const {
    if (uncached_.empty() || payload.get_extension(ReferenceBatch::ID) != nullptr) return nullptr;
    const Address first = payload.get_address();
    const Address last = first + std::min<Address>(std::max(bytes_of(payload), 1U) - 1, ~first);
    const auto found = std::ranges::find_if(
        uncached_, [&](const Uncached& range) { return range.from <= last && first <= range.last; });
    return found == uncached_.end() ? nullptr : &*found;
}

void CacheHierarchy::b_transport(int core_number, Payload& payload, sc_core::sc_time& delay) {
    if (const Uncached* range = uncached_part(payload)) {
        if (!range->holds(payload.get_address(), bytes_of(payload)))
            return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        memory[range->memory]->b_transport(payload, delay);  // may wait: nobody else has to wait for it
        return payload.set_dmi_allowed(false);
    }
    const Visit visit(*this);
    payload.set_dmi_allowed(false);
    ReferenceBatch* batch = nullptr;
    payload.get_extension(batch);
    Tick time = batch != nullptr ? batch->begin : scale_.now() + scale_.ticks(delay);
    for (const auto& port : ports_) port->begin(time, batch != nullptr ? nullptr : &payload);
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    if (batch != nullptr) {
        time = make(static_cast<unsigned>(core_number), *batch);
    } else {
        status = make(static_cast<unsigned>(core_number), payload, time);
    }
    for (const auto& port : ports_) {
        if (status != tlm::TLM_OK_RESPONSE || port->response() == tlm::TLM_OK_RESPONSE) continue;
        status = port->response();
        if (batch != nullptr) payload.set_address(port->failed_address());
    }
    payload.set_response_status(status);
    delay = scale_.time(std::max(time, scale_.now()) - scale_.now());
}

Tick CacheHierarchy::make(unsigned core_number, ReferenceBatch& batch) {
    batch.taken = true;
    if (!batch.blocks.empty()) {
        batch.end = hierarchy_.run_filtered(core_number, batch.blocks, batch.begin);
        return batch.end;
    }
    const auto [done, end] = hierarchy_.run(core_number, batch.references, batch.begin, batch.until);
    batch.done = done;
    batch.end = end;
    return end;
}

/// A generic payload is one reference: `time` is when it begins, then when it is complete.
tlm::tlm_response_status CacheHierarchy::make(unsigned core_number, Payload& payload, Tick& time) {
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_OK_RESPONSE;
    if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
        return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    const unsigned bytes = bytes_of(payload);
    if (bytes == 0 || bytes > std::numeric_limits<std::uint16_t>::max()) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (bytes - 1 > ~Address{0} - payload.get_address()) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const AccessInfo* info = nullptr;
    if (const tlm::tlm_extension_base* extension = payload.get_extension(AccessInfo::ID))
        info = static_cast<const AccessInfo*>(extension);
    Reference reference;
    reference.address = payload.get_address();
    reference.size = static_cast<std::uint16_t>(bytes);
    reference.site = info != nullptr ? info->site : 0;
    reference.kind = payload.is_write()                                  ? ReferenceKind::store
                     : info != nullptr && info->kind == EventKind::fetch ? ReferenceKind::fetch
                                                                         : ReferenceKind::load;
    time = hierarchy_.access(core_number, reference, time);
    if (time >= longest_time) throw std::runtime_error(time_is_over);
    return move_data(core_number, payload, bytes, reference.kind == ReferenceKind::fetch);
}

/// Of nodes, in the memory that each part is at home in.
unsigned CacheHierarchy::debug(unsigned core_number, Payload& payload, Address address, unsigned char* data,
                               unsigned bytes, bool fetch) {
    if (!has_nodes_) return content_[fetch ? 1 : 0]->debug(payload, address, data, bytes);
    unsigned done = 0;
    while (done < bytes) {
        const Address at = address + done, end = hierarchy_.end_of_home(at);
        const unsigned part =
            end > at ? static_cast<unsigned>(std::min<Address>(bytes - done, end - at)) : bytes - done;
        const unsigned moved = ports_[hierarchy_.home(core_number, at)]->debug(payload, at, data + done, part);
        done += moved;
        if (moved != part) break;
    }
    return done;
}

/// The caches hold tags only: data are those of the memory, moved run by run of bytes that are enabled. Nothing but
/// time is asked for where there is no pointer.
tlm::tlm_response_status CacheHierarchy::move_data(unsigned core_number, Payload& payload, unsigned bytes, bool fetch) {
    if (payload.get_data_ptr() == nullptr) return tlm::TLM_OK_RESPONSE;
    if (!same_addresses_) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const unsigned length = payload.get_data_length();
    for (unsigned begin = 0, end = 0; begin < length; begin = end) {
        const unsigned beat_end = std::min(length, begin - begin % bytes + bytes);
        const bool moves = is_enabled(payload, begin);
        for (end = begin + 1; end < beat_end && is_enabled(payload, end) == moves;) ++end;
        unsigned char* const data = payload.get_data_ptr() + begin;
        if (moves &&
            debug(core_number, payload, payload.get_address() + begin % bytes, data, end - begin, fetch) != end - begin)
            return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }
    return tlm::TLM_OK_RESPONSE;
}

unsigned CacheHierarchy::transport_dbg(int core_number, Payload& payload) {
    if (const Uncached* range = uncached_part(payload))
        return range->holds(payload.get_address(), bytes_of(payload)) ? memory[range->memory]->transport_dbg(payload)
                                                                      : 0;
    if (!same_addresses_ || payload.get_command() == tlm::TLM_IGNORE_COMMAND) return 0;
    return debug(static_cast<unsigned>(core_number), payload, payload.get_address(), payload.get_data_ptr(),
                 payload.get_data_length(), false);
}

bool CacheHierarchy::get_direct_mem_ptr(int, Payload&, tlm::tlm_dmi& dmi) {
    dmi.init();  // for no address
    return false;
}

}  // namespace cachetally
