#include "monitor/causes/cause_watch.hpp"

#include <algorithm>

#include "sim/topology/coherent_part.hpp"

namespace cachetally {
namespace {

constexpr std::uint32_t demand = bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);
constexpr std::uint32_t asked_for = demand | bit(EventKind::page_walk) | bit(EventKind::prefetch) |
                                    bit(EventKind::ring_write) | bit(EventKind::write_back);
constexpr std::uint32_t consequences = bit(EventKind::fill) | bit(EventKind::eviction) | bit(EventKind::invalidate);

bool can_be_told(const MachineDescription& machine, const CacheConfig& cache) {
    if (cache.inclusion == Inclusion::exclusive || cache.inclusion == Inclusion::victim) return false;
    return machine.coherence.protocol == Protocol::none || coherent_part(machine).point != cache.name;
}

}  // namespace

std::vector<CauseLinks> cause_links(const Topology& topology) {
    std::vector<CauseLinks> found;
    const auto& parts = topology.components();
    for (std::size_t id = 0; id < parts.size(); ++id) {
        if (parts[id].kind != Component::Kind::cache) continue;
        if (!can_be_told(topology.machine(), topology.machine().caches[parts[id].index])) continue;
        CauseLinks links{id, {}, 0};
        for (std::size_t link = 0; link < topology.links().size(); ++link) {
            if (topology.links()[link].to == id) links.above.push_back(link);
            if (topology.links()[link].from == id) links.below = link;
        }
        found.push_back(std::move(links));
    }
    std::ranges::sort(found, {}, [&](const CauseLinks& links) { return parts[links.component].index; });
    return found;
}

CauseWatch::CauseWatch(const CacheConfig& cache, const RegionFinder& regions, AddressMap map)
    : line_bytes_(cache.line),
      victims_allocate_(cache.write_back_miss == WriteBackMiss::allocate),
      regions_(regions),
      map_(std::move(map)),
      above_(*this, asked_for, false),
      below_(*this, consequences, true),
      full_(cache.size / cache.line) {}

std::uint32_t CauseWatch::structure_of(Address line) const {
    return regions_.find(map_ ? map_(line) : line, line_bytes_);
}

/// A line that is asked for comes by a fill, if it comes; one that is written back comes at once, if it comes.
void CauseWatch::asked(const LinkEvent& event) {
    const Address line = align_down(event.address, line_bytes_);
    const auto known = fates_.find(line);
    const bool here = known != fates_.end() && known->second == Fate::here;
    if (!here && (bit(event.kind) & demand) != 0) {
        MissCause cause = MissCause::first_use;
        if (known != fates_.end() && known->second == Fate::taken_away) cause = MissCause::taken_away;
        if (known != fates_.end() && known->second == Fate::replaced)
            cause = full_.holds(line) ? MissCause::conflict : MissCause::capacity;
        ++misses_[{structure_of(line), phase_}][static_cast<unsigned>(cause)];
    }
    const bool written_back = event.kind == EventKind::write_back || event.kind == EventKind::ring_write;
    if (!written_back || !victims_allocate_) return full_.use(line);
    full_.insert(line);
    fates_[line] = Fate::here;
}

void CauseWatch::happened(const LinkEvent& event) {
    if (event.kind == EventKind::fill) {
        full_.insert(event.address);
        fates_[event.address] = Fate::here;
        return;
    }
    if (event.kind == EventKind::eviction) {
        fates_[event.address] = Fate::replaced;
        ++evictions_[{structure_of(event.by), structure_of(event.address), phase_}];
        return;
    }
    full_.remove(event.address);
    fates_[event.address] = Fate::taken_away;
}

LevelCauses CauseWatch::sum(const std::string& level, const std::vector<const CauseWatch*>& copies) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, CauseCounts> misses;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> evictions;
    for (const CauseWatch* copy : copies) {
        for (const auto& [place, counts] : copy->misses_)
            for (unsigned cause = 0; cause < miss_cause_count; ++cause) misses[place][cause] += counts[cause];
        for (const auto& [place, count] : copy->evictions_) evictions[place] += count;
    }
    LevelCauses causes{level, {}, {}};
    for (const auto& [place, counts] : misses) causes.misses.push_back({place.first, place.second, counts});
    for (const auto& [place, count] : evictions)
        causes.evictions.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), count});
    return causes;
}

}  // namespace cachetally
