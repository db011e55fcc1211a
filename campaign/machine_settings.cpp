// SPDX-License-Identifier: BSD-3-Clause
#include "campaign/machine_settings.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/text.hpp"
#include "cachetally/topology.hpp"
#include "sim/topology/yaml_document.hpp"

namespace cachetally {
namespace {

constexpr const char* lists[] = {"caches", "tlbs", "memories"};

/// The components of a machine file by their names, then its own keys.
std::vector<std::string> first_words(const YAML::Node& root) {
    std::vector<std::string> words;
    for (const char* list : lists)
        if (root[list] && root[list].IsSequence())
            for (const YAML::Node& each : root[list])
                if (each.IsMap() && each["name"] && each["name"].IsScalar()) words.push_back(each["name"].Scalar());
    for (const auto& entry : root) words.push_back(entry.first.Scalar());
    return words;
}

/// The component, or the mapping, that the first word of a key names; undefined where there is none.
YAML::Node named(const YAML::Node& root, const std::string& word) {
    for (const char* list : lists)
        if (root[list] && root[list].IsSequence())
            for (const YAML::Node& each : root[list])
                if (each.IsMap() && each["name"] && each["name"].IsScalar() && each["name"].Scalar() == word)
                    return each;
    return root[word];
}

std::vector<std::string> words_of(const std::string& key) {
    std::vector<std::string> words;
    for (const std::string_view each : split(key, '.')) words.emplace_back(each);
    return words;
}

void set(YAML::Node& root, const std::string& file, const MachineSetting& setting) {
    const std::vector<std::string> words = words_of(setting.first);
    if (words.size() == 1) {
        root[words.front()] = setting.second;
        return;
    }
    YAML::Node node = named(root, words.front());
    if (!node.IsDefined() || !node.IsMap()) {
        const std::vector<std::string> known = first_words(root);
        const std::vector<std::string_view> views(known.begin(), known.end());
        throw MachineError(file, {{{},
                                   fmt::format("'{}': the machine has no '{}'{}", shown(setting.first),
                                               shown(words.front()), advice(words.front(), views))}});
    }
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        YAML::Node below = node[words[i]];
        node.reset(below);
    }
    node[words.back()] = setting.second;
}

}  // namespace

SettableMachine::SettableMachine(const std::string& text, std::string file)
    : file_(std::move(file)), text_(text), root_(load_machine_yaml(text, file_)) {}

MachineDescription SettableMachine::with(std::span<const MachineSetting> settings) {
    if (settings.empty()) return machine_of(root_, text_, file_);
    std::string label = file_;
    for (const MachineSetting& setting : settings) {
        set(root_, file_, setting);
        label += fmt::format("{} {}={}", &setting == settings.data() ? " with" : "", setting.first, setting.second);
    }
    YAML::Emitter out;
    out << root_;
    return machine_of(root_, std::string(out.c_str()) + "\n", label);
}

std::string setting_in(const std::string& text, const std::string& key) {
    const YAML::Node root = YAML::Load(text);
    const std::vector<std::string> words = words_of(key);
    YAML::Node node = named(root, words.front());
    for (std::size_t i = 1; i < words.size() && node.IsDefined(); ++i) {
        if (!node.IsMap()) return "";
        const YAML::Node below = node[words[i]];
        node.reset(below);
    }
    return node.IsDefined() && node.IsScalar() ? node.Scalar() : "";
}

void add_seed(MachineDescription& machine, std::uint64_t seed) {
    machine.pages.seed += seed;
    for (CacheConfig& cache : machine.caches) cache.seed += seed;
    for (TlbConfig& tlb : machine.tlbs) tlb.seed += seed;
}

}  // namespace cachetally
