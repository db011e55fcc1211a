// Downlink: one copy of a link as its upper component sees it: a way down, with its listeners.
#pragma once

#include <memory>
#include <vector>

#include "sim/model/link.hpp"

namespace cachetally {

class Cache;
class Memory;

/// A request on its way down.
struct Request {
    Address address = 0;  ///< physical, of the byte or line asked for
    Address where = 0;    ///< the address that chooses the set: virtual at virtually indexed caches, else physical
    std::uint32_t site = 0;
    EventKind kind = EventKind::load;
    std::uint8_t core = 0;
    Tick time = 0;  ///< when it is on the link
};

struct Reply {
    Tick time = 0;       ///< when the answer is there
    bool dirty = false;  ///< the line moves up and is dirty (exclusive levels)
    bool hit = false;    ///< the component asked had it
};

class Downlink {
public:
    Downlink() = default;
    Downlink(const Downlink&) = delete;
    Downlink& operator=(const Downlink&) = delete;

    void lead_to(Cache& cache) { cache_ = &cache; }
    void lead_to(Memory& memory) { memory_ = &memory; }
    void lead_past_caches_to(Memory& memory) { memory_below_ = &memory; }
    Cache* cache() const { return cache_; }

    /// True where the component below takes clean victims (exclusive and victim levels).
    bool takes_clean_victims() const { return takes_clean_victims_; }
    void take_clean_victims() { takes_clean_victims_ = true; }

    void listen(LinkListener& listener, bool* pending);
    bool wants(EventKind kind) const { return (kinds_ & bit(kind)) != 0; }
    std::uint32_t kinds() const { return kinds_; }
    bool merges(std::uint32_t line_bytes) const;

    void notify(const LinkEvent& event) {
        if (wants(event.kind)) tell(event);
    }

    /// A demand request, walk or prefetch.
    Reply request(const Request& request) {
        if (wants(request.kind)) tell(event_of(request));
        return deliver(request);
    }

    /// A dirty or clean victim, or a monitor's record. Nothing waits for it.
    void send(const Request& request) {
        if (wants(request.kind)) tell(event_of(request));
        deliver_victim(request);
    }

    /// Tells the listeners of a control of the program.
    void control(const Control& control, Tick time);

    /// Carries out what the listeners sent back; returns the time that the core loses.
    Tick inject(std::uint8_t core, Tick time);

private:
    struct Listening {
        LinkListener* listener;
        std::uint32_t kinds;
        std::unique_ptr<Injector> injector;
    };

    static LinkEvent event_of(const Request& request) {
        return {request.address, 1, request.site, request.kind, request.core, request.time};
    }
    void tell(const LinkEvent& event);
    Reply deliver(const Request& request);
    void deliver_victim(const Request& request);

    Cache* cache_ = nullptr;
    Memory* memory_ = nullptr;
    Memory* memory_below_ = nullptr;  ///< where records that bypass caches go
    std::uint32_t kinds_ = 0;
    bool takes_clean_victims_ = false;
    std::vector<Listening> listeners_;
};

}  // namespace cachetally
