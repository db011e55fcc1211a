// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/cause_watch.hpp"

#include <algorithm>

#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

constexpr std::uint32_t demand = bit(EventKind::load) | bit(EventKind::store) | bit(EventKind::fetch);
constexpr std::uint32_t asked_for = demand | bit(EventKind::page_walk) | bit(EventKind::prefetch) |
                                    bit(EventKind::ring_write) | bit(EventKind::write_back);
constexpr std::uint32_t consequences = bit(EventKind::fill) | bit(EventKind::eviction) | bit(EventKind::invalidate);

constexpr bool is_demand(EventKind kind) { return (bit(kind) & demand) != 0; }
constexpr bool is_request(EventKind kind) { return (bit(kind) & consequences) == 0; }

bool has_causes(const MachineDescription& machine, const CacheConfig& cache) {
    if (filled_by_victims(cache.inclusion)) return false;
    if (cache.sector != 0) return false;  // a line that is here may miss
    return machine.coherence.protocol == Protocol::none || coherent_part(machine).point != cache.name;
}

bool lines_are_invalidated(const MachineDescription& machine) {
    return machine.coherence.protocol != Protocol::none ||
           std::ranges::any_of(machine.caches, [](const auto& c) { return c.inclusion == Inclusion::inclusive; });
}

}  // namespace

std::vector<CauseLinks> cause_links(const Topology& topology) {
    std::vector<CauseLinks> found;
    const auto& parts = topology.components();
    for (std::size_t id = 0; id < parts.size(); ++id) {
        if (parts[id].kind != Component::Kind::cache) continue;
        if (!has_causes(topology.machine(), topology.machine().caches[parts[id].index])) continue;
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

CauseWatch::CauseWatch(const MachineDescription& machine, const CacheConfig& cache, const RegionFinder& regions,
                       AddressMap map, LineNumbers& numbers, const SiteTable* sites, unsigned cores)
    : line_bytes_(cache.line),
      victims_allocate_(cache.write_back_miss == WriteBackMiss::allocate),
      regions_(regions),
      map_(std::move(map)),
      above_(*this, asked_for, false),
      below_(*this, consequences, true),
      numbers_(numbers),
      lines_(cache.size / cache.line, lines_are_invalidated(machine)),
      by_core_(cores > 1) {
    if (sites != nullptr) by_site_.emplace(*sites, cache, map_, cores);
}

void CauseWatch::take(const LinkEvent& event) {
    const Address line = align_down(event.address, line_bytes_);
    const std::uint32_t site = by_site_ ? event.site : 0;
    if (waiting_ != 0) {
        Waiting& last = events_[waiting_ - 1];
        if (last.line == line && last.site == site && last.core == event.core && is_demand(last.kind) &&
            is_demand(event.kind)) {
            ++last.times;
            return;
        }
    }
    numbers_.prefetch(line);
    if (event.kind == EventKind::eviction) numbers_.prefetch(event.by);
    events_[waiting_] = {line, event.by, 1, site, event.kind, event.core};
    if (++waiting_ == events_.size() || sharing_ != nullptr) catch_up();
}

/// In rounds, each of which asks the host's memory for what the next one needs.
void CauseWatch::catch_up() {
    for (std::size_t i = 0; i < waiting_; ++i) numbers_.prefetch_line(events_[i].line);
    std::array<Known, std::tuple_size_v<decltype(events_)>> known;
    for (std::size_t i = 0; i < waiting_; ++i) {
        const Waiting& event = events_[i];
        if (event.kind == EventKind::eviction) {
            const LineNumbers::Line& by = known_line(event.by);
            known[i].by = by.structure;
            known[i].by_number = by.number;
        }
        const LineNumbers::Line& line = known_line(event.line);
        known[i].number = line.number;
        known[i].structure = line.structure;
        lines_.prefetch(line.number);
    }
    for (std::size_t i = 0; i < waiting_; ++i)
        is_request(events_[i].kind) ? asked(events_[i], known[i]) : happened(events_[i], known[i]);
    waiting_ = 0;
}

/// The structure is looked up once: what a line holds does not change when its page is mapped.
const LineNumbers::Line& CauseWatch::known_line(Address address) {
    LineNumbers::Line& line = numbers_.line(address);
    if (line.structure == LineNumbers::none)
        line.structure = regions_.find(map_ ? map_(address) : address, line_bytes_);
    return line;
}

/// A line that is asked for comes by a fill, if it comes; one that is written back comes at once, if it comes.
void CauseWatch::asked(const Waiting& event, const Known& known) {
    Line& line = lines_.line(known.number);
    const bool misses = line.fate != Fate::here && is_demand(event.kind);
    if (misses) count_miss(line, event, known, 1);
    lines_.use(known.number);  // hit or miss
    if (misses && event.times > 1) count_miss(line, event, known, event.times - 1);
    if (by_site_) by_site_->asked(known.number, event.site, event.kind);
    const bool written_back = event.kind == EventKind::write_back || event.kind == EventKind::ring_write;
    if (written_back && victims_allocate_) line.fate = Fate::here;
}

void CauseWatch::count_miss(const Line& line, const Waiting& event, const Known& known, std::uint32_t times) {
    MissCause cause = MissCause::first_use;
    if (line.fate == Fate::invalidated) cause = MissCause::invalidated;
    if (line.fate == Fate::replaced) cause = lines_.is_near(line) ? MissCause::conflict : MissCause::capacity;
    if (!counting_.is_on()) return;
    const std::uint32_t core = by_core_ ? event.core : 0;
    misses_[{known.structure, phase_, core}][static_cast<unsigned>(cause)] += times;
    if (by_site_) by_site_->missed(event.site, event.core, cause, times);
    if (by_line_) by_line_->add(known.number, event.line, cause, times);
    if (sharing_ != nullptr)
        sharing_->missed({place_.level, place_.node, phase_, event.site, event.core, cause, times, place_.is_last},
                         event.line);
}

void CauseWatch::happened(const Waiting& event, const Known& known) {
    Line& line = lines_.line(known.number);
    if (event.kind == EventKind::fill) {
        lines_.use(known.number);
        line.fate = Fate::here;
        if (by_site_) by_site_->came(known.number, event.site);
    } else if (event.kind == EventKind::eviction) {
        line.fate = Fate::replaced;
        if (!counting_.is_on()) return;
        ++evictions_[{known.by, known.structure, phase_}];
        if (by_site_) by_site_->evicted(known.by_number, known.number, event.site, event.line);
    } else {
        lines_.remove(known.number);
        line.fate = Fate::invalidated;
        if (sharing_ != nullptr) sharing_->invalidated(place_.node, event.line);
    }
}

void CauseWatch::follow(const Control& control) {
    catch_up();
    counting_.follow(control);
    if (control.kind != Control::Kind::barrier) return;
    if (by_line_) by_line_->end_phase(phase_);
    ++phase_;
    if (by_site_) by_site_->end_phase();
}

const SiteCauses& CauseWatch::by_site() {
    catch_up();
    return *by_site_;
}

std::vector<LineCauses> CauseWatch::lines(const std::vector<CauseWatch*>& copies) {
    std::vector<LineCauses> all;
    for (CauseWatch* copy : copies) {
        copy->catch_up();
        if (!copy->by_line_) continue;
        const std::vector<LineCauses> rows = copy->by_line_->rows(copy->phase_);
        all.insert(all.end(), rows.begin(), rows.end());
    }
    sort_and_sum(
        all, [](const LineCauses& row) { return std::pair(row.phase, row.address); },
        [](LineCauses& sum, const LineCauses& row) {
            for (unsigned cause = 0; cause < miss_cause_count; ++cause) sum.misses[cause] += row.misses[cause];
        });
    return all;
}

LevelCauses CauseWatch::sum(const std::string& level, const std::vector<CauseWatch*>& copies) {
    std::map<Key, CauseCounts> misses;
    std::map<Key, std::uint64_t> evictions;
    LevelCauses causes{level, {}, {}};
    for (CauseWatch* copy : copies) {
        copy->catch_up();
        for (const auto& [place, counts] : copy->misses_.counts)
            for (unsigned cause = 0; cause < miss_cause_count; ++cause) misses[place][cause] += counts[cause];
        for (const auto& [place, count] : copy->evictions_.counts) evictions[place] += count;
        causes.by_core = copy->by_core_;
    }
    for (const auto& [place, counts] : misses) {
        const auto [structure, phase, core] = place;
        causes.misses.push_back({structure, phase, counts, core});
    }
    for (const auto& [place, count] : evictions) {
        const auto [by, victim, phase] = place;
        causes.evictions.push_back({by, victim, phase, count});
    }
    return causes;
}

}  // namespace cachetally
