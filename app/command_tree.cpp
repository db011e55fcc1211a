// SPDX-License-Identifier: BSD-3-Clause
#include "app/command_tree.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "cachetally/machine.hpp"
#include "cachetally/topology.hpp"
#include "workloads/kernels/workload.hpp"

namespace cachetally::app {
namespace {

std::vector<std::string> between(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

/// "a|b|c" lists words; "NAME|FILE" names kinds of values.
std::vector<std::string> listed_words(const std::string& value) {
    const bool words = value.find('|') != std::string::npos &&
                       std::ranges::none_of(value, [](unsigned char c) { return std::isupper(c) != 0; });
    return words ? between(value, '|') : std::vector<std::string>{};
}

std::vector<std::string> machine_names() {
    std::vector<std::string> names;
    for (const auto& each : machine_presets()) names.emplace_back(each.name);
    return names;
}

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const WorkloadInfo& each : workload_list()) names.push_back(each.name);
    return names;
}

/// "n=", of which any number is right, and "layout=contiguous".
std::vector<std::string> options_of(const WorkloadInfo& kernel) {
    std::vector<std::string> words;
    for (const WorkloadOption& option : kernel.options) {
        if (option.choices.empty()) words.push_back(option.name + "=");
        for (const std::string& choice : option.choices) words.push_back(option.name + "=" + choice);
    }
    return words;
}

void add_values(OptionFacts& option) {
    const std::string& name = option.names.back();
    const auto names = [&](std::string_view kind) {
        return option.value.find(kind) != std::string::npos || name.find(kind) != std::string::npos;
    };
    option.words = listed_words(option.value);
    const bool machine = name == "--machine" || name == "MACHINE";
    if (machine) option.words = machine_names();
    if (name == "--machine") option.words.emplace_back(option.value == "MACHINE" ? "native" : "host");
    if (name == "WORKLOAD" || name == "KERNEL") option.words = kernel_names();
    if (name == "OPTION")
        for (const WorkloadInfo& kernel : workload_list())
            option.words_after.emplace_back(kernel.name, options_of(kernel));
    option.files = machine || names("FILE") || names("FOLDER") || names("DIR") || names("TRACE") || name == "WORKLOAD";
}

OptionFacts facts_of(const CLI::Option& option) {
    OptionFacts facts;
    if (option.get_positional()) {
        facts.names = {option.get_name()};
    } else {
        for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
    }
    facts.value = option.get_type_size() == 0 ? "" : value_name(option);
    facts.required = option.get_required();
    facts.several = option.get_expected_max() > 1;
    facts.help = option.get_description();
    if (!option.get_default_str().empty()) facts.help += " [default: " + option.get_default_str() + "]";
    add_values(facts);
    return facts;
}

}  // namespace

std::string value_name(const CLI::Option& option) {
    // The library's names hold the checks of an option as well: "UINT:INT in [1 - 256]", "TEXT:{a,b}".
    const std::string type = option.get_type_name();
    const auto open = type.find('{');
    if (open != std::string::npos && type.ends_with('}')) {
        std::string choices = type.substr(open + 1, type.size() - open - 2);
        std::ranges::replace(choices, ',', '|');
        return choices;
    }
    const std::string word = type.substr(0, type.find(':'));
    return word == "UINT" || word == "INT" ? "N" : word;
}

CommandFacts command_facts(const CLI::App& app, const std::string& path) {
    CommandFacts facts{path, app.get_description(), app.get_footer(), {}, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;  // former names have no group
        (option->get_positional() ? facts.arguments : facts.options).push_back(facts_of(*option));
    }
    for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
        facts.below.push_back(command_facts(*below, path.empty() ? below->get_name() : path + " " + below->get_name()));
    return facts;
}

}  // namespace cachetally::app
