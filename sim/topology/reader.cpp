// SPDX-License-Identifier: BSD-3-Clause
// Machine files to machine descriptions: the table of keys.
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "sim/model/prefetch/prefetcher.hpp"
#include "sim/topology/yaml_document.hpp"
#include "sim/topology/yaml_fields.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_places = 1024, most_bytes_per_cycle = 4096, most_banks = 4096, most_nodes = 64;

class MachineReader {
public:
    explicit MachineReader(MachineDescription& machine) : machine_(machine) {}

    std::vector<Diagnostic> read(const YAML::Node& root) {
        machine_.keys = fields_.mapping(
            root, {"a machine", "cores: 4"},
            {
                {"name", [&](const auto& node) { fields_.text(node, "name", "mine", machine_.name); }},
                {"description",
                 [&](const auto& node) { fields_.text(node, "description", "two levels", machine_.description); }},
                {"source", [&](const auto& node) { fields_.text(node, "source", "data sheet", machine_.source); }},
                {"clock", [&](const auto& node) { clock(node); }},
                {"cores", [&](const auto& node) { fields_.whole(node, "cores", machine_.cores, 1, 256); }},
                {"caches",
                 [&](const auto& node) { fields_.list(node, "caches", [&](const auto& each) { cache(each); }); }},
                {"coherence", [&](const auto& node) { coherence(node); }},
                {"tlbs", [&](const auto& node) { fields_.list(node, "tlbs", [&](const auto& each) { tlb(each); }); }},
                {"pages", [&](const auto& node) { pages(node); }},
                {"numa", [&](const auto& node) { numa(node); }},
                {"memory", [&](const auto& node) { memory(node, false); }},
                {"memories",
                 [&](const auto& node) {
                     fields_.list(node, "memories", [&](const auto& each) { memory(each, true); });
                 }},
                {"monitors",
                 [&](const auto& node) { fields_.list(node, "monitors", [&](const auto& each) { monitor(each); }); }},
            });
        const auto both = machine_.keys.find("memories");
        if (both != machine_.keys.end() && machine_.keys.contains("memory"))
            fields_.complain(both->second, "'memory' and 'memories' are both given; put all into 'memories'");
        return std::move(fields_.diagnostics());
    }

private:
    void clock(const YAML::Node& node) {
        const auto value = fields_.scalar(node, "clock", "3 GHz");
        if (!value) return;
        if (const auto period = parse_period(*value)) {
            machine_.period = *period;
        } else {
            fields_.complain(
                mark_of(node),
                fmt::format("'{}' is not a frequency from 1 MHz to 1 THz; write a number with a unit, as in 3 GHz",
                            shown(*value)));
        }
    }

    void ways(const YAML::Node& node, unsigned& target) {
        if (node.IsScalar() && node.Scalar() == "full") {
            target = 0;
        } else {
            fields_.whole(node, "ways", target, 1, 65536, ", or full for fully associative");
        }
    }

    void shared_by(const YAML::Node& node, unsigned& target) {
        if (node.IsScalar() && node.Scalar() == "all") {
            target = 0;
        } else {
            fields_.whole(node, "shared_by", target, 1, 256, ", or all");
        }
    }

    void cache(const YAML::Node& node) {
        CacheConfig cache;
        cache.mark = mark_of(node);
        cache.keys = fields_.mapping(
            node, {"a cache", "{name: L1, next: memory, size: 32 KiB, ways: 8}"},
            {
                {"name", [&](const auto& value) { fields_.text(value, "name", "L1", cache.name); }, true},
                {"next", [&](const auto& value) { fields_.text(value, "next", "memory", cache.next); }, true},
                {"serves", [&](const auto& value) { fields_.choice(value, "serves", cache.serves); }},
                {"shared_by", [&](const auto& value) { shared_by(value, cache.shared_by); }},
                {"size", [&](const auto& value) { fields_.size(value, "size", cache.size); }, true},
                {"ways", [&](const auto& value) { ways(value, cache.ways); }, true},
                {"line", [&](const auto& value) { line(value, cache.line); }},
                {"latency", [&](const auto& value) { fields_.whole(value, "latency", cache.latency, 0, most_cycles); }},
                {"replacement", [&](const auto& value) { fields_.choice(value, "replacement", cache.replacement); }},
                {"seed", [&](const auto& value) { fields_.whole(value, "seed", cache.seed, 0, any_number); }},
                {"empty_way", [&](const auto& value) { fields_.choice(value, "empty_way", cache.empty_way); }},
                {"indexing", [&](const auto& value) { fields_.choice(value, "indexing", cache.indexing); }},
                {"virtually_indexed",
                 [&](const auto& value) { fields_.flag(value, "virtually_indexed", cache.virtually_indexed); }},
                {"inclusion", [&](const auto& value) { fields_.choice(value, "inclusion", cache.inclusion); }},
                {"write", [&](const auto& value) { fields_.choice(value, "write", cache.write); }},
                {"write_allocate",
                 [&](const auto& value) { fields_.flag(value, "write_allocate", cache.write_allocate); }},
                {"write_back_first",
                 [&](const auto& value) { fields_.flag(value, "write_back_first", cache.write_back_first); }},
                {"write_back_miss",
                 [&](const auto& value) { fields_.choice(value, "write_back_miss", cache.write_back_miss); }},
                {"write_back_traffic",
                 [&](const auto& value) { fields_.flag(value, "write_back_traffic", cache.write_back_traffic); }},
                {"store_hit_refreshes",
                 [&](const auto& value) { fields_.flag(value, "store_hit_refreshes", cache.store_hit_refreshes); }},
                {"write_back_refreshes",
                 [&](const auto& value) { fields_.flag(value, "write_back_refreshes", cache.write_back_refreshes); }},
                {"prefetch", [&](const auto& value) { prefetch(value, cache.prefetch); }},
                {"bus", [&](const auto& value) { bus(value, cache.bus, "a bus"); }},
                {"outstanding_misses",
                 [&](const auto& value) {
                     fields_.whole(value, "outstanding_misses", cache.outstanding_misses, 1, most_places);
                 }},
                {"write_buffer",
                 [&](const auto& value) { fields_.whole(value, "write_buffer", cache.write_buffer, 1, most_places); }},
            });
        machine_.caches.push_back(std::move(cache));
    }

    void bus(const YAML::Node& node, BusConfig& bus, const char* what) {
        fields_.mapping(
            node, {what, "{latency: 2, bytes_per_cycle: 16}"},
            {
                {"latency", [&](const auto& value) { fields_.whole(value, "latency", bus.latency, 0, most_cycles); }},
                {"bytes_per_cycle",
                 [&](const auto& value) {
                     fields_.whole(value, "bytes_per_cycle", bus.bytes_per_cycle, 1, most_bytes_per_cycle);
                 }},
                {"shared", [&](const auto& value) { fields_.flag(value, "shared", bus.shared); }},
            });
    }

    void line(const YAML::Node& node, unsigned& target) {
        std::uint64_t bytes = target;
        fields_.size(node, "line", bytes);
        target = static_cast<unsigned>(std::min<std::uint64_t>(bytes, std::numeric_limits<unsigned>::max()));
    }

    void prefetch(const YAML::Node& node, PrefetchConfig& prefetch) {
        if (node.IsScalar()) {
            fields_.choice(node, "prefetch", prefetch.kind);
            return;
        }
        const KeyMarks marks = fields_.mapping(
            node, {"a prefetcher", "{kind: next_line, degree: 2}"},
            {
                {"kind", [&](const auto& value) { fields_.choice(value, "kind", prefetch.kind); }, true},
                {"degree", [&](const auto& value) { fields_.whole(value, "degree", prefetch.degree, 1, 64); }},
                {"distance", [&](const auto& value) { fields_.whole(value, "distance", prefetch.distance, 1, 64); }},
                {"entries", [&](const auto& value) { fields_.whole(value, "entries", prefetch.entries, 1, 65536); }},
            });
        const auto entries = marks.find("entries");
        if (!row_of(prefetch.kind).has_entries && entries != marks.end())
            fields_.complain(entries->second,
                             fmt::format("a {} prefetcher has no entries; remove 'entries'", name_of(prefetch.kind)));
    }

    void coherence(const YAML::Node& node) {
        CoherenceConfig& coherence = machine_.coherence;
        coherence.mark = mark_of(node);
        bool off = false;
        const auto cycles = [&](std::string_view key, unsigned& target) {
            return [&, key](const auto& value) { fields_.whole(value, key, target, 0, most_cycles); };
        };
        coherence.keys =
            fields_.mapping(node, {"'coherence'", "{protocol: mesi, by: directory}"},
                            {
                                {"protocol",
                                 [&](const auto& value) {
                                     fields_.choice(value, "protocol", coherence.protocol);
                                     off = value.IsScalar() && value.Scalar() == name_of(Protocol::none);
                                 },
                                 true},
                                {"by", [&](const auto& value) { fields_.choice(value, "by", coherence.by); }},
                                {"latency", cycles("latency", coherence.latency)},
                                {"forward", cycles("forward", coherence.forward)},
                                {"supply", cycles("supply", coherence.supply)},
                            });
        for (const auto& [key, mark] : coherence.keys)
            if (off && key != "protocol")
                fields_.complain(mark, fmt::format("'{}' means nothing with 'protocol: none'; write mesi or moesi, or "
                                                   "remove it",
                                                   key));
        const auto forward = coherence.keys.find("forward");
        if (coherence.by == CoherenceBy::snooping && forward != coherence.keys.end())
            fields_.complain(forward->second,
                             "nothing is forwarded where all nodes snoop; remove 'forward', or write 'by: directory'");
    }

    void tlb(const YAML::Node& node) {
        TlbConfig tlb;
        tlb.mark = mark_of(node);
        tlb.keys = fields_.mapping(
            node, {"a TLB", "{name: DTLB, entries: 64, ways: 4}"},
            {
                {"name", [&](const auto& value) { fields_.text(value, "name", "DTLB", tlb.name); }, true},
                {"next", [&](const auto& value) { fields_.text(value, "next", "STLB", tlb.next); }},
                {"serves", [&](const auto& value) { fields_.choice(value, "serves", tlb.serves); }},
                {"shared_by", [&](const auto& value) { shared_by(value, tlb.shared_by); }},
                {"entries", [&](const auto& value) { fields_.whole(value, "entries", tlb.entries, 1, 1 << 20); }, true},
                {"ways", [&](const auto& value) { ways(value, tlb.ways); }, true},
                {"latency", [&](const auto& value) { fields_.whole(value, "latency", tlb.latency, 0, most_cycles); }},
                {"replacement", [&](const auto& value) { fields_.choice(value, "replacement", tlb.replacement); }},
                {"seed", [&](const auto& value) { fields_.whole(value, "seed", tlb.seed, 0, any_number); }},
                {"indexing", [&](const auto& value) { fields_.choice(value, "indexing", tlb.indexing); }},
                {"page_sizes", [&](const auto& value) { page_sizes(value, tlb.page_sizes); }},
                {"granule", [&](const auto& value) { fields_.size(value, "granule", tlb.granule); }},
            });
        machine_.tlbs.push_back(std::move(tlb));
    }

    void page_sizes(const YAML::Node& node, std::vector<std::uint64_t>& sizes) {
        fields_.list(node, "page_sizes", [&](const auto& each) {
            std::uint64_t size = 0;
            fields_.size(each, "page_sizes", size);
            sizes.push_back(size);
        });
    }

    void pages(const YAML::Node& node) {
        PagesConfig& pages = machine_.pages;
        pages.mark = mark_of(node);
        pages.keys = fields_.mapping(
            node, {"'pages'", "{size: 4 KiB, mapping: contiguous}"},
            {
                {"size", [&](const auto& value) { fields_.size(value, "size", pages.size); }},
                {"mapping", [&](const auto& value) { fields_.choice(value, "mapping", pages.mapping); }},
                {"colours", [&](const auto& value) { fields_.whole(value, "colours", pages.colours, 1, 1 << 20); }},
                {"seed", [&](const auto& value) { fields_.whole(value, "seed", pages.seed, 0, any_number); }},
                {"ranges",
                 [&](const auto& value) { fields_.list(value, "ranges", [&](const auto& each) { range(each); }); }},
                {"walk", [&](const auto& value) { walk(value); }},
            });
        pages.keys.merge(walk_marks_);
    }

    void range(const YAML::Node& node) {
        PageRange range;
        range.mark = mark_of(node);
        fields_.mapping(node, {"a page range", "{from: 0x40000000, to: 0x80000000, size: 2 MiB}"},
                        {
                            {"from", [&](const auto& value) { fields_.address(value, "from", range.from); }, true},
                            {"to", [&](const auto& value) { fields_.address(value, "to", range.to); }, true},
                            {"size", [&](const auto& value) { fields_.size(value, "size", range.size); }, true},
                        });
        machine_.pages.ranges.push_back(range);
    }

    void walk(const YAML::Node& node) {
        PagesConfig& pages = machine_.pages;
        KeyMarks marks = fields_.mapping(
            node, {"a page walk", "{through: L1, latency: 0}"},
            {
                {"through", [&](const auto& value) { fields_.text(value, "through", "L2", pages.walk_through); }},
                {"latency",
                 [&](const auto& value) { fields_.whole(value, "latency", pages.walk_latency, 0, most_cycles); }},
                {"references", [&](const auto& value) { fields_.flag(value, "references", pages.walk_references); }},
            });
        for (auto& [key, mark] : marks) walk_marks_.emplace("walk." + key, mark);
    }

    void numa(const YAML::Node& node) {
        NumaConfig& numa = machine_.numa;
        numa.mark = mark_of(node);
        numa.keys = fields_.mapping(
            node, {"'numa'", "{nodes: 2, policy: first_touch, interconnect: {latency: 100}}"},
            {
                {"nodes", [&](const auto& value) { fields_.whole(value, "nodes", numa.nodes, 1, most_nodes); }, true},
                {"policy", [&](const auto& value) { fields_.choice(value, "policy", numa.policy); }},
                {"granule", [&](const auto& value) { fields_.size(value, "granule", numa.granule); }},
                {"ranges",
                 [&](const auto& value) { fields_.list(value, "ranges", [&](const auto& each) { homes(each); }); }},
                {"otherwise", [&](const auto& value) { fields_.text(value, "otherwise", "M0", numa.otherwise); }},
                {"interconnect", [&](const auto& value) { bus(value, numa.interconnect, "'interconnect'"); }},
            });
    }

    void homes(const YAML::Node& node) {
        HomeRange range;
        range.mark = mark_of(node);
        fields_.mapping(
            node, {"a range of homes", "{from: 0x40000000, to: 0x80000000, memory: M1}"},
            {
                {"from", [&](const auto& value) { fields_.address(value, "from", range.from); }, true},
                {"to", [&](const auto& value) { fields_.address(value, "to", range.to); }, true},
                {"memory", [&](const auto& value) { fields_.text(value, "memory", "M1", range.memory); }, true},
            });
        machine_.numa.ranges.push_back(range);
    }

    void memory(const YAML::Node& node, bool one_of_many) {
        MemoryConfig memory;
        memory.mark = mark_of(node);
        memory.keys = fields_.mapping(
            node, {"a memory", "{name: memory, size: 16 GiB, latency: 200}"},
            {
                {"name", [&](const auto& value) { fields_.text(value, "name", "memory", memory.name); }, one_of_many},
                {"node", [&](const auto& value) { fields_.whole(value, "node", memory.node, 0, most_nodes - 1); }},
                {"size", [&](const auto& value) { fields_.size(value, "size", memory.size); }},
                {"latency",
                 [&](const auto& value) { fields_.whole(value, "latency", memory.latency, 0, most_cycles); }},
                {"banks", [&](const auto& value) { fields_.whole(value, "banks", memory.banks, 1, most_banks); }},
                {"interleave", [&](const auto& value) { fields_.size(value, "interleave", memory.interleave); }},
                {"bank_busy",
                 [&](const auto& value) { fields_.whole(value, "bank_busy", memory.bank_busy, 0, most_cycles); }},
            });
        machine_.memories.push_back(std::move(memory));
    }

    /// Keeps a monitor's settings as they stand; the monitor room reads them.
    void monitor(const YAML::Node& node) {
        MonitorEntry entry;
        entry.mark = mark_of(node);
        if (!node.IsMap()) {
            fields_.complain(entry.mark,
                             "a monitor is a mapping of keys to values, as in '{link: L1-L2, counters: 64}'");
            return;
        }
        std::set<std::string> seen;
        for (const auto& setting : node) {
            if (!setting.first.IsScalar()) {
                fields_.complain(mark_of(setting.first), "a key of a monitor is a word, as in '{link: L1-L2}'");
                continue;
            }
            const std::string& key = setting.first.Scalar();
            if (!seen.insert(key).second)
                fields_.complain(mark_of(setting.first),
                                 fmt::format("key '{}' of a monitor is given twice; keep one", shown(key)));
            entry.settings.push_back({key, setting_value(key, setting.second), mark_of(setting.second)});
        }
        machine_.monitors.push_back(std::move(entry));
    }

    /// A scalar, or the elements of a list with '+' between them.
    std::string setting_value(const std::string& key, const YAML::Node& node) {
        if (node.IsScalar()) return node.Scalar();
        std::vector<std::string> values;
        bool good = node.IsSequence();
        for (const YAML::Node& element : node) {
            good = good && element.IsScalar();
            if (good) values.push_back(element.Scalar());
        }
        if (!good)
            fields_.complain(mark_of(node), fmt::format("'{}' of a monitor is a value or a list of values, as in '64' "
                                                        "or '[load, store]'",
                                                        shown(key)));
        return fmt::format("{}", fmt::join(values, "+"));
    }

    MachineDescription& machine_;
    FieldReader fields_;
    KeyMarks walk_marks_;
};

}  // namespace

MachineDescription read_machine(const std::string& text, const std::string& file_name) {
    MachineDescription machine;
    machine.file = file_name;
    machine.text = text;
    const YAML::Node root = load_yaml(text, file_name);
    auto diagnostics = MachineReader(machine).read(root);
    if (!diagnostics.empty()) throw MachineError(file_name, std::move(diagnostics));
    if (machine.memories.empty()) machine.memories.emplace_back();
    return machine;
}

}  // namespace cachetally
