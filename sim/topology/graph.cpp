// SPDX-License-Identifier: BSD-3-Clause
#include "sim/topology/validate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/range/iterator_range.hpp>
#include <initializer_list>
#include <optional>
#include <set>

#include "base/text.hpp"

namespace cachetally {
namespace {

using Graph = Topology::Graph;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;
using Edge = boost::graph_traits<Graph>::edge_descriptor;
using Kind = Component::Kind;

class GraphBuilder : public Complaints {
public:
    explicit GraphBuilder(const MachineDescription& machine) : machine_(machine) {}

    void build() {
        add({Kind::core, "core", 0, machine_.cores, 1}, {});
        add_all<TlbConfig>(Kind::tlb, machine_.tlbs);
        if (!machine_.tlbs.empty()) add({Kind::walker, "walker", 0, machine_.cores, 1}, {});
        add_all<CacheConfig>(Kind::cache, machine_.caches);
        if (machine_.has_nodes()) add_nodes();
        add_memories();
        connect_caches();
        if (machine_.has_nodes()) connect_nodes();
        if (!machine_.tlbs.empty()) connect_tlbs();
    }

    const Graph& graph() const { return graph_; }
    Mark mark_of(Vertex vertex) const { return marks_[vertex]; }
    /// False where a name was not found or not usable, so that edges are missing.
    bool names_are_good() const { return names_are_good_; }

private:
    static constexpr Vertex core = 0;

    template <class... Values>
    void complain_of_name(const Mark& mark, fmt::format_string<Values...> message, Values&&... values) {
        complain(mark, fmt::format(message, std::forward<Values>(values)...));
        names_are_good_ = false;
    }

    Vertex add(const Component& component, const Mark& mark) {
        by_name_.emplace(component.name, boost::num_vertices(graph_));
        marks_.push_back(mark);
        return boost::add_vertex(component, graph_);
    }

    template <class Config>
    void add_all(Kind kind, const std::vector<Config>& parts) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            check_name(parts[i].name, place_of(parts[i], "name"));
            const unsigned cores = parts[i].shared_by != 0 ? parts[i].shared_by : machine_.cores;
            add({kind, parts[i].name, i, std::max(1U, machine_.cores / cores), cores}, parts[i].mark);
        }
    }

    /// Before the caches' names are looked up.
    void add_nodes() {
        const unsigned cores = std::max(1U, machine_.cores_per_node());
        add({Kind::numa, numa_name, 0, machine_.numa.nodes, cores}, machine_.numa.mark);
        add({Kind::interconnect, "interconnect", 0, 1, machine_.cores}, machine_.numa.mark);
    }

    void connect_nodes() {
        const Vertex nodes = by_name_.at(numa_name);
        connect(nodes, by_name_.at("interconnect"), false);
        // What is connected last comes first in topological order.
        for (auto memory = machine_.memories.rbegin(); memory != machine_.memories.rend(); ++memory) {
            const auto found = by_name_.find(memory->name);
            if (found != by_name_.end() && graph_[found->second].kind == Kind::memory)
                connect(nodes, found->second, false);
        }
    }

    /// What caches and page walks may lead to at last: a memory, or the nodes that the memories belong to.
    Kind last_kind() const { return machine_.has_nodes() ? Kind::numa : Kind::memory; }
    std::string last_name() const { return machine_.has_nodes() ? numa_name : machine_.memories.front().name; }

    void add_memories() {
        for (std::size_t i = 0; i < machine_.memories.size(); ++i) {
            const MemoryConfig& memory = machine_.memories[i];
            const auto same = by_name_.find(memory.name);
            if (memory.mark == Mark{} && same != by_name_.end()) {
                complain_of_name(marks_[same->second],
                                 "'{}' is the name of the memory unless the machine says otherwise; use "
                                 "another one, or write 'memory: {{name: DRAM}}'",
                                 memory.name);
            } else {
                check_name(memory.name, place_of(memory, "name"));
            }
            add({Kind::memory, memory.name, i, 1, machine_.cores}, memory.mark);
        }
    }

    void check_name(const std::string& name, const Mark& mark) {
        static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
        constexpr std::size_t longest = 32;
        if (name.empty()) {
            complain_of_name(mark, "a component has no name; write 'name: L1', for instance");
        } else if (name.find_first_not_of(letters) != std::string::npos) {
            complain_of_name(mark, "'{}' is not a name; use letters, digits, '_' and '.'", shown(name));
        } else if (name.size() > longest) {
            complain_of_name(mark, "the name '{}' has {} letters; use at most {}", shown(name), name.size(), longest);
        } else if (name == "core" || name == "walker" ||
                   (machine_.has_nodes() && (name == numa_name || name == "interconnect"))) {
            complain_of_name(mark, "the name '{}' is taken by the machine itself; use another one", name);
        } else if (by_name_.contains(name)) {
            complain_of_name(mark, "two components are named '{}'; names must differ", name);
        }
    }

    void connect(Vertex from, Vertex to, bool virtual_addresses) {
        boost::add_edge(from, to,
                        LinkInfo{fmt::format("{}-{}", graph_[from].name, graph_[to].name), from, to, virtual_addresses},
                        graph_);
    }

    /// The vertex that a name means, which must be one of these kinds. `what` says who names it, `self` is not meant.
    std::optional<Vertex> find(const std::string& name, std::initializer_list<Kind> kinds, const Mark& mark,
                               std::string_view what, Vertex self) {
        const auto found = by_name_.find(name);
        if (found != by_name_.end() && std::ranges::find(kinds, graph_[found->second].kind) != kinds.end())
            return found->second;
        std::vector<std::string_view> known;
        for (Vertex vertex = 0; vertex < boost::num_vertices(graph_); ++vertex)
            if (vertex != self && std::ranges::find(kinds, graph_[vertex].kind) != kinds.end())
                known.push_back(graph_[vertex].name);
        const std::string_view problem = found == by_name_.end() ? "which is not there" : "which cannot be there";
        const std::string_view otherwise = graph_[self].kind == Kind::tlb && found != by_name_.end()
                                               ? "; the last TLB has no 'next': it leads to the page walker"
                                               : "";
        complain_of_name(mark, "{} names '{}', {}{}{}", what, shown(name), problem, otherwise, advice(name, known));
        return std::nullopt;
    }

    void connect_caches() {
        if (machine_.caches.empty()) connect(core, by_name_.at(last_name()), false);
        for (std::size_t i = 0; i < machine_.caches.size(); ++i) {
            const CacheConfig& cache = machine_.caches[i];
            const Vertex vertex = 1 + machine_.tlbs.size() + (machine_.tlbs.empty() ? 0 : 1) + i;
            if (is_next_to_core(cache, machine_.caches)) connect(core, vertex, false);
            if (cache.next.empty()) {
                complain_of_name(place_of(cache, "next"),
                                 "'{}' leads nowhere; write 'next: {}', or the name of the level below",
                                 shown(cache.name), shown(last_name()));
            } else if (const auto next = find(cache.next, {Kind::cache, last_kind()}, place_of(cache, "next"),
                                              fmt::format("'next' of '{}'", shown(cache.name)), vertex)) {
                connect(vertex, *next, false);
            }
        }
        check_sides(machine_.caches, "cache");
    }

    void connect_tlbs() {
        const Vertex walker = 1 + machine_.tlbs.size();
        for (std::size_t i = 0; i < machine_.tlbs.size(); ++i) {
            const TlbConfig& tlb = machine_.tlbs[i];
            const Vertex vertex = 1 + i;
            if (is_next_to_core(tlb, machine_.tlbs)) connect(core, vertex, true);
            if (tlb.next.empty()) {
                connect(vertex, walker, true);
            } else if (const auto next = find(tlb.next, {Kind::tlb}, place_of(tlb, "next"),
                                              fmt::format("'next' of '{}'", shown(tlb.name)), vertex)) {
                connect(vertex, *next, true);
            }
        }
        check_sides(machine_.tlbs, "TLB");
        if (machine_.pages.walk_references) connect_walker(walker);
    }

    void connect_walker(Vertex walker) {
        const PagesConfig& pages = machine_.pages;
        if (!pages.walk_through.empty()) {
            if (const auto entry = find(pages.walk_through, {Kind::cache, last_kind()}, place_of(pages, "walk.through"),
                                        "'through' of the page walk", walker))
                connect(walker, *entry, false);
            return;
        }
        for (const Edge& edge : boost::make_iterator_range(boost::out_edges(core, graph_))) {
            const Component& first = graph_[boost::target(edge, graph_)];
            const bool data = first.kind == last_kind() ||
                              (first.kind == Kind::cache && machine_.caches[first.index].serves != Serves::fetch);
            if (!data) continue;
            connect(walker, boost::target(edge, graph_), false);
            return;
        }
    }

    /// At most one component next to the core serves data, and one fetches; somebody serves data.
    template <class Config>
    void check_sides(const std::vector<Config>& parts, std::string_view what) {
        // A name that leads nowhere leaves its owner's lower levels next to the core: not their fault.
        if (!names_are_good_) return;
        const Config* data = nullptr;
        const Config* fetch = nullptr;
        const Config* anybody = nullptr;
        for (const Config& part : parts) {
            if (!is_next_to_core(part, parts)) continue;
            anybody = &part;
            const bool both_data = part.serves != Serves::fetch && data != nullptr;
            const bool both_fetch = part.serves != Serves::data && fetch != nullptr;
            if (both_data || both_fetch)
                complain(part.mark,
                         "'{}' and '{}' are both next to the core and serve {}; give one of "
                         "them another 'serves', or name it in the 'next' of a level",
                         (both_data ? data : fetch)->name, part.name, both_data ? "data" : "fetches");
            if (part.serves != Serves::fetch) data = &part;
            if (part.serves != Serves::data) fetch = &part;
        }
        // Where nobody is next to the core the levels form a loop, which is complained of by name.
        if (data == nullptr && anybody != nullptr)
            complain(place_of(*anybody, "serves"),
                     "no {} next to the core serves data; write 'serves: data' or 'serves: both'", what);
    }

    const MachineDescription& machine_;
    Graph graph_;
    std::map<std::string, Vertex> by_name_;
    std::vector<Mark> marks_;
    bool names_are_good_ = true;
};

/// Collects the edges that close loops.
struct LoopFinder : boost::default_dfs_visitor {
    explicit LoopFinder(std::vector<Edge>& found) : found_(&found) {}
    void back_edge(Edge edge, const Graph&) const { found_->push_back(edge); }
    std::vector<Edge>* found_;
};

/// "L2 -> L3 -> L2". Components in a loop have one way down each.
std::string loop_through(const Graph& graph, Edge closing) {
    const Vertex first = boost::target(closing, graph);
    std::vector<std::string> names{graph[first].name};
    for (Vertex at = first; at != boost::source(closing, graph);) {
        at = boost::target(*boost::out_edges(at, graph).first, graph);
        names.push_back(graph[at].name);
    }
    names.push_back(names.front());
    return fmt::format("{}", fmt::join(names, " -> "));
}

/// Returns whether there was one.
bool check_loops(GraphBuilder& builder) {
    const Graph& graph = builder.graph();
    std::vector<Edge> closing;
    boost::depth_first_search(graph, boost::visitor(LoopFinder(closing)));
    for (const Edge& edge : closing) {
        const Vertex last = boost::source(edge, graph);
        const bool tlb = graph[last].kind == Kind::tlb;
        builder.complain(builder.mark_of(last), "the levels form a loop: {}; {}", loop_through(graph, edge),
                         tlb ? "leave out 'next' of the last one, so that it leads to the walker"
                             : "let the last one lead to memory");
    }
    return !closing.empty();
}

void check_reachable(GraphBuilder& builder) {
    const Graph& graph = builder.graph();
    std::vector<boost::default_color_type> colours(boost::num_vertices(graph));
    boost::breadth_first_search(
        graph, Vertex{0},
        boost::color_map(boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, graph))));
    for (const Vertex vertex : boost::make_iterator_range(boost::vertices(graph)))
        if (colours[vertex] == boost::white_color)
            builder.complain(builder.mark_of(vertex),
                             "nothing leads to '{}'; name it in the 'next' of a level, or remove it",
                             graph[vertex].name);
}

}  // namespace

Graph build_graph(const MachineDescription& machine, std::vector<Diagnostic>& diagnostics) {
    GraphBuilder builder(machine);
    builder.build();
    // Missing edges would only cause complaints about what is reached by them.
    if (builder.names_are_good() && !check_loops(builder)) check_reachable(builder);
    diagnostics = std::move(builder.diagnostics());
    return builder.graph();
}

}  // namespace cachetally
