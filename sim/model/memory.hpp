// Memory: the end of every chain. A fixed latency and counts.
#pragma once

#include "sim/model/counts.hpp"
#include "sim/model/downlink.hpp"

namespace cachetally {

class Memory {
public:
    explicit Memory(Tick latency) : latency_(latency) {}

    Reply request(EventKind kind, Tick time) {
        if (kind == EventKind::store) {
            ++counts_.writes;
        } else if (kind == EventKind::page_walk) {
            ++counts_.page_walks;
        } else {
            ++counts_.reads;
        }
        return {time + latency_, false};
    }

    /// A write-back or a monitor's record.
    void write(EventKind kind) { ++(kind == EventKind::ring_write ? counts_.ring_writes : counts_.writes); }

    const MemoryCounts& counts() const { return counts_; }

private:
    Tick latency_;
    MemoryCounts counts_;
};

}  // namespace cachetally
