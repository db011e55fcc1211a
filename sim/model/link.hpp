// Links between components and the one small interface by which monitors and other listeners watch them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/model/reference_source.hpp"
#include "sim/model/types.hpp"

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
    invalidate,     ///< a line was taken away from above by an inclusive level below
    flush,          ///< a line was cleaned or removed on request
    coherence,      ///< a state transition of the coherence protocol
    bank_conflict,  ///< a request waited for a busy memory bank
};
inline constexpr unsigned event_kind_count = 13;

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
    Tick time = 0;  ///< when the (first) event is on the link
};

/// What a listener sends back: writes into the watched hierarchy, and time that the watched core loses. There is one
/// per copy of a link; the hierarchy carries out what it holds when the reference that caused it is complete.
class Injector {
public:
    struct Write {
        Address address = 0;  ///< physical
        std::uint32_t bytes = 0;
        bool bypass = false;  ///< straight to memory, past all caches; else into the component below the link
    };

    /// `pending`, where given, is set to true by whatever is sent.
    explicit Injector(bool* pending = nullptr) : pending_(pending) {}

    void write(Write write) {
        sent_.writes.push_back(write);
        announce();
    }
    /// So many records that bypass caches, of which nobody needs to know more.
    void write_past(std::uint64_t records) {
        sent_.past += records;
        announce();
    }
    void stall(Tick duration) {
        sent_.stall += duration;
        announce();
    }

    bool empty() const { return sent_.writes.empty() && sent_.past == 0 && sent_.stall == 0; }
    const std::vector<Write>& writes() const { return sent_.writes; }
    Tick stall() const { return sent_.stall; }

    struct Sent {
        std::vector<Write> writes;
        std::uint64_t past = 0;  ///< records by write_past()
        Tick stall = 0;
    };

    /// Hands over what was sent and forgets it.
    Sent take() { return std::exchange(sent_, {}); }

private:
    void announce() {
        if (pending_ != nullptr) *pending_ = true;
    }

    Sent sent_;
    bool* pending_;
};

/// Watches one link. Monitors, exact histograms and trackers implement it.
class LinkListener {
public:
    virtual ~LinkListener() = default;

    /// The kinds of events it wants, or-ed bit(EventKind); others are not delivered. Asked once, when attached.
    virtual std::uint32_t kinds() const = 0;

    /// True when consecutive events within one aligned block of `line_bytes` may be merged into one call per kind with
    /// count = n, at the address and time of the first: it does not tell addresses within the block apart, does not
    /// look at the time, and sends nothing into caches. Asked once, when attached.
    virtual bool accepts_merged(std::uint32_t line_bytes) const = 0;

    virtual void on_event(const LinkEvent& event, Injector& injector) = 0;

    /// Events in order, where accepts_merged(): as on_event() for each, but that times say less, and that records which
    /// go past all caches may be sent as a number.
    virtual void on_events(std::span<const LinkEvent> events, Injector& injector) {
        for (const LinkEvent& event : events) on_event(event, injector);
    }

    /// A control of the program at `time`: a barrier once for all cores; functions only from the cores behind the link.
    virtual void on_control(const Control& control, Tick time, Injector& injector) = 0;
};

}  // namespace cachetally
