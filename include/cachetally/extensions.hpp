// SPDX-License-Identifier: BSD-3-Clause
// What payloads carry besides the generic ones: who makes an access and why, and many references at once.
#pragma once

#include <span>
#include <tlm>

#include "cachetally/hierarchy.hpp"

namespace cachetally {

/// Of a single access. At a core's socket it is optional and says that a read is a fetch; on payloads to memory it is
/// always there.
struct AccessInfo final : tlm::tlm_extension<AccessInfo> {
    EventKind kind = EventKind::load;  ///< at a core's socket: load, store or fetch; to memory: any request or victim
    std::uint8_t core = 0;             ///< that caused it; of the socket where it comes from a core
    std::uint32_t site = 0;            ///< program site of the reference that caused it, 0 = unknown
    Tick time = 0;                     ///< to memory: picoseconds, when it begins; exact also where SystemC is later
    std::uint64_t records = 0;         ///< to memory, with TLM_IGNORE_COMMAND: so many ring writes without address
    bool conflict = false;             ///< from memory: the access found its bank busy

    tlm_extension_base* clone() const override { return new AccessInfo(*this); }
    void copy_from(const tlm_extension_base& other) override { *this = static_cast<const AccessInfo&>(other); }
};

/// One core's references, handed over in one call of b_transport with TLM_IGNORE_COMMAND: a quantum's worth. What they
/// refer to must stay until the call returns.
struct ReferenceBatch final : tlm::tlm_extension<ReferenceBatch> {
    // from the initiator
    std::span<const Reference> references = {};  ///< made in order, each when the one before is complete
    std::span<const FilteredBlock> blocks = {};  ///< instead of them, as Hierarchy::run_filtered() takes them
    Tick begin = 0;  ///< picoseconds, when the first begins: a core may be behind SystemC's time after a barrier
    Tick until = 0;  ///< picoseconds; none begins then or later
    // from the target
    bool taken = false;    ///< the target knows this extension
    std::size_t done = 0;  ///< references that were made
    Tick end = 0;          ///< picoseconds, when the last of them was complete

    tlm_extension_base* clone() const override { return new ReferenceBatch(*this); }
    void copy_from(const tlm_extension_base& other) override { *this = static_cast<const ReferenceBatch&>(other); }
};

}  // namespace cachetally
