// SPDX-License-Identifier: BSD-3-Clause
// MemoryDevice: a memory of somebody else's below a hierarchy.
#pragma once

#include "cachetally/event.hpp"

namespace cachetally {

/// Of an access to memory.
struct MemoryReply {
    Tick time = 0;          ///< when a request is complete; nobody waits for writes
    bool conflict = false;  ///< it found its bank busy
};

/// What stands in for a memory's own timing, where memory is somebody else's (the SystemC host's platform).
class MemoryDevice {
public:
    virtual ~MemoryDevice() = default;

    /// A read or write at a physical address.
    virtual MemoryReply request(Address address, RequestInfo info, Tick time) = 0;

    /// A write-back or a monitor's record.
    virtual MemoryReply write(Address address, RequestInfo info, Tick time) = 0;

    /// Records of which only the number is known: where timeless(), and listeners send them so.
    virtual void write_records(std::uint64_t records) = 0;

    /// True when a request takes as long at any time. Then times may be 0, and what request() returns the length.
    virtual bool timeless() const = 0;
};

}  // namespace cachetally
