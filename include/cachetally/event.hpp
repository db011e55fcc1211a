// SPDX-License-Identifier: BSD-3-Clause
// What happens on links, as listeners are notified of it.
#pragma once

#include <cstdint>

#include "cachetally/types.hpp"

namespace cachetally {

/// What happens on a link. The first group are requests, which go down; the others are consequences.
enum class EventKind : std::uint8_t {
    load,           ///< demand read; a store that misses asks the next level for its line with a load
    store,          ///< demand write (from the core, or passed on by a write-through or no-write-allocate level)
    fetch,          ///< instruction fetch
    page_walk,      ///< read of a page table entry
    prefetch,       ///< read issued by a prefetcher
    ring_write,     ///< a monitor's record on its way to memory
    write_back,     ///< a dirty victim
    clean_victim,   ///< a clean victim handed to an exclusive or victim level
    fill,           ///< a line came up over this link
    invalidate,     ///< a line above was invalidated by an inclusive level below
    flush,          ///< a line was cleaned or removed on request
    coherence,      ///< a state transition of the coherence protocol
    bank_conflict,  ///< an access to memory found its bank busy
    eviction,       ///< a victim, clean or dirty, left the cache above; monitors do not count it
};
inline constexpr unsigned event_kind_count = 13;  ///< that monitors count: all but evictions

constexpr std::uint32_t bit(EventKind kind) { return 1U << static_cast<unsigned>(kind); }

/// Names as in machine files, monitor specifications and result files: "load", "write_back", ...
const char* to_string(EventKind kind);

/// `count` equal events on a link.
struct LinkEvent {
    Address address = 0;  ///< physical; of the reference on links of a core, of the line below
    std::uint32_t count = 1;
    std::uint32_t site = 0;  ///< program site of the reference that caused it, 0 = unknown
    EventKind kind = EventKind::load;
    std::uint8_t core = 0;
    Tick time = 0;   ///< when the (first) event is on the link
    Address by = 0;  ///< of an eviction: the line that takes the victim's place
};

/// A request or victim of which only the block and the kind matter.
class BlockEvent {
public:
    /// Blocks are aligned to this at least, and kinds of requests and victims are less than it.
    static constexpr Address alignment = 8;

    BlockEvent() = default;  ///< of no value: buffers of many are made for every call
    BlockEvent(Address block, EventKind kind) : bits_(block | static_cast<Address>(kind)) {}

    static BlockEvent of_bits(Address bits) {
        BlockEvent event;
        event.bits_ = bits;
        return event;
    }

    Address block() const { return bits_ & ~(alignment - 1); }
    EventKind kind() const { return static_cast<EventKind>(bits_ & (alignment - 1)); }
    /// Both: events of one block and kind, and only these, have the same bits.
    Address bits() const { return bits_; }

    /// The same where a page lies in physical memory.
    BlockEvent moved_by(Address offset) const {
        BlockEvent moved = *this;
        moved.bits_ += offset;
        return moved;
    }

private:
    Address bits_;
};

/// What a request is and where it comes from, in one register.
class RequestInfo {
public:
    RequestInfo(std::uint32_t site, EventKind kind, std::uint8_t core)
        : bits_(std::uint64_t{site} << 32 | std::uint64_t{core} << 8 | static_cast<std::uint64_t>(kind)) {}

    EventKind kind() const { return static_cast<EventKind>(bits_ & 0xff); }
    std::uint8_t core() const { return static_cast<std::uint8_t>(bits_ >> 8); }
    std::uint32_t site() const { return static_cast<std::uint32_t>(bits_ >> 32); }

    /// The same origin with another kind.
    RequestInfo as(EventKind other) const {
        RequestInfo info = *this;
        info.bits_ = (bits_ & ~(for_store | 0xff)) | static_cast<std::uint64_t>(other);
        return info;
    }

    /// The load by which a store that misses asks for its line.
    RequestInfo as_load_for_store() const {
        RequestInfo info = as(EventKind::load);
        info.bits_ |= for_store;
        return info;
    }
    bool is_for_store() const { return (bits_ & for_store) != 0; }

private:
    static constexpr std::uint64_t for_store = 1 << 16;

    std::uint64_t bits_;
};

}  // namespace cachetally
