// Machine files to machine descriptions.
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>

#include "sim/topology/presets.hpp"
#include "sim/topology/yaml_fields.hpp"

namespace cachetally {
namespace {

constexpr std::uint64_t most_cycles = 1'000'000;
constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t largest_file = 1 << 20;

class MachineReader {
public:
    explicit MachineReader(MachineDescription& machine) : machine_(machine) {}

    std::vector<Diagnostic> read(const YAML::Node& root) {
        fields_.mapping(
            root, "a machine",
            {
                {"name", [&](const auto& node) { fields_.text(node, "name", machine_.name); }},
                {"description", [&](const auto& node) { fields_.text(node, "description", machine_.description); }},
                {"source", [&](const auto& node) { fields_.text(node, "source", machine_.source); }},
                {"clock", [&](const auto& node) { clock(node); }},
                {"cores", [&](const auto& node) { fields_.whole(node, "cores", machine_.cores, 1, 256); }},
                {"caches",
                 [&](const auto& node) { fields_.list(node, "caches", [&](const auto& each) { cache(each); }); }},
                {"tlbs", [&](const auto& node) { fields_.list(node, "tlbs", [&](const auto& each) { tlb(each); }); }},
                {"pages", [&](const auto& node) { pages(node); }},
                {"memory", [&](const auto& node) { memory(node); }},
                {"memories",
                 [&](const auto& node) { fields_.list(node, "memories", [&](const auto& each) { memory(each); }); }},
                {"monitors",
                 [&](const auto& node) { fields_.list(node, "monitors", [&](const auto& each) { monitor(each); }); }},
            });
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
                fmt::format("'{}' is not a frequency; write a number with GHz or MHz, as in 3 GHz", *value));
        }
    }

    void ways(const YAML::Node& node, unsigned& target) {
        if (node.IsScalar() && node.Scalar() == "full") {
            target = 0;
        } else if (node.IsScalar() && node.Scalar() == "0") {
            fields_.complain(mark_of(node),
                             "a cache has at least one way; write 1 for direct-mapped, full for fully associative");
        } else {
            fields_.whole(node, "ways", target, 1, 65536);
        }
    }

    void shared_by(const YAML::Node& node, unsigned& target) {
        if (node.IsScalar() && node.Scalar() == "all") {
            target = 0;
        } else {
            fields_.whole(node, "shared_by", target, 1, 256);
        }
    }

    void cache(const YAML::Node& node) {
        CacheConfig cache;
        cache.mark = mark_of(node);
        fields_.mapping(
            node, "a cache",
            {
                {"name", [&](const auto& value) { fields_.text(value, "name", cache.name); }},
                {"next", [&](const auto& value) { fields_.text(value, "next", cache.next); }},
                {"serves", [&](const auto& value) { fields_.choice(value, "serves", cache.serves); }},
                {"shared_by", [&](const auto& value) { shared_by(value, cache.shared_by); }},
                {"size", [&](const auto& value) { fields_.size(value, "size", cache.size); }},
                {"ways", [&](const auto& value) { ways(value, cache.ways); }},
                {"line", [&](const auto& value) { line(value, cache.line); }},
                {"latency", [&](const auto& value) { fields_.whole(value, "latency", cache.latency, 0, most_cycles); }},
                {"replacement", [&](const auto& value) { fields_.choice(value, "replacement", cache.replacement); }},
                {"seed", [&](const auto& value) { fields_.whole(value, "seed", cache.seed, 0, any_number); }},
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
            });
        machine_.caches.push_back(std::move(cache));
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
        fields_.mapping(
            node, "a prefetcher",
            {
                {"kind", [&](const auto& value) { fields_.choice(value, "kind", prefetch.kind); }},
                {"degree", [&](const auto& value) { fields_.whole(value, "degree", prefetch.degree, 1, 64); }},
                {"distance", [&](const auto& value) { fields_.whole(value, "distance", prefetch.distance, 1, 64); }},
                {"entries", [&](const auto& value) { fields_.whole(value, "entries", prefetch.entries, 1, 65536); }},
            });
    }

    void tlb(const YAML::Node& node) {
        TlbConfig tlb;
        tlb.mark = mark_of(node);
        fields_.mapping(
            node, "a TLB",
            {
                {"name", [&](const auto& value) { fields_.text(value, "name", tlb.name); }},
                {"next", [&](const auto& value) { fields_.text(value, "next", tlb.next); }},
                {"serves", [&](const auto& value) { fields_.choice(value, "serves", tlb.serves); }},
                {"shared_by", [&](const auto& value) { shared_by(value, tlb.shared_by); }},
                {"entries", [&](const auto& value) { fields_.whole(value, "entries", tlb.entries, 1, 1 << 20); }},
                {"ways", [&](const auto& value) { ways(value, tlb.ways); }},
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
        fields_.mapping(
            node, "pages",
            {
                {"size", [&](const auto& value) { fields_.size(value, "size", pages.size); }},
                {"mapping", [&](const auto& value) { fields_.choice(value, "mapping", pages.mapping); }},
                {"colours", [&](const auto& value) { fields_.whole(value, "colours", pages.colours, 1, 1 << 20); }},
                {"seed", [&](const auto& value) { fields_.whole(value, "seed", pages.seed, 0, any_number); }},
                {"ranges",
                 [&](const auto& value) { fields_.list(value, "ranges", [&](const auto& each) { range(each); }); }},
                {"walk", [&](const auto& value) { walk(value); }},
            });
    }

    void range(const YAML::Node& node) {
        PageRange range;
        range.mark = mark_of(node);
        fields_.mapping(
            node, "a page range",
            {
                {"from", [&](const auto& value) { fields_.whole(value, "from", range.from, 0, any_number); }},
                {"to", [&](const auto& value) { fields_.whole(value, "to", range.to, 0, any_number); }},
                {"size", [&](const auto& value) { fields_.size(value, "size", range.size); }},
            });
        machine_.pages.ranges.push_back(range);
    }

    void walk(const YAML::Node& node) {
        PagesConfig& pages = machine_.pages;
        fields_.mapping(
            node, "a page walk",
            {
                {"through", [&](const auto& value) { fields_.text(value, "through", pages.walk_through); }},
                {"latency",
                 [&](const auto& value) { fields_.whole(value, "latency", pages.walk_latency, 0, most_cycles); }},
                {"references", [&](const auto& value) { fields_.flag(value, "references", pages.walk_references); }},
            });
    }

    void memory(const YAML::Node& node) {
        MemoryConfig memory;
        memory.mark = mark_of(node);
        fields_.mapping(
            node, "a memory",
            {
                {"name", [&](const auto& value) { fields_.text(value, "name", memory.name); }},
                {"size", [&](const auto& value) { fields_.size(value, "size", memory.size); }},
                {"latency",
                 [&](const auto& value) { fields_.whole(value, "latency", memory.latency, 0, most_cycles); }},
            });
        machine_.memories.push_back(std::move(memory));
    }

    /// Keeps a monitor's settings as they stand; the monitor room reads them.
    void monitor(const YAML::Node& node) {
        MonitorEntry entry;
        entry.mark = mark_of(node);
        if (!node.IsMap()) {
            fields_.complain(entry.mark,
                             "a monitor must be a mapping of keys to values, as in '{link: L1-L2, counters: 64}'");
            return;
        }
        for (const auto& setting : node) {
            if (!setting.first.IsScalar()) {
                fields_.complain(mark_of(setting.first), "a key of a monitor must be a word");
                continue;
            }
            const std::string& key = setting.first.Scalar();
            std::vector<std::string> values;
            const auto take = [&](const YAML::Node& value) {
                values.push_back(fields_.scalar(value, key, "64").value_or(""));
            };
            if (setting.second.IsSequence()) {
                for (const YAML::Node& element : setting.second) take(element);
            } else {
                take(setting.second);
            }
            entry.settings.push_back({key, fmt::format("{}", fmt::join(values, "+")), mark_of(setting.second)});
        }
        machine_.monitors.push_back(std::move(entry));
    }

    MachineDescription& machine_;
    FieldReader fields_;
};

/// yaml-cpp expands aliases into shared nodes and recurses over nesting: both are bounded before it sees the text.
void refuse_dangerous(const std::string& text, const std::string& file) {
    if (text.size() > largest_file)
        throw MachineError(file, {{{}, "the file is larger than 1 MiB; this is not a machine file"}});
    Mark mark{1, 0};
    int depth = 0, leading = 0;
    for (const char c : text) {
        ++mark.column;
        if (c == '\n') {
            mark = {mark.line + 1, 0};
            leading = 0;
            continue;
        }
        const bool indents = mark.column == leading + 1 && (c == ' ' || c == '-' || c == '?' || c == ':');
        leading += indents ? 1 : 0;
        depth += c == '[' || c == '{' ? 1 : 0;
        if (depth > 200 || leading > 400)
            throw MachineError(file, {{mark, "nested too deeply; a machine file needs three levels"}});
    }
}

YAML::Node parse(const std::string& text, const std::string& file) {
    refuse_dangerous(text, file);
    try {
        return YAML::Load(text);
    } catch (const YAML::Exception& error) {
        throw MachineError(file,
                           {{{error.mark.line + 1, error.mark.column + 1}, error.msg + "; this is not valid YAML"}});
    }
}

}  // namespace

MachineDescription read_machine(const std::string& text, const std::string& file_name) {
    MachineDescription machine;
    machine.file = file_name;
    machine.text = text;
    const YAML::Node root = parse(text, file_name);
    std::vector<Diagnostic> diagnostics;
    try {
        diagnostics = MachineReader(machine).read(root);
    } catch (const YAML::Exception& error) {
        diagnostics.push_back({{error.mark.line + 1, error.mark.column + 1}, error.msg});
    }
    if (!diagnostics.empty()) throw MachineError(file_name, std::move(diagnostics));
    if (machine.memories.empty()) machine.memories.emplace_back();
    return machine;
}

MachineDescription load_machine(const std::string& name_or_path) {
    for (const PresetText& preset : preset_texts())
        if (preset.name == name_or_path) return read_machine(std::string(preset.text), name_or_path);
    std::ifstream file(name_or_path, std::ios::binary);
    if (!file) {
        std::vector<std::string_view> known;
        for (const PresetText& preset : preset_texts()) known.push_back(preset.name);
        throw MachineError(
            name_or_path, {{{}, "neither a machine file that can be read nor a preset" + advice(name_or_path, known)}});
    }
    std::string text(std::istreambuf_iterator<char>(file), {});
    return read_machine(text, name_or_path);
}

std::vector<PresetInfo> machine_presets() {
    std::vector<PresetInfo> presets;
    for (const PresetText& preset : preset_texts())
        presets.push_back(
            {std::string(preset.name), read_machine(std::string(preset.text), std::string(preset.name)).description});
    return presets;
}

}  // namespace cachetally
