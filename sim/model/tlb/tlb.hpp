// SPDX-License-Identifier: BSD-3-Clause
// Tlb and PageWalker: what a translation costs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "cachetally/counts.hpp"
#include "cachetally/machine.hpp"
#include "sim/model/indexing/indexing.hpp"
#include "sim/model/link/request_port.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/model/tlb/walk_caches.hpp"

namespace cachetally {

class PageTable;

/// Reads the page table entries of a walk, one core's.
class PageWalker {
public:
    PageWalker(const PagesConfig& config, const PageTable& pages, Tick period)
        : pages_(pages),
          latency_(config.walk_latency * period),
          references_(config.walk_references),
          caches_(config.walk_caches) {}

    RequestPort& below() { return below_; }

    /// Of a virtual address. Returns when the walk is done.
    Tick walk(Address address, unsigned page_bits, RequestInfo info, Tick time);

    /// The same of many: notes what a walk reads instead of reading it. Returns how long the walker itself takes.
    Tick note_reads(Address address, unsigned page_bits, std::vector<BlockEvent>& reads);
    bool reads_entries() const { return references_; }

    std::uint64_t walks() const { return walks_; }

private:
    /// Calls read(address) for each entry of the page table that a walk reads.
    template <class Read>
    void read_entries(Address address, unsigned page_bits, Read read);

    const PageTable& pages_;
    Tick latency_;
    bool references_;
    WalkCaches caches_;
    RequestPort below_;
    std::uint64_t walks_ = 0;
};

class Tlb {
    /// Pages of several sizes share an array: the set is chosen by the page's number, handed over as if entries were 8
    /// bytes.
    static constexpr std::uint64_t number_block = 8;

public:
    Tlb(const TlbConfig& config, unsigned copy, Tick period);

    /// To be called on a TLB next to a core, before the first access, where all pages have one size that it holds: it
    /// will recognise lookups that change nothing.
    void be_first_level(PageTable& pages, unsigned page_bits);

    /// To be called before the first access where frames, or other sizes of pages, decide which pages share an entry.
    void coalesce_by_frames(PageTable& pages);
    bool coalesces_by_frames() const { return by_frames_; }

    /// The page that a set was last asked for, and physical minus virtual address.
    struct LastPage {
        Address number = ~Address{0};
        Address offset = 0;
    };

    /// What a loop over references needs to recognise lookups that change nothing; a copy stays in registers.
    class Front {
    public:
        Front() = default;
        Front(std::uint64_t sets, unsigned page_bits, LastPage* last)
            : mask_((sets - 1) * sizeof(LastPage)),
              page_bits_(page_bits),
              scaled_bits_(page_bits - log2_exact(sizeof(LastPage))),
              last_(reinterpret_cast<std::byte*>(last)) {}

        Address number_of(Address address) const { return address >> page_bits_; }
        Address page_of(Address address) const { return address >> page_bits_ << page_bits_; }
        std::uint64_t set_of(Address address) const { return (address >> scaled_bits_ & mask_) / sizeof(LastPage); }

        /// Of the set of an address.
        LastPage& last(Address address) const {
            return *reinterpret_cast<LastPage*>(last_ + (address >> scaled_bits_ & mask_));
        }

        /// True when the lookup hits and, but for its count, changes nothing: the physical address is the last offset
        /// away. Exact for every policy.
        bool changes_nothing(const LastPage& last, Address address) const { return last.number == number_of(address); }

    private:
        std::uint64_t mask_ = 0;
        unsigned page_bits_ = 0, scaled_bits_ = 0;
        std::byte* last_ = nullptr;  ///< sets are counted in bytes
    };
    /// Looks the pages of many accesses up, in order; where all pages have one size, which is held here. Those that
    /// were missing are held then. Writes their indices, and returns their number. Writes the accesses by their
    /// physical addresses, too, where `physical` is not null (next to a core only).
    std::size_t look_up(std::span<const BlockEvent> accesses, unsigned page_bits, std::uint16_t* missing,
                        BlockEvent* physical);

    Front front() { return {index_.sets(), front_bits_, front_.data()}; }
    CacheArray& array() { return *array_; }
    bool has_front() const { return !front_.empty(); }

    /// Whether the use of the page that a set was asked for last changes nothing.
    bool repetition_is_idle() const { return repetition_.idle_after_use && repetition_.idle_after_insertion; }
    const IndexingPolicy& indexing() const { return index_; }
    /// Of what one entry maps, at most.
    unsigned entry_bits(unsigned page_bits) const {
        return config_.granule != 0 ? std::min(page_bits, log2_exact(config_.granule))
                                    : page_bits + log2_exact(std::uint64_t{config_.coalesces});
    }
    const TlbConfig& config() const { return config_; }
    Tlb* next() const { return next_; }

    /// The link to the next TLB, or to the walkers; only listeners use it as a RequestPort.
    RequestPort& below() { return below_; }
    void connect(Tlb& next) { next_ = &next; }
    void connect(std::vector<PageWalker*> walkers_by_core) { walkers_ = std::move(walkers_by_core); }

    /// Looks up the page of the virtual address; asks below where it is missing. Returns when the translation is known.
    Tick translate(Address address, unsigned page_bits, RequestInfo info, Tick time);

    /// Whether entries for such pages are held here.
    bool holds(unsigned page_bits) const;

    /// What a hit costs.
    Tick latency() const { return latency_; }

    void count_hits(std::uint64_t accesses) { counts_.accesses += accesses; }
    const TlbCounts& counts() const { return counts_; }

    /// As Cache::digest().
    std::uint64_t digest() const {
        std::uint64_t digest = 0;
        for (std::uint64_t set = 0; set < index_.sets(); ++set) digest = digest_of(digest, array_->digest(set));
        return digest;
    }

private:
    /// Added to the address of an entry that maps a group of pages; those of pages have zeros there.
    static constexpr Address group_mark = 8;

    bool hits(std::uint64_t set, Address group, Address page);
    Tick miss(Address address, unsigned page_bits, RequestInfo info, Tick time);
    std::size_t pass_front(std::span<const BlockEvent> accesses, BlockEvent* physical);
    void remember(std::uint64_t set, Address number, Address address, bool hit);

    TlbConfig config_;
    Tick latency_;
    IndexingPolicy index_;
    std::unique_ptr<CacheArray> array_;
    Repetition repetition_;
    RequestPort below_;
    Tlb* next_ = nullptr;
    std::vector<PageWalker*> walkers_;
    std::vector<LastPage> front_;          ///< by set; next to a core only
    std::vector<BlockEvent> asked_;        ///< of look_up(); kept to save allocations
    std::vector<std::uint16_t> asked_by_;  ///< likewise
    unsigned front_bits_ = 0;
    bool by_frames_ = false;
    PageTable* pages_ = nullptr;
    TlbCounts counts_;
};

}  // namespace cachetally
