// SPDX-License-Identifier: BSD-3-Clause
#include "sim/engine/speculation.hpp"

#include <algorithm>

namespace cachetally {

Speculation::Speculation(std::span<Cache* const> firsts) {
    std::vector<Cache*> path;
    std::size_t needed = 0;
    for (Cache* first : firsts) path.push_back(first);
    for (Cache* cache = firsts.front()->below().cache(); cache != nullptr; cache = cache->below().cache()) {
        path.push_back(cache);
        if (cache->takes_from_above()) needed = path.size();
    }
    firsts_ = firsts.size();
    path.resize(needed);
    std::uint64_t copied_lines = 0;
    for (Cache* cache : path) {
        const bool copied = cache != path.back();
        if (copied) copied_lines += cache->config().size / cache->line_bytes();
        levels_.push_back({cache, copied, {}, {}});
    }
    for (Level& level : levels_)
        if (level.cache->takes_from_above()) add_above(*level.cache, level.above);
    enough_requests_ = std::clamp<std::size_t>(copied_lines / 4, 1024, 8192);
    enough_blocks_ = std::clamp<std::size_t>(copied_lines / 256, 16, 256);
}

void Speculation::add_above(Cache& cache, std::vector<Upper>& above) const {
    for (Cache* upper : cache.above()) {
        std::size_t level = 0;
        while (level < levels_.size() && levels_[level].cache != upper) ++level;
        above.push_back({upper, level < levels_.size() ? level : elsewhere});
        add_above(*upper, above);
    }
}

void Speculation::begin() {
    for (Level& level : levels_) level.cache->begin(level.checkpoint, level.copied);
}

bool Speculation::hand_down(RequestPort& port) {
    RequestPort* from = &port;
    waited_ = 0;
    for (std::size_t i = firsts_; i < levels_.size(); ++i) {
        Level& level = levels_[i];
        const std::span<const BlockEvent> requests = from->batch().all();
        waited_ += level.cache->handle(requests, 0);
        if (!level.above.empty() && took_away(level, requests)) return false;
        from = &level.cache->below();
    }
    return true;
}

/// Whether a line that `level` has replaced was above at that time. Then it was there at begin(), or it was asked for
/// since, which moves it in front.
bool Speculation::took_away(const Level& level, std::span<const BlockEvent> requests) {
    if (took_recent(level, requests)) return true;
    const std::span<const Address> victims = level.checkpoint.log.all_victims();
    return std::ranges::any_of(level.above, [&](const Upper& upper) {
        return upper.cache->held_any(victims, level.cache->line_bytes(),
                                     upper.level == elsewhere ? nullptr : &levels_[upper.level].checkpoint);
    });
}

/// Whether one of the victims was asked for since begin(): by that time its set was asked for others, one for each way.
bool Speculation::took_recent(const Level& level, std::span<const BlockEvent> requests) {
    const ArrayLog& log = level.checkpoint.log;
    if (requests.size() > 0xffff) return true;
    if (!log.asked_often) return false;
    const Address line_mask = ~Address{level.cache->line_bytes() - 1};
    std::size_t next = 0;
    for (std::size_t i = 0; i < log.size; ++i) {
        if ((log.positions[i] & ArrayLog::missed) == 0 || log.old[i] == 0) continue;
        const Address victim = log.victims[next++];
        const std::uint64_t set = level.cache->indexing().set_of(victim);
        if (log.asked[set % ArrayLog::asked_slots] <= level.cache->config().ways) continue;
        for (const BlockEvent earlier : requests.first(i))
            if ((earlier.block() & line_mask) == victim) return true;
    }
    return false;
}

Tick Speculation::commit(RequestPort& port, std::uint8_t core) {
    RequestPort* from = &port;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        levels_[i].cache->commit();
        if (i < firsts_) continue;
        from->notify_all(from->batch().all(), core);
        from->batch().clear();
        from = &levels_[i].cache->below();
    }
    return waited_ + from->flush();
}

void Speculation::roll_back(RequestPort& port) {
    RequestPort* from = &port;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        Level& level = levels_[i];
        level.cache->roll_back(level.checkpoint, level.copied, from->batch().all());
        if (i < firsts_) continue;
        from->batch().clear();
        from = &level.cache->below();
    }
    from->batch().clear();
}

void AccessLog::clear(const LatestLines& data, const LatestLines& fetches) {
    for (Saved& way : ways_) {
        way.marks.clear();
        way.positions.clear();
        way.accesses.clear();
    }
    ways_[0].latest = data;
    ways_[1].latest = fetches;
    reads_.clear();
    read_positions_.clear();
    blocks_.clear();
}

void AccessLog::add(bool placed, const Way& data, const Way& fetches, std::span<const BlockEvent> reads,
                    std::span<const std::uint16_t> read_positions) {
    const Way* const given[] = {&data, &fetches};
    for (unsigned i = 0; i < (placed ? 2U : 1U); ++i) {
        Saved& way = ways_[i];
        way.marks.insert(way.marks.end(), given[i]->marks.begin(), given[i]->marks.end());
        way.accesses.insert(way.accesses.end(), given[i]->accesses.begin(), given[i]->accesses.end());
        way.positions.resize(way.marks.size());
        if (placed) std::ranges::copy(given[i]->mark_positions, way.positions.end() - std::ssize(given[i]->marks));
    }
    reads_.insert(reads_.end(), reads.begin(), reads.end());
    read_positions_.insert(read_positions_.end(), read_positions.begin(), read_positions.end());
    blocks_.push_back({{ways_[0].marks.size(), ways_[1].marks.size()}, reads_.size(), placed});
}

std::span<const AccessLog::Access> AccessLog::expand() {
    expanded_.clear();
    read_ = 0;
    for (Saved& way : ways_) way.mark = way.access = 0;
    for (const Block& block : blocks_) expand(block);
    return expanded_;
}

void AccessLog::expand(const Block& block) {
    Saved &data = ways_[0], &fetches = ways_[1];
    const std::size_t first = data.access;
    while (data.mark < block.marks[0] || fetches.mark < block.marks[1]) {
        const bool fetch = fetches.mark < block.marks[1] &&
                           (data.mark == block.marks[0] || fetches.positions[fetches.mark] < data.positions[data.mark]);
        Saved& way = fetch ? fetches : data;
        const std::uint8_t mark = way.marks[way.mark];
        const std::size_t position = block.placed ? way.positions[way.mark] : way.access - first;
        ++way.mark;
        if (!filter_mark::is_retained(mark)) {
            expanded_.push_back({{way.latest[mark & filter_mark::slot], filter_mark::kind_of(mark)}, fetch});
            continue;
        }
        for (; read_ < block.reads && read_positions_[read_] <= position; ++read_)
            expanded_.push_back({reads_[read_], false});
        const BlockEvent access = way.accesses[way.access++];
        way.latest[FilterShape::slot_of(access.block())] = access.block();
        expanded_.push_back({access, fetch});
    }
}

}  // namespace cachetally
