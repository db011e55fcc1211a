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
};

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
    Tick walk(const std::string& above, unsigned above_copy, const Request& request);
    const CacheConfig* first_cache(ReferenceKind kind) const;
    const TlbConfig* first_tlb(ReferenceKind kind) const;
    SlowTlb& tlb_of(const TlbConfig& config, unsigned core);

    // slow_cache.cpp: caches
    Answer arrive(const std::string& above, unsigned above_copy, const std::string& name, const Request& request);
    Answer request(SlowCache& cache, const Request& request);
    Answer miss(SlowCache& cache, const Request& request);
    Answer fetch_line(SlowCache& cache, const Request& request, bool prefetched);
    void victim_arrives(SlowCache& cache, const Request& request);
    Tick make_room(SlowCache& cache, const Request& cause);
    Tick insert(SlowCache& cache, Address line, bool dirty, bool prefetched, const Request& cause);
    bool take_away_above(SlowCache& cache, Address line, std::uint64_t bytes, const Request& cause);
    bool take_away(SlowCache& cache, Address line, std::uint64_t bytes, const Request& cause);
    void prefetch(SlowCache& cache, const Request& demand, bool missed, bool first_hit_on_prefetched);
    Answer send_down(SlowCache& cache, const Request& request);
    void tell_below(const SlowCache& cache, EventKind kind, Address address, const Request& cause);
    void tell(const std::string& link, unsigned copy, const Request& request);
    SlowSet& set_of(SlowCache& cache, Address address, std::optional<Address> virtual_address);
    SlowCache* cache_of(const std::string& name, unsigned core);
    CacheCounts& counts_of(const SlowCache& cache) { return counts_.caches[cache.index]; }
    bool below_takes_clean_victims(const SlowCache& cache) const;
    Tick memory_arrives(const std::string& name, const Request& request);
    Answer arrive_now(const std::string& name, const Request& request);

    // slow_time.cpp: what waits for what, docs/timing.md
    Answer arrive_in_time(SlowCache& above, const std::string& name, Request request);
    void write_into(const std::string& below, Request record, const std::string& above, unsigned copy);
    void write_past_caches(const Request& record, const std::string& above, const std::string& below, unsigned copy);
    SlowBus& bus_of(const SlowCache& cache);
    std::pair<Tick, Tick> carry(SlowBus& bus, const BusConfig& config, Tick time, std::uint64_t bytes);
    Tick bank_begins(std::size_t memory, Address address, Tick time);
    SlowCache* cache_copy(const std::string& name, unsigned copy);

    std::string memory_below(std::string name) const;

    const MachineDescription& machine_;
    std::optional<Records> records_;
    std::uint64_t watched_events_ = 0, records_sent_ = 0;
    std::uint64_t records_due_ = 0;  ///< sent, and not yet written
    SlowPages pages_;
    std::deque<SlowCache> caches_;
    std::deque<SlowTlb> tlbs_;
    HierarchyCounts counts_;
    std::vector<ObservedEvent> events_;
    std::map<std::pair<std::size_t, unsigned>, SlowBus> buses_;        ///< by cache and copy (shared: 0)
    std::map<std::pair<std::size_t, std::uint64_t>, Tick> bank_free_;  ///< by memory and bank
};

}  // namespace cachetally::differential
