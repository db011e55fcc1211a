// SPDX-License-Identifier: BSD-3-Clause
// The way from the core to the first cache: splitting, TLBs, page walks. And the construction of all components.
#include "tests/differential/slow_machine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cachetally::differential {
namespace {

bool serves(Serves what, ReferenceKind kind) {
    return what == Serves::both || (what == Serves::fetch) == (kind == ReferenceKind::fetch);
}

EventKind event_kind(ReferenceKind kind) {
    if (kind == ReferenceKind::load) return EventKind::load;
    return kind == ReferenceKind::store ? EventKind::store : EventKind::fetch;
}

template <class Config>
const Config* first_level(const std::vector<Config>& parts, ReferenceKind kind) {
    for (const Config& part : parts) {
        const bool below_another =
            std::any_of(parts.begin(), parts.end(), [&](const Config& other) { return other.next == part.name; });
        if (!below_another && serves(part.serves, kind)) return &part;
    }
    return nullptr;
}

}  // namespace

SlowMachine::SlowMachine(const MachineDescription& machine, std::optional<Records> records)
    : machine_(machine), records_(std::move(records)), pages_(machine) {
    build_caches();
    build_tlbs();
    counts_.memories.resize(machine.memories.size());
    if (machine.has_nodes()) counts_.numa.resize(machine.memories.size());
    if (machine.coherence.protocol != Protocol::none) counts_.coherence.resize(1);
}

void SlowMachine::build_caches() {
    counts_.caches.resize(machine_.caches.size());
    for (std::size_t index = 0; index < machine_.caches.size(); ++index) {
        const CacheConfig& config = machine_.caches[index];
        const unsigned copies = config.shared_by != 0 ? machine_.cores / config.shared_by : 1;
        const auto ways = static_cast<unsigned>(config.ways != 0 ? config.ways : config.size / config.line);
        for (unsigned copy = 0; copy < copies; ++copy) {
            SlowCache& cache = caches_.emplace_back();
            cache.config = &config;
            cache.index = index;
            cache.copy = copy;
            cache.sets = slow_sets(config.size / config.line / ways, ways, config.replacement, config.empty_way);
            cache.random = SlowRandom(config.seed + copy);
            cache.prefetcher = SlowPrefetcher(config.prefetch, block_bytes(config));
            cache.misses.assign(config.outstanding_misses, 0);
            cache.write_buffer.assign(config.write_buffer, 0);
        }
    }
}

void SlowMachine::build_tlbs() {
    counts_.tlbs.resize(machine_.tlbs.size());
    for (std::size_t index = 0; index < machine_.tlbs.size(); ++index) {
        const TlbConfig& config = machine_.tlbs[index];
        const unsigned copies = config.shared_by != 0 ? machine_.cores / config.shared_by : 1;
        const unsigned ways = config.ways != 0 ? config.ways : config.entries;
        for (unsigned copy = 0; copy < copies; ++copy) {
            SlowTlb& tlb = tlbs_.emplace_back();
            tlb.config = &config;
            tlb.index = index;
            tlb.copy = copy;
            tlb.sets = slow_sets(config.entries / ways, ways, config.replacement);
            tlb.random = SlowRandom(config.seed + copy);
        }
    }
}

const CacheConfig* SlowMachine::first_cache(ReferenceKind kind) const { return first_level(machine_.caches, kind); }
const TlbConfig* SlowMachine::first_tlb(ReferenceKind kind) const { return first_level(machine_.tlbs, kind); }

Tick SlowMachine::reference(unsigned core, const Reference& reference, Tick now) {
    ++counts_.references;
    const CacheConfig* first = first_cache(reference.kind);
    const Address line = first != nullptr ? block_bytes(*first) : 64;
    Address address = reference.address;
    while (address < reference.address + reference.size) {
        now = access(core, reference, address, now);
        write_records(core, now);
        address = (address / line + 1) * line;
    }
    return now;
}

std::string SlowMachine::memory_below(std::string name) const {
    for (const CacheConfig& cache : machine_.caches) {
        if (cache.name == name) return memory_below(cache.next);
    }
    return name;
}

/// What the listener sent is written; nothing waits for it. What it sends meanwhile is left for the next time.
void SlowMachine::write_records(unsigned core, Tick now) {
    const std::uint64_t due = std::exchange(records_due_, 0);
    for (std::uint64_t i = 0; i < due; ++i) {
        const Address address = records_->base + 16 * records_sent_++;
        const Request record{EventKind::ring_write, address, core, 0, now, std::nullopt};
        const auto dash = records_->link.find('-');
        const std::string above = records_->link.substr(0, dash), below = records_->link.substr(dash + 1);
        if (records_->bypass || memory_below(below) == below) {
            write_past_caches(record, above, below, records_->copy);
        } else {
            write_into(below, record, above, records_->copy);
        }
    }
}

Tick SlowMachine::access(unsigned core, const Reference& reference, Address address, Tick now) {
    now = translate(core, reference, address, now);
    const Address physical = pages_.translate(address);
    const CacheConfig* first = first_cache(reference.kind);
    const std::string below = first != nullptr ? first->name : lowest();
    return arrive("core", core, below, {event_kind(reference.kind), physical, core, reference.site, now, address}).time;
}

Tick SlowMachine::translate(unsigned core, const Reference& reference, Address address, Tick now) {
    const TlbConfig* first = first_tlb(reference.kind);
    if (first == nullptr) return now;
    return look_up("core", core, first, {event_kind(reference.kind), address, core, reference.site, now, address});
}

SlowTlb& SlowMachine::tlb_of(const TlbConfig& config, unsigned core) {
    for (SlowTlb& tlb : tlbs_) {
        if (tlb.config == &config && tlb.copy == core / (config.shared_by ? config.shared_by : machine_.cores)) {
            return tlb;
        }
    }
    throw std::logic_error("no TLB " + config.name);
}

/// Looks up a virtual address in a TLB and what is below it; null is the walker.
Tick SlowMachine::look_up(const std::string& above, unsigned above_copy, const TlbConfig* config,
                          const Request& request) {
    if (config == nullptr) return walk(above, above_copy, request);
    notify(above + "-" + config->name, above_copy, request);
    SlowTlb& tlb = tlb_of(*config, request.core);
    const TlbConfig* next = nullptr;
    for (const TlbConfig& other : machine_.tlbs) {
        if (other.name == config->next) next = &other;
    }
    const std::uint64_t page = pages_.page_size(request.address);
    const auto& sizes = config->page_sizes;
    if (!sizes.empty() && std::find(sizes.begin(), sizes.end(), page) == sizes.end()) {
        return look_up(config->name, tlb.copy, next, request);
    }
    const std::uint64_t bytes = config->granule != 0 ? std::min(page, config->granule) : page;
    const std::uint64_t group_bytes = bytes * config->coalesces;
    const std::uint64_t number = request.address / group_bytes;
    SlowSet& set = tlb.sets[slow_set_number(config->indexing, number, tlb.sets.size())];
    const Address alone = request.address / bytes * bytes;
    const Address group = number * group_bytes, together = group + 1;  // an address at which no page begins
    ++counts_.tlbs[tlb.index].accesses;
    for (const Address entry : {together, alone}) {
        if (SlowWay* way = set.find(entry)) {
            set.use(*way);
            return request.time + config->latency * machine_.period;
        }
    }
    ++counts_.tlbs[tlb.index].misses;
    Request passed_on = request;
    passed_on.time += config->latency * machine_.period;
    const Tick done = look_up(config->name, tlb.copy, next, passed_on);
    if (!set.has_room()) set.victim(tlb.random).valid = false;
    pages_.translate(request.address);  // after the walk, and before any TLB has it, the page takes its frame
    const bool coalesced = config->coalesces > 1 && pages_.lie_together(group, group_bytes);
    set.insert(coalesced ? together : alone, tlb.duel);
    return done;
}

/// From below the deepest level whose cache has the walk's entry; what is read is cached then.
std::vector<Address> SlowMachine::entries_to_read(const Request& request) {
    std::vector<Address> entries = pages_.walk_entries(request.address);
    const std::vector<unsigned>& sizes = machine_.pages.walk_caches;
    ++walk_clock_;
    std::size_t first = 0;
    for (std::size_t depth = 0; depth + 1 < entries.size() && depth < sizes.size(); ++depth) {
        if (walk_caches_[{request.core, depth}].contains(entries[depth])) first = depth + 1;
    }
    if (first > 0) walk_caches_[{request.core, first - 1}][entries[first - 1]] = walk_clock_;
    for (std::size_t depth = first; depth + 1 < entries.size() && depth < sizes.size(); ++depth) {
        auto& cache = walk_caches_[{request.core, depth}];
        cache[entries[depth]] = walk_clock_;
        const auto oldest = std::min_element(cache.begin(), cache.end(),
                                             [](const auto& a, const auto& b) { return a.second < b.second; });
        if (cache.size() > sizes[depth]) cache.erase(oldest);
    }
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(first));
    return entries;
}

Tick SlowMachine::walk(const std::string& above, unsigned above_copy, const Request& request) {
    notify(above + "-walker", above_copy, request);
    ++counts_.page_walks;
    Tick time = request.time + machine_.pages.walk_latency * machine_.period;
    if (!machine_.pages.walk_references) return time;
    std::string entry_point = machine_.pages.walk_through;
    if (entry_point.empty()) {
        const CacheConfig* first = first_cache(ReferenceKind::load);
        entry_point = first != nullptr ? first->name : lowest();
    }
    for (const Address entry : entries_to_read(request)) {
        const Request read{EventKind::page_walk, entry, request.core, request.site, time, std::nullopt};
        time = arrive("walker", request.core, entry_point, read).time;
    }
    return time;
}

}  // namespace cachetally::differential
