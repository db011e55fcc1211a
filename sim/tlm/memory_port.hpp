// SPDX-License-Identifier: BSD-3-Clause
// MemoryPort: a memory of a hierarchy that is somebody's TLM target.
#pragma once

#include <vector>

#include "cachetally/cache_hierarchy.hpp"
#include "cachetally/memory_device.hpp"
#include "cachetally/time_scale.hpp"

namespace cachetally {

class MemoryPort final : public MemoryDevice {
public:
    using Socket = CacheHierarchy::MemorySocket;

    /// `bytes`: of a transaction, the line of the caches above.
    MemoryPort(Socket& socket, MemoryTiming timing, std::uint32_t bytes);
    MemoryPort(const MemoryPort&) = delete;
    MemoryPort& operator=(const MemoryPort&) = delete;
    ~MemoryPort() override;

    MemoryReply request(Address address, RequestInfo info, Tick time) override;
    MemoryReply write(Address address, RequestInfo info, Tick time) override;
    void write_records(std::uint64_t records) override;
    bool timeless() const override { return timing_ == MemoryTiming::fixed; }

    /// An access from above begins: what comes of it until end() is not earlier, whatever the hierarchy says, and
    /// carries the extensions of its payload (none: nullptr).
    void begin(Tick time, tlm::tlm_generic_payload* payload);

    /// It is over. What comes now, as at a barrier, has a time of its own, which may be earlier: that of another core.
    void end();

    /// TLM_OK_RESPONSE, or the first failure since begin(), and where it was.
    tlm::tlm_response_status response() const { return response_; }
    Address failed_address() const { return failed_address_; }

    /// The memory's content, without time; bytes that were read or written. Command and extensions are those of `like`.
    unsigned debug(tlm::tlm_generic_payload& like, Address address, unsigned char* data, unsigned bytes);

private:
    MemoryReply send(tlm::tlm_command command, Address address, RequestInfo info, Tick time);
    void keep_content(Address address);

    Socket& socket_;
    MemoryTiming timing_;
    TimeScale scale_;
    std::vector<unsigned char> data_, disabled_;
    AccessInfo info_;
    tlm::tlm_generic_payload payload_, debug_payload_;
    tlm::tlm_generic_payload* from_ = nullptr;  ///< whose access it is
    Tick begin_ = 0;
    tlm::tlm_response_status response_ = tlm::TLM_OK_RESPONSE;
    Address failed_address_ = 0;
};

}  // namespace cachetally
