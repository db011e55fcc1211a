// SPDX-License-Identifier: BSD-3-Clause
// How the help of commands looks: short option names, descriptions wrapped for a terminal of 80 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace cachetally::app {

class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter();
    std::string make_option_opts(const CLI::Option* option) const override;
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* command) const override;
};

/// Breaks a text at spaces into lines of at most so many columns. Longer words stay whole.
std::string wrapped(const std::string& text, std::size_t columns);

}  // namespace cachetally::app
