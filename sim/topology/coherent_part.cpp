// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/validate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t longest_of_coherence = 1'000'000'000;  ///< picoseconds

bool is_private(const MachineDescription& machine, const CacheConfig& cache) {
    return cache.shared_by != 0 && cache.shared_by < machine.cores;
}

/// Null where the name is that of a memory.
const CacheConfig* cache_named(const MachineDescription& machine, const std::string& name) {
    const auto found = std::ranges::find(machine.caches, name, &CacheConfig::name);
    return found != machine.caches.end() ? &*found : nullptr;
}

/// True where the next level of a private cache is not private.
bool is_last_of_node(const MachineDescription& machine, const CacheConfig& cache) {
    const CacheConfig* next = cache_named(machine, cache.next);
    return is_private(machine, cache) && (next == nullptr || !is_private(machine, *next));
}

class CoherenceChecker : Complaints {
public:
    explicit CoherenceChecker(const MachineDescription& machine) : machine_(machine) {}

    std::vector<Diagnostic> check() {
        for (const auto& [key, cycles] :
             {std::pair{"latency", machine_.coherence.latency}, std::pair{"forward", machine_.coherence.forward},
              std::pair{"supply", machine_.coherence.supply}})
            check_cycles_of(key, cycles);
        for (const CacheConfig& cache : machine_.caches)
            if (is_private(machine_, cache)) nodes_.push_back(&cache);
        if (nodes_.empty()) {
            complain(machine_.coherence.mark,
                     "no cache belongs to some of the cores only, so there is nothing to keep coherent; remove "
                     "'coherence', or write a 'shared_by' of fewer cores for the levels next to them");
            return std::move(diagnostics_);
        }
        for (const CacheConfig* cache : nodes_) check_private(*cache);
        check_point();
        return std::move(diagnostics_);
    }

private:
    void check_cycles_of(std::string_view key, unsigned cycles) {
        const std::uint64_t most = std::min<std::uint64_t>(most_cycles, longest_of_coherence / machine_.period);
        if (cycles > most)
            complain(place_of(machine_.coherence, key), "a latency of {} cycles is too long; write at most {}", cycles,
                     most);
    }

    void check_private(const CacheConfig& cache) {
        const CacheConfig& first = *nodes_.front();
        if (cache.shared_by != first.shared_by)
            complain(place_of(cache, "shared_by"),
                     "'{}' is shared by {} and '{}' by {}, but coherence is kept between nodes at one level; "
                     "write the same number for both, or 'shared_by: all' for the lower one",
                     shown(cache.name), numbered(cache.shared_by, "core"), shown(first.name), first.shared_by);
        if (cache.line != first.line)
            complain(
                place_of(cache, "line"),
                "'{}' has lines of {} bytes and '{}' of {}, but coherence is kept by lines of one length; write {}",
                shown(cache.name), cache.line, shown(first.name), first.line, first.line);
        if (cache.sector != 0)
            complain(place_of(cache, "sector"), "'{}' is kept coherent by whole lines; remove 'sector'",
                     shown(cache.name));
        if (!cache.write_back_traffic)
            complain(place_of(cache, "write_back_traffic"),
                     "dirty victims of '{}' must reach the other nodes; write 'write_back_traffic: true'",
                     shown(cache.name));
        if (is_last_of_node(machine_, cache)) check_last(cache);
    }

    /// What its cores have stored does not leave a node but when others ask for it, or as a victim.
    void check_last(const CacheConfig& cache) {
        if (cache.write != WritePolicy::write_back)
            complain(place_of(cache, "write"),
                     "'{}' is the last level of a node and keeps what its cores have stored; write 'write: write_back'",
                     shown(cache.name));
        if (!cache.write_allocate)
            complain(
                place_of(cache, "write_allocate"),
                "'{}' is the last level of a node and keeps what its cores have stored; write 'write_allocate: true'",
                shown(cache.name));
        if (!filled_by_victims(cache.inclusion)) return;
        for (const CacheConfig* upper : nodes_) {
            if (upper->next != cache.name || (upper->write == WritePolicy::write_back && upper->write_allocate))
                continue;
            complain(place_of(*upper, upper->write_allocate ? "write" : "write_allocate"),
                     "'{}' is filled by victims only and would pass the stores of '{}' out of the node; "
                     "write 'write: write_back' and 'write_allocate: true' here",
                     shown(cache.name), shown(upper->name));
        }
    }

    /// All nodes meet there, and nothing goes past it.
    void check_point() {
        const CacheConfig* last = nullptr;
        for (const CacheConfig* cache : nodes_) {
            if (!is_last_of_node(machine_, *cache)) continue;
            if (last != nullptr && cache->next != last->next)
                complain(
                    place_of(*cache, "next"),
                    "'{}' leads to '{}', but '{}' to '{}'; coherence is kept where all ways meet: write 'next: {}'",
                    shown(cache->name), shown(cache->next), shown(last->name), shown(last->next), shown(last->next));
            if (last == nullptr) last = cache;
        }
        check_below(last->next);
    }

    void check_below(const std::string& point) {
        std::vector<const CacheConfig*> below;
        for (const CacheConfig* cache = cache_named(machine_, point); cache != nullptr;
             cache = cache_named(machine_, cache->next))
            below.push_back(cache);
        if (!below.empty() && below.front()->inclusion == Inclusion::exclusive)
            complain(place_of(*below.front(), "inclusion"),
                     fmt::format("'{}' gives a line to one node alone, but several may read it; write 'inclusion: "
                                 "victim', which keeps it",
                                 shown(point)));
        for (const CacheConfig& cache : machine_.caches) {
            if (is_private(machine_, cache) || std::ranges::find(below, &cache) != below.end()) continue;
            complain(place_of(cache, "shared_by"),
                     "'{}' is shared by all cores, but lies beside '{}', where caches are kept coherent; write "
                     "'shared_by: {}'",
                     shown(cache.name), shown(point), nodes_.front()->shared_by);
        }
    }

    const MachineDescription& machine_;
    std::vector<const CacheConfig*> nodes_;  ///< the private caches
};

}  // namespace

CoherentPart coherent_part(const MachineDescription& machine) {
    CoherentPart part;
    for (std::size_t index = 0; index < machine.caches.size(); ++index) {
        const CacheConfig& cache = machine.caches[index];
        if (!is_private(machine, cache)) {
            part.below.push_back(index);
            continue;
        }
        part.caches.push_back(index);
        part.nodes = machine.cores / cache.shared_by;
        if (is_last_of_node(machine, cache)) part.point = cache.next;
    }
    return part;
}

bool is_one_node(const MachineDescription& machine) {
    const auto belongs_to_all = [&](const CacheConfig& cache) { return cache.shared_by == machine.cores; };
    const auto is_of_some = [&](const CacheConfig& cache) { return is_private(machine, cache); };
    return std::ranges::any_of(machine.caches, belongs_to_all) && std::ranges::none_of(machine.caches, is_of_some);
}

std::vector<Diagnostic> check_coherence(const MachineDescription& machine) {
    if (machine.coherence.protocol == Protocol::none) return {};
    return CoherenceChecker(machine).check();
}

}  // namespace cachetally
