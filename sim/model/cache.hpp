// Cache: one copy of a level. What hits, misses, victims and write-backs mean; docs/counting.md is its specification.
#pragma once

#include <memory>
#include <vector>

#include "sim/model/cache_array.hpp"
#include "sim/model/counts.hpp"
#include "sim/model/downlink.hpp"
#include "sim/model/prefetcher.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

class PageTable;

/// Remembers the access that a path from a core made last, so that a repetition can be told at once: it hits and, but
/// for counts and time, changes nothing. Whoever changes the cache behind the path's back makes it forget.
struct LastAccess {
    static constexpr Address none = ~Address{0};
    Address line = none;         ///< virtual address of the line
    Address physical = none;     ///< its physical address
    bool store_repeats = false;  ///< a store changes nothing either
    bool disturbed = false;      ///< something changed the cache while the access was made

    void forget() {
        line = none;
        disturbed = true;
    }
};

class Cache {
public:
    /// `copy` numbers the copies of a level; `period` is the length of a cycle in ticks.
    Cache(const CacheConfig& config, unsigned copy, Tick period);

    const CacheConfig& config() const { return config_; }
    Downlink& below() { return below_; }
    unsigned line_bytes() const { return config_.line; }
    Tick latency() const { return latency_; }

    /// Declares a cache above from which this one may take lines away.
    void add_above(Cache& above) { above_.push_back(&above); }
    const std::vector<Cache*>& above() const { return above_; }

    /// Virtually indexed caches find the set of a physical address with the page table.
    void use_page_table(PageTable& pages) { pages_ = &pages; }

    /// Declares that a path from a core remembers accesses to this cache.
    void add_path(LastAccess& path) { paths_.push_back(&path); }

    /// A load, store, fetch, page walk or prefetch from above.
    Reply request(const Request& request);

    /// A dirty or clean victim from above, or a monitor's record. request.kind tells which.
    void take_victim(const Request& request);

    /// Takes all lines in [address, address + bytes) away, here and above; true if one of them was dirty.
    bool take_away(Address address, std::uint64_t bytes, const Request& cause);

    /// Counts `loads`, `stores` and `fetches` that repeated the last access: they hit.
    void count_repeats(std::uint64_t loads, std::uint64_t stores, std::uint64_t fetches) {
        counts_.loads += loads;
        counts_.stores += stores;
        counts_.fetches += fetches;
    }

    /// After an access of this kind that hit (or missed): would a load or fetch, or a store, of the same line change
    /// nothing?
    bool loads_repeat(EventKind kind, bool hit) const;
    bool stores_repeat(EventKind kind, bool hit) const;

    /// Declares that a level below may take lines away while this one makes room.
    void expect_loss_of_lines() { line_may_be_taken_ = true; }

    const CacheCounts& counts() const { return counts_; }

private:
    Reply miss(const Request& request, Address line, Address where);
    Reply fetch(const Request& down, Address where, Entry state);
    void take_missing(const Request& victim, Address where);
    void insert(Address where, Address line, Entry state, const Request& cause);
    void make_room(Address where, const Request& cause);
    void dispose(Entry victim, const Request& cause);
    void pass_on(const Request& request, Address line);
    void train(const Request& request, Address line, bool trigger);
    void forget_paths();
    Address where_of(Address line) const;

    CacheConfig config_;
    Tick latency_;
    bool writes_back_, filled_by_victims_;
    bool line_may_be_taken_ = false;
    Touch demand_, store_, write_back_;
    std::unique_ptr<CacheArray> array_;
    std::unique_ptr<Prefetcher> prefetcher_;
    Downlink below_;
    std::vector<Cache*> above_;
    std::vector<LastAccess*> paths_;
    PageTable* pages_ = nullptr;
    CacheCounts counts_;
    std::vector<Address> wanted_;  ///< by the prefetcher; kept to save allocations
};

}  // namespace cachetally
