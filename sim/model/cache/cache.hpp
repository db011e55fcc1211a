// SPDX-License-Identifier: BSD-3-Clause
// Cache: one copy of a level. What hits, misses, victims and write-backs mean; docs/counting.md is its specification.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/machine.hpp"
#include "cachetally/sites.hpp"
#include "sim/model/batching/mru_filter.hpp"
#include "sim/model/indexing/indexing.hpp"
#include "sim/model/link/request_port.hpp"
#include "sim/model/memory/memory.hpp"
#include "sim/model/prefetch/prefetcher.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/model/tags/sector_table.hpp"

namespace cachetally {

class Coherence;
class PageTable;

class Cache {
public:
    /// `copy` numbers the copies of a level; `period` is the length of a cycle in ticks. A cache next to a core
    /// recognises accesses that change nothing.
    Cache(const CacheConfig& config, unsigned copy, Tick period, bool next_to_core);
    Cache(const Cache&) = delete;
    Cache& operator=(const Cache&) = delete;

    const CacheConfig& config() const { return config_; }
    RequestPort& below() { return below_; }
    unsigned line_bytes() const { return config_.line; }
    /// What a request is for: a sector, or the line.
    unsigned transfer_bytes() const { return config_.transfer(); }
    Tick latency() const { return latency_; }

    /// Declares a cache above from which this one may take lines away.
    void add_above(Cache& above) { above_.push_back(&above); }
    const std::vector<Cache*>& above() const { return above_; }

    /// Virtually indexed caches find the set of a physical address with the page table.
    void use_page_table(PageTable& pages) { pages_ = &pages; }

    const IndexingPolicy& indexing() const { return index_; }

    /// By set: the MRU filter. Next to a core only.
    const Address* mru() const { return mru_.data(); }

    /// After accesses of which the MRU filter does not know.
    void forget_mru() { std::ranges::fill(mru_, mru_bit::nothing); }

    /// A load, store, fetch, page walk or prefetch from above, for the byte or line at a physical address.
    Reply request(Address address, RequestInfo info, Tick time) {
        return request_in(set_of(address), address, info, time);
    }

    /// The same where the address alone does not choose the set (virtually indexed caches).
    Reply request_in(std::uint64_t set, Address address, RequestInfo info, Tick time) {
        const unsigned kind = index_of(info.kind());
        ++requests_[kind];
        if (!simple_[kind]) [[unlikely]]
            return request_in_steps(address, set, info, time);
        const Address line = address & ~line_mask_;
        const Entry state = info.kind() == EventKind::store ? entry_bit::dirty : 0;
        const auto [miss, old] = array_->replace(set, line, touch_[kind], state);
        if (next_to_core_) [[unlikely]]
            remember(set, line, info.kind(), miss == 0);
        if (miss == 0) return {time + latency_};
        return fetch_simply(line, info, time, old);
    }

    /// A batch of requests and victims of a core, in order; what goes down is batched, too, where the port below does
    /// so. Nobody above may need to know more of them than how long they take. `positions`: null if the order of the
    /// batch is all that matters. `virtual_lines`: where they choose the sets. `sites`: where somebody wants them.
    /// Returns for how long cores have waited for this level's own answers, and for those from below that are not
    /// batched; but for stores: those of cores are counted apart, others nobody waits for.
    Tick handle(std::span<const BlockEvent> requests, std::uint8_t core, BatchPositions* positions = nullptr,
                std::span<const BlockEvent> virtual_lines = {}, std::span<const std::uint32_t> sites = {});
    /// The same of requests of `sites`; what goes down in batches has those of the requests that sent it. `positions`:
    /// theirs, and where those of what goes down are added.
    Tick handle_sited(std::span<const BlockEvent> requests, std::uint8_t core, std::span<const std::uint32_t> sites,
                      std::span<const BlockEvent> virtual_lines = {}, const std::uint16_t* positions = nullptr,
                      std::vector<std::uint16_t>* sent_positions = nullptr);

    /// True where a pass over the set is all that demand accesses, page walks and write-backs need, as long as no
    /// inclusive level takes a line away from above. Else the reason.
    bool is_plain() const { return is_plain_; }
    /// `key`: of this cache's configuration, or where `of_below`, of the cache below that it is about; may be null.
    struct NotPlain {
        const char* what = nullptr;  ///< null: it is plain
        const char* key = nullptr;
        bool of_below = false;
    };
    NotPlain why_not_plain() const;

    /// Whether its prefetcher needs to know which instruction makes a request.
    bool goes_by_site() const { return prefetcher_ && prefetcher_->goes_by_site(); }

    /// Whether this level takes lines away from levels above.
    bool takes_from_above() const { return config_.inclusion == Inclusion::inclusive && !above_.empty(); }

    /// What a batch has changed, kept to be undone: all of an array, or what requests have overwritten in it.
    struct Checkpoint {
        std::unique_ptr<CacheArray> array;
        ArrayLog log;
        std::array<std::uint64_t, event_kind_count> requests, misses;
        CacheCounts counts;
    };
    /// From now on batches are logged in `checkpoint`, or `copied`.
    void begin(Checkpoint& checkpoint, bool copied);
    void commit() { log_ = nullptr; }
    /// Undoes `requests`, which are all that came since begin().
    void roll_back(const Checkpoint& checkpoint, bool copied, std::span<const BlockEvent> requests);
    /// Whether it held, at begin() of a checkpoint with a copy (null: holds), something of these blocks of `bytes`.
    bool held_any(std::span<const Address> blocks, std::uint64_t bytes, const Checkpoint* checkpoint) const;
    bool can_log() const { return index_.is_field() && array_->keeps_log(); }

    bool is_next_to_core() const { return next_to_core_; }

    /// A dirty or clean victim from above; by info.kind().
    void take_victim(Address address, RequestInfo info, Tick time);

    /// A monitor's record.
    void take_record(Address address, RequestInfo info, Tick time);

    /// Takes all lines in [address, address + bytes) away, here and above; true if one of them was dirty.
    bool back_invalidate(Address address, std::uint64_t bytes, RequestInfo info, Tick time);

    /// A line's entry, untouched; 0 = not here.
    Entry find(Address line) const { return array_->find(set_of_physical(line), line); }

    /// Takes the dirtiness of a line away, which is written back by somebody else; true if it was dirty.
    bool clean(Address line, RequestInfo info, Tick time);

    /// From now on this is a cache of a node that is kept coherent with others.
    void join(Coherence& coherence, unsigned node) {
        coherence_ = &coherence;
        node_ = node;
    }
    bool is_in_node() const { return coherence_ != nullptr; }

    /// Tells an inclusive level that what it takes away from above, nodes may hold.
    void take_from_nodes(Coherence& coherence) { nodes_above_ = &coherence; }

    /// The prefetcher tells program counters apart, not sites.
    void know_sites(const SiteTable* sites) { sites_ = sites; }

    /// An access by a core: true when it hits. Only where hits_are_plain(); it is not counted.
    bool hits(std::uint64_t set, Address line, ReferenceKind kind) {
        const Entry found = array_->access(set, line, touch_[static_cast<unsigned>(kind)]);
        if (found == 0) return false;
        // a dirty line may be stored to again, whatever it was found by
        mru_[set] = line | (mru_flags_[1][static_cast<unsigned>(kind)] & ~(found & entry_bit::dirty));
        return true;
    }

    /// True where a hit of this kind has no consequence beyond the set.
    bool hits_are_plain(ReferenceKind kind) const {
        return !prefetcher_ && !sectors_ && (kind != ReferenceKind::store || (writes_back_ && !is_in_node()));
    }

    /// True where an access to the line that its set was asked for last changes nothing, but a first store to it.
    bool repetition_is_plain() const;

    /// A request of a core for a line that hits() has not found.
    Reply request_absent(Address address, std::uint64_t set, RequestInfo info, Tick time) {
        const unsigned kind = index_of(info.kind());
        ++requests_[kind];
        if (!simple_[kind]) [[unlikely]]
            return miss(address, set, info, time);
        const Address line = address & ~line_mask_;
        const Entry victim = array_->insert(set, line, info.kind() == EventKind::store ? entry_bit::dirty : 0);
        mru_[set] = line | mru_flags_[0][kind];
        return fetch_simply(line, info, time, victim);
    }

    /// Counts accesses that were redundant or made by hits().
    void count_requests(std::uint64_t loads, std::uint64_t stores, std::uint64_t fetches) {
        requests_[static_cast<unsigned>(EventKind::load)] += loads;
        requests_[static_cast<unsigned>(EventKind::store)] += stores;
        requests_[static_cast<unsigned>(EventKind::fetch)] += fetches;
    }

    /// Lines of a cache next to a core: removed by a level below, or read by page walks.
    struct Disturbances {
        std::vector<Address> lost, walked;
        bool empty() const { return lost.empty() && walked.empty(); }
        void clear() { lost.clear(), walked.clear(); }
    };
    /// From now on they are noted there, too: for each core of the cache.
    void watch(Disturbances& disturbances) { disturbances_.push_back(&disturbances); }
    void unwatch(Disturbances& disturbances) { std::erase(disturbances_, &disturbances); }

    /// Declares that a level below may take lines away while this one makes room. `logged`: its batches can be undone.
    void expect_loss_of_lines(bool logged) {
        line_may_be_taken_ = true;
        loss_is_logged_ = loss_is_logged_ && logged;
    }

    /// To be called when all is connected and all listeners are attached, before the next access.
    void prepare();

    CacheCounts counts() const;

    /// Of the state of all sets, as CacheArray::digest(). What a prefetcher remembers is not in it.
    std::uint64_t digest() const {
        std::uint64_t digest = 0;
        for (std::uint64_t set = 0; set < index_.sets(); ++set) digest = digest_of(digest, array_->digest(set));
        return sectors_ ? digest_of(digest, sectors_->digest()) : digest;
    }

private:
    static constexpr unsigned index_of(EventKind kind) { return static_cast<unsigned>(kind); }
    Tick count(const BatchCounts& counts, std::size_t sent);
    Tick handle_in_steps(std::span<const BlockEvent> requests, std::uint8_t core, BatchPositions* positions,
                         std::span<const BlockEvent> virtual_lines, std::span<const std::uint32_t> sites);
    std::uint64_t set_of(Address address) const {
        const Address line = address & ~line_mask_;
        return config_.virtually_indexed ? set_of_physical(line) : index_.set_of(line);
    }
    Reply request_in_steps(Address address, std::uint64_t set, RequestInfo info, Tick time);

    /// The rest of a simple miss, when the line is inserted and the victim removed already, which nobody below can
    /// tell.
    Reply fetch_simply(Address line, RequestInfo info, Tick time, Entry victim) {
        ++misses_[index_of(info.kind())];
        const RequestInfo down = info.kind() == EventKind::store ? info.as(EventKind::load) : info;
        Reply reply = below_.request(line, down, time + latency_);
        if (is_dirty(victim) || (victim != 0 && (victims_matter_ || below_.wants(EventKind::eviction)))) {
            reply.time = std::max(reply.time, dispose(victim, line, down, time + latency_));
        } else {
            counts_.evictions += victim != 0;
        }
        if (below_.wants(EventKind::fill) && !below_.batching()) [[unlikely]]  // else with its request
            below_.notify(line, down.as(EventKind::fill), reply.time);
        return {reply.time};
    }
    // A block is what a request is for: a sector, or a line.
    Address block_of(Address address) const { return address & ~block_mask_; }
    Entry look_up(std::uint64_t set, Address block, Touch touch) {
        const Entry line = array_->access(set, block & ~line_mask_, touch);
        return line == 0 || !sectors_ ? line : sectors_->access(block, touch);
    }
    bool holds(std::uint64_t set, Address block) const {
        return array_->find(set, block & ~line_mask_) != 0 && (!sectors_ || sectors_->find(block) != 0);
    }
    Reply miss(Address address, std::uint64_t set, RequestInfo info, Tick time);
    Reply fetch(Address block, std::uint64_t set, RequestInfo info, Tick time, Entry state);
    void take_missing(Address block, std::uint64_t set, RequestInfo info, Tick time);
    // What makes room returns when the victim, if there is one, has left.
    Tick insert(std::uint64_t set, Address block, Entry state, RequestInfo info, Tick time);
    // `block`: that needs the room.
    Tick make_room(std::uint64_t set, Address block, RequestInfo info, Tick time);
    Tick dispose(Entry victim, Address line, RequestInfo info, Tick time);
    Tick send_away(Entry victim, Address line, RequestInfo info, Tick time);
    std::uint64_t dirty_blocks(Entry victim, RequestInfo info, Tick time);
    Tick pass_on(Address block, RequestInfo info, Tick time);
    void train(Address address, RequestInfo info, Tick time, bool trigger);
    std::uint64_t set_of_physical(Address line) const;
    Entry mru_after(EventKind kind, bool hit) const;
    void remember(std::uint64_t set, Address line, EventKind kind, bool hit) {
        if (!next_to_core_) return;
        mru_[set] = line | mru_flags_[hit ? 1 : 0][static_cast<unsigned>(kind)];
        if (kind == EventKind::page_walk) [[unlikely]]
            for (Disturbances* each : disturbances_) each->walked.push_back(line);
    }
    void forget(std::uint64_t set) {
        if (next_to_core_) mru_[set] = mru_bit::nothing;
    }

    CacheConfig config_;
    Address line_mask_, block_mask_;
    Tick latency_;
    bool writes_back_, filled_by_victims_, next_to_core_;
    bool line_may_be_taken_ = false, loss_is_logged_ = true, victims_matter_ = false, is_plain_ = false;
    std::array<Touch, event_kind_count> touch_;  ///< by kind
    IndexingPolicy index_;
    std::unique_ptr<CacheArray> array_;
    std::optional<SectorTable> sectors_;
    std::unique_ptr<Prefetcher> prefetcher_;
    const SiteTable* sites_ = nullptr;
    RequestPort below_;
    std::vector<std::uint16_t> sent_by_;  ///< of handle_sited()
    std::vector<Cache*> above_;
    std::vector<Address> mru_;                                        ///< by set; next to a core only
    std::array<std::array<Entry, event_kind_count>, 2> mru_flags_{};  ///< by hit and kind
    std::vector<Disturbances*> disturbances_;
    ArrayLog* log_ = nullptr;
    PageTable* pages_ = nullptr;
    Coherence* coherence_ = nullptr;    ///< of the node that this is in
    Coherence* nodes_above_ = nullptr;  ///< of nodes that this takes lines away from
    unsigned node_ = 0;
    std::array<bool, event_kind_count> simple_{};  ///< by kind: one pass over the set does it
    std::array<std::uint64_t, event_kind_count> requests_{}, misses_{};
    CacheCounts counts_;           ///< those that are not requests
    std::vector<Address> wanted_;  ///< by the prefetcher; kept to save allocations
};

inline Reply RequestPort::request(Address address, RequestInfo info, Tick time) {
    if (batching_) {
        batch_.push({align_down(address, BlockEvent::alignment), info.kind()});
        return {time};
    }
    if (in_steps_) [[unlikely]]
        return request_in_steps(address, info, time);
    if (wants(info.kind())) [[unlikely]]
        notify_listeners({address, 1, info.site(), info.kind(), info.core(), time});
    return cache_ != nullptr ? cache_->request(address, info, time) : Reply{memory_->request(address, info, time).time};
}

}  // namespace cachetally
