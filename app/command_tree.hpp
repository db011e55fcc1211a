// SPDX-License-Identifier: BSD-3-Clause
// The commands and their options as data: what manual pages and completions of shells are made from.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

namespace cachetally::app {

struct OptionFacts {
    std::vector<std::string> names;  ///< "-m", "--machine"; of what stands without a name that of the help, "WORKLOAD"
    std::string value;               ///< as the help names it; empty: a flag
    std::string help;
    std::vector<std::string> words = {};  ///< values to choose from; others may be right, too
    bool files = false;                   ///< or names of files
    /// Words by another one, if that was typed: by a kernel its options, "n=", "layout=contiguous".
    std::vector<std::pair<std::string, std::vector<std::string>>> words_after = {};
    bool required = false, several = false;
};

struct CommandFacts {
    std::string path;  ///< "trace convert"; empty: the program
    std::string help;
    std::string footer;  ///< examples
    std::vector<OptionFacts> options, arguments;
    std::vector<CommandFacts> below;

    /// The last word of the path.
    std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

/// What stands for the value of an option in the help: "N" for numbers, "a|b" for words to choose from.
std::string value_name(const CLI::Option& option);

CommandFacts command_facts(const CLI::App& app, const std::string& path = "");

}  // namespace cachetally::app
