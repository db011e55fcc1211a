#include "sim/topology/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/topological_sort.hpp>
#include <set>

#include "sim/topology/names.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

using Graph = Topology::Graph;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;
using Edge = boost::graph_traits<Graph>::edge_descriptor;

std::string describe(const std::string& file, const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!text.empty()) text += '\n';
        text += diagnostic.mark.line == 0 ? fmt::format("{}: error: {}", file, diagnostic.message)
                                          : fmt::format("{}:{}:{}: error: {}", file, diagnostic.mark.line,
                                                        diagnostic.mark.column, diagnostic.message);
    }
    return text;
}

/// Vertices and edges of a machine, with complaints about names.
class GraphBuilder {
public:
    GraphBuilder(const MachineDescription& machine, Graph& graph, std::vector<Diagnostic>& diagnostics)
        : machine_(machine), graph_(graph), diagnostics_(diagnostics) {}

    void build() {
        const Vertex core = add({Component::Kind::core, "core", 0, machine_.cores, 1}, {});
        for (std::size_t i = 0; i < machine_.tlbs.size(); ++i)
            add_shared(Component::Kind::tlb, machine_.tlbs[i].name, i, machine_.tlbs[i].shared_by,
                       machine_.tlbs[i].mark);
        if (!machine_.tlbs.empty()) add({Component::Kind::walker, "walker", 0, machine_.cores, 1}, {});
        for (std::size_t i = 0; i < machine_.caches.size(); ++i)
            add_shared(Component::Kind::cache, machine_.caches[i].name, i, machine_.caches[i].shared_by,
                       machine_.caches[i].mark);
        for (std::size_t i = 0; i < machine_.memories.size(); ++i)
            add_shared(Component::Kind::memory, machine_.memories[i].name, i, 0, machine_.memories[i].mark);
        connect_caches(core);
        if (!machine_.tlbs.empty()) connect_tlbs(core);
    }

    Mark mark_of(Vertex vertex) const { return marks_[vertex]; }

private:
    void complain(const Mark& mark, std::string message) { diagnostics_.push_back({mark, std::move(message)}); }

    Vertex add(Component component, const Mark& mark) {
        check_name(component, mark);
        by_name_.emplace(component.name, boost::num_vertices(graph_));
        marks_.push_back(mark);
        return boost::add_vertex(std::move(component), graph_);
    }

    void add_shared(Component::Kind kind, const std::string& name, std::size_t index, unsigned shared_by,
                    const Mark& mark) {
        const unsigned cores = shared_by != 0 ? shared_by : machine_.cores;
        add({kind, name, index, std::max(1U, machine_.cores / cores), cores}, mark);
    }

    void check_name(const Component& component, const Mark& mark) {
        static constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
        const bool reserved = component.name == "core" || component.name == "walker";
        const bool own = component.kind == Component::Kind::core || component.kind == Component::Kind::walker;
        if (component.name.empty()) {
            complain(mark, "a component has no name; write 'name: L1', for instance");
        } else if (component.name.find_first_not_of(letters) != std::string::npos) {
            complain(mark, fmt::format("'{}' is not a name; use letters, digits, '_' and '.'", component.name));
        } else if (reserved && !own) {
            complain(mark,
                     fmt::format("the name '{}' is taken by the machine itself; use another one", component.name));
        } else if (by_name_.contains(component.name)) {
            complain(mark, fmt::format("two components are named '{}'; names must differ", component.name));
        }
    }

    void connect(Vertex from, Vertex to, bool virtual_addresses) {
        boost::add_edge(from, to,
                        LinkInfo{fmt::format("{}-{}", graph_[from].name, graph_[to].name), from, to, virtual_addresses},
                        graph_);
    }

    /// The vertex that a name means, which must be one of these kinds.
    std::optional<Vertex> find(const std::string& name, std::initializer_list<Component::Kind> kinds, const Mark& mark,
                               std::string_view what) {
        const auto found = by_name_.find(name);
        if (found != by_name_.end() && std::ranges::find(kinds, graph_[found->second].kind) != kinds.end())
            return found->second;
        std::vector<std::string_view> known;
        for (const auto& [known_name, vertex] : by_name_)
            if (std::ranges::find(kinds, graph_[vertex].kind) != kinds.end()) known.push_back(known_name);
        complain(mark, fmt::format("{} names '{}', which is not there{}", what, name, advice(name, known)));
        return std::nullopt;
    }

    void connect_caches(Vertex core) {
        std::set<std::string> below;
        for (const CacheConfig& cache : machine_.caches) below.insert(cache.next);
        if (machine_.caches.empty()) connect(core, by_name_.at(machine_.memories.front().name), false);
        for (const CacheConfig& cache : machine_.caches) {
            if (cache.name.empty()) continue;
            if (!below.contains(cache.name)) connect(core, by_name_.at(cache.name), false);
            if (cache.next.empty()) {
                complain(cache.mark, fmt::format("'{}' leads nowhere; write 'next: {}', or the name of the level below",
                                                 cache.name, machine_.memories.front().name));
            } else if (const auto next = find(cache.next, {Component::Kind::cache, Component::Kind::memory}, cache.mark,
                                              fmt::format("'next' of '{}'", cache.name))) {
                connect(by_name_.at(cache.name), *next, false);
            }
        }
        check_sides<CacheConfig>(machine_.caches, below, "cache");
    }

    void connect_tlbs(Vertex core) {
        std::set<std::string> below;
        for (const TlbConfig& tlb : machine_.tlbs) below.insert(tlb.next);
        const Vertex walker = by_name_.at("walker");
        for (const TlbConfig& tlb : machine_.tlbs) {
            if (tlb.name.empty()) continue;
            if (!below.contains(tlb.name)) connect(core, by_name_.at(tlb.name), true);
            if (tlb.next.empty()) {
                connect(by_name_.at(tlb.name), walker, true);
            } else if (const auto next =
                           find(tlb.next, {Component::Kind::tlb}, tlb.mark, fmt::format("'next' of '{}'", tlb.name))) {
                connect(by_name_.at(tlb.name), *next, true);
            }
        }
        check_sides<TlbConfig>(machine_.tlbs, below, "TLB");
        if (machine_.pages.walk_references) connect_walker(walker, core);
    }

    void connect_walker(Vertex walker, Vertex core) {
        if (!machine_.pages.walk_through.empty()) {
            if (const auto entry = find(machine_.pages.walk_through, {Component::Kind::cache, Component::Kind::memory},
                                        machine_.pages.mark, "'through' of the page walk"))
                connect(walker, *entry, false);
            return;
        }
        for (const auto& edge : boost::make_iterator_range(boost::out_edges(core, graph_))) {
            const Component& first = graph_[boost::target(edge, graph_)];
            const bool data =
                first.kind == Component::Kind::memory ||
                (first.kind == Component::Kind::cache && machine_.caches[first.index].serves != Serves::fetch);
            if (data) {
                connect(walker, boost::target(edge, graph_), false);
                return;
            }
        }
    }

    /// At most one first-level component serves data, and one fetches; somebody serves data.
    template <class Config>
    void check_sides(const std::vector<Config>& parts, const std::set<std::string>& below, std::string_view what) {
        const Config* serving[2] = {nullptr, nullptr};
        for (const Config& part : parts) {
            if (below.contains(part.name)) continue;
            for (const int side : {0, 1}) {
                if (part.serves == (side == 0 ? Serves::fetch : Serves::data)) continue;
                if (serving[side] != nullptr)
                    complain(part.mark, fmt::format("both '{}' and '{}' are next to the core and serve {}; give one of "
                                                    "them another 'serves', or name it in a 'next'",
                                                    serving[side]->name, part.name, side == 0 ? "data" : "fetches"));
                serving[side] = &part;
            }
        }
        // Where nobody is next to the core the levels form a loop, which is complained of by name.
        if (serving[0] == nullptr && serving[1] != nullptr)
            complain(parts.front().mark,
                     fmt::format("no {} next to the core serves data; write 'serves: data' or 'serves: both'", what));
    }

    const MachineDescription& machine_;
    Graph& graph_;
    std::vector<Diagnostic>& diagnostics_;
    std::map<std::string, Vertex> by_name_;
    std::vector<Mark> marks_;
};

/// Stops a depth-first search at the first edge that closes a loop.
struct LoopFinder : boost::default_dfs_visitor {
    explicit LoopFinder(std::optional<Edge>& found) : found_(&found) {}
    void back_edge(Edge edge, const Graph&) const {
        if (!*found_) *found_ = edge;
    }
    std::optional<Edge>* found_;
};

/// "L2 -> L3 -> L2"
std::string loop_through(const Graph& graph, Edge closing) {
    std::vector<std::string> names{graph[boost::target(closing, graph)].name};
    Vertex at = boost::target(closing, graph);
    while (at != boost::source(closing, graph)) {
        const auto out = boost::out_edges(at, graph);
        if (out.first == out.second) break;
        at = boost::target(*out.first, graph);
        names.push_back(graph[at].name);
    }
    names.push_back(names.front());
    return fmt::format("{}", fmt::join(names, " -> "));
}

void check_graph(const Graph& graph, const GraphBuilder& builder, std::vector<Diagnostic>& diagnostics) {
    std::optional<Edge> closing;
    boost::depth_first_search(graph, boost::visitor(LoopFinder(closing)));
    if (closing) {
        diagnostics.push_back({builder.mark_of(boost::source(*closing, graph)),
                               fmt::format("the levels form a loop: {}; let the last one lead to memory",
                                           loop_through(graph, *closing))});
        return;
    }
    std::vector<boost::default_color_type> colours(boost::num_vertices(graph));
    boost::breadth_first_search(
        graph, Vertex{0},
        boost::color_map(boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, graph))));
    for (const Vertex vertex : boost::make_iterator_range(boost::vertices(graph)))
        if (colours[vertex] == boost::white_color)
            diagnostics.push_back({builder.mark_of(vertex),
                                   fmt::format("nothing leads to '{}'; name it in the 'next' of a level, or remove it",
                                               graph[vertex].name)});
}

std::string label_of(const MachineDescription& machine, const Component& component) {
    const std::string copies = component.copies > 1 ? fmt::format("\\n{} copies", component.copies) : "";
    switch (component.kind) {
        case Component::Kind::core: return "core" + copies;
        case Component::Kind::walker: return "page walker" + copies;
        case Component::Kind::tlb: {
            const TlbConfig& tlb = machine.tlbs[component.index];
            return fmt::format("{}\\n{} entries, {}\\n{}{}", tlb.name, tlb.entries,
                               tlb.ways == 0 ? "fully associative" : fmt::format("{}-way", tlb.ways),
                               name_of(tlb.replacement), copies);
        }
        case Component::Kind::cache: {
            const CacheConfig& cache = machine.caches[component.index];
            return fmt::format(
                "{}\\n{}, {}, {}-byte lines\\n{}{}{}", cache.name, format_size(cache.size),
                cache.ways == 0 ? "fully associative" : fmt::format("{}-way", cache.ways), cache.line,
                name_of(cache.replacement),
                cache.inclusion == Inclusion::neither ? "" : fmt::format(", {}", name_of(cache.inclusion)), copies);
        }
        case Component::Kind::memory:
            return fmt::format("{}\\n{}", component.name, format_size(machine.memories[component.index].size));
    }
    return {};
}

}  // namespace

MachineError::MachineError(const std::string& file, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(describe(file, diagnostics)), diagnostics_(std::move(diagnostics)) {}

Topology::Topology(MachineDescription machine) : machine_(std::move(machine)) {
    if (machine_.memories.empty()) machine_.memories.emplace_back();
    std::vector<Diagnostic> diagnostics;
    GraphBuilder builder(machine_, graph_, diagnostics);
    builder.build();
    if (diagnostics.empty()) check_graph(graph_, builder, diagnostics);
    for (auto more : {check_components(machine_), check_neighbours(machine_)})
        diagnostics.insert(diagnostics.end(), more.begin(), more.end());
    if (!diagnostics.empty())
        throw MachineError(machine_.file.empty() ? machine_.name : machine_.file, std::move(diagnostics));

    std::vector<Vertex> order;
    boost::topological_sort(graph_, std::back_inserter(order));
    std::vector<std::size_t> position(order.size());
    for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
        position[*vertex] = components_.size();
        components_.push_back(graph_[*vertex]);
    }
    for (const Edge& edge : boost::make_iterator_range(boost::edges(graph_))) {
        LinkInfo link = graph_[edge];
        link.from = position[link.from];
        link.to = position[link.to];
        links_.push_back(std::move(link));
    }
    std::ranges::sort(links_, {}, [](const LinkInfo& link) { return std::pair{link.from, link.to}; });
}

std::size_t Topology::link(std::string_view name) const {
    const auto found = std::ranges::find(links_, name, &LinkInfo::name);
    if (found != links_.end()) return static_cast<std::size_t>(found - links_.begin());
    std::vector<std::string_view> known;
    for (const LinkInfo& each : links_) known.push_back(each.name);
    throw std::invalid_argument(
        fmt::format("machine '{}' has no link '{}'{}", machine_.name, name, advice(name, known)));
}

std::size_t Topology::core_link(bool fetch) const {
    for (std::size_t id = 0; id < links_.size(); ++id) {
        const Component& to = components_[links_[id].to];
        if (components_[links_[id].from].kind != Component::Kind::core || to.kind == Component::Kind::tlb) continue;
        if (to.kind == Component::Kind::memory ||
            machine_.caches[to.index].serves != (fetch ? Serves::data : Serves::fetch))
            return id;
    }
    throw std::invalid_argument(fmt::format("machine '{}' serves no {}", machine_.name, fetch ? "fetches" : "data"));
}

std::string Topology::to_dot(const std::map<std::string, std::string>& labels) const {
    std::string text = fmt::format(
        "digraph \"{}\" {{\n    node [shape=box, fontname=\"sans-serif\"];\n    edge [fontname=\"sans-serif\", "
        "fontsize=10];\n",
        machine_.name);
    for (std::size_t i = 0; i < components_.size(); ++i) {
        const bool round =
            components_[i].kind == Component::Kind::core || components_[i].kind == Component::Kind::walker;
        text += fmt::format("    n{} [label=\"{}\"{}];\n", i, label_of(machine_, components_[i]),
                            round ? ", shape=ellipse" : "");
    }
    for (const LinkInfo& each : links_) {
        const auto more = labels.find(each.name);
        text += fmt::format("    n{} -> n{} [label=\"{}{}\"{}];\n", each.from, each.to, each.name,
                            more == labels.end() ? "" : "\\n" + more->second,
                            each.virtual_addresses ? ", style=dashed" : "");
    }
    return text + "}\n";
}

}  // namespace cachetally
