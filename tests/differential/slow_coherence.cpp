// SPDX-License-Identifier: BSD-3-Clause
// Coherence of the reference simulator, from docs/coherence.md.
#include <algorithm>

#include "tests/differential/slow_machine.hpp"

namespace cachetally::differential {

/// A private cache of a machine that keeps caches coherent.
bool SlowMachine::in_node(const SlowCache& cache) const {
    const unsigned cores = cache.config->shared_by;
    return machine_.coherence.protocol != Protocol::none && cores != 0 && cores != machine_.cores;
}

/// The cache of the node from which the outer link leads.
const SlowCache& SlowMachine::outermost(const SlowCache& cache) const {
    for (const SlowCache& below : caches_)
        if (below.config->name == cache.config->next && below.copy == cache.copy && in_node(below))
            return outermost(below);
    return cache;
}

char SlowMachine::state_of(unsigned node, Address line) const {
    const auto found = states_.find({node, line});
    return found == states_.end() ? 'I' : found->second;
}

bool SlowMachine::is_held(unsigned node, Address line) {
    return std::any_of(caches_.begin(), caches_.end(), [&](SlowCache& cache) {
        return in_node(cache) && cache.copy == node && way_of(cache, line) != nullptr;
    });
}

bool SlowMachine::is_dirty(unsigned node, Address line) {
    return std::any_of(caches_.begin(), caches_.end(), [&](SlowCache& cache) {
        if (!in_node(cache) || cache.copy != node) return false;
        const SlowWay* way = way_of(cache, line);
        return way != nullptr && way->sectors.at(line).dirty;
    });
}

/// An event where it is neither from I nor to I, and something of the line is there.
void SlowMachine::become(unsigned node, Address line, char state, const Request& cause) {
    const char before = state_of(node, line);
    states_[{node, line}] = state;
    if (before == 'I' || state == 'I') return;
    for (SlowCache& cache : caches_) {
        if (!in_node(cache) || cache.copy != node || way_of(cache, line) == nullptr) continue;
        notify_below(outermost(cache), EventKind::coherence, line, cause);
        return;
    }
}

/// A store, or a record, arrives at a cache. Returns when it goes on.
Tick SlowMachine::own(SlowCache& cache, const Request& request, bool record) {
    if (!in_node(cache)) return request.time;
    const Address line = request.address / cache.config->line * cache.config->line;
    const char state = state_of(cache.copy, line);
    if (state == 'M' || (state == 'I' && !record)) return request.time;
    Tick time = request.time;
    if (state != 'E') {
        ++counts_.coherence[0].upgrades;
        time = ask_others(cache.copy, line, Ask::upgrade, request).time;
    }
    become(cache.copy, line, 'M', request);
    return time;
}

/// A request has crossed the link below `above`. Answered here where another node supplies the line; else its time is
/// that at which it goes on.
std::optional<Answer> SlowMachine::cross(const SlowCache& above, Request& request) {
    if (!in_node(above) || &outermost(above) != &above) return std::nullopt;
    if (state_of(above.copy, request.address) != 'I') return std::nullopt;
    const bool writes = request.for_store && request.kind == EventKind::load;
    CoherenceCounts& counts = counts_.coherence[0];
    ++(writes ? counts.exclusive_reads : counts.reads);
    const Answers answers = ask_others(above.copy, request.address, writes ? Ask::exclusive_read : Ask::read, request);
    states_[{above.copy, request.address}] = writes ? 'M' : answers.held ? 'S' : 'E';
    request.time = answers.time;
    request.from_directory = machine_.coherence.by == CoherenceBy::directory;
    if (!answers.supplied) return std::nullopt;
    return Answer{answers.time + machine_.coherence.supply * machine_.period, false};
}

SlowMachine::Answers SlowMachine::ask_others(unsigned node, Address line, Ask ask, const Request& cause) {
    const CoherenceConfig& config = machine_.coherence;
    CoherenceCounts& counts = counts_.coherence[0];
    std::vector<unsigned> holders;
    unsigned nodes = 0;
    for (const SlowCache& cache : caches_)
        if (in_node(cache)) nodes = std::max(nodes, cache.copy + 1);
    for (unsigned other = 0; other < nodes; ++other)
        if (other != node && state_of(other, line) != 'I') holders.push_back(other);
    Answers answers;
    answers.held = !holders.empty();
    std::uint64_t asked = 0;
    for (const unsigned other : holders) {
        const char state = state_of(other, line);
        if (ask != Ask::read || state != 'S') ++asked;
        if (ask != Ask::upgrade && (state == 'M' || state == 'O')) answers.supplied = true;
    }
    answers.time = cause.time + config.latency * machine_.period;
    if (machine_.has_nodes() && config.by == CoherenceBy::directory && directory_is_at_homes()) {
        const unsigned cores = machine_.cores / nodes;
        if (is_remote(line, node_of(node * cores)))
            answers.time += machine_.numa.interconnect.latency * machine_.period;
    }
    if (config.by == CoherenceBy::snooping) {
        counts.messages += nodes - 1;
    } else {
        counts.messages += answers.supplied ? 1 + 2 * asked : 2 + 2 * asked;
        if (asked != 0) answers.time += config.forward * machine_.period;
    }
    if (answers.supplied) ++counts.supplies;
    Request then = cause;
    then.time = answers.time;
    for (const unsigned other : holders) {
        const char state = state_of(other, line);
        if (ask != Ask::read) {
            ++counts.invalidations;
            lose(other, line, then);
        } else if (state == 'M' && config.protocol == Protocol::mesi) {
            ++counts.downgrades;
            ++counts.write_backs;
            clean(other, line, then);
        } else if (state == 'M' || state == 'E') {
            ++counts.downgrades;
            become(other, line, state == 'M' ? 'O' : 'S', then);
        }
    }
    return answers;
}

/// The line is written to the point of coherence.
void SlowMachine::clean(unsigned node, Address line, const Request& cause) {
    SlowCache* first = nullptr;
    for (SlowCache& cache : caches_) {
        if (!in_node(cache) || cache.copy != node) continue;
        SlowWay* way = way_of(cache, line);
        if (way == nullptr || !way->sectors.at(line).dirty) continue;
        way->sectors.at(line).dirty = false;
        notify_below(cache, EventKind::flush, line, cause);
        if (first == nullptr) first = &cache;
    }
    become(node, line, 'S', cause);
    if (first == nullptr) return;
    const SlowCache& outer = outermost(*first);
    const Request written{EventKind::write_back, line, cause.core, cause.site, cause.time, std::nullopt};
    arrive(outer.config->name, outer.copy, outer.config->next, written);
}

void SlowMachine::lose(unsigned node, Address line, const Request& cause) {
    states_[{node, line}] = 'I';
    for (SlowCache& cache : caches_)
        if (in_node(cache) && cache.copy == node && &outermost(cache) == &cache)
            back_invalidate(cache, line, cache.config->line, cause);
}

void SlowMachine::inserted(const SlowCache& cache, Address line, bool dirty) {
    if (!in_node(cache)) return;
    char& state = states_.try_emplace({cache.copy, line}, 'I').first->second;
    if (state == 'I') state = 'E';
    if (state == 'E' && dirty) state = 'M';
}

void SlowMachine::left(const SlowCache& cache, Address line, const Request& cause) {
    if (!in_node(cache) || state_of(cache.copy, line) == 'I') return;
    bool held = is_held(cache.copy, line), dirty = is_dirty(cache.copy, line);
    for (const Moving& each : moving_) {
        held = held || each.line == line;
        dirty = dirty || (each.line == line && each.dirty);
    }
    const char state = state_of(cache.copy, line);
    if (!held) {
        states_.erase({cache.copy, line});
        if (machine_.coherence.by == CoherenceBy::directory) ++counts_.coherence[0].messages;
    } else if (!dirty && (state == 'M' || state == 'O')) {
        become(cache.copy, line, state == 'M' ? 'E' : 'S', cause);
    }
}

/// Where nothing is shared by all above the memories.
bool SlowMachine::directory_is_at_homes() const {
    return std::any_of(caches_.begin(), caches_.end(),
                       [&](const SlowCache& cache) { return in_node(cache) && cache.config->next == "numa"; });
}

void SlowMachine::taken(Address first, std::uint64_t bytes) {
    for (auto& [place, state] : states_)
        if (place.second >= first && place.second < first + bytes && !is_held(place.first, place.second)) state = 'I';
}

}  // namespace cachetally::differential
