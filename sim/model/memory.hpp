// Memory: the end of every chain. A fixed latency and counts.
#pragma once

#include "sim/model/counts.hpp"
#include "sim/model/downlink.hpp"
#include "sim/model/posts.hpp"

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
    void write(EventKind kind, std::uint64_t times = 1) {
        (kind == EventKind::ring_write ? counts_.ring_writes : counts_.writes) += times;
    }

    /// Posted requests and write-backs. Returns the time for which somebody waits.
    Tick take(std::span<const Posted> posts) {
        Tick waited = 0;
        for (const Posted& post : posts) {
            const EventKind kind = Cause::from(post.cause).kind();
            if (kind == EventKind::write_back) {
                write(kind);
            } else {
                waited += request(kind, 0).time;
            }
        }
        return waited;
    }

    const MemoryCounts& counts() const { return counts_; }

private:
    Tick latency_;
    MemoryCounts counts_;
};

}  // namespace cachetally
