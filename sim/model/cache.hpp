// Cache: one copy of a level. What hits, misses, victims and write-backs mean; docs/counting.md is its specification.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/model/cache_array.hpp"
#include "sim/model/counts.hpp"
#include "sim/model/downlink.hpp"
#include "sim/model/indexing.hpp"
#include "sim/model/prefetcher.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

class PageTable;

/// What may be repeated without a trace on the line that a set was asked for last: loads (and fetches), or stores too.
namespace front_bit {
inline constexpr Entry load = 1;
inline constexpr Entry load_and_store = 3;
}  // namespace front_bit

class Cache {
public:
    /// `copy` numbers the copies of a level; `period` is the length of a cycle in ticks. A cache next to a core
    /// recognises accesses that change nothing.
    Cache(const CacheConfig& config, unsigned copy, Tick period, bool next_to_core);

    const CacheConfig& config() const { return config_; }
    Downlink& below() { return below_; }
    unsigned line_bytes() const { return config_.line; }
    Tick latency() const { return latency_; }

    /// Declares a cache above from which this one may take lines away.
    void add_above(Cache& above) { above_.push_back(&above); }
    const std::vector<Cache*>& above() const { return above_; }

    /// Virtually indexed caches find the set of a physical address with the page table.
    void use_page_table(PageTable& pages) { pages_ = &pages; }

    const IndexingPolicy& indexing() const { return index_; }

    /// By set: the line asked for last with front_bit, for changes_nothing(). Next to a core only.
    const Entry* front() const { return front_.data(); }

    /// True when a load or fetch (or store) of `line` hits and, but for counts and time, changes nothing, since the
    /// line is the one that its set was asked for last. Exact for every replacement policy.
    static bool changes_nothing(Entry front, Address line, bool store) {
        const Entry either = store ? 0 : 2;  // loads do not mind whether stores may be repeated
        return ((front ^ line) | either) == front_bit::load_and_store;
    }

    /// A load, store, fetch, page walk or prefetch from above, for the byte or line at a physical address.
    Reply request(Address address, Cause cause, Tick time);
    Reply request(Address address, std::uint64_t set, Cause cause, Tick time);

    /// A dirty or clean victim from above, or a monitor's record. cause.kind tells which.
    void take_victim(Address address, Cause cause, Tick time);

    /// Takes all lines in [address, address + bytes) away, here and above; true if one of them was dirty.
    bool take_away(Address address, std::uint64_t bytes, Cause cause, Tick time);

    /// An access by a core, made on the array of this cache itself (whose type the caller may know): true when it hits.
    /// Only where hits_are_plain(); it is not counted.
    template <class Array>
    bool hits(Array& array, std::uint64_t set, Address line, ReferenceKind kind) {
        if (array.access(set, line, touch_[static_cast<unsigned>(kind)]) == 0) return false;
        front_[set] = line | front_flags_[1][static_cast<unsigned>(kind)];
        return true;
    }

    /// True where a hit of this kind has no consequence beyond the set.
    bool hits_are_plain(ReferenceKind kind) const {
        return !prefetcher_ && (kind != ReferenceKind::store || writes_back_);
    }

    CacheArray& array() { return *array_; }

    /// request() for a line that hits() has not found.
    Reply request_absent(Address address, std::uint64_t set, Cause cause, Tick time);

    /// Counts accesses that were found by changes_nothing() or hits().
    void count_hits(std::uint64_t loads, std::uint64_t stores, std::uint64_t fetches) {
        requests_[static_cast<unsigned>(EventKind::load)] += loads;
        requests_[static_cast<unsigned>(EventKind::store)] += stores;
        requests_[static_cast<unsigned>(EventKind::fetch)] += fetches;
    }

    void count_hit(ReferenceKind kind) { ++requests_[static_cast<unsigned>(kind)]; }

    /// Declares that a level below may take lines away while this one makes room.
    void expect_loss_of_lines() { line_may_be_taken_ = true; }

    /// To be called when all is connected, before the first access.
    void settle();

    CacheCounts counts() const;

private:
    Reply request_in_steps(Address address, std::uint64_t set, Cause cause, Tick time);
    Reply fetch_simply(Address line, Cause cause, Tick time, Entry victim);
    Reply miss(Address address, std::uint64_t set, Cause cause, Tick time);
    Reply fetch(Address line, std::uint64_t set, Cause cause, Tick time, Entry state);
    void take_missing(Address line, std::uint64_t set, Cause cause, Tick time);
    void insert(std::uint64_t set, Address line, Entry state, Cause cause, Tick time);
    void make_room(std::uint64_t set, Cause cause, Tick time);
    void dispose(Entry victim, Cause cause, Tick time);
    void pass_on(Address line, Cause cause, Tick time);
    void train(Address address, Cause cause, Tick time, bool trigger);
    std::uint64_t set_of_physical(Address line) const;
    Entry front_after(EventKind kind, bool hit) const;
    void remember(std::uint64_t set, Address line, EventKind kind, bool hit) {
        if (next_to_core_) front_[set] = line | front_flags_[hit ? 1 : 0][static_cast<unsigned>(kind)];
    }
    void forget(std::uint64_t set) {
        if (next_to_core_) front_[set] = 0;
    }

    CacheConfig config_;
    Address line_mask_;
    Tick latency_;
    bool writes_back_, filled_by_victims_, next_to_core_;
    bool line_may_be_taken_ = false, victims_matter_ = false;
    std::array<Touch, event_kind_count> touch_;  ///< by kind
    IndexingPolicy index_;
    std::unique_ptr<CacheArray> array_;
    std::unique_ptr<Prefetcher> prefetcher_;
    Downlink below_;
    std::vector<Cache*> above_;
    std::vector<Entry> front_;  ///< by set: the line asked for last, with front_bit; first level only
    std::array<std::array<Entry, event_kind_count>, 2> front_flags_{};  ///< by hit and kind
    PageTable* pages_ = nullptr;
    std::array<bool, event_kind_count> simple_{};  ///< by kind: one pass over the set does it
    std::array<std::uint64_t, event_kind_count> requests_{}, misses_{};
    CacheCounts counts_;           ///< those that are not requests
    std::vector<Address> wanted_;  ///< by the prefetcher; kept to save allocations
};

}  // namespace cachetally
