// SPDX-License-Identifier: BSD-3-Clause
// Reading machine files: the presets that are built in, and others; the words that follow from tables of the model.
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cachetally/topology.hpp"
#include "sim/model/prefetch/prefetcher.hpp"
#include "sim/model/tags/cache_array.hpp"
#include "sim/topology/host_machine.hpp"
#include "sim/topology/machine_keys.hpp"
#include "sim/topology/names.hpp"
#include "sim/topology/presets.hpp"
#include "sim/topology/yaml_document.hpp"

namespace cachetally {
namespace {

[[noreturn]] void refuse_file(const std::string& path, int error) {
    std::vector<std::string_view> known;
    for (const PresetText& preset : preset_texts()) known.push_back(preset.name);
    known.emplace_back("host");
    throw MachineError(path, {{{},
                               std::string("this is no built-in machine, and cannot be read as a machine file: ") +
                                   std::strerror(error) + advice(path, known)}});
}

}  // namespace

MachineDescription load_machine(const std::string& name_or_path) {
    for (const PresetText& preset : preset_texts())
        if (preset.name == name_or_path) return read_machine(std::string(preset.text), name_or_path);
    if (name_or_path == "host") return read_machine(host_machine_file(), name_or_path);
    const auto text = read_yaml_file(name_or_path);
    if (!text) refuse_file(name_or_path, errno);
    MachineDescription machine = read_machine(*text, name_or_path);
    if (machine.name.empty()) machine.name = std::filesystem::path(name_or_path).stem().string();
    return machine;
}

std::vector<PresetInfo> machine_presets() {
    std::vector<PresetInfo> presets;
    for (const PresetText& preset : preset_texts())
        presets.push_back(
            {std::string(preset.name), read_machine(std::string(preset.text), std::string(preset.name)).description});
    return presets;
}

namespace {

template <class Row>
std::vector<std::string_view> names_in(std::span<const Row> rows) {
    std::vector<std::string_view> names;
    for (const Row& row : rows) names.push_back(row.name);
    return names;
}

}  // namespace

template <>
std::span<const std::string_view> names_of<Replacement>() {
    static const auto names = names_in(replacement_rows());
    return names;
}
template <>
std::span<const std::string_view> names_of<Indexing>() {
    static const auto names = names_in(indexing_rows());
    return names;
}
template <>
std::span<const std::string_view> names_of<PrefetchKind>() {
    static const auto names = names_in(prefetcher_rows());
    return names;
}

namespace {

/// Collects what each key of a mapping does with its value; then reads one.
class ReadKeys {
public:
    explicit ReadKeys(FieldReader& reader) : reader_(reader) {}

    bool all() const { return true; }

    void text(std::string_view key, std::string& value, const char* example, Need need = Need::optional) {
        add(key, need, [=, this, &value](const YAML::Node& node) { reader_.text(node, key, example, value); });
    }
    template <class Integer>
    void whole(std::string_view key, Integer& value, std::uint64_t least, std::uint64_t most,
               Need need = Need::optional) {
        add(key, need, [=, this, &value](const YAML::Node& node) { reader_.whole(node, key, value, least, most); });
    }
    /// A word stands for 0.
    void whole_or(const char* word, std::string_view key, unsigned& value, std::uint64_t most, const char* hint,
                  Need need) {
        add(key, need, [=, this, &value](const YAML::Node& node) {
            if (node.IsScalar() && node.Scalar() == word)
                value = 0;
            else
                reader_.whole(node, key, value, 1, most, hint);
        });
    }
    void flag(std::string_view key, bool& value) {
        add(key, Need::optional, [=, this, &value](const YAML::Node& node) { reader_.flag(node, key, value); });
    }
    template <class Enum>
    void choice(std::string_view key, Enum& value, Need need = Need::optional) {
        add(key, need, [=, this, &value](const YAML::Node& node) { reader_.choice(node, key, value); });
    }
    void size(std::string_view key, std::uint64_t& value, Need need = Need::optional) {
        add(key, need, [=, this, &value](const YAML::Node& node) { reader_.size(node, key, value); });
    }
    void size(std::string_view key, unsigned& value) {
        add(key, Need::optional, [=, this, &value](const YAML::Node& node) {
            std::uint64_t bytes = value;
            reader_.size(node, key, bytes);
            value = static_cast<unsigned>(std::min<std::uint64_t>(bytes, std::numeric_limits<unsigned>::max()));
        });
    }
    void sizes(std::string_view key, std::vector<std::uint64_t>& values) {
        add(key, Need::optional, [=, this, &values](const YAML::Node& node) {
            reader_.list(node, key, [&](const YAML::Node& each) { reader_.size(each, key, values.emplace_back()); });
        });
    }
    void wholes(std::string_view key, std::vector<unsigned>& values, std::uint64_t least, std::uint64_t most) {
        add(key, Need::optional, [=, this, &values](const YAML::Node& node) {
            reader_.list(node, key,
                         [&](const YAML::Node& each) { reader_.whole(each, key, values.emplace_back(), least, most); });
        });
    }
    void address(std::string_view key, Address& value) {
        add(key, Need::required, [=, this, &value](const YAML::Node& node) { reader_.address(node, key, value); });
    }
    template <class Part>
    void list(std::string_view key, std::vector<Part>& parts, MappingKind kind) {
        add(key, Need::optional, [=, this, &parts](const YAML::Node& node) {
            reader_.list(node, key,
                         [&](const YAML::Node& each) { read_part(reader_, each, kind, parts.emplace_back()); });
        });
    }
    /// Where its values are is kept under "key.inner".
    template <class Visit>
    void mapping(std::string_view key, MappingKind kind, Visit visit_members) {
        add(key, Need::optional, [=, this](const YAML::Node& node) {
            ReadKeys inner(reader_);
            visit_members(inner);
            for (const auto& [name, mark] : inner.read(node, kind))
                inner_marks_.emplace(fmt::format("{}.{}", key, name), mark);
        });
    }
    void kind_or_mapping(std::string_view key, MappingKind kind, PrefetchConfig& prefetch) {
        mapping(key, kind, [&prefetch](ReadKeys& inner) { visit(inner, prefetch); });
        fields_.back().read = [=, this, &prefetch, mapping = std::move(fields_.back().read)](const YAML::Node& node) {
            if (node.IsScalar())
                reader_.choice(node, key, prefetch.kind);
            else
                mapping(node);
        };
    }

    /// Returns where the values are.
    KeyMarks read(const YAML::Node& node, MappingKind kind) {
        KeyMarks marks = reader_.mapping(node, kind, fields_);
        marks.merge(inner_marks_);
        return marks;
    }

    /// Reads a part, which remembers its place.
    template <class Part, class... Settings>
    static void read_part(FieldReader& reader, const YAML::Node& node, MappingKind kind, Part& part,
                          Settings... settings) {
        part.mark = mark_of(node);
        ReadKeys keys(reader);
        visit(keys, part, settings...);
        KeyMarks marks = keys.read(node, kind);
        if constexpr (requires { part.keys; }) part.keys = std::move(marks);
    }

private:
    void add(std::string_view key, Need need, std::function<void(const YAML::Node&)> read) {
        fields_.push_back({key, std::move(read), need == Need::required});
    }

    FieldReader& reader_;
    std::vector<Field> fields_;
    KeyMarks inner_marks_;
};

class MachineReader {
public:
    explicit MachineReader(MachineDescription& machine) : machine_(machine) {}

    std::vector<Diagnostic> read(const YAML::Node& root) {
        const auto part = [&](MappingKind kind, auto& target, auto... settings) {
            return [=, this, &target](const YAML::Node& node) {
                ReadKeys::read_part(fields_, node, kind, target, settings...);
            };
        };
        const auto list = [&](std::string_view key, auto read) {
            return Field{key, [=, this](const YAML::Node& node) { fields_.list(node, key, read); }};
        };
        const auto text = [&](std::string_view key, const char* example, std::string& target) {
            return Field{key, [=, this, &target](const YAML::Node& node) { fields_.text(node, key, example, target); }};
        };
        const auto memory = [&](bool named) {
            return [=, this](const YAML::Node& node) {
                ReadKeys::read_part(fields_, node, {"a memory", "{name: memory, size: 16 GiB, latency: 200}"},
                                    machine_.memories.emplace_back(), named, true);
            };
        };
        machine_.keys = fields_.mapping(
            root, {"a machine", "cores: 4"},
            {text("name", "mine", machine_.name),
             text("description", "two levels", machine_.description),
             text("source", "data sheet", machine_.source),
             {"clock", [&](const auto& node) { clock(node); }},
             {"cores", [&](const auto& node) { fields_.whole(node, "cores", machine_.cores, 1, 256); }},
             list("caches", [&](const auto& each) { cache(each); }),
             {"coherence", [&](const auto& node) { coherence(node); }},
             list("tlbs",
                  [&](const auto& each) {
                      part({"a TLB", "{name: DTLB, entries: 64, ways: 4}"}, machine_.tlbs.emplace_back())(each);
                  }),
             {"pages", part({"'pages'", "{size: 4 KiB, mapping: contiguous}"}, machine_.pages, true)},
             {"numa", part({"'numa'", "{nodes: 2, policy: first_touch, interconnect: {latency: 100}}"}, machine_.numa)},
             {"memory", memory(false)},
             list("memories", memory(true)),
             list("monitors", [&](const auto& each) { monitor(each); })});
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

    void cache(const YAML::Node& node) {
        CacheConfig& cache = machine_.caches.emplace_back();
        ReadKeys::read_part(fields_, node, {"a cache", "{name: L1, next: memory, size: 32 KiB, ways: 8}"}, cache);
        const PrefetcherRow& row = row_of(cache.prefetch.kind);
        const auto means_nothing = [&](std::string_view key, std::string_view has_no) {
            const auto found = cache.keys.find(fmt::format("prefetch.{}", key));
            if (found == cache.keys.end()) return;
            fields_.complain(found->second, "{} {} prefetcher has no {}; remove '{}'",
                             row.name.starts_with('a') ? "an" : "a", row.name, has_no, key);
        };
        if (!row.has_entries) means_nothing("entries", "entries");
        if (!row.has_degree) means_nothing("degree", "degree"), means_nothing("distance", "distance");
    }

    void coherence(const YAML::Node& node) {
        CoherenceConfig& coherence = machine_.coherence;
        const auto complaints = fields_.diagnostics().size();
        ReadKeys::read_part(fields_, node, {"'coherence'", "{protocol: mesi, by: directory}"}, coherence);
        const bool off = coherence.protocol == Protocol::none && fields_.diagnostics().size() == complaints;
        for (const auto& [key, mark] : coherence.keys)
            if (off && key != "protocol")
                fields_.complain(mark, "'{}' means nothing with 'protocol: none'; write mesi or moesi, or remove it",
                                 key);
        const auto forward = coherence.keys.find("forward");
        if (coherence.by == CoherenceBy::snooping && forward != coherence.keys.end())
            fields_.complain(forward->second,
                             "nothing is forwarded where all nodes snoop; remove 'forward', or write 'by: directory'");
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
            fields_.complain(
                mark_of(node),
                fmt::format("'{}' of a monitor is a value or a list of values, as in '64' or '[load, store]'",
                            shown(key)));
        return fmt::format("{}", fmt::join(values, "+"));
    }

    MachineDescription& machine_;
    FieldReader fields_;
};

}  // namespace

MachineDescription machine_of(const YAML::Node& root, const std::string& text, const std::string& file_name) {
    MachineDescription machine;
    machine.file = file_name;
    machine.text = text;
    auto diagnostics = MachineReader(machine).read(root);
    if (!diagnostics.empty()) throw MachineError(file_name, std::move(diagnostics));
    if (machine.memories.empty()) machine.memories.emplace_back();
    return machine;
}

YAML::Node load_machine_yaml(const std::string& text, const std::string& file_name) {
    try {
        return load_yaml(text, file_name, "machine file");
    } catch (const FileError& error) {
        throw MachineError(file_name, error.diagnostics());
    }
}

MachineDescription read_machine(const std::string& text, const std::string& file_name) {
    return machine_of(load_machine_yaml(text, file_name), text, file_name);
}

}  // namespace cachetally
