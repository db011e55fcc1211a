// Names of event kinds.
#include "sim/model/link.hpp"

namespace cachetally {

const char* to_string(EventKind kind) {
    static constexpr const char* names[event_kind_count] = {
        "load",         "store", "fetch",      "page_walk", "prefetch",  "ring_write",    "write_back",
        "clean_victim", "fill",  "invalidate", "flush",     "coherence", "bank_conflict",
    };
    return names[static_cast<unsigned>(kind)];
}

}  // namespace cachetally
