// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/tlb.hpp"

#include <algorithm>

#include "sim/model/page_table.hpp"

namespace cachetally {
namespace {

std::uint64_t ways_of(const TlbConfig& config) { return config.ways != 0 ? config.ways : config.entries; }

ArrayGeometry geometry_of(const TlbConfig& config, unsigned copy) {
    return {config.entries / ways_of(config),
            static_cast<unsigned>(ways_of(config)),
            config.replacement,
            config.seed + copy,
            true,
            0};
}

}  // namespace

Tick PageWalker::walk(Address address, unsigned page_bits, Cause cause, Tick time) {
    ++walks_;
    time += latency_;
    if (!references_) return time;
    const unsigned depth = PageTable::walk_depth(page_bits);
    for (unsigned level = 0; level < depth; ++level) {
        const Address entry = pages_.entry_address(address, page_bits, level);
        time = below_.request(entry, cause.as(EventKind::page_walk), time).time;
    }
    return time;
}

Tlb::Tlb(const TlbConfig& config, unsigned copy, Tick period)
    : config_(config),
      latency_(config.latency * period),
      index_(config.indexing, config.entries / ways_of(config), number_block),
      array_(make_cache_array(geometry_of(config, copy))),
      repetition_(repetition_of(config.replacement)) {}

void Tlb::be_first_level(PageTable& pages, unsigned page_bits) {
    if (!index_.is_field()) return;
    pages_ = &pages;
    front_bits_ = config_.granule != 0 ? std::min(page_bits, log2_exact(config_.granule)) : page_bits;
    front_.assign(index_.sets(), {});
    places_.assign(places, {});
}

bool Tlb::holds(unsigned page_bits) const {
    return config_.page_sizes.empty() ||
           std::ranges::find(config_.page_sizes, std::uint64_t{1} << page_bits) != config_.page_sizes.end();
}

Tick Tlb::translate(Address address, unsigned page_bits, Cause cause, Tick time) {
    if (!holds(page_bits)) return miss(address, page_bits, cause, time);
    const unsigned bits = config_.granule != 0 ? std::min(page_bits, log2_exact(config_.granule)) : page_bits;
    const Address number = address >> bits;
    const Address page = number << bits;
    const std::uint64_t set = index_.set_of(number * number_block);
    ++counts_.accesses;
    if (array_->access(set, page, {}) != 0) {
        remember(set, number, address, true);
        return time + latency_;
    }
    ++counts_.misses;
    const Tick done = miss(address, page_bits, cause, time + latency_);
    const Address replaced = line_of(array_->insert(set, page, 0)) >> bits;
    if (!places_.empty() && places_[replaced % places].number == replaced) places_[replaced % places] = {};
    remember(set, number, address, false);
    return done;
}

void Tlb::remember(std::uint64_t set, Address number, Address address, bool hit) {
    if (pages_ == nullptr) return;
    if (hit ? repetition_.idle_after_use : repetition_.idle_after_insertion) {
        front_[set] = {number, pages_->translate(address) - address};
    } else {
        front_[set] = {};
    }
}

Tick Tlb::miss(Address address, unsigned page_bits, Cause cause, Tick time) {
    below_.notify(address, cause, time);
    return next_ != nullptr ? next_->translate(address, page_bits, cause, time)
                            : walkers_[cause.core()]->walk(address, page_bits, cause, time);
}

}  // namespace cachetally
