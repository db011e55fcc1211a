// SPDX-License-Identifier: BSD-3-Clause
// The components of the reference simulator: caches, memories, TLBs and walks of all cores, and what they counted.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "tests/differential/reference_simulator.hpp"
#include "tests/differential/slow_pages.hpp"
#include "tests/differential/slow_prefetcher.hpp"
#include "tests/differential/slow_set.hpp"

namespace cachetally::differential {

/// What travels down: the kind, and whose doing it is.
struct Request {
    EventKind kind = EventKind::load;
    Address address = 0;  ///< physical
    unsigned core = 0;
    std::uint32_t site = 0;
    Tick time = 0;
    std::optional<Address> virtual_address = {};  ///< known for requests straight from the core
    bool for_store = false;                       ///< the load by which a store that misses asks for its line
    Address by = 0;                               ///< of an eviction: the line that takes the victim's place
    std::optional<std::pair<std::string, unsigned>> over = {};  ///< link and copy on which it is an event
    bool from_directory = false;                                ///< goes on from the directory at its home
};

struct Answer {
    Tick time = 0;  ///< when the answer is there; of stores and victims: when they have left the component above
    bool dirty = false;
};

/// Of one bus: since when it is free, and what it carried.
struct SlowBus {
    Tick free = 0;
    BusCounts counts;
};

/// One copy of a cache.
struct SlowCache {
    const CacheConfig* config = nullptr;
    std::size_t index = 0;  ///< into MachineDescription::caches
    unsigned copy = 0;
    std::vector<SlowSet> sets;
    SlowRandom random{0};
    SlowDuel duel;
    SlowPrefetcher prefetcher;
    std::vector<Tick> misses, write_buffer;  ///< until when each place is taken
};

/// One copy of a TLB.
struct SlowTlb {
    const TlbConfig* config = nullptr;
    std::size_t index = 0;
    unsigned copy = 0;
    std::vector<SlowSet> sets;
    SlowRandom random{0};
    SlowDuel duel;
};

/// Bytes of what a cache asks for: a sector, or the line.
unsigned block_bytes(const CacheConfig& config);

class SlowMachine {
public:
    explicit SlowMachine(const MachineDescription& machine, std::optional<Records> records = {});
    SlowMachine(const SlowMachine&) = delete;
    SlowMachine& operator=(const SlowMachine&) = delete;

    /// Makes a whole reference; returns when it is done.
    Tick reference(unsigned core, const Reference& reference, Tick now);

    /// Carries out what the listener has sent; after each reference and at barriers.
    void write_records(unsigned core, Tick now);

    HierarchyCounts counts() const;
    const std::vector<ObservedEvent>& events() const { return events_; }

private:
    // slow_machine.cpp: the way from the core
    void build_caches();
    void build_tlbs();
    Tick access(unsigned core, const Reference& reference, Address address, Tick now);
    Tick translate(unsigned core, const Reference& reference, Address address, Tick now);
    Tick look_up(const std::string& above, unsigned above_copy, const TlbConfig* config, const Request& request);
    std::vector<Address> entries_to_read(const Request& request);
    Tick walk(const std::string& above, unsigned above_copy, const Request& request);
    const CacheConfig* first_cache(ReferenceKind kind) const;
    const TlbConfig* first_tlb(ReferenceKind kind) const;
    SlowTlb& tlb_of(const TlbConfig& config, unsigned core);

    // slow_cache.cpp: caches
    Answer arrive(const std::string& above, unsigned above_copy, const std::string& name, const Request& request);
    Answer request(SlowCache& cache, const Request& request);
    Answer miss(SlowCache& cache, const Request& request);
    Answer fetch_block(SlowCache& cache, const Request& request, bool prefetched);
    void victim_arrives(SlowCache& cache, const Request& request);
    void take_victim(SlowCache& cache, Address block, const Request& request);
    Tick make_room(SlowCache& cache, const Request& cause);
    Tick send_away(SlowCache& cache, const SlowWay& victim, const Request& cause);
    Tick insert(SlowCache& cache, Address block, bool dirty, bool prefetched, const Request& cause);
    bool take_away_above(SlowCache& cache, Address line, std::uint64_t bytes, const Request& cause);
    bool back_invalidate(SlowCache& cache, Address line, std::uint64_t bytes, const Request& cause);
    void prefetch(SlowCache& cache, const Request& demand, bool missed, bool first_hit_on_prefetched);
    Answer send_down(SlowCache& cache, const Request& request);
    void notify_below(const SlowCache& cache, EventKind kind, Address address, const Request& cause, Address by = 0);
    void notify(const std::string& link, unsigned copy, const Request& request);
    SlowSet& set_of(SlowCache& cache, Address address, std::optional<Address> virtual_address);
    SlowCache* cache_of(const std::string& name, unsigned core);
    CacheCounts& counts_of(const SlowCache& cache) { return counts_.caches[cache.index]; }
    bool below_takes_clean_victims(const SlowCache& cache) const;
    Answer numa_arrives(const Request& request);
    Tick memory_arrives(const std::string& name, const Request& request);
    Answer arrive_now(const std::string& name, const Request& request);

    // slow_coherence.cpp: docs/coherence.md
    enum class Ask { read, exclusive_read, upgrade };
    struct Answers {
        Tick time = 0;
        bool held = false, supplied = false;
    };
    bool in_node(const SlowCache& cache) const;
    const SlowCache& outermost(const SlowCache& cache) const;
    char state_of(unsigned node, Address line) const;
    SlowWay* way_of(SlowCache& cache, Address line) { return set_of(cache, line, {}).find(line); }
    bool is_held(unsigned node, Address line);
    bool is_dirty(unsigned node, Address line);
    void become(unsigned node, Address line, char state, const Request& cause);
    Tick own(SlowCache& cache, const Request& request, bool record);
    std::optional<Answer> cross(const SlowCache& above, Request& request);
    Answers ask_others(unsigned node, Address line, Ask ask, const Request& cause);
    void clean(unsigned node, Address line, const Request& cause);
    void lose(unsigned node, Address line, const Request& cause);
    void inserted(const SlowCache& cache, Address line, bool dirty);
    void left(const SlowCache& cache, Address line, const Request& cause);
    void taken(Address first, std::uint64_t bytes);
    bool directory_is_at_homes() const;

    // slow_time.cpp: what waits for what, docs/timing.md
    Answer arrive_in_time(SlowCache& above, const std::string& name, Request request);
    void write_into(const std::string& below, Request record, const std::string& above, unsigned copy);
    void write_past_caches(const Request& record, const std::string& above, const std::string& below, unsigned copy);
    SlowBus& bus_of(const SlowCache& cache);
    std::pair<Tick, Tick> carry(SlowBus& bus, const BusConfig& config, Tick time, std::uint64_t bytes);
    Tick bank_begins(std::size_t memory, const Request& request);
    SlowCache* cache_copy(const std::string& name, unsigned copy);

    // slow_numa.cpp: docs/numa.md
    unsigned node_of(unsigned core) const;
    std::size_t home_of(Address address, unsigned node);
    bool is_remote(Address address, unsigned node);
    void count_at_home(std::size_t home, bool remote, EventKind kind);
    Tick leave_node(unsigned node, std::uint64_t bytes, Request request);
    void record_leaves_node(unsigned node, Request record);
    unsigned node_of_link(const std::string& above, const std::string& below, unsigned copy) const;

    std::string memory_below(std::string name) const;
    std::string lowest() const { return machine_.has_nodes() ? "numa" : machine_.memories.front().name; }

    /// A line on its way between caches of a node, while it exists.
    struct Moving {
        Address line;
        bool dirty;
    };

    const MachineDescription& machine_;
    std::optional<Records> records_;
    std::uint64_t watched_events_ = 0, records_sent_ = 0;
    std::uint64_t records_due_ = 0;  ///< sent, and not yet written
    SlowPages pages_;
    std::map<std::pair<unsigned, std::size_t>, std::map<Address, std::uint64_t>> walk_caches_;  ///< by core and depth
    std::uint64_t walk_clock_ = 0;
    std::deque<SlowCache> caches_;
    std::deque<SlowTlb> tlbs_;
    HierarchyCounts counts_;
    std::map<std::pair<unsigned, Address>, char> states_;  ///< by node and line: M, O, E, S; else I
    std::vector<Moving> moving_;
    std::vector<ObservedEvent> events_;
    std::map<std::pair<std::size_t, unsigned>, SlowBus> buses_;        ///< by cache and copy (shared: 0)
    std::map<std::pair<std::size_t, std::uint64_t>, Tick> bank_free_;  ///< by memory and bank
    std::map<Address, unsigned> toucher_;                              ///< by page: the node that touched it first
    std::map<unsigned, SlowBus> interconnect_;                         ///< by node (shared: 0)
};

}  // namespace cachetally::differential
