// SPDX-License-Identifier: BSD-3-Clause
// MemoryPort: a memory of a hierarchy that is somebody's TLM target.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <vector>

#include "sim/model/memory.hpp"
#include "sim/tlm/any_width.hpp"
#include "sim/tlm/extensions.hpp"
#include "sim/tlm/time_scale.hpp"

namespace cachetally {

class CacheHierarchy;

/// How long a request to memory takes.
enum class MemoryTiming : std::uint8_t {
    any,    ///< it may depend on when it comes: each is made at its time
    fixed,  ///< always the same: those of one call may be made together, at the time when it begins. Faster with one
            ///< core
};

class MemoryPort final : public MemoryDevice {
public:
    using Socket = any_width::Initiator<tlm_utils::simple_initiator_socket<CacheHierarchy>>;

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
