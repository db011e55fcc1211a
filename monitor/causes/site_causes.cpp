// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/site_causes.hpp"

#include <algorithm>
#include <utility>

namespace cachetally {
namespace {

IndexingPolicy sets_of(const CacheConfig& cache) {
    const std::uint64_t lines = cache.size / cache.line, ways = cache.ways != 0 ? cache.ways : lines;
    return {cache.indexing, lines / ways, cache.line, cache.slices};
}

}  // namespace

ObjectNumbers::ObjectNumbers(const std::vector<std::string>& names) : numbers_(names.size()) {
    std::map<std::string_view, std::uint32_t> first;
    for (std::uint32_t i = 0; i < names.size(); ++i) numbers_[i] = first.try_emplace(names[i], i).first->second;
}

SiteCauses::SiteCauses(const SiteTable& sites, const CacheConfig& cache, AddressMap map, unsigned cores)
    : sites_(sites), sets_(sets_of(cache)), map_(cache.virtually_indexed ? std::move(map) : AddressMap()) {
    misses_.fill(SiteCounts(cores));
}

void SiteCauses::evicted(std::uint32_t by, std::uint32_t victim, std::uint32_t site, Address line) {
    std::uint32_t evictor = object_of(by), gone = object_of(victim);
    if (evictor == unknown) evictor = sites_[site].object;
    if (gone == unknown) gone = 0;
    ++of_phase_[{evictor, gone, sets_.set_of(map_ ? map_(line) : line)}];
}

void SiteCauses::end_phase() {
    for (SiteCounts& counts : misses_) counts.follow({Control::Kind::barrier, 0});
    fold(of_phase_, meetings_, pairs_, nullptr);
    of_phase_.clear();
    ++phase_;
}

/// Of the phase at hand.
void SiteCauses::fold(const Meetings& from, Meetings& meetings, Pairs& pairs, const ObjectNumbers* numbers) const {
    for (const auto& [meeting, count] : from) {
        const std::uint32_t by = numbers != nullptr ? (*numbers)[meeting.by] : meeting.by,
                            victim = numbers != nullptr ? (*numbers)[meeting.victim] : meeting.victim;
        meetings[{by, victim, meeting.set}] += count;
        pairs[{by, victim, phase_}] += count;
    }
}

void SiteCauses::add_misses(Attribution& attribution, std::size_t level) const {
    for (unsigned cause = 0; cause < miss_cause_count; ++cause)
        for (const SiteCounts::Row& counted : misses_[cause].rows()) {
            const std::uint32_t site = counted.site < attribution.sites.size() ? counted.site : 0;
            attribution.row(counted.phase, site, counted.core).causes[level][cause] += counted.count;
        }
}

ObjectEvictions SiteCauses::evictions(const std::string& level, const std::vector<const SiteCauses*>& copies,
                                      const ObjectNumbers& numbers) {
    Meetings meetings;
    Pairs pairs;
    for (const SiteCauses* copy : copies) {
        for (const auto& [meeting, count] : copy->meetings_)
            meetings[{numbers[meeting.by], numbers[meeting.victim], meeting.set}] += count;
        for (const auto& [place, count] : copy->pairs_) {
            const auto [by, victim, phase] = place;
            pairs[{numbers[by], numbers[victim], phase}] += count;
        }
        copy->fold(copy->of_phase_, meetings, pairs, &numbers);
    }
    ObjectEvictions found{level, {}, {}};
    for (const auto& [place, count] : pairs) {
        const auto [by, victim, phase] = place;
        found.pairs.push_back({by, victim, phase, count});
    }
    std::vector<SetEvictions> by_set;
    for (const auto& [meeting, count] : meetings) by_set.push_back({meeting.by, meeting.victim, meeting.set, count});
    found.cycles = strongest_cycles(std::move(by_set));
    return found;
}

}  // namespace cachetally
