// SPDX-License-Identifier: BSD-3-Clause
// cachetally completion: what bash, zsh and fish need to complete its command lines, made from its commands.
#include <fmt/format.h>

#include <map>

#include "app/checks.hpp"
#include "app/command_tree.hpp"
#include "app/commands.hpp"
#include "app/terminal.hpp"

namespace cachetally::app {
namespace {

using fmt::format;

/// In single quotes, for all three shells.
std::string quoted(const std::string& text) {
    std::string escaped;
    for (const char each : text) escaped += each == '\'' ? std::string("'\\''") : std::string(1, each);
    return "'" + escaped + "'";
}

std::vector<std::string> names_of(const std::vector<OptionFacts>& options) {
    std::vector<std::string> names;
    for (const OptionFacts& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

/// The help up to its first sentence's end, on one line.
std::string brief(const std::string& help) {
    std::string text = help.substr(0, help.find_first_of(";\n"));
    for (char& each : text)
        if (each == '[' || each == ']' || each == '\\') each = ' ';
    return text;
}

/// As zsh takes it between colons.
std::string zsh_text(const std::string& help) {
    std::string escaped;
    for (const char each : brief(help)) escaped += each == ':' ? std::string("\\:") : std::string(1, each);
    return escaped;
}

/// Of all commands, a command before those below it.
template <class Visit>
void visit_all(const CommandFacts& command, Visit visit) {
    visit(command);
    for (const CommandFacts& below : command.below) visit_all(below, visit);
}

std::string bash_case(const CommandFacts& command) {
    std::vector<std::string> words = names_of(command.options);
    bool files = false, after = false;
    for (const CommandFacts& below : command.below) words.push_back(below.name());
    for (const OptionFacts& argument : command.arguments) {
        words.insert(words.end(), argument.words.begin(), argument.words.end());
        files = files || argument.files;
        after = after || !argument.words_after.empty();
    }
    std::string values;
    for (const OptionFacts& option : command.options)
        if (!option.value.empty())
            values += format("            {}) words={}; files={} ;;\n", fmt::join(option.names, "|"),
                             quoted(format("{}", fmt::join(option.words, " "))), option.files ? 1 : 0);
    return format("    {})\n        case \"$before\" in\n{}            *) words={}; files={}{} ;;\n        esac ;;\n",
                  quoted(command.path), values, quoted(format("{}", fmt::join(words, " "))), files ? 1 : 0,
                  after ? "; after=1" : "");
}

/// What words ask for, the same wherever they may stand.
using WordsAfter = decltype(OptionFacts::words_after);
WordsAfter words_after(const CommandFacts& program) {
    WordsAfter found;
    visit_all(program, [&](const CommandFacts& command) {
        for (const OptionFacts& argument : command.arguments)
            if (!argument.words_after.empty()) found = argument.words_after;
    });
    return found;
}

/// bash takes "layout=contiguous" for three words: of these the last is chosen.
std::string bash_after(const std::string& word, const std::vector<std::string>& options) {
    std::map<std::string, std::vector<std::string>> choices;
    std::vector<std::string> names;
    for (const std::string& option : options) {
        const auto equals = option.find('=');
        auto& own = choices[option.substr(0, equals)];
        if (own.empty()) names.push_back(option.substr(0, equals + 1));
        own.push_back(option.substr(equals + 1));
    }
    std::string text = format("            {}) case \"$set\" in\n", word);
    for (const auto& [name, own] : choices)
        text += format("                {}) words={}; files=0 ;;\n", name, quoted(format("{}", fmt::join(own, " "))));
    return text + format("                *) words={}; files=0 ;;\n            esac ;;\n",
                         quoted(format("{}", fmt::join(names, " "))));
}

std::string bash(const CommandFacts& program) {
    std::string cases, paths, after;
    for (const auto& [word, options] : words_after(program)) after += bash_after(word, options);
    visit_all(program, [&](const CommandFacts& command) {
        cases += bash_case(command);
        if (!command.path.empty()) paths += (paths.empty() ? "" : "|") + quoted(command.path);
    });
    return format(R"(# bash completion of cachetally, written by: cachetally completion bash
_cachetally() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}" path='' words='' files=0 after=0 i
    local set=''  # what the word is the value of
    [[ $word == '=' ]] && word='' set="$before"
    [[ $before == '=' ]] && before="${{COMP_WORDS[COMP_CWORD - 2]}}" set="$before"
    for ((i = 1; i < COMP_CWORD; ++i)); do
        if [[ ${{COMP_WORDS[i]}} == -- ]]; then
            mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
            return
        fi
        case "${{path:+$path }}${{COMP_WORDS[i]}}" in
            {}) path="${{path:+$path }}${{COMP_WORDS[i]}}" ;;
        esac
    done
    case "$path" in
{}    esac
    if ((after)) && [[ $word != -* ]]; then
        for ((i = 2; i < COMP_CWORD; ++i)); do
            case "${{COMP_WORDS[i]}}" in
{}            esac
        done
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; ((files)) && compgen -f -- "$word")
    ((files)) && compopt -o filenames 2> /dev/null
    [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2> /dev/null
    return 0
}}
complete -F _cachetally cachetally
)",
                  paths, cases, after);
}

std::string zsh_values(const OptionFacts& option) {
    if (!option.words_after.empty()) return "_cachetally_after";
    if (option.words.empty()) return option.files ? "_files" : " ";
    const std::string words = format("compadd -- {}", fmt::join(option.words, " "));
    return option.files ? "{ " + words + "; _files }" : "{ " + words + " }";
}

std::string zsh_name(const std::string& path) {
    std::string name = "_cachetally " + path;
    for (char& each : name)
        if (each == ' ') each = '_';
    return name;
}

std::string zsh_arguments(const CommandFacts& command) {
    std::string text;
    for (const OptionFacts& option : command.options) {
        const std::string value =
            option.value.empty() ? "" : format(":{}:{}", zsh_text(option.value), zsh_values(option));
        for (const std::string& name : option.names)
            text += format(" \\\n        {}", quoted(format("*{}[{}]{}", name, zsh_text(option.help), value)));
    }
    std::size_t left = command.arguments.size();
    for (const OptionFacts& argument : command.arguments) {  // the last one may be repeated
        const std::string place = --left == 0 ? "*" : std::to_string(command.arguments.size() - left);
        text +=
            format(" \\\n        {}", quoted(format("{}:{}:{}", place, argument.names.back(), zsh_values(argument))));
    }
    return text;
}

std::string zsh_function(const CommandFacts& command) {
    if (command.below.empty())
        return format("{}() {{\n    _arguments{}\n}}\n", zsh_name(command.path), zsh_arguments(command));
    std::string names, calls;
    for (const CommandFacts& below : command.below) {
        names += format(" {}", quoted(below.name() + ":" + zsh_text(below.help)));
        calls += format("            {}) {} ;;\n", below.name(), zsh_name(below.path));
    }
    return format(R"({}() {{
    local state line
    local -a commands=({})
    _arguments -C{} \
        '1:command:->command' '*::argument:->argument'
    case $state in
        command) _describe command commands ;;
        argument) case $line[1] in
{}        esac ;;
    esac
}}
)",
                  zsh_name(command.path), names, zsh_arguments(command), calls);
}

/// Completes by the first of these words that was typed; what ends with '=' without a space behind it.
std::string zsh_after(const WordsAfter& all) {
    std::string cases;
    for (const auto& [word, options] : all) {
        std::vector<std::string> open, whole;
        for (const std::string& option : options) (option.ends_with('=') ? open : whole).push_back(option);
        cases += format("        {}) compadd -S '' -- {}; compadd -- {} ;;\n", word, fmt::join(open, " "),
                        fmt::join(whole, " "));
    }
    return format(
        "_cachetally_after() {{\n    local word\n    for word in $words; do case $word in\n{}    esac; done\n}}\n",
        cases);
}

std::string zsh(const CommandFacts& program) {
    std::string functions = zsh_after(words_after(program));
    visit_all(program, [&](const CommandFacts& command) { functions += zsh_function(command); });
    return format(
        "#compdef cachetally\n# zsh completion of cachetally, written by: cachetally completion zsh\n{}{} \"$@\"\n",
        functions, zsh_name(""));
}

/// What fish asks whether words of a command's path were typed; none of those below it.
std::string fish_condition(const CommandFacts& command) {
    std::vector<std::string> parts;
    std::string word;
    for (const char each : command.path + ' ') {
        if (each != ' ') {
            word += each;
        } else if (!word.empty()) {
            parts.push_back("__fish_seen_subcommand_from " + word);
            word.clear();
        }
    }
    std::vector<std::string> below;
    for (const CommandFacts& each : command.below) below.push_back(each.name());
    if (!below.empty()) parts.push_back(format("not __fish_seen_subcommand_from {}", fmt::join(below, " ")));
    return format("{}", fmt::join(parts, "; and "));
}

std::string fish_command(const CommandFacts& command) {
    const std::string begin = format("complete -c cachetally -n {}", quoted(fish_condition(command)));
    std::string text;
    const auto values = [](const OptionFacts& option) {
        const std::string words =
            option.words.empty() ? "" : format(" -a {}", quoted(format("{}", fmt::join(option.words, " "))));
        return (option.files ? " -F" : " -f") + words;
    };
    for (const CommandFacts& below : command.below)
        text += format("{} -f -a {} -d {}\n", begin, below.name(), quoted(brief(below.help)));
    for (const OptionFacts& option : command.options) {
        std::string names;
        for (const std::string& name : option.names)
            names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        text += format("{}{}{} -d {}\n", begin, names, option.value.empty() ? "" : " -r" + values(option),
                       quoted(brief(option.help)));
    }
    for (const OptionFacts& argument : command.arguments)
        text += format("{}{} -d {}\n", begin, values(argument), argument.names.back());
    for (const OptionFacts& argument : command.arguments)
        for (const auto& [word, options] : argument.words_after)
            text += format("complete -c cachetally -n {} -f -a {}\n",
                           quoted(format("{}; and __fish_seen_subcommand_from {}", fish_condition(command), word)),
                           quoted(format("{}", fmt::join(options, " "))));
    return text;
}

std::string fish(const CommandFacts& program) {
    std::string text =
        "# fish completion of cachetally, written by: cachetally completion fish\ncomplete -c cachetally -f\n";
    visit_all(program, [&](const CommandFacts& command) { text += fish_command(command); });
    return text;
}

}  // namespace

void add_completion(CLI::App& app) {
    CLI::App* command = app.add_subcommand("completion", "Print what a shell needs to complete command lines");
    auto shell = std::make_shared<std::string>();
    command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
    command->footer(
        "Examples:\n"
        "  cachetally completion bash > ~/.local/share/bash-completion/completions/cachetally\n"
        "  cachetally completion zsh > ~/.zfunc/_cachetally      # a folder of $fpath\n"
        "  cachetally completion fish > ~/.config/fish/completions/cachetally.fish");
    command->callback([&app, shell] {
        const CommandFacts program = command_facts(app);
        print_lines(*shell == "bash" ? bash(program) : *shell == "zsh" ? zsh(program) : fish(program));
    });
}

}  // namespace cachetally::app
