// SPDX-License-Identifier: BSD-3-Clause
// Machine descriptions to machine files: only what differs from the defaults, in flow style, one component a line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.hpp"
#include "cachetally/topology.hpp"
#include "sim/model/prefetch/prefetcher.hpp"
#include "sim/topology/names.hpp"

namespace cachetally {
namespace {

/// "{name: L1, size: 32 KiB}"
class Line {
public:
    void add(std::string_view key, std::string_view value) { pairs_.push_back(fmt::format("{}: {}", key, value)); }
    template <class Value>
    void add_unless(std::string_view key, const Value& value, const Value& standard, std::string_view text) {
        if (!(value == standard)) add(key, text);
    }
    template <class Integer>
    void number(std::string_view key, Integer value, Integer standard) {
        add_unless(key, value, standard, std::to_string(value));
    }
    void flag(std::string_view key, bool value, bool standard) {
        add_unless(key, value, standard, value ? "true" : "false");
    }
    template <class Enum>
    void choice(std::string_view key, Enum value, Enum standard) {
        add_unless(key, value, standard, name_of(value));
    }
    bool empty() const { return pairs_.empty(); }
    std::string str() const { return fmt::format("{{{}}}", fmt::join(pairs_, ", ")); }

private:
    std::vector<std::string> pairs_;
};

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (code < 0x20 || code == 0x7F) {
            out += fmt::format("\\x{:02x}", code);
        } else {
            out += c;
        }
    }
    return out + '"';
}

/// Without quotes where the reader takes it for the same word.
std::string plain(std::string_view text) {
    const auto is_alnum = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    const auto is_tame = [&](char c) { return is_alnum(c) || std::string_view("_.+-").find(c) != text.npos; };
    const bool tame = !text.empty() && is_alnum(text.front()) && std::ranges::all_of(text, is_tame);
    const bool null = text == "null" || text == "Null" || text == "NULL";
    return tame && !null ? std::string(text) : in_quotes(text);
}

std::string ways_text(unsigned ways) { return ways == 0 ? "full" : std::to_string(ways); }
std::string shared_text(unsigned shared_by) { return shared_by == 0 ? "all" : std::to_string(shared_by); }

std::string text_of(const PrefetchConfig& prefetch) {
    const PrefetchConfig standard;
    Line line;
    line.add("kind", name_of(prefetch.kind));
    line.number("degree", prefetch.degree, standard.degree);
    line.number("distance", prefetch.distance, standard.distance);
    if (row_of(prefetch.kind).has_entries) line.number("entries", prefetch.entries, standard.entries);
    return line.str();
}

std::string text_of(const BusConfig& bus) {
    const BusConfig standard;
    Line line;
    line.number("latency", bus.latency, standard.latency);
    line.number("bytes_per_cycle", bus.bytes_per_cycle, standard.bytes_per_cycle);
    line.flag("shared", bus.shared, standard.shared);
    return line.str();
}

std::string text_of(const CacheConfig& cache) {
    const CacheConfig standard;
    Line line;
    line.add("name", plain(cache.name));
    line.add("next", plain(cache.next));
    line.choice("serves", cache.serves, standard.serves);
    line.add_unless("shared_by", cache.shared_by, standard.shared_by, shared_text(cache.shared_by));
    line.add("size", format_size(cache.size));
    line.add("ways", ways_text(cache.ways));
    line.number("line", cache.line, standard.line);
    line.number("latency", cache.latency, standard.latency);
    line.choice("replacement", cache.replacement, standard.replacement);
    line.number("seed", cache.seed, standard.seed);
    line.choice("empty_way", cache.empty_way, standard.empty_way);
    line.choice("indexing", cache.indexing, standard.indexing);
    line.flag("virtually_indexed", cache.virtually_indexed, standard.virtually_indexed);
    line.choice("inclusion", cache.inclusion, standard.inclusion);
    line.choice("write", cache.write, standard.write);
    line.flag("write_allocate", cache.write_allocate, standard.write_allocate);
    line.flag("write_back_first", cache.write_back_first, standard.write_back_first);
    line.choice("write_back_miss", cache.write_back_miss, standard.write_back_miss);
    line.flag("write_back_traffic", cache.write_back_traffic, standard.write_back_traffic);
    line.flag("store_hit_refreshes", cache.store_hit_refreshes, standard.store_hit_refreshes);
    line.flag("write_back_refreshes", cache.write_back_refreshes, standard.write_back_refreshes);
    if (cache.prefetch.kind != PrefetchKind::none) line.add("prefetch", text_of(cache.prefetch));
    if (cache.bus != standard.bus) line.add("bus", text_of(cache.bus));
    line.number("outstanding_misses", cache.outstanding_misses, standard.outstanding_misses);
    line.number("write_buffer", cache.write_buffer, standard.write_buffer);
    return line.str();
}

std::string text_of(const CoherenceConfig& coherence) {
    const CoherenceConfig standard;
    Line line;
    line.add("protocol", name_of(coherence.protocol));
    line.choice("by", coherence.by, standard.by);
    line.number("latency", coherence.latency, standard.latency);
    if (coherence.by == CoherenceBy::directory) line.number("forward", coherence.forward, standard.forward);
    line.number("supply", coherence.supply, standard.supply);
    return line.str();
}

std::string text_of(const TlbConfig& tlb) {
    const TlbConfig standard;
    Line line;
    line.add("name", plain(tlb.name));
    if (!tlb.next.empty()) line.add("next", plain(tlb.next));
    line.choice("serves", tlb.serves, standard.serves);
    line.add_unless("shared_by", tlb.shared_by, standard.shared_by, shared_text(tlb.shared_by));
    line.add("entries", std::to_string(tlb.entries));
    line.add("ways", ways_text(tlb.ways));
    line.number("latency", tlb.latency, standard.latency);
    line.choice("replacement", tlb.replacement, standard.replacement);
    line.number("seed", tlb.seed, standard.seed);
    line.choice("indexing", tlb.indexing, standard.indexing);
    if (!tlb.page_sizes.empty()) {
        std::vector<std::string> sizes;
        for (const std::uint64_t size : tlb.page_sizes) sizes.push_back(format_size(size));
        line.add("page_sizes", fmt::format("[{}]", fmt::join(sizes, ", ")));
    }
    if (tlb.granule != 0) line.add("granule", format_size(tlb.granule));
    return line.str();
}

std::string text_of(const PagesConfig& pages, bool walks) {
    const PagesConfig standard;
    Line line, walk;
    line.add_unless("size", pages.size, standard.size, format_size(pages.size));
    line.choice("mapping", pages.mapping, standard.mapping);
    if (pages.mapping == Mapping::coloured) line.number("colours", pages.colours, standard.colours);
    line.number("seed", pages.seed, standard.seed);
    std::vector<std::string> ranges;
    for (const PageRange& range : pages.ranges)
        ranges.push_back(
            fmt::format("{{from: {:#x}, to: {:#x}, size: {}}}", range.from, range.to, format_size(range.size)));
    if (!ranges.empty()) line.add("ranges", fmt::format("[{}]", fmt::join(ranges, ", ")));
    if (!pages.walk_through.empty() && pages.walk_references) walk.add("through", plain(pages.walk_through));
    walk.number("latency", pages.walk_latency, standard.walk_latency);
    walk.flag("references", pages.walk_references, standard.walk_references);
    if (walks && !walk.empty()) line.add("walk", walk.str());
    return line.str();
}

std::string text_of(const NumaConfig& numa) {
    const NumaConfig standard;
    Line line;
    line.add("nodes", std::to_string(numa.nodes));
    line.add("policy", name_of(numa.policy));
    if (numa.policy == HomePolicy::interleaved)
        line.add_unless("granule", numa.granule, standard.granule, format_size(numa.granule));
    if (numa.policy == HomePolicy::fixed) {
        std::vector<std::string> ranges;
        for (const HomeRange& range : numa.ranges)
            ranges.push_back(
                fmt::format("{{from: {:#x}, to: {:#x}, memory: {}}}", range.from, range.to, plain(range.memory)));
        if (!ranges.empty()) line.add("ranges", fmt::format("[{}]", fmt::join(ranges, ", ")));
        if (!numa.otherwise.empty()) line.add("otherwise", plain(numa.otherwise));
    }
    if (numa.interconnect != standard.interconnect) line.add("interconnect", text_of(numa.interconnect));
    return line.str();
}

/// `node`: with the node that it belongs to.
std::string text_of(const MemoryConfig& memory, bool node) {
    const MemoryConfig standard;
    Line line;
    line.add("name", plain(memory.name));
    if (node) line.add("node", std::to_string(memory.node));
    line.add_unless("size", memory.size, standard.size, format_size(memory.size));
    line.number("latency", memory.latency, standard.latency);
    line.number("banks", memory.banks, standard.banks);
    line.add_unless("interleave", memory.interleave, standard.interleave, format_size(memory.interleave));
    line.number("bank_busy", memory.bank_busy, standard.bank_busy);
    return line.str();
}

std::string text_of(const MonitorEntry& monitor) {
    Line line;
    for (const MonitorEntry::Setting& setting : monitor.settings) line.add(plain(setting.key), plain(setting.value));
    return line.str();
}

template <class Part, class... Settings>
std::string list(std::string_view key, const std::vector<Part>& parts, Settings... settings) {
    std::string text;
    if (!parts.empty()) text = fmt::format("{}:\n", key);
    for (const Part& part : parts) text += fmt::format("  - {}\n", text_of(part, settings...));
    return text;
}

}  // namespace

std::string write_machine(const MachineDescription& machine) {
    const MachineDescription standard;
    std::string text;
    if (!machine.name.empty()) text += fmt::format("name: {}\n", plain(machine.name));
    if (!machine.description.empty()) text += fmt::format("description: {}\n", in_quotes(machine.description));
    if (!machine.source.empty()) text += fmt::format("source: {}\n", in_quotes(machine.source));
    if (machine.period != standard.period) text += fmt::format("clock: {}\n", format_frequency(machine.period));
    if (machine.cores != standard.cores) text += fmt::format("cores: {}\n", machine.cores);
    text += list("caches", machine.caches);
    if (machine.coherence.protocol != Protocol::none)
        text += fmt::format("coherence: {}\n", text_of(machine.coherence));
    text += list("tlbs", machine.tlbs);
    if (const std::string pages = text_of(machine.pages, !machine.tlbs.empty()); pages != "{}")
        text += fmt::format("pages: {}\n", pages);
    if (machine.has_nodes()) text += fmt::format("numa: {}\n", text_of(machine.numa));
    if (machine.has_nodes() || machine.memories != std::vector{MemoryConfig{}})
        text += list("memories", machine.memories, machine.has_nodes());
    text += list("monitors", machine.monitors);
    return text.empty() ? "{}\n" : text;
}

}  // namespace cachetally
