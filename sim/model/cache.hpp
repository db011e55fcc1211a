// SPDX-License-Identifier: BSD-3-Clause
// Cache: one copy of a level. What hits, misses, victims and write-backs mean; docs/counting.md is its specification.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "sim/model/cache_array.hpp"
#include "sim/model/counts.hpp"
#include "sim/model/downlink.hpp"
#include "sim/model/indexing.hpp"
#include "sim/model/memory.hpp"
#include "sim/model/prefetcher.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

class Coherence;
class PageTable;

/// What may be repeated without a trace on the line that a set was asked for last. Chosen so that one comparison tells,
/// given the line or-ed with the kind of the reference (0 to 2): see Cache::changes_nothing().
namespace front_bit {
inline constexpr Entry all = 0;
inline constexpr Entry no_store = entry_bit::dirty;  ///< loads and fetches only; void where the line is dirty already
inline constexpr Entry nothing = 4;
}  // namespace front_bit

class Cache {
public:
    virtual ~Cache() = default;
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

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

    /// True when a reference hits and, but for counts and time, changes nothing, since its line is the one that its set
    /// was asked for last. Exact for every replacement policy.
    static bool changes_nothing(Entry front, BlockEvent reference) {
        // all: 0 ^ {0, 1, 2}; no_store: 2 ^ {0, 2}, but 3 for a store; nothing: at least 4; another line: at least 8.
        return (front ^ reference.bits()) <= 2;
    }

    /// The front after a hit: its line, flags by kind, and the entry as it was found.
    static Entry front_of_hit(Address line, Entry flags, Entry found) {
        return line | (flags & ~(found & entry_bit::dirty));
    }

    /// The front that the entry used last leaves, whatever was done with it; 0: none was.
    static Entry front_of_latest(Entry latest) {
        if (latest == 0) return front_bit::nothing;
        return line_of(latest) | (is_dirty(latest) ? front_bit::all : front_bit::no_store);
    }

    /// A load, store, fetch, page walk or prefetch from above, for the byte or line at a physical address.
    virtual Reply request(Address address, Cause cause, Tick time) = 0;

    /// The same where the address alone does not choose the set (virtually indexed caches).
    Reply request_in(std::uint64_t set, Address address, Cause cause, Tick time);

    /// Requests and dirty victims that were posted, in order, where takes_posts(); what goes down is posted, too.
    /// Returns the time for which somebody waits.
    virtual Tick take(std::span<const Posted> posts) = 0;

    /// True where all that demand accesses, page walks and write-backs do can be done in one pass over the set, and
    /// nobody above needs to know more of it than the time.
    bool takes_posts() const { return takes_posts_; }
    bool is_next_to_core() const { return next_to_core_; }

    /// A dirty or clean victim from above; cause.kind() tells which.
    void take_victim(Address address, Cause cause, Tick time);

    /// A monitor's record.
    void take_record(Address address, Cause cause, Tick time);

    /// Takes all lines in [address, address + bytes) away, here and above; true if one of them was dirty.
    bool take_away(Address address, std::uint64_t bytes, Cause cause, Tick time);

    /// A line's entry, untouched; 0 = not here.
    Entry find(Address line) const { return array_.find(set_of_physical(line), line); }

    /// Takes the dirtiness of a line away, which is written back by somebody else; true if it was dirty.
    bool clean(Address line, Cause cause, Tick time);

    /// From now on this is a cache of a node that is kept coherent with others.
    void join(Coherence& coherence, unsigned node) {
        coherence_ = &coherence;
        node_ = node;
    }
    bool is_in_node() const { return coherence_ != nullptr; }

    /// Tells an inclusive level that what it takes away from above, nodes may hold.
    void take_from_nodes(Coherence& coherence) { nodes_above_ = &coherence; }

    /// An access by a core, made on the array of this cache itself (whose type the caller may know): true when it hits.
    /// Only where hits_are_plain(); it is not counted.
    template <class Array>
    bool hits(Array& array, std::uint64_t set, Address line, ReferenceKind kind) {
        const Entry found = array.access(set, line, touch_[static_cast<unsigned>(kind)]);
        if (found == 0) return false;
        front_[set] = front_of_hit(line, front_flags_[1][static_cast<unsigned>(kind)], found);
        return true;
    }

    /// True where a hit of this kind has no consequence beyond the set.
    bool hits_are_plain(ReferenceKind kind) const {
        return !prefetcher_ && (kind != ReferenceKind::store || (writes_back_ && !is_in_node()));
    }

    /// True where an access to the line that its set was asked for last changes nothing, but a first store to it.
    bool repetition_is_plain() const;

    CacheArray& array() { return array_; }

    /// A request of a core for a line that hits() has not found in `array`.
    template <class Array>
    Reply request_absent(Array& array, Address address, std::uint64_t set, Cause cause, Tick time) {
        const unsigned kind = index_of(cause.kind());
        ++requests_[kind];
        if (!simple_[kind]) [[unlikely]]
            return miss(address, set, cause, time);
        const Address line = address & ~line_mask_;
        const Entry victim = array.insert(set, line, cause.kind() == EventKind::store ? entry_bit::dirty : 0);
        front_[set] = line | front_flags_[0][kind];
        return fetch_simply(line, cause, time, victim);
    }

    /// What a loop over references needs to make accesses to this cache by itself, where takes_posts(): by kind of
    /// reference.
    struct FirstLevel {
        static constexpr unsigned kinds = 3;
        std::array<Entry, kinds> state;                  ///< that the line gets
        std::array<Entry, kinds> hit_flags, miss_flags;  ///< for the front
        Entry* front;
        std::uint64_t write_back_traffic;  ///< 1: dirty victims go down; 0: they vanish
    };
    FirstLevel first_level();

    /// Counts what such a loop did, but for requests.
    struct FirstLevelCounts {
        std::array<std::uint64_t, FirstLevel::kinds> misses{};
        std::uint64_t evictions = 0, writebacks_out = 0;
    };
    void count(const FirstLevelCounts& counts);

    /// Counts accesses that were made by changes_nothing(), hits() or such a loop.
    void count_requests(std::uint64_t loads, std::uint64_t stores, std::uint64_t fetches) {
        requests_[static_cast<unsigned>(EventKind::load)] += loads;
        requests_[static_cast<unsigned>(EventKind::store)] += stores;
        requests_[static_cast<unsigned>(EventKind::fetch)] += fetches;
    }

    /// Declares that a level below may take lines away while this one makes room.
    void expect_loss_of_lines() { line_may_be_taken_ = true; }

    /// To be called when all is connected, before the first access.
    void settle();

    CacheCounts counts() const;

    /// Of the state of all sets, as CacheArray::digest(). What a prefetcher remembers is not in it.
    std::uint64_t digest() const {
        std::uint64_t digest = 0;
        for (std::uint64_t set = 0; set < index_.sets(); ++set) digest = digest_of(digest, array_.digest(set));
        return digest;
    }

protected:
    /// `array` may be constructed later. Otherwise as make_cache().
    Cache(const CacheConfig& config, Tick period, bool next_to_core, CacheArray& array);

    static constexpr unsigned index_of(EventKind kind) { return static_cast<unsigned>(kind); }

    /// request() with one pass over the set where nobody can tell, else step by step.
    template <class Array>
    Reply request_on(Array& array, std::uint64_t set, Address address, Cause cause, Tick time) {
        const unsigned kind = index_of(cause.kind());
        ++requests_[kind];
        if (!simple_[kind]) [[unlikely]]
            return request_in_steps(address, set, cause, time);
        const Address line = address & ~line_mask_;
        const Entry state = cause.kind() == EventKind::store ? entry_bit::dirty : 0;
        const auto [found, victim] = array.access_or_insert(set, line, touch_[kind], state);
        if (next_to_core_) [[unlikely]]
            remember(set, line, cause.kind(), found != 0);
        if (found != 0) return {time + latency_};
        return fetch_simply(line, cause, time, victim);
    }

    /// take() by requests one by one.
    void take_singly(std::span<const Posted> posts);

    /// take() by `lookup`, which uses or inserts lines in sets that are a field of the address; `far`: the sets are too
    /// many for a host's nearest caches. Returns what is left.
    template <bool far, class Lookup>
    std::span<const Posted> take_by(Lookup lookup, std::span<const Posted> posts);

    /// What others wait for of requests since they were counted `before`.
    Tick waited_since(const std::array<std::uint64_t, event_kind_count>& before) const;

    const std::array<std::uint64_t, event_kind_count>& requests() const { return requests_; }

    std::uint64_t set_of(Address address) const {
        const Address line = address & ~line_mask_;
        return config_.virtually_indexed ? set_of_physical(line) : index_.set_of(line);
    }

private:
    Reply request_in_steps(Address address, std::uint64_t set, Cause cause, Tick time);

    /// The rest of a simple miss, when the line is inserted and the victim removed already, which nobody below can
    /// tell.
    Reply fetch_simply(Address line, Cause cause, Tick time, Entry victim) {
        ++misses_[index_of(cause.kind())];
        const Cause down = cause.kind() == EventKind::store ? cause.as(EventKind::load) : cause;
        Reply reply = below_.request(line, down, time + latency_);
        if (is_dirty(victim) || (victim != 0 && (victims_matter_ || below_.wants(EventKind::eviction)))) {
            reply.time = std::max(reply.time, dispose(victim, line, down, time + latency_));
        } else {
            counts_.evictions += victim != 0;
        }
        if (below_.wants(EventKind::fill)) [[unlikely]]
            below_.notify(line, down.as(EventKind::fill), reply.time);
        return {reply.time};
    }
    Reply miss(Address address, std::uint64_t set, Cause cause, Tick time);
    Reply fetch(Address line, std::uint64_t set, Cause cause, Tick time, Entry state);
    void take_missing(Address line, std::uint64_t set, Cause cause, Tick time);
    // What makes room returns when the victim, if there is one, has left.
    Tick insert(std::uint64_t set, Address line, Entry state, Cause cause, Tick time);
    // `line`: that takes the victim's place.
    Tick make_room(std::uint64_t set, Address line, Cause cause, Tick time);
    Tick dispose(Entry victim, Address line, Cause cause, Tick time);
    Tick send_away(Entry victim, Address line, Cause cause, Tick time);
    Tick pass_on(Address line, Cause cause, Tick time);
    void train(Address address, Cause cause, Tick time, bool trigger);
    std::uint64_t set_of_physical(Address line) const;
    Entry front_after(EventKind kind, bool hit) const;
    void remember(std::uint64_t set, Address line, EventKind kind, bool hit) {
        if (next_to_core_) front_[set] = line | front_flags_[hit ? 1 : 0][static_cast<unsigned>(kind)];
    }
    void forget(std::uint64_t set) {
        if (next_to_core_) front_[set] = front_bit::nothing;
    }

    CacheConfig config_;
    Address line_mask_;
    Tick latency_;
    bool writes_back_, filled_by_victims_, next_to_core_;
    bool line_may_be_taken_ = false, victims_matter_ = false, takes_posts_ = false;
    std::array<Touch, event_kind_count> touch_;  ///< by kind
    IndexingPolicy index_;
    CacheArray& array_;
    std::unique_ptr<Prefetcher> prefetcher_;
    Downlink below_;
    std::vector<Cache*> above_;
    std::vector<Entry> front_;  ///< by set: the line asked for last, with front_bit; first level only
    std::array<std::array<Entry, event_kind_count>, 2> front_flags_{};  ///< by hit and kind
    PageTable* pages_ = nullptr;
    Coherence* coherence_ = nullptr;    ///< of the node that this is in
    Coherence* nodes_above_ = nullptr;  ///< of nodes that this takes lines away from
    unsigned node_ = 0;
    std::array<bool, event_kind_count> simple_{};  ///< by kind: one pass over the set does it
    std::array<std::uint64_t, event_kind_count> requests_{}, misses_{};
    CacheCounts counts_;           ///< those that are not requests
    std::vector<Address> wanted_;  ///< by the prefetcher; kept to save allocations
};

/// One copy of a level; its array is chosen for its geometry. `copy` numbers the copies; `period` is the length of a
/// cycle in ticks. A cache next to a core recognises accesses that change nothing. `mostly_hits` is a hint for speed.
std::unique_ptr<Cache> make_cache(const CacheConfig& config, unsigned copy, Tick period, bool next_to_core,
                                  bool mostly_hits);

inline Reply Downlink::request(Address address, Cause cause, Tick time) {
    if (posting_) {
        posts_.push({address, cause.word()});
        return {time};
    }
    if (in_steps_) [[unlikely]]
        return request_in_steps(address, cause, time);
    if (wants(cause.kind())) [[unlikely]]
        tell({address, 1, cause.site(), cause.kind(), cause.core(), time});
    return cache_ != nullptr ? cache_->request(address, cause, time)
                             : Reply{memory_->request(address, cause, time).time};
}

}  // namespace cachetally
