// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <boost/graph/topological_sort.hpp>
#include <boost/range/iterator_range.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "cachetally/topology.hpp"
#include "sim/topology/validate.hpp"

namespace cachetally {
namespace {

constexpr std::size_t most_of_a_kind = 64;
constexpr unsigned most_cores = 256;

std::vector<Diagnostic> in_order(std::vector<Diagnostic> diagnostics) {
    std::ranges::stable_sort(diagnostics, {}, [](const Diagnostic& each) {
        return std::pair{each.mark.line, each.mark.column};
    });
    return diagnostics;
}

/// The first of the diagnostics, one per line, so that a foreign file does not fill the screen.
std::string describe(const std::string& file, const std::vector<Diagnostic>& diagnostics) {
    constexpr std::size_t most = 50;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, diagnostics.size()); ++i) {
        const auto& [mark, message] = diagnostics[i];
        const std::string place = mark.line == 0 ? file : fmt::format("{}:{}:{}", file, mark.line, mark.column);
        text += fmt::format("{}{}: error: {}", i == 0 ? "" : "\n", place, message);
    }
    if (diagnostics.size() > most)
        text += fmt::format("\n{}: {} more errors, not shown", file, diagnostics.size() - most);
    return text;
}

/// What the graph and the checks of components rely on.
void check_counts(const MachineDescription& machine, std::vector<Diagnostic>& diagnostics) {
    if (machine.cores < 1 || machine.cores > most_cores)
        diagnostics.push_back({{}, fmt::format("a machine has from 1 to {} cores, not {}", most_cores, machine.cores)});
    const auto check = [&](std::string_view key, const auto& parts) {
        if (parts.size() > most_of_a_kind)
            diagnostics.push_back(
                {parts[most_of_a_kind].mark,
                 fmt::format("there are {} {}; at most {} can be simulated", parts.size(), key, most_of_a_kind)});
    };
    check("caches", machine.caches);
    check("tlbs", machine.tlbs);
    check("memories", machine.memories);
}

}  // namespace

bool MachineDescription::has_link_timing() const {
    const bool below_caches = std::ranges::any_of(caches, [](const CacheConfig& cache) {
        return cache.bus != BusConfig{} || cache.outstanding_misses != 0 || cache.write_buffer != 0;
    });
    return below_caches || (has_nodes() && numa.interconnect.bytes_per_cycle != 0) ||
           std::ranges::any_of(memories, [](const MemoryConfig& memory) { return memory.bank_busy != 0; });
}

bool MachineDescription::is_indexed_by_pages(const CacheConfig& cache) const {
    if (!cache.virtually_indexed || pages.mapping == Mapping::identity) return false;
    const std::uint64_t ways = cache.ways != 0 ? cache.ways : cache.size / cache.line;
    const std::uint64_t sets = cache.size / cache.line / ways;
    std::uint64_t smallest = pages.size;
    for (const PageRange& range : pages.ranges) smallest = std::min(smallest, range.size);
    const bool is_field = is_power_of_two(sets) && (cache.indexing == Indexing::modulo || sets == 1);
    return !is_field || sets * cache.line > smallest;
}

std::uint64_t MachineDescription::bytes_for_pages() const {
    if (!has_nodes()) return memories.front().size;
    std::uint64_t sum = 0;
    for (const MemoryConfig& memory : memories) sum += memory.size;
    return sum;
}

FileError::FileError(const std::string& file, std::vector<Diagnostic> diagnostics)
    : FileError(in_order(std::move(diagnostics)), file) {}

FileError::FileError(std::vector<Diagnostic> ordered, const std::string& file)
    : std::runtime_error(describe(file, ordered)), diagnostics_(std::move(ordered)) {}

Topology::Topology(MachineDescription machine) : machine_(std::move(machine)) {
    if (machine_.memories.empty()) machine_.memories.emplace_back();
    const std::string file = machine_.file.empty() ? machine_.name : machine_.file;
    std::vector<Diagnostic> diagnostics;
    check_counts(machine_, diagnostics);
    if (!diagnostics.empty()) throw MachineError(file, std::move(diagnostics));
    graph_ = build_graph(machine_, diagnostics);
    for (auto more : {check_components(machine_), check_neighbours(machine_), check_walks(machine_),
                      check_numa(machine_), check_sectors(machine_)})
        diagnostics.insert(diagnostics.end(), more.begin(), more.end());
    if (is_one_node(machine_)) machine_.coherence = {};
    if (diagnostics.empty()) diagnostics = check_coherence(machine_);
    if (!diagnostics.empty()) throw MachineError(file, std::move(diagnostics));
    elaborate();
}

void Topology::elaborate() {
    std::vector<Graph::vertex_descriptor> last_first;
    boost::topological_sort(graph_, std::back_inserter(last_first));
    std::vector<std::size_t> position(last_first.size());
    for (auto vertex = last_first.rbegin(); vertex != last_first.rend(); ++vertex) {
        position[*vertex] = components_.size();
        components_.push_back(graph_[*vertex]);
    }
    for (const auto& edge : boost::make_iterator_range(boost::edges(graph_))) {
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
        fmt::format("machine '{}' has no link '{}'{}", machine_.name, shown(name), advice(name, known)));
}

std::size_t Topology::core_link(bool fetch) const {
    for (std::size_t id = 0; id < links_.size(); ++id) {
        const Component& to = components_[links_[id].to];
        if (components_[links_[id].from].kind != Component::Kind::core || to.kind == Component::Kind::tlb) continue;
        if (to.kind != Component::Kind::cache ||
            machine_.caches[to.index].serves != (fetch ? Serves::data : Serves::fetch))
            return id;
    }
    throw std::invalid_argument(
        fmt::format("nothing in machine '{}' serves {}", machine_.name, fetch ? "fetches" : "data"));
}

namespace {

constexpr Tick longest_reference = 1 << 16;  ///< bytes
constexpr Tick visits = 16;  ///< of a level, for one line: itself, and the references of a page walk in each TLB

}  // namespace

Tick reference_at_most(const MachineDescription& machine) {
    double cycles = 1;
    Tick shortest = longest_reference;
    for (const CacheConfig& cache : machine.caches) {
        cycles += cache.latency + cache.bus.latency;
        shortest = std::min<Tick>(shortest, cache.transfer());
    }
    for (const TlbConfig& tlb : machine.tlbs) cycles += tlb.latency;
    for (const MemoryConfig& memory : machine.memories) cycles += memory.latency;
    cycles += machine.pages.walk_latency + machine.coherence.latency + machine.coherence.forward +
              machine.coherence.supply + machine.numa.interconnect.latency;
    const double most =
        cycles * static_cast<double>(machine.period) * static_cast<double>(visits * (longest_reference / shortest + 1));
    return most < static_cast<double>(longest_time) ? static_cast<Tick>(most) : longest_time;
}

}  // namespace cachetally
