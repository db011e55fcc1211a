// SPDX-License-Identifier: BSD-3-Clause
// CacheHierarchy: a machine's caches and TLBs as one SystemC module with TLM-2.0 sockets at its edge. docs/systemc.md
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cachetally/any_width.hpp"
#include "cachetally/extensions.hpp"
#include "cachetally/hierarchy.hpp"
#include "cachetally/time_scale.hpp"

namespace cachetally {

class MemoryPort;

/// How long a request to memory takes.
enum class MemoryTiming : std::uint8_t {
    any,    ///< it may depend on when it comes: each is made at its time
    fixed,  ///< always the same: those of one call may be made together, at the time when it begins. Faster with one
            ///< core
};

/// Inside is a Hierarchy, whose links are plain calls: what is hit and how long it takes is decided there.
class CacheHierarchy final : public sc_core::sc_module {
public:
    /// One per core, in the order of their numbers; those of idle cores need not be bound. Blocking transport (others
    /// are made to it), loosely timed. A read or write is one reference by virtual address; see also AccessInfo and
    /// ReferenceBatch. DMI is denied: it would hide references. Sockets bind to sockets of any bus width.
    using CoreSocket = any_width::Target<tlm_utils::simple_target_socket_tagged_optional<CacheHierarchy>>;
    sc_core::sc_vector<CoreSocket> core;

    /// One per memory of the machine, in the order of its description. What misses all caches goes out here, with
    /// AccessInfo.
    using MemorySocket = any_width::Initiator<tlm_utils::simple_initiator_socket<CacheHierarchy>>;
    sc_core::sc_vector<MemorySocket> memory;

    CacheHierarchy(const sc_core::sc_module_name& name, const Topology& topology,
                   MemoryTiming timing = MemoryTiming::any);

    /// Around a hierarchy made of the same topology, whose memories lead out of this module as long as it lives.
    CacheHierarchy(const sc_core::sc_module_name& name, const Topology& topology, Hierarchy& hierarchy,
                   MemoryTiming timing = MemoryTiming::any);
    ~CacheHierarchy() override;

    /// Addresses [from, to) that are not cached, such as those of devices: a core's payload for them goes out by
    /// `memory` (if not given, that of data) as it is, and is no reference. Throws std::invalid_argument where the
    /// range is empty or overlaps another, or there is no such memory.
    void pass_through(Address from, Address to, std::optional<std::size_t> memory_number = {});

    /// For listeners (before the first access), counts and virtual addresses.
    Hierarchy& hierarchy() { return hierarchy_; }

private:
    class Visit;
    using Payload = tlm::tlm_generic_payload;

    struct Uncached {
        Address from, last;
        std::size_t memory;
        bool holds(Address address, unsigned bytes) const {
            return from <= address && address <= last && (bytes == 0 || bytes - 1 <= last - address);
        }
    };

    CacheHierarchy(const sc_core::sc_module_name& name, const Topology& topology, std::unique_ptr<Hierarchy> own,
                   Hierarchy* other, MemoryTiming timing);

    void b_transport(int core_number, Payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(int core_number, Payload& payload);
    bool get_direct_mem_ptr(int core_number, Payload& payload, tlm::tlm_dmi& dmi);

    const Uncached* uncached_part(const Payload& payload) const;
    Tick make(unsigned core_number, ReferenceBatch& batch);
    tlm::tlm_response_status make(unsigned core_number, Payload& payload, Tick& time);
    unsigned debug(unsigned core_number, Payload& payload, Address address, unsigned char* data, unsigned bytes,
                   bool fetch);
    tlm::tlm_response_status move_data(unsigned core_number, Payload& payload, unsigned bytes, bool fetch);

    std::unique_ptr<Hierarchy> own_;
    Hierarchy& hierarchy_;
    bool same_addresses_;  ///< virtual and physical ones
    bool has_nodes_;       ///< with memories of their own
    TimeScale scale_;
    std::vector<std::unique_ptr<MemoryPort>> ports_;
    std::vector<Uncached> uncached_;
    std::array<MemoryPort*, 2> content_{};  ///< where data and instructions are, where there are no nodes
    bool busy_ = false;                     ///< somebody is inside
    sc_core::sc_event free_;
};

}  // namespace cachetally
