// SPDX-License-Identifier: BSD-3-Clause
// Memory: the end of every chain. A fixed latency and counts.
#pragma once

#include <span>

#include "cachetally/counts.hpp"
#include "cachetally/memory_device.hpp"
#include "sim/model/link/link_timing.hpp"
#include "sim/model/link/request_port.hpp"
#include "sim/model/tags/cache_array.hpp"

namespace cachetally {

class Memory {
public:
    Memory(const MemoryConfig& config, Tick period)
        : latency_(config.latency * period),
          bank_busy_(config.bank_busy * period),
          interleave_bits_(log2_exact(config.interleave)),
          banks_(config.banks, BusyUntil(period)) {}

    /// From now on accesses are counted here and made there (null: here).
    void lead_out(MemoryDevice* device) { device_ = device; }

    /// True when a request takes as long at any time.
    bool timeless() const { return device_ == nullptr ? bank_busy_ == 0 : device_->timeless(); }

    MemoryReply request(Address address, RequestInfo info, Tick time) {
        const EventKind kind = info.kind();
        if (kind == EventKind::store) {
            ++counts_.writes;
        } else if (kind == EventKind::page_walk) {
            ++counts_.page_walks;
        } else {
            ++counts_.reads;
        }
        if (device_ != nullptr) [[unlikely]]
            return device_->request(address, info, time);
        const Tick begun = begin(address, time);
        return {begun + latency_, begun != time};
    }

    /// A write-back or a monitor's record.
    MemoryReply write(Address address, RequestInfo info, Tick time) {
        ++(info.kind() == EventKind::ring_write ? counts_.ring_writes : counts_.writes);
        if (device_ != nullptr) [[unlikely]]
            return device_->write(address, info, time);
        const Tick begun = begin(address, time);
        return {begun, begun != time};
    }

    /// Records of which nobody knows more than how many.
    void write_records(std::uint64_t records) {
        counts_.ring_writes += records;
        if (device_ != nullptr && records != 0) [[unlikely]]
            device_->write_records(records);
    }

    /// A batch of requests and write-backs of a core, where timeless(). Returns for how long somebody waits: nobody
    /// does for stores.
    Tick handle(std::span<const BlockEvent> requests, std::uint8_t core);

    const MemoryCounts& counts() const { return counts_; }

private:
    Tick handle_by_device(std::span<const BlockEvent> requests, std::uint8_t core);

    /// When the bank is free.
    Tick begin(Address address, Tick time) {
        if (bank_busy_ == 0) return time;
        return banks_[address >> interleave_bits_ & (banks_.size() - 1)].take(time, bank_busy_);
    }

    Tick latency_, bank_busy_;
    unsigned interleave_bits_;
    std::vector<BusyUntil> banks_;
    MemoryDevice* device_ = nullptr;
    MemoryCounts counts_;
};

}  // namespace cachetally
