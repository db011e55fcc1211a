#include "sim/model/tlb.hpp"

#include <algorithm>

#include "sim/model/page_table.hpp"

namespace cachetally {
namespace {

/// Pages of several sizes share an array: the set is chosen by the page's number, handed over as if entries were 8
/// bytes.
constexpr std::uint64_t number_block = 8;

ArrayGeometry geometry_of(const TlbConfig& config, unsigned copy) {
    const unsigned ways = config.ways != 0 ? config.ways : config.entries;
    return {config.entries / ways, ways, number_block, config.indexing, config.replacement, config.seed + copy};
}

}  // namespace

Tick PageWalker::walk(const Request& request, unsigned page_bits) {
    ++walks_;
    Tick time = request.time + latency_;
    if (!references_) return time;
    const unsigned depth = PageTable::walk_depth(page_bits);
    for (unsigned level = 0; level < depth; ++level) {
        const Address entry = PageTable::entry_address(request.address, page_bits, level);
        time = below_.request({entry, entry, request.site, EventKind::page_walk, request.core, time}).time;
    }
    return time;
}

Tlb::Tlb(const TlbConfig& config, unsigned copy, Tick period)
    : config_(config), latency_(config.latency * period), array_(make_cache_array(geometry_of(config, copy))) {}

bool Tlb::holds(unsigned page_bits) const {
    return config_.page_sizes.empty() ||
           std::ranges::find(config_.page_sizes, std::uint64_t{1} << page_bits) != config_.page_sizes.end();
}

Tick Tlb::translate(const Request& request, unsigned page_bits) {
    if (!holds(page_bits)) return miss(request, page_bits);
    const unsigned bits = config_.granule != 0 ? std::min(page_bits, log2_exact(config_.granule)) : page_bits;
    const Address number = request.address >> bits;
    const Address page = number << bits;
    ++counts_.accesses;
    if (array_->access(number * number_block, page, {}) != 0) return request.time + latency_;
    ++counts_.misses;
    Request down = request;
    down.time += latency_;
    const Tick done = miss(down, page_bits);
    array_->insert(number * number_block, page, 0);
    return done;
}

Tick Tlb::miss(const Request& request, unsigned page_bits) {
    below_.notify({request.address, 1, request.site, request.kind, request.core, request.time});
    return next_ != nullptr ? next_->translate(request, page_bits) : walkers_[request.core]->walk(request, page_bits);
}

}  // namespace cachetally
