// SPDX-License-Identifier: BSD-3-Clause
#include "app/help.hpp"

#include <algorithm>
#include <sstream>

namespace cachetally::app {
namespace {

constexpr std::size_t terminal_columns = 80, left_columns = 26;

/// What stands for the value: "N" for numbers, "a|b" for words to choose from. The library's names hold the checks
/// of an option as well: "UINT:INT in [1 - 256]", "TEXT:{a,b}".
std::string value_name(const std::string& type) {
    const auto open = type.find('{');
    if (open != std::string::npos && type.ends_with('}')) {
        std::string choices = type.substr(open + 1, type.size() - open - 2);
        std::replace(choices.begin(), choices.end(), ',', '|');
        return choices;
    }
    const std::string word = type.substr(0, type.find(':'));
    return word == "UINT" || word == "INT" ? "N" : word;
}

}  // namespace

std::string wrapped(const std::string& text, std::size_t columns) {
    std::istringstream words(text);
    std::string result;
    std::size_t column = 0;
    for (std::string word; words >> word;) {
        const bool fits = column + 1 + word.size() <= columns;
        if (column != 0) result += fits ? ' ' : '\n';
        column = column != 0 && fits ? column + 1 + word.size() : word.size();
        result += word;
    }
    return result;
}

HelpFormatter::HelpFormatter() {
    column_width(left_columns);
    label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
    if (option->get_type_size() == 0) return "";
    std::string text = option->get_positional() ? "" : " " + value_name(option->get_type_name());
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    return text;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
    std::string text = option->get_description();
    if (!option->get_default_str().empty()) text += " [default: " + option->get_default_str() + "]";
    return wrapped(text, terminal_columns - left_columns);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(),
                             wrapped(command->get_description(), terminal_columns - left_columns), left_columns);
    return out.str();
}

}  // namespace cachetally::app
