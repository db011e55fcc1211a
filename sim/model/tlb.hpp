// Tlb and PageWalker: what a translation costs.
#pragma once

#include <memory>
#include <vector>

#include "sim/model/cache_array.hpp"
#include "sim/model/counts.hpp"
#include "sim/model/downlink.hpp"
#include "sim/topology/machine.hpp"

namespace cachetally {

/// Reads the page table entries of a walk, one core's.
class PageWalker {
public:
    PageWalker(const PagesConfig& config, Tick period)
        : latency_(config.walk_latency * period), references_(config.walk_references) {}

    Downlink& below() { return below_; }

    /// `request.address` is virtual. Returns when the walk is done.
    Tick walk(const Request& request, unsigned page_bits);

    std::uint64_t walks() const { return walks_; }

private:
    Tick latency_;
    bool references_;
    Downlink below_;
    std::uint64_t walks_ = 0;
};

class Tlb {
public:
    Tlb(const TlbConfig& config, unsigned copy, Tick period);

    /// The link to the next TLB, or to the walkers; only listeners use it as a Downlink.
    Downlink& below() { return below_; }
    void lead_to(Tlb& next) { next_ = &next; }
    void lead_to(std::vector<PageWalker*> walkers_by_core) { walkers_ = std::move(walkers_by_core); }

    /// Looks up the page of the virtual address; asks below where it is missing. Returns when the translation is known.
    Tick translate(const Request& request, unsigned page_bits);

    /// Whether entries for such pages are held here.
    bool holds(unsigned page_bits) const;

    /// What a hit costs.
    Tick latency() const { return latency_; }

    /// After a hit or an insertion a second access to the page changes nothing.
    bool repeats(bool hit) const { return hit || insertion_is_use(config_.replacement); }

    void count_repeats(std::uint64_t accesses) { counts_.accesses += accesses; }
    const TlbCounts& counts() const { return counts_; }

private:
    Tick miss(const Request& request, unsigned page_bits);

    TlbConfig config_;
    Tick latency_;
    std::unique_ptr<CacheArray> array_;
    Downlink below_;
    Tlb* next_ = nullptr;
    std::vector<PageWalker*> walkers_;
    TlbCounts counts_;
};

}  // namespace cachetally
