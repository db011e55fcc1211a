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

CauseWatch::CauseWatch(const CacheConfig& cache, const RegionFinder& regions, AddressMap map, LineNumbers& numbers)
    : line_bytes_(cache.line),
      victims_allocate_(cache.write_back_miss == WriteBackMiss::allocate),
      regions_(regions),
      map_(std::move(map)),
      above_(*this, asked_for, false),
      below_(*this, consequences, true),
      numbers_(numbers),
      lines_(cache.size / cache.line) {}

/// Looked up once: what a line holds does not change when its page is mapped.
std::uint32_t CauseWatch::structure_of(std::uint32_t number) {
    std::uint32_t& structure = numbers_.structure(number);
    if (structure == LineNumbers::none) {
        const Address line = numbers_.address(number);
        structure = regions_.find(map_ ? map_(line) : line, line_bytes_);
    }
    return structure;
}

/// A line that is asked for comes by a fill, if it comes; one that is written back comes at once, if it comes.
void CauseWatch::asked(const LinkEvent& event) {
    const std::uint32_t number = numbers_.number(align_down(event.address, line_bytes_));
    Line& line = lines_.line(number);
    if (line.fate != Fate::here && (bit(event.kind) & demand) != 0) count_miss(number);
    lines_.use(number);  // hit or miss
    const bool written_back = event.kind == EventKind::write_back || event.kind == EventKind::ring_write;
    if (written_back && victims_allocate_) line.fate = Fate::here;
}

void CauseWatch::count_miss(std::uint32_t number) {
    const Line& line = lines_.line(number);
    MissCause cause = MissCause::first_use;
    if (line.fate == Fate::taken_away) cause = MissCause::taken_away;
    if (line.fate == Fate::replaced) cause = line.near ? MissCause::conflict : MissCause::capacity;
    ++misses_now_[structure_of(number)][static_cast<unsigned>(cause)];
}

void CauseWatch::happened(const LinkEvent& event) {
    const std::uint32_t by = event.kind == EventKind::eviction ? numbers_.number(event.by) : LineNumbers::none;
    const std::uint32_t number = numbers_.number(event.address);
    Line& line = lines_.line(number);
    if (event.kind == EventKind::fill) {
        lines_.use(number);
        line.fate = Fate::here;
    } else if (event.kind == EventKind::eviction) {
        line.fate = Fate::replaced;
        ++evictions_now_[std::uint64_t{structure_of(by)} << 32 | structure_of(number)];
    } else {
        lines_.remove(number);
        line.fate = Fate::taken_away;
    }
}

void CauseWatch::close_phase() {
    keep_counts();
    ++phase_;
}

void CauseWatch::keep_counts() {
    for (const auto& [structure, counts] : misses_now_.counts)
        for (unsigned cause = 0; cause < miss_cause_count; ++cause)
            misses_[{structure, phase_}][cause] += counts[cause];
    for (const auto& [pair, count] : evictions_now_.counts)
        evictions_[{static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair), phase_}] += count;
    misses_now_.clear();
    evictions_now_.clear();
}

LevelCauses CauseWatch::sum(const std::string& level, const std::vector<CauseWatch*>& copies) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, CauseCounts> misses;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> evictions;
    for (CauseWatch* copy : copies) {
        copy->keep_counts();
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
