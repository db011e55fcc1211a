// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/memory/memory.hpp"

#include "sim/model/batching/mark_counts.hpp"

namespace cachetally {

Tick Memory::handle(std::span<const BlockEvent> requests, std::uint8_t core) {
    if (device_ != nullptr) return handle_by_device(requests, core);
    Tick waited = 0;
    for (; !requests.empty(); requests = requests.subspan(std::min(requests.size(), KindLanes::most))) {
        const auto some = requests.first(std::min(requests.size(), KindLanes::most));
        const KindLanes counted = count_kinds(some);
        const auto of = [&](EventKind kind) { return counted.of(static_cast<unsigned>(kind)); };
        const std::uint64_t writes = of(EventKind::store) + of(EventKind::write_back), walks = of(EventKind::page_walk);
        const std::uint64_t reads = some.size() - writes - walks;
        counts_.reads += reads;
        counts_.page_walks += walks;
        counts_.writes += writes;
        waited += (reads + walks) * latency_;
    }
    return waited;
}

Tick Memory::handle_by_device(std::span<const BlockEvent> requests, std::uint8_t core) {
    Tick waited = 0;
    for (const BlockEvent each : requests) {
        const RequestInfo info(0, each.kind(), core);
        if (each.kind() == EventKind::write_back) {
            write(each.block(), info, 0);
        } else {
            const Tick time = request(each.block(), info, 0).time;
            if (each.kind() != EventKind::store) waited += time;
        }
    }
    return waited;
}

}  // namespace cachetally
