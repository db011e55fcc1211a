// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/tlb/tlb.hpp"

#include <algorithm>

#include "sim/model/tlb/page_table.hpp"

namespace cachetally {
namespace {

std::uint64_t ways_of(const TlbConfig& config) { return config.ways != 0 ? config.ways : config.entries; }

ArrayGeometry geometry_of(const TlbConfig& config, unsigned copy) {
    return {.sets = config.entries / ways_of(config),
            .ways = static_cast<unsigned>(ways_of(config)),
            .replacement = config.replacement,
            .seed = config.seed + copy};
}

}  // namespace

template <class Read>
void PageWalker::read_entries(Address address, unsigned page_bits, Read read) {
    const unsigned depth = PageTable::walk_depth(page_bits);
    const auto entry_at = [&](unsigned level) { return pages_.entry_address(address, page_bits, level); };
    for (unsigned level = caches_.begin(depth, entry_at); level < depth; ++level) read(entry_at(level));
}

Tick PageWalker::walk(Address address, unsigned page_bits, RequestInfo info, Tick time) {
    ++walks_;
    time += latency_;
    if (!references_) return time;
    read_entries(address, page_bits,
                 [&](Address entry) { time = below_.request(entry, info.as(EventKind::page_walk), time).time; });
    return time;
}

Tick PageWalker::note_reads(Address address, unsigned page_bits, std::vector<BlockEvent>& reads) {
    ++walks_;
    if (references_)
        read_entries(address, page_bits, [&](Address entry) { reads.emplace_back(entry, EventKind::page_walk); });
    return latency_;
}

Tlb::Tlb(const TlbConfig& config, unsigned copy, Tick period)
    : config_(config),
      latency_(config.latency * period),
      index_(config.indexing, config.entries / ways_of(config), number_block),
      array_(make_cache_array(geometry_of(config, copy))),
      repetition_(row_of(config.replacement).repetition) {}

void Tlb::be_first_level(PageTable& pages, unsigned page_bits) {
    pages_ = &pages;
    if (!index_.is_field() || by_frames_) return;
    front_bits_ = entry_bits(page_bits);
    front_.assign(index_.sets(), {});
}

void Tlb::coalesce_by_frames(PageTable& pages) {
    if (config_.coalesces == 1) return;
    by_frames_ = true;
    pages_ = &pages;
}

bool Tlb::holds(unsigned page_bits) const {
    return config_.page_sizes.empty() ||
           std::ranges::find(config_.page_sizes, std::uint64_t{1} << page_bits) != config_.page_sizes.end();
}

Tick Tlb::translate(Address address, unsigned page_bits, RequestInfo info, Tick time) {
    if (!holds(page_bits)) return miss(address, page_bits, info, time);
    const unsigned bits = entry_bits(page_bits);
    const Address number = address >> bits;
    const Address page = number << bits;
    const std::uint64_t set = index_.set_of(number * number_block);
    const Address alone = by_frames_ ? address >> page_bits << page_bits : page;
    ++counts_.accesses;
    if (hits(set, page, alone)) {
        remember(set, number, address, true);
        return time + latency_;
    }
    ++counts_.misses;
    const Tick done = miss(address, page_bits, info, time + latency_);
    if (by_frames_) pages_->translate(address);  // what is inserted maps the page, which has its frame from now on
    const bool coalesced = by_frames_ && pages_->is_one_run(page, page_bits, bits);
    array_->insert(set, coalesced ? page | group_mark : alone, 0);
    remember(set, number, address, false);
    return done;
}

/// Uses the entry of the group of pages or, if there is none, of the page alone.
bool Tlb::hits(std::uint64_t set, Address group, Address page) {
    if (by_frames_ && array_->access(set, group | group_mark, {}) != 0) return true;
    return array_->access(set, page, {}) != 0;
}

std::size_t Tlb::look_up(std::span<const BlockEvent> accesses, unsigned page_bits, std::uint16_t* missing,
                         BlockEvent* physical) {
    const unsigned bits = entry_bits(page_bits);
    const IndexingPolicy index(config_.indexing, index_.sets(), std::uint64_t{1} << bits);
    const Address page_mask = ~Address{0} << bits;
    std::size_t count = 0;
    if (has_front() && repetition_is_idle()) {
        const std::size_t asked = pass_front(accesses, physical);
        count = array_->replace_all({asked_.data(), asked}, page_mask, index, missing);
        for (std::size_t i = 0; i < count; ++i) missing[i] = asked_by_[missing[i]];
    } else {
        std::ranges::fill(front_, LastPage{});  // of translate(); may be replaced now
        count = array_->replace_all(accesses, page_mask, index, missing);
        if (physical != nullptr)
            for (std::size_t i = 0; i < accesses.size(); ++i)
                physical[i] = accesses[i].moved_by(pages_->translate(accesses[i].block()) - accesses[i].block());
    }
    counts_.accesses += accesses.size();
    counts_.misses += count;
    return count;
}

/// Notes the accesses that do not repeat the page that their set was asked for last. Returns their number.
std::size_t Tlb::pass_front(std::span<const BlockEvent> accesses, BlockEvent* physical) {
    if (asked_.size() < accesses.size()) {
        asked_.resize(accesses.size());
        asked_by_.resize(accesses.size());
    }
    const Front front = this->front();
    std::size_t asked = 0;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const Address address = accesses[i].block();
        LastPage& last = front.last(address);
        if (!front.changes_nothing(last, address)) {
            last = {front.number_of(address), pages_->translate(address) - address};
            asked_[asked] = accesses[i];
            asked_by_[asked++] = static_cast<std::uint16_t>(i);
        }
        if (physical != nullptr) physical[i] = accesses[i].moved_by(last.offset);
    }
    return asked;
}

void Tlb::remember(std::uint64_t set, Address number, Address address, bool hit) {
    if (!has_front()) return;
    if (hit ? repetition_.idle_after_use : repetition_.idle_after_insertion) {
        front_[set] = {number, pages_->translate(address) - address};
    } else {
        front_[set] = {};
    }
}

Tick Tlb::miss(Address address, unsigned page_bits, RequestInfo info, Tick time) {
    below_.notify(address, info, time);
    return next_ != nullptr ? next_->translate(address, page_bits, info, time)
                            : walkers_[info.core()]->walk(address, page_bits, info, time);
}

}  // namespace cachetally
