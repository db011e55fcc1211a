// SPDX-License-Identifier: BSD-3-Clause
// cachetally machine: the machines that can be simulated, and what is wrong with one's own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cachetally/topology.hpp"
#include "monitor/spec_placement.hpp"
#include "sim/topology/names.hpp"

namespace cachetally::app {
namespace {

void list(bool json) {
    Json all = Json::array();
    std::size_t widest = 0;
    for (const PresetInfo& preset : machine_presets()) widest = std::max(widest, std::string(preset.name).size());
    for (const PresetInfo& preset : machine_presets()) {
        if (json) {
            all.push_back({{"name", preset.name}, {"description", preset.description}});
        } else {
            print("{:<{}}  {}\n", preset.name, widest, preset.description);
        }
    }
    if (json) print_json(all);
}

unsigned cores_per_copy(unsigned shared_by, const MachineDescription& machine) {
    return shared_by == 0 ? machine.cores : shared_by;
}

Json describe(const NumaConfig& numa) {
    Json described = {{"nodes", numa.nodes}, {"policy", name_of(numa.policy)}};
    if (numa.policy == HomePolicy::interleaved) described["granule"] = numa.granule;
    for (const HomeRange& range : numa.ranges)
        described["ranges"].push_back({{"from", range.from}, {"to", range.to}, {"memory", range.memory}});
    if (!numa.otherwise.empty()) described["otherwise"] = numa.otherwise;
    described["interconnect"] = {{"latency", numa.interconnect.latency},
                                 {"bytes_per_cycle", numa.interconnect.bytes_per_cycle},
                                 {"shared", numa.interconnect.shared}};
    return described;
}

Json describe(const Topology& topology) {
    const MachineDescription& machine = topology.machine();
    Json caches = Json::array(), tlbs = Json::array(), links = Json::array();
    for (const CacheConfig& cache : machine.caches) {
        caches.push_back({{"name", cache.name},
                          {"size", cache.size},
                          {"ways", cache.ways == 0 ? cache.size / cache.line : cache.ways},
                          {"line", cache.line},
                          {"sector", cache.transfer()},
                          {"latency", cache.latency},
                          {"replacement", name_of(cache.replacement)},
                          {"empty_way", name_of(cache.empty_way)},
                          {"serves", name_of(cache.serves)},
                          {"shared_by", cores_per_copy(cache.shared_by, machine)},
                          {"indexing", name_of(cache.indexing)},
                          {"slices", cache.slices},
                          {"inclusion", name_of(cache.inclusion)},
                          {"write", name_of(cache.write)},
                          {"write_allocate", cache.write_allocate},
                          {"prefetch", name_of(cache.prefetch.kind)},
                          {"bus",
                           {{"latency", cache.bus.latency},
                            {"bytes_per_cycle", cache.bus.bytes_per_cycle},
                            {"shared", cache.bus.shared}}},
                          {"outstanding_misses", cache.outstanding_misses},
                          {"write_buffer", cache.write_buffer},
                          {"next", cache.next}});
    }
    for (const TlbConfig& tlb : machine.tlbs)
        tlbs.push_back({{"name", tlb.name},
                        {"entries", tlb.entries},
                        {"ways", tlb.ways == 0 ? tlb.entries : tlb.ways},
                        {"latency", tlb.latency},
                        {"replacement", name_of(tlb.replacement)},
                        {"coalesces", tlb.coalesces},
                        {"serves", name_of(tlb.serves)},
                        {"shared_by", cores_per_copy(tlb.shared_by, machine)}});
    Json memories = Json::array();
    for (const MemoryConfig& memory : machine.memories) {
        memories.push_back({{"name", memory.name},
                            {"size", memory.size},
                            {"latency", memory.latency},
                            {"banks", memory.banks},
                            {"interleave", memory.interleave},
                            {"bank_busy", memory.bank_busy}});
        if (machine.has_nodes()) memories.back()["node"] = memory.node;
    }
    for (const LinkInfo& link : topology.links()) links.push_back(link.name);
    Json described = {{"name", machine.name},
                      {"description", machine.description},
                      {"source", machine.source},
                      {"period_ps", machine.period},
                      {"cores", machine.cores},
                      {"caches", caches},
                      {"tlbs", tlbs},
                      {"memories", memories},
                      {"page_size", machine.pages.size},
                      {"mapping", name_of(machine.pages.mapping)},
                      {"coherence", name_of(machine.coherence.protocol)},
                      {"links", links}};
    if (machine.has_nodes()) described["numa"] = describe(machine.numa);
    return described;
}

/// What waits for what (docs/timing.md), where anything does.
void print_timing(const MachineDescription& machine) {
    if (!machine.has_link_timing()) return;
    const auto limit = [](unsigned number) { return number == 0 ? std::string("any") : std::to_string(number); };
    print("\n{:<10} {:>10} {:>12} {:>8} {:>13}\n", "bus below", "latency", "bytes/cycle", "misses", "write buffer");
    for (const CacheConfig& cache : machine.caches)
        print("{:<10} {:>10} {:>12} {:>8} {:>13}{}\n", cache.name, cache.bus.latency, limit(cache.bus.bytes_per_cycle),
              limit(cache.outstanding_misses), limit(cache.write_buffer),
              cache.bus.shared ? "  one for all copies" : "");
    for (const MemoryConfig& memory : machine.memories)
        if (memory.bank_busy != 0)
            print("{}: {} of {} bytes in turn, busy for {} with an access\n", memory.name,
                  numbered(memory.banks, "bank"), memory.interleave, numbered(memory.bank_busy, "cycle"));
}

/// What a cache does besides replacing lines, where it is not what most do.
std::string habits(const CacheConfig& cache) {
    const CacheConfig usual;
    std::vector<std::string> words;
    const auto choice = [&](auto value, auto standard) {
        if (value != standard) words.emplace_back(name_of(value));
    };
    if (cache.serves != usual.serves) words.push_back(fmt::format("serves: {}", name_of(cache.serves)));
    if (cache.empty_way != usual.empty_way) words.emplace_back("empty way: policy");
    choice(cache.indexing, usual.indexing);
    if (cache.slices != 0) words.push_back(numbered(cache.slices, "slice"));
    choice(cache.inclusion, usual.inclusion);
    choice(cache.write, usual.write);
    if (!cache.write_allocate) words.emplace_back("no write-allocate");
    if (cache.prefetch.kind != PrefetchKind::none)
        words.push_back(fmt::format("prefetches: {}", name_of(cache.prefetch.kind)));
    return words.empty() ? "" : fmt::format("  {}", fmt::join(words, ", "));
}

void print_walks(const PagesConfig& pages) {
    print("page walks: {}{}{}\n", pages.walk_references ? "reads of the page table, plus " : "no reads, ",
          numbered(pages.walk_latency, "cycle"),
          pages.walk_caches.empty()
              ? ""
              : fmt::format("; page-walk caches of {} entries", fmt::join(pages.walk_caches, ", ")));
}

/// Bytes of a line, and of its sectors.
std::string lines_of(const CacheConfig& cache) {
    return cache.sector == 0 ? std::to_string(cache.line) : fmt::format("{}/{}", cache.line, cache.sector);
}

void print_components(const MachineDescription& machine) {
    print("{:<10} {:>10} {:>6} {:>6} {:>8} {:>6}  {:<10} {}\n", "cache", "size", "ways", "line", "latency", "cores",
          "policy", "next");
    for (const CacheConfig& cache : machine.caches)
        print("{:<10} {:>10} {:>6} {:>6} {:>8} {:>6}  {:<10} {}{}\n", cache.name, format_size(cache.size),
              cache.ways == 0 ? "full" : std::to_string(cache.ways), lines_of(cache), cache.latency,
              cores_per_copy(cache.shared_by, machine), name_of(cache.replacement), cache.next, habits(cache));
    for (const MemoryConfig& memory : machine.memories)
        print("{:<10} {:>10} {:>22}{}\n", memory.name, format_size(memory.size), memory.latency,
              machine.has_nodes() ? fmt::format("  node {}", memory.node) : "");
    if (!machine.tlbs.empty())
        print("\n{:<10} {:>10} {:>6} {:>15} {:>6}  {}\n", "TLB", "entries", "ways", "latency", "cores", "policy");
    for (const TlbConfig& tlb : machine.tlbs)
        print("{:<10} {:>10} {:>6} {:>15} {:>6}  {}{}\n", tlb.name, tlb.entries,
              tlb.ways == 0 ? "full" : std::to_string(tlb.ways), tlb.latency, cores_per_copy(tlb.shared_by, machine),
              name_of(tlb.replacement), tlb.coalesces > 1 ? fmt::format(", coalesces {} pages", tlb.coalesces) : "");
    print("\npages of {}, mapped: {}{}\n", format_size(machine.pages.size), name_of(machine.pages.mapping),
          machine.pages.ranges.empty() ? "" : "; others in ranges of addresses (--yaml)");
    if (!machine.tlbs.empty()) print_walks(machine.pages);
    if (machine.coherence.protocol != Protocol::none)
        print("caches of several cores are kept coherent: {}, by {}\n", name_of(machine.coherence.protocol),
              name_of(machine.coherence.by));
}

void print_nodes(const MachineDescription& machine) {
    if (!machine.has_nodes()) return;
    const NumaConfig& numa = machine.numa;
    print("{} of {} each, homes: {}{}\n", numbered(numa.nodes, "node"), numbered(machine.cores_per_node(), "core"),
          name_of(numa.policy),
          numa.policy == HomePolicy::interleaved ? fmt::format(", every {}", format_size(numa.granule)) : "");
    for (const HomeRange& range : numa.ranges) print("  {:#x} to {:#x}: {}\n", range.from, range.to, range.memory);
    if (numa.policy == HomePolicy::fixed)
        print("  otherwise: {}\n", numa.otherwise.empty() ? machine.memories.front().name : numa.otherwise);
    print("interconnect: {}, {} per cycle{}\n", numbered(numa.interconnect.latency, "cycle"),
          numa.interconnect.bytes_per_cycle == 0 ? "any number of bytes"
                                                 : numbered(numa.interconnect.bytes_per_cycle, "byte"),
          numa.interconnect.bytes_per_cycle == 0 ? ""
          : numa.interconnect.shared             ? ", one for all nodes"
                                                 : ", one per node that asks");
}

void show(const std::string& name, bool dot, bool json, bool yaml) {
    const Topology topology(load_machine(name));
    const MachineDescription& machine = topology.machine();
    if (dot) {
        print_lines(topology.to_dot());
    } else if (json) {
        print_json(describe(topology));
    } else if (yaml) {
        print_lines(machine.text);
    } else {
        print("{}{}{}\n", machine.name, machine.description.empty() ? "" : ": ", folded(machine.description));
        if (!machine.source.empty()) print("source: {}\n", folded(machine.source));
        print("{}, {} ps per cycle\n\n", numbered(machine.cores, "core"), machine.period);
        print_components(machine);
        print_nodes(machine);
        print_timing(machine);
        print("\nlinks:");
        for (const LinkInfo& link : topology.links()) print(" {}", link.name);
        print("\n");
    }
}

/// Throws what is wrong.
void check(const std::string& name, bool json) {
    const Topology topology(load_machine(name));
    const std::size_t components = topology.components().size(), links = topology.links().size(),
                      monitors = monitors_of(topology).size();
    if (json) {
        print_json({{"file", name}, {"components", components}, {"links", links}, {"monitors", monitors}});
    } else {
        print("{}: good, {} and {}{}\n", name, numbered(components, "component"), numbered(links, "link"),
              monitors == 0 ? "" : ", " + numbered(monitors, "monitor"));
    }
}

}  // namespace

void add_machine(CLI::App& app) {
    CLI::App* machine = app.add_subcommand("machine", "List, show and check machines");
    machine->require_subcommand(1);
    machine->footer(
        "Examples:\n"
        "  cachetally machine list\n"
        "  cachetally machine show generic3\n"
        "  cachetally machine check mine.yaml");
    struct Options {
        std::string name;
        bool json = false, dot = false, yaml = false;
    };
    auto options = std::make_shared<Options>();

    CLI::App* list_command = machine->add_subcommand("list", "The machines that are built in");
    list_command->add_flag("--json", options->json, "Print JSON");
    list_command->footer("Example: cachetally machine list");
    list_command->callback([options] { list(options->json); });

    CLI::App* show_command = machine->add_subcommand("show", "Show a machine: its levels, policies and links");
    show_command->add_option("MACHINE", options->name, "A built-in machine, or a machine file")->required();
    CLI::Option* dot = show_command->add_flag("--dot", options->dot, "Print the topology as Graphviz");
    CLI::Option* yaml =
        show_command->add_flag("--yaml", options->yaml, "Print the machine file, to begin one's own from");
    show_command->add_flag("--json", options->json, "Print JSON")->excludes(dot)->excludes(yaml);
    yaml->excludes(dot);
    show_command->footer(
        "Examples:\n"
        "  cachetally machine show generic3\n"
        "  cachetally machine show generic3 --dot | dot -Tsvg > generic3.svg\n"
        "  cachetally machine show generic3 --yaml > mine.yaml");
    show_command->callback([options] { show(options->name, options->dot, options->json, options->yaml); });

    CLI::App* check_command =
        machine->add_subcommand("check", "Check a machine file: everything that is wrong with it, with its place");
    check_command->add_option("FILE", options->name, "A machine file (docs/machines.md)")->required();
    check_command->add_flag("--json", options->json, "Print JSON");
    check_command->footer("Example: cachetally machine check mine.yaml");
    check_command->callback([options] { check(options->name, options->json); });
}

}  // namespace cachetally::app
