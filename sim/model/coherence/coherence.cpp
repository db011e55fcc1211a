// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/coherence/coherence.hpp"

#include <algorithm>

#include "sim/model/cache/cache.hpp"
#include "sim/model/memory/numa.hpp"

namespace cachetally {

void LineStates::set(Address line, unsigned node, LineState state) {
    const auto [row, fresh] = rows_.try_emplace(line, states_.size());
    if (fresh && !free_rows_.empty()) {
        row->second = free_rows_.back();
        free_rows_.pop_back();
    } else if (fresh) {
        states_.resize(states_.size() + nodes_, LineState::invalid);
    }
    states_[row->second + node] = state;
    if (state != LineState::invalid) return;
    const auto states = of(line);
    if (std::any_of(states.begin(), states.end(), [](LineState each) { return each != LineState::invalid; })) return;
    free_rows_.push_back(row->second);
    rows_.erase(row);
}

/// In whatever order the lines come.
std::uint64_t LineStates::digest() const {
    std::uint64_t sum = 0;
    for (const auto& [line, row] : rows_) {
        std::uint64_t digest = digest_of(0, line);
        for (unsigned node = 0; node < nodes_; ++node)
            digest = digest_of(digest, static_cast<std::uint64_t>(states_[row + node]));
        sum += digest;
    }
    return sum;
}

Coherence::Coherence(const CoherenceConfig& config, unsigned nodes, unsigned line_bytes, Tick period)
    : protocol_(config.protocol),
      by_directory_(config.by == CoherenceBy::directory),
      latency_(config.latency * period),
      forward_(config.by == CoherenceBy::directory ? config.forward * period : 0),
      supply_(config.supply * period),
      line_bytes_(line_bytes),
      nodes_(nodes),
      states_(nodes) {}

void Coherence::add(unsigned node, Cache& cache) {
    Cache* last = &cache;
    while (last->below().cache() != nullptr && last->below().cache()->is_in_node()) last = last->below().cache();
    nodes_[node].push_back({&cache, &last->below(), last == &cache});
}

Tick Coherence::store(unsigned node, Address line, RequestInfo info, Tick time) {
    const LineState state = states_.get(line, node);
    return state == LineState::invalid ? time : claim(node, line, info, time);
}

Tick Coherence::claim(unsigned node, Address line, RequestInfo info, Tick time) {
    const LineState state = states_.get(line, node);
    if (state == LineState::modified) return time;
    Tick done = time;
    if (!CoherenceProtocol::may_write(state)) {
        ++counts_.upgrades;
        done = ask_others(node, line, CoherenceRequest::upgrade, info, time).answered;
    }
    change(node, line, LineState::modified, info, done);
    return done;
}

Coherence::Turn Coherence::request(unsigned node, Address line, RequestInfo info, Tick time) {
    if (states_.get(line, node) != LineState::invalid) return {time};
    const bool writes = info.is_for_store();
    const auto kind = writes ? CoherenceRequest::exclusive_read : CoherenceRequest::read;
    ++(writes ? counts_.exclusive_reads : counts_.reads);
    const Round round = ask_others(node, line, kind, info, time);
    states_.set(line, node, writes ? LineState::modified : CoherenceProtocol::after_read(round.held));
    return {round.answered + (round.supplied ? supply_ : 0), round.supplied, numa_ != nullptr};
}

Coherence::Round Coherence::ask_others(unsigned node, Address line, CoherenceRequest request, RequestInfo info,
                                       Tick time) {
    const auto before = states_.of(line);
    const std::vector<LineState> states(before.begin(), before.end());  // write-backs may change those of other lines
    std::uint64_t asked = 0;
    Round round;
    for (unsigned other = 0; other < states.size(); ++other) {
        if (other == node || states[other] == LineState::invalid) continue;
        round.held = true;
        asked += CoherenceProtocol::is_asked(states[other], request) ? 1 : 0;
        round.supplied |= protocol_.snooped(states[other], request).supplies;
    }
    round.answered = time + way_to_directory(node, line) + latency_ + (asked != 0 ? forward_ : 0);
    counts_.messages += messages_of(asked, round.supplied);
    counts_.supplies += round.supplied ? 1 : 0;
    for (unsigned other = 0; other < states.size(); ++other)
        if (other != node && states[other] != LineState::invalid)
            snoop(other, line, protocol_.snooped(states[other], request), info, round.answered);
    return round;
}

Tick Coherence::way_to_directory(unsigned node, Address line) const {
    return numa_ != nullptr ? numa_->distance(node / nodes_in_each_, line) : 0;
}

/// A broadcast reaches all others. A directory is asked, asks those that have to do something and hears from them, and
/// answers, unless an owner's answer is the line itself.
std::uint64_t Coherence::messages_of(std::uint64_t asked, bool supplied) const {
    return by_directory_ ? 1 + 2 * asked + (supplied ? 0 : 1) : nodes_.size() - 1;
}

void Coherence::snoop(unsigned node, Address line, CoherenceProtocol::Snooped snooped, RequestInfo info, Tick time) {
    if (snooped.next == LineState::invalid) return invalidate(node, line, info, time);
    if (snooped.next == states_.get(line, node)) return;
    ++counts_.downgrades;
    RequestPort* const way = snooped.writes_back ? clean(node, line, info, time) : nullptr;
    change(node, line, snooped.next, info, time);
    if (way == nullptr) return;
    ++counts_.write_backs;
    way->send(line, info.as(EventKind::write_back), time);
}

void Coherence::invalidate(unsigned node, Address line, RequestInfo info, Tick time) {
    ++counts_.invalidations;
    states_.set(line, node, LineState::invalid);
    for (const Member& member : nodes_[node])
        if (member.last) member.cache->back_invalidate(line, line_bytes_, info, time);
}

/// Returns the way by which the line goes down.
RequestPort* Coherence::clean(unsigned node, Address line, RequestInfo info, Tick time) {
    RequestPort* way = nullptr;
    for (const Member& member : nodes_[node])
        if (member.cache->clean(line, info, time) && way == nullptr) way = member.way;
    return way;
}

/// Of a line that the node holds already, it is an event below the first of its caches that has the line.
void Coherence::change(unsigned node, Address line, LineState next, RequestInfo info, Tick time) {
    const bool held = states_.get(line, node) != LineState::invalid;
    states_.set(line, node, next);
    if (!held) return;
    for (const Member& member : nodes_[node]) {
        if (member.cache->find(line) == 0) continue;
        return member.way->notify(line, info.as(EventKind::coherence), time);
    }
}

/// The state bits of all copies.
Entry Coherence::held_by(unsigned node, Address line) const {
    Entry bits = 0;
    for (const Member& member : nodes_[node]) bits |= member.cache->find(line);
    return bits;
}

void Coherence::arrived(unsigned node, Address line, bool dirty) {
    const LineState state = states_.get(line, node);
    if (state == LineState::invalid || (dirty && state == LineState::exclusive))
        states_.set(line, node, dirty ? LineState::modified : LineState::exclusive);
}

void Coherence::left(unsigned node, Address line, RequestInfo info, Tick time) {
    const LineState state = states_.get(line, node);
    if (state == LineState::invalid) return;
    Entry held = held_by(node, line);
    for (const Travelling& each : on_their_way_)
        if (each.line == line) held |= entry_bit::valid | (each.dirty ? entry_bit::dirty : 0);
    if (held == 0) {
        states_.set(line, node, LineState::invalid);
        counts_.messages += by_directory_ ? 1 : 0;
        return;
    }
    const LineState next = CoherenceProtocol::kept(state, is_dirty(held));
    if (next != state) change(node, line, next, info, time);
}

void Coherence::taken(Address block, std::uint64_t bytes) {
    for (Address line = block; line < block + bytes; line += line_bytes_) {
        const auto nodes = static_cast<unsigned>(states_.of(line).size());
        for (unsigned node = 0; node < nodes; ++node)
            if (states_.get(line, node) != LineState::invalid && held_by(node, line) == 0)
                states_.set(line, node, LineState::invalid);
    }
}

}  // namespace cachetally
