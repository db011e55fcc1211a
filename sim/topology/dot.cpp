// SPDX-License-Identifier: BSD-3-Clause
// Topology to Graphviz: what each component is, and the names of the links.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cachetally/topology.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

/// A text within the quotes of a label; its lines stay lines.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out;
}

std::string associativity(unsigned ways) {
    if (ways == 0) return "fully associative";
    return ways == 1 ? "direct-mapped" : fmt::format("{}-way", ways);
}

std::string cycles(unsigned number) { return number == 1 ? "1 cycle" : fmt::format("{} cycles", number); }

std::string line_of(const std::vector<std::string>& words) {
    return words.empty() ? "" : fmt::format("\n{}", fmt::join(words, ", "));
}

template <class Config>
std::vector<std::string> policies(const Config& part) {
    std::vector<std::string> words{std::string(name_of(part.replacement))};
    if (part.indexing != Indexing::modulo) words.emplace_back(name_of(part.indexing));
    return words;
}

std::string label_of(const CacheConfig& cache) {
    std::vector<std::string> words = policies(cache);
    if (cache.slices != 0) words.push_back(fmt::format("{} slices", cache.slices));
    if (cache.virtually_indexed) words.emplace_back("virtually indexed");
    words.emplace_back(name_of(cache.write));
    if (!cache.write_allocate) words.emplace_back("no allocation");
    std::vector<std::string> more;
    if (cache.inclusion != Inclusion::nine) more.emplace_back(name_of(cache.inclusion));
    if (cache.prefetch.kind != PrefetchKind::none)
        more.push_back(fmt::format("{} prefetcher", name_of(cache.prefetch.kind)));
    const std::string sectors = cache.sector == 0 ? "" : fmt::format(" of {}-byte sectors", cache.sector);
    return fmt::format("{}\n{}, {}, {}-byte lines{}{}{}\n{}", cache.name, format_size(cache.size),
                       associativity(cache.ways), cache.line, sectors, line_of(words), line_of(more),
                       cycles(cache.latency));
}

std::string label_of(const TlbConfig& tlb) {
    std::vector<std::string> words = policies(tlb);
    if (tlb.coalesces > 1) words.push_back(fmt::format("coalesces {} pages", tlb.coalesces));
    return fmt::format("{}\n{} entries, {}{}\n{}", tlb.name, tlb.entries, associativity(tlb.ways), line_of(words),
                       cycles(tlb.latency));
}

std::string label_of(const MachineDescription& machine, const Component& component) {
    switch (component.kind) {
        case Component::Kind::core: return "core";
        case Component::Kind::walker: {
            const PagesConfig& pages = machine.pages;
            return fmt::format("page walker\n{} pages{}, {}", format_size(pages.size),
                               pages.ranges.empty() ? "" : " and others", name_of(pages.mapping));
        }
        case Component::Kind::tlb: return label_of(machine.tlbs[component.index]);
        case Component::Kind::cache: return label_of(machine.caches[component.index]);
        case Component::Kind::numa:
            return fmt::format("{}\n{} of {} each\nhomes: {}", component.name, numbered(machine.numa.nodes, "node"),
                               numbered(machine.cores_per_node(), "core"), name_of(machine.numa.policy));
        case Component::Kind::interconnect:
            return fmt::format("{}\n{}", component.name, cycles(machine.numa.interconnect.latency));
        case Component::Kind::memory: {
            const MemoryConfig& memory = machine.memories[component.index];
            const std::string node = machine.has_nodes() ? fmt::format(", node {}", memory.node) : "";
            return fmt::format("{}\n{}{}\n{}", memory.name, format_size(memory.size), node, cycles(memory.latency));
        }
    }
    return {};
}

/// The shape and colour of each kind.
std::string_view look_of(Component::Kind kind) {
    switch (kind) {
        case Component::Kind::core: return "shape=ellipse, fillcolor=\"#e8e8e8\"";
        case Component::Kind::walker: return "shape=ellipse, fillcolor=\"#fff3d6\"";
        case Component::Kind::tlb: return "fillcolor=\"#fff3d6\"";
        case Component::Kind::cache: return "fillcolor=\"#dcebfa\"";
        case Component::Kind::numa: return "fillcolor=\"#f1e4f7\"";
        case Component::Kind::interconnect: return "shape=ellipse, fillcolor=\"#f1e4f7\"";
        case Component::Kind::memory: return "fillcolor=\"#e2f2e2\"";
    }
    return {};
}

/// What has crossed the interconnect goes on at the node that it is at home in: no link of its own.
std::string ways_back(const std::vector<Component>& components) {
    const auto place = [&](Component::Kind kind) {
        return std::ranges::find(components, kind, &Component::kind) - components.begin();
    };
    const auto from = place(Component::Kind::interconnect), to = place(Component::Kind::numa);
    if (from == static_cast<std::ptrdiff_t>(components.size())) return "";
    return fmt::format("    n{} -> n{} [style=dotted];\n", from, to);
}

}  // namespace

std::string Topology::to_dot(const std::map<std::string, std::string>& labels) const {
    std::string text = fmt::format(
        "digraph \"{}\" {{\n"
        "    node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
        "    edge [fontname=\"sans-serif\", fontsize=10];\n",
        escaped(machine_.name));
    for (std::size_t i = 0; i < components_.size(); ++i) {
        const Component& component = components_[i];
        const std::string copies = component.copies > 1 ? fmt::format("{} x ", component.copies) : "";
        text += fmt::format("    n{} [label=\"{}{}\", {}];\n", i, copies, escaped(label_of(machine_, component)),
                            look_of(component.kind));
    }
    for (const LinkInfo& each : links_) {
        const auto more = labels.find(each.name);
        text += fmt::format("    n{} -> n{} [label=\" {}{}\"{}];\n", each.from, each.to, escaped(each.name),
                            more == labels.end() ? "" : "\\n" + escaped(more->second),
                            each.virtual_addresses ? ", style=dashed" : "");
    }
    return text + ways_back(components_) + "}\n";
}

}  // namespace cachetally
