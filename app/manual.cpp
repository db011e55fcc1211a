// SPDX-License-Identifier: BSD-3-Clause
// cachetally manual: pages for man, made from the commands.
#include <fmt/format.h>

#include <filesystem>

#include "app/command_tree.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "storage/provenance.hpp"

namespace cachetally::app {
namespace {

using fmt::format;

/// Text as troff reads it: no requests, no ligatures of signs.
std::string plain(const std::string& text) {
    std::string escaped;
    bool begins = true;
    for (const char each : text) {
        if (begins && (each == '.' || each == '\'')) escaped += "\\&";
        if (each == '\\')
            escaped += "\\e";
        else if (each == '-')
            escaped += "\\-";
        else if (each == '\'')
            escaped += "\\(aq";
        else if (each == '`')
            escaped += "\\(ga";
        else if (each == '^')
            escaped += "\\(ha";
        else if (each == '~')
            escaped += "\\(ti";
        else
            escaped += each;
        begins = each == '\n';
    }
    return escaped;
}

std::string upper(std::string text) {
    for (char& each : text) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    return text;
}

/// "cachetally-trace"
std::string page_name(const std::string& path) {
    std::string name = path.empty() ? "cachetally" : "cachetally-" + path.substr(0, path.find(' '));
    return name;
}

std::string called(const CommandFacts& command) {
    return command.path.empty() ? "cachetally" : "cachetally " + command.path;
}

std::string synopsis(const CommandFacts& command) {
    std::string text = format(".B {}\n", plain(called(command)));
    if (!command.options.empty()) text += "[\\fIOPTIONS\\fR]\n";
    if (!command.below.empty()) text += "\\fICOMMAND\\fR ...\n";
    for (const OptionFacts& argument : command.arguments)
        text += format("{0}\\fI{1}{2}\\fR{3}\n", argument.required ? "" : "[", plain(argument.names.back()),
                       argument.several ? "..." : "", argument.required ? "" : "]");
    return text;
}

std::string listed(const std::vector<OptionFacts>& options) {
    std::string text;
    for (const OptionFacts& option : options) {
        std::vector<std::string> names;
        for (const std::string& name : option.names) names.push_back("\\fB" + plain(name) + "\\fR");
        text += format(
            ".TP\n{}{}\n{}\n", fmt::join(names, ", "),
            option.value.empty() || !option.names.back().starts_with('-') ? "" : " \\fI" + plain(option.value) + "\\fR",
            plain(option.help));
    }
    return text;
}

/// Examples as they are typed.
std::string as_written(const std::string& text) { return text.empty() ? "" : format(".nf\n{}\n.fi\n", plain(text)); }

/// A command, and those below it as sections.
std::string body(const CommandFacts& command) {
    std::string text = format(".SH DESCRIPTION\n{}.\n", plain(command.help));
    if (!command.arguments.empty()) text += ".SH ARGUMENTS\n" + listed(command.arguments);
    if (!command.options.empty()) text += ".SH OPTIONS\n" + listed(command.options);
    for (const CommandFacts& below : command.below) {
        text += format(".SH {}\n{}.\n.PP\n{}", upper(plain(called(below))), plain(below.help), synopsis(below));
        text += listed(below.arguments) + listed(below.options) + ".PP\n" + as_written(below.footer);
    }
    return text;
}

std::string head(const std::string& name, const std::string& help) {
    return format(
        ".\\\" Written by: cachetally manual\n.TH {} 1 \"\" \"cachetally {}\" \"cachetally\"\n.SH NAME\n{} \\- {}\n",
        upper(plain(name)), plain(release_version()), plain(name), plain(help));
}

std::string page_of(const CommandFacts& command) {
    std::string text =
        head(page_name(command.path), command.help) + ".SH SYNOPSIS\n" + synopsis(command) + body(command);
    if (!command.footer.empty()) text += ".SH NOTES\n" + as_written(command.footer);
    return text + ".SH SEE ALSO\n.BR cachetally (1)\n";
}

std::string page_of_program(const CommandFacts& program) {
    std::string text = head("cachetally", program.help) + ".SH SYNOPSIS\n" + synopsis(program) +
                       format(".SH DESCRIPTION\n{}.\n.SH COMMANDS\n", plain(program.help));
    for (const CommandFacts& command : program.below)
        text += format(".TP\n\\fB{}\\fR(1)\n{}\n", plain(page_name(command.path)), plain(command.help));
    return text + ".SH OPTIONS\n" + listed(program.options) + ".SH NOTES\n" + as_written(program.footer);
}

void write_pages(const CommandFacts& program, const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw UsageError("{}: no folder can be made there: {}", folder, error.message());
    write_text_output({.file = folder + "/cachetally.1", .force = true}, page_of_program(program));
    for (const CommandFacts& command : program.below)
        write_text_output({.file = folder + "/" + page_name(command.path) + ".1", .force = true}, page_of(command));
}

}  // namespace

void add_manual(CLI::App& app) {
    CLI::App* command = app.add_subcommand("manual", "Write the manual pages (for man) into a folder");
    auto folder = std::make_shared<std::string>();
    command->add_option("FOLDER", *folder, "Is made where it is not there; pages of the same names are replaced")
        ->required();
    command->footer("Example: cachetally manual man1; man -l man1/cachetally-run.1");
    command->callback([&app, folder] { write_pages(command_facts(app), *folder); });
}

}  // namespace cachetally::app
