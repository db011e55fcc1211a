// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/causes/eviction_graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <functional>
#include <map>
#include <utility>

namespace cachetally {
namespace {

constexpr std::size_t most_pairs = 64, most_cycles = 16, most_sets = 8;

struct Pair {
    std::uint64_t count = 0;
};
using EvictionGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, std::uint32_t, Pair>;  // vertices: structures
using Vertex = EvictionGraph::vertex_descriptor;
using Edge = EvictionGraph::edge_descriptor;

/// Pairs of at least so many evictions.
struct AtLeast {
    const EvictionGraph* graph = nullptr;
    std::uint64_t count = 0;
    bool operator()(const Edge& edge) const { return (*graph)[edge].count >= count; }
};

/// `evictions` ascending.
EvictionGraph graph_of(const std::vector<SetEvictions>& evictions) {
    EvictionGraph graph;
    std::map<std::uint32_t, Vertex> vertices;
    const auto vertex = [&](std::uint32_t structure) {
        const auto [found, is_new] = vertices.try_emplace(structure, 0);
        if (is_new) found->second = boost::add_vertex(structure, graph);
        return found->second;
    };
    for (auto each = evictions.begin(); each != evictions.end();) {
        const SetEvictions first = *each;
        std::uint64_t count = 0;
        for (; each != evictions.end() && each->by == first.by && each->victim == first.victim; ++each)
            count += each->count;
        const Vertex by = vertex(first.by), victim = vertex(first.victim);
        boost::add_edge(by, victim, Pair{count}, graph);
    }
    return graph;
}

/// Those within a strongly connected component, which are all that are on cycles: the most frequent ones.
std::vector<Edge> frequent_edges(const EvictionGraph& graph) {
    std::vector<Vertex> component(num_vertices(graph));
    boost::strong_components(graph,
                             boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph)));
    std::vector<Edge> found;
    for (const auto [edge, end] = edges(graph); const Edge& each : boost::make_iterator_range(edge, end))
        if (component[source(each, graph)] == component[target(each, graph)]) found.push_back(each);
    std::ranges::stable_sort(found, std::greater<>(), [&](const Edge& edge) { return graph[edge].count; });
    found.resize(std::min(found.size(), most_pairs));
    return found;
}

/// The shortest path over pairs of at least so many evictions, both ends included; empty where there is none.
std::vector<Vertex> path(const EvictionGraph& graph, Vertex from, Vertex to, std::uint64_t at_least) {
    const boost::filtered_graph<EvictionGraph, AtLeast> frequent(graph, AtLeast{&graph, at_least});
    std::vector<Vertex> before(num_vertices(graph), EvictionGraph::null_vertex());
    before[from] = from;
    boost::breadth_first_search(
        frequent, from,
        boost::visitor(boost::make_bfs_visitor(boost::record_predecessors(before.data(), boost::on_tree_edge()))));
    if (before[to] == EvictionGraph::null_vertex()) return {};
    std::vector<Vertex> all{to};
    while (all.back() != from) all.push_back(before[all.back()]);
    std::ranges::reverse(all);
    return all;
}

/// The strongest cycle through a pair, by halving the counts that there are.
EvictionCycle cycle_through(const EvictionGraph& graph, const Edge& edge, const std::vector<std::uint64_t>& counts) {
    const Vertex by = source(edge, graph), victim = target(edge, graph);
    std::size_t reached = 0, beyond = std::ranges::upper_bound(counts, graph[edge].count) - counts.begin();
    while (beyond - reached > 1) {
        const std::size_t middle = (reached + beyond) / 2;
        (path(graph, victim, by, counts[middle]).empty() ? beyond : reached) = middle;
    }
    EvictionCycle cycle;
    cycle.count = counts[reached];
    for (const Vertex vertex : path(graph, victim, by, cycle.count)) cycle.structures.push_back(graph[vertex]);
    std::vector<std::uint32_t>& all = cycle.structures;
    std::rotate(all.begin(), std::ranges::min_element(all), all.end());
    return cycle;
}

/// `evictions` ascending.
std::vector<EvictionCycle::Set> sets_of(const EvictionCycle& cycle, const std::vector<SetEvictions>& evictions) {
    std::map<std::uint64_t, std::pair<std::size_t, std::uint64_t>> sets;  // pairs that happen, and the least count
    for (std::size_t i = 0; i < cycle.structures.size(); ++i) {
        const SetEvictions first{cycle.structures[i], cycle.structures[(i + 1) % cycle.structures.size()], 0, 0};
        for (auto each = std::ranges::lower_bound(evictions, first);
             each != evictions.end() && each->by == first.by && each->victim == first.victim; ++each) {
            auto& [pairs, least] = sets[each->set];
            least = ++pairs == 1 ? each->count : std::min(least, each->count);
        }
    }
    std::vector<EvictionCycle::Set> found;
    for (const auto& [set, counted] : sets)
        if (counted.first == cycle.structures.size()) found.push_back({set, counted.second});
    std::ranges::stable_sort(found, std::greater<>(), &EvictionCycle::Set::count);
    found.resize(std::min(found.size(), most_sets));
    return found;
}

}  // namespace

std::vector<EvictionCycle> strongest_cycles(std::vector<SetEvictions> evictions) {
    std::ranges::sort(evictions);
    const EvictionGraph graph = graph_of(evictions);
    std::vector<std::uint64_t> counts;
    for (const auto [edge, end] = edges(graph); const Edge& each : boost::make_iterator_range(edge, end))
        counts.push_back(graph[each].count);
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    std::vector<EvictionCycle> cycles;
    for (const Edge& edge : frequent_edges(graph)) {
        EvictionCycle cycle = cycle_through(graph, edge, counts);
        if (std::ranges::find(cycles, cycle) == cycles.end()) cycles.push_back(std::move(cycle));
    }
    std::ranges::stable_sort(cycles, std::greater<>(), &EvictionCycle::count);
    cycles.resize(std::min(cycles.size(), most_cycles));
    for (EvictionCycle& cycle : cycles) cycle.sets = sets_of(cycle, evictions);
    return cycles;
}

}  // namespace cachetally
