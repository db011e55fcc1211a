// SPDX-License-Identifier: BSD-3-Clause
// Downlink: one copy of a link as its upper component sees it: a way down, with its listeners.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/model/link.hpp"
#include "sim/model/posts.hpp"

namespace cachetally {

class Background;
class Cache;
class Coherence;
class Memory;
class Numa;
struct MemoryReply;
struct LinkTiming;

/// What a request is and where it comes from, in one register.
class Cause {
public:
    Cause(std::uint32_t site, EventKind kind, std::uint8_t core)
        : bits_(std::uint64_t{site} << 32 | std::uint64_t{core} << 8 | static_cast<std::uint64_t>(kind)) {}

    static Cause from(std::uint64_t word) { return Cause(word); }
    std::uint64_t word() const { return bits_; }

    EventKind kind() const { return static_cast<EventKind>(bits_ & 0xff); }
    std::uint8_t core() const { return static_cast<std::uint8_t>(bits_ >> 8); }
    std::uint32_t site() const { return static_cast<std::uint32_t>(bits_ >> 32); }

    /// The same origin with another kind.
    Cause as(EventKind other) const {
        Cause cause = *this;
        cause.bits_ = (bits_ & ~(for_store | 0xff)) | static_cast<std::uint64_t>(other);
        return cause;
    }

    /// The load by which a store that misses asks for its line.
    Cause as_load_for_store() const {
        Cause cause = as(EventKind::load);
        cause.bits_ |= for_store;
        return cause;
    }
    bool is_for_store() const { return (bits_ & for_store) != 0; }

private:
    explicit Cause(std::uint64_t bits) : bits_(bits) {}

    static constexpr std::uint64_t for_store = 1 << 16;

    std::uint64_t bits_;
};

struct Reply {
    Tick time = 0;       ///< when the answer is there
    bool dirty = false;  ///< the line moves up and is dirty (exclusive levels)
};

class Downlink {
public:
    Downlink();
    ~Downlink();
    Downlink(const Downlink&) = delete;
    Downlink& operator=(const Downlink&) = delete;

    void lead_to(Cache& cache) { cache_ = &cache; }
    void lead_to(Memory& memory) { memory_ = &memory; }
    void lead_past_caches_to(Memory& memory) { memory_below_ = &memory; }

    /// A place in a machine whose memories belong to nodes.
    struct Node {
        Numa* numa = nullptr;  ///< null: there are no nodes
        unsigned number = 0;
        std::uint32_t line = 0;  ///< bytes of an answer or a victim
    };

    /// What goes past caches goes by the way of this node, and so does all where neither cache nor memory is below.
    /// Nothing may be posted then.
    void belong_to(Node node, Memory& memory);

    /// From now on the way takes time of its own. Nothing may be posted then.
    void take_time(std::unique_ptr<LinkTiming> timing);
    const LinkTiming* timing() const { return timing_.get(); }
    Cache* cache() const { return cache_; }

    /// From now on requests are those of a node at the point of coherence. Nothing may be posted then.
    void ask(Coherence& coherence, unsigned node);

    /// True where the component below takes clean victims (exclusive and victim levels).
    bool takes_clean_victims() const { return takes_clean_victims_; }
    void take_clean_victims() { takes_clean_victims_ = true; }

    /// `pending`, where given, is set to true by whatever the listener sends.
    void listen(LinkListener& listener, bool* pending);
    bool wants(EventKind kind) const { return (kinds_ & bit(kind)) != 0; }
    std::uint32_t kinds() const { return kinds_; }
    /// Whether events may be merged for all listeners; `timed`: as LinkListener::sends() says.
    bool merges(std::uint32_t line_bytes, bool timed) const;

    void notify(const LinkEvent& event) {
        if (wants(event.kind)) tell(event);
    }
    void notify(Address address, Cause cause, Tick time) {
        if (wants(cause.kind())) tell({address, 1, cause.site(), cause.kind(), cause.core(), time});
    }

    /// Many events of a core, of `kinds`, where all listeners accept merged ones.
    void tell(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core);
    void tell_now(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core);

    /// Many loads and stores, sieved; and the first line of a reference that straddles lines, which is told as others.
    void tell_sieved(const SievedBlocks& blocks, std::uint8_t core);
    void tell_sieved_now(const SievedBlocks& blocks, std::uint8_t core);
    void follow_sieved(BlockEvent straddling);
    void follow_sieved_now(BlockEvent straddling);

    /// From now on listeners are told by `background` (null: at once). Where all of them accept merged events.
    void tell_by(Background* background) { background_ = background; }

    /// A demand request, walk or prefetch for the byte or line at a physical address.
    Reply request(Address address, Cause cause, Tick time);  // inline in cache.hpp

    /// A dirty or clean victim, or a monitor's record. Returns when it has left the component above: nothing waits for
    /// more.
    Tick send(Address address, Cause cause, Tick time);

    /// A store that is passed on. Returns as send().
    Tick pass_on(Address address, Cause cause, Tick time);

    /// From now on keeps requests and victims back until deliver(), or no longer. For requests whose reply matters to
    /// nobody but for its time: what is below is the same as if each had been made at once, since all links keep their
    /// order.
    void post(bool on) { posting_ = on; }
    bool posting() const { return posting_; }
    Posts& posts() { return posts_; }

    /// Hands what was posted here to the component below, and on down. Returns the time for which somebody waits.
    Tick deliver();

    /// The same with posts of this link that were taken away.
    Tick deliver(std::span<const Posted> posts);

    /// Tells the listeners of a control of the program.
    void control(const Control& control, Tick time);

    /// Carries out what the listeners sent back; returns the time that the core loses.
    Tick inject(std::uint8_t core, Tick time);

private:
    struct Listening {
        LinkListener* listener;
        std::uint32_t kinds;
        std::unique_ptr<Injector> injector;
        bool takes_sieved;
    };

    Reply request_in_steps(Address address, Cause cause, Tick time);
    Reply request_in_time(Address address, Cause cause, Tick time);
    Reply ask_below(Address address, Cause cause, Tick time);
    Reply ask_memory(Address address, Cause cause, Tick time);
    MemoryReply give_below(Address address, Cause cause, Tick time);
    void send_record(const Injector::Write& write, Cause cause, Tick time);
    void write_past_caches(const Injector::Write& write, Cause cause, Tick time);
    void tell(const LinkEvent& event);
    void tell_of(std::span<const Posted> posts);
    void tell_blocks(const Listening& listening, std::span<const BlockEvent> events, std::uint32_t kinds,
                     std::uint8_t core);

    Cache* cache_ = nullptr;
    Memory* memory_ = nullptr;
    Background* background_ = nullptr;
    Memory* memory_below_ = nullptr;  ///< where records that bypass caches go
    std::unique_ptr<LinkTiming> timing_;
    Node numa_;
    Coherence* coherence_ = nullptr;
    unsigned node_ = 0;
    std::uint32_t kinds_ = 0;
    bool takes_clean_victims_ = false, posting_ = false;
    bool in_steps_ = false;  ///< requests wait on their way, ask other nodes, look for homes, or may tell of conflicts
    Posts posts_;
    std::vector<Listening> listeners_;
    SlotLines slot_lines_;                                ///< for those that do not take sieved events
    std::vector<BlockEvent> posted_, wanted_, expanded_;  ///< what tell() is given and gives; kept to save allocations
};

/// What listeners on all links of a hierarchy sent back.
class Injections {
public:
    Injections() = default;
    Injections(const Injections&) = delete;  // injectors know where it is
    Injections& operator=(const Injections&) = delete;

    void listen(Downlink& link, LinkListener& listener);
    const std::vector<Downlink*>& links() const { return links_; }  ///< those that have listeners

    bool pending() const { return pending_; }

    /// Carries out what was sent; returns the time that the core loses. What this makes others send is pending then.
    Tick carry_out(unsigned core, Tick time);

private:
    std::vector<Downlink*> links_;
    bool pending_ = false;
};

}  // namespace cachetally
