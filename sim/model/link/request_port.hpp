// SPDX-License-Identifier: BSD-3-Clause
// RequestPort: one copy of a link as its upper component sees it: a way down, with its listeners.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cachetally/listener.hpp"
#include "sim/model/batching/redundancy_filter.hpp"
#include "sim/model/batching/request_batch.hpp"

namespace cachetally {

class Background;
class Cache;
class Coherence;
class Memory;
class Numa;
struct MemoryReply;
struct LinkTiming;

struct Reply {
    Tick time = 0;       ///< when the answer is there
    bool dirty = false;  ///< the line moves up and is dirty (exclusive levels)
};

/// Of events, or-ed bit(EventKind).
std::uint32_t kinds_of(std::span<const BlockEvent> events);

class RequestPort {
public:
    /// Reference::site of many events.
    using Sites = std::span<const std::uint32_t>;

    RequestPort();
    ~RequestPort();
    RequestPort(const RequestPort&) = delete;
    RequestPort& operator=(const RequestPort&) = delete;

    void connect(Cache& cache) { cache_ = &cache; }
    void connect(Memory& memory) { memory_ = &memory; }
    void connect_bypass(Memory& memory) { memory_below_ = &memory; }

    /// A place in a machine whose memories belong to nodes.
    struct Node {
        Numa* numa = nullptr;  ///< null: there are no nodes
        unsigned number = 0;
        std::uint32_t line = 0;  ///< bytes of an answer or a victim
    };

    /// What goes past caches goes by the way of this node, and so does all where neither cache nor memory is below.
    /// Nothing may be batched then.
    void belong_to(Node node, Memory& memory);

    /// From now on the way takes time of its own. Nothing may be batched then.
    void take_time(std::unique_ptr<LinkTiming> timing);
    const LinkTiming* timing() const { return timing_.get(); }
    Cache* cache() const { return cache_; }
    Memory* memory() const { return memory_; }

    /// From now on requests are those of a node at the point of coherence. Nothing may be batched then.
    void ask(Coherence& coherence, unsigned node);

    /// True where the component below takes clean victims (exclusive and victim levels).
    bool takes_clean_victims() const { return takes_clean_victims_; }
    void take_clean_victims() { takes_clean_victims_ = true; }

    /// `pending`, where given, is set to true by whatever the listener sends.
    void listen(LinkListener& listener, bool* pending);
    bool wants(EventKind kind) const { return (kinds_ & bit(kind)) != 0; }
    std::uint32_t kinds() const { return kinds_; }
    /// From now on this is the port of a cache, each of whose batched requests is answered by a fill.
    void bring_fills() { brings_fills_ = true; }
    /// Whether somebody wants fills and other events, so that their order matters: not to be batched.
    bool fills_are_ordered() const;
    /// Whether events may be merged for all listeners; `timed`: as BatchListener::sends() says.
    bool merges(std::uint32_t line_bytes, bool timed) const;
    /// Whether all listeners that do not merge accept events at any time: in batches, each with its site.
    bool merges_or_is_untimed(std::uint32_t line_bytes, bool timed) const;
    /// To be called with the same when all listeners are attached.
    void prepare(std::uint32_t line_bytes, bool timed);

    void notify(const LinkEvent& event) {
        if (wants(event.kind)) notify_listeners(event);
    }
    void notify(Address address, RequestInfo info, Tick time) {
        if (wants(info.kind())) notify_listeners({address, 1, info.site(), info.kind(), info.core(), time});
    }

    /// Many events of a core, of `kinds`. `sites`: of each; none where all listeners accept merged events.
    void notify(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core, Sites sites = {});
    void notify_now(std::span<const BlockEvent> events, std::uint32_t kinds, std::uint8_t core, Sites sites = {});

    /// The same of events of any kind.
    void notify_all(std::span<const BlockEvent> events, std::uint8_t core, Sites sites = {}) {
        if (kinds_ != 0 && !events.empty()) notify(events, kinds_of(events), core, sites);
    }

    /// Many loads, stores and fetches, filtered.
    void notify_filtered(const FilteredEvents& events, std::uint8_t core);
    void notify_filtered_now(const FilteredEvents& events, std::uint8_t core);

    /// From now on listeners are notified by `background` (null: at once).
    void notify_through(Background* background) { background_ = background; }

    /// A demand request, walk or prefetch for the byte or line at a physical address.
    Reply request(Address address, RequestInfo info, Tick time);  // inline in cache.hpp

    /// A dirty or clean victim, or a monitor's record. Returns when it has left the component above: nothing waits for
    /// more.
    Tick send(Address address, RequestInfo info, Tick time);

    /// A store that is passed on. Returns as send().
    Tick pass_on(Address address, RequestInfo info, Tick time);

    /// From now on keeps the requests and victims of a core back until flush(). For those whose reply matters to nobody
    /// but for its time: what is below is the same as if each had been made at once, since all ports keep their order.
    void start_batching(std::uint8_t core) {
        batching_ = true;
        batch_core_ = core;
    }
    void stop_batching() { batching_ = false; }
    bool batching() const { return batching_; }
    RequestBatch& batch() { return batch_; }
    const RequestBatch& batch() const { return batch_; }
    /// Of the requests of the batch; none where nobody asks.
    std::vector<std::uint32_t>& batch_sites() { return batch_sites_; }
    void clear_batch() {
        batch_.clear();
        batch_sites_.clear();
    }

    /// Hands what was kept back to the component below, and on down. Returns for how long somebody waits.
    Tick flush();

    /// The same with requests of this port that were taken out.
    Tick flush(std::span<const BlockEvent> requests, Sites sites = {});

    /// Notifies the listeners of a control of the program.
    void control(const Control& control, Tick time);

    /// Carries out what the listeners sent back; returns the time that the core loses.
    Tick inject(std::uint8_t core, Tick time);

private:
    struct Listening {
        LinkListener* listener;
        BatchListener* batch;  ///< the same, if it is one
        std::uint32_t kinds;
        std::unique_ptr<Injector> injector;
        bool takes_filtered;
        bool wants_each = false;  ///< with its site
        bool merges(std::uint32_t line_bytes, bool timed) const;
    };

    Reply request_in_steps(Address address, RequestInfo info, Tick time);
    Reply request_in_time(Address address, RequestInfo info, Tick time);
    Reply ask_below(Address address, RequestInfo info, Tick time);
    Reply ask_memory(Address address, RequestInfo info, Tick time);
    MemoryReply give_below(Address address, RequestInfo info, Tick time);
    void send_record(const Injector::Write& write, RequestInfo info, Tick time);
    void write_past_caches(const Injector::Write& write, RequestInfo info, Tick time);
    void notify_listeners(const LinkEvent& event);
    void notify_each(const Listening& listening, std::span<const BlockEvent> events, std::uint8_t core,
                     Sites sites) const;
    static void notify_fills(const Listening& listening, std::span<const BlockEvent> requests, std::uint8_t core);
    void notify_blocks(const Listening& listening, std::span<const BlockEvent> events, std::uint32_t kinds,
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
    bool takes_clean_victims_ = false, batching_ = false;
    std::uint8_t batch_core_ = 0;
    bool brings_fills_ = false;
    bool in_steps_ = false;  ///< requests wait on their way, ask other nodes, look for homes, or may report conflicts
    RequestBatch batch_;
    std::vector<std::uint32_t> batch_sites_;
    std::vector<Listening> listeners_;
    SlotLines slot_lines_;                       ///< for those that do not take filtered events
    std::vector<BlockEvent> wanted_, expanded_;  ///< what notify() is given and gives; kept to save allocations
};

/// What listeners on all links of a hierarchy sent back.
class Injections {
public:
    Injections() = default;
    Injections(const Injections&) = delete;  // injectors know where it is
    Injections& operator=(const Injections&) = delete;

    void listen(RequestPort& link, LinkListener& listener);
    const std::vector<RequestPort*>& links() const { return links_; }  ///< those that have listeners

    bool pending() const { return pending_; }

    /// Carries out what was sent; returns the time that the core loses. What this makes others send is pending then.
    Tick carry_out(unsigned core, Tick time);

private:
    std::vector<RequestPort*> links_;
    bool pending_ = false;
};

}  // namespace cachetally
