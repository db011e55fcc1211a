// SPDX-License-Identifier: BSD-3-Clause
// Names of event kinds; events of blocks one by one.
#include "cachetally/listener.hpp"

namespace cachetally {

const char* to_string(EventKind kind) {
    static constexpr const char* names[event_kind_count + 1] = {
        "load",         "store", "fetch",      "page_walk", "prefetch",  "ring_write",    "write_back",
        "clean_victim", "fill",  "invalidate", "flush",     "coherence", "bank_conflict", "eviction",
    };
    return names[static_cast<unsigned>(kind)];
}

void in_runs(LinkListener& listener, std::span<const BlockEvent> events, std::uint8_t core, Injector& injector) {
    for (std::size_t i = 0; i < events.size();) {
        std::uint32_t count = 1;
        while (i + count < events.size() && events[i + count].bits() == events[i].bits()) ++count;
        listener.on_event({events[i].block(), count, 0, events[i].kind(), core, 0}, injector);
        i += count;
    }
}

}  // namespace cachetally
