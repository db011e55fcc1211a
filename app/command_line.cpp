// SPDX-License-Identifier: BSD-3-Clause
// The command line of cachetally, and of programs that bring tests of their own. Subcommands are in the files of their
// names.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "app/command_tree.hpp"
#include "app/commands.hpp"
#include "app/program.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "cachetally/probe_program.hpp"
#include "cachetally/topology.hpp"
#include "sim/model/tags/instruction_set.hpp"
#include "storage/provenance.hpp"
#include "viewer/text_table.hpp"

namespace cachetally::app {

std::vector<std::string> command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return words;
}

void print_json_text(std::string_view json) { write_output(printable_json(json)); }

void print_json(const Json& json) { print_json_text(json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'); }

}  // namespace cachetally::app

namespace {

using cachetally::app::UsageError;

constexpr int failed = 1, wrong_use = 2;
constexpr std::size_t terminal_columns = 80, left_columns = 26;

/// How the help of commands looks: short option names, descriptions wrapped for a terminal of 80 columns.
class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter() {
        column_width(left_columns);
        label("SUBCOMMAND", "COMMAND");
    }

    std::string make_option_opts(const CLI::Option* option) const override {
        if (option->get_type_size() == 0) return "";
        std::string text = option->get_positional() ? "" : " " + cachetally::app::value_name(*option);
        if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
        return text;
    }

    std::string make_option_desc(const CLI::Option* option) const override {
        std::string text = option->get_description();
        if (!option->get_default_str().empty()) text += " [default: " + option->get_default_str() + "]";
        return beside_names(text);
    }

    std::string make_subcommand(const CLI::App* command) const override {
        std::ostringstream out;
        CLI::detail::format_help(out, command->get_name(), beside_names(command->get_description()), left_columns);
        return out.str();
    }

private:
    static std::string beside_names(const std::string& text) {
        const std::string lines = cachetally::wrapped(text, terminal_columns - left_columns);
        return lines.substr(0, lines.size() - 1);  // without the last line break
    }
};

constexpr char footer[] =
    "First steps:\n"
    "  cachetally workload list                      what can be run\n"
    "  cachetally machine list                       on what\n"
    "  cachetally run lu n=128                       hits, misses and monitors of all\n"
    "                                                levels, by phase and data structure\n"
    "  cachetally run lu n=128 -o lu.h5; cachetally show lu.h5\n"
    "                                                keep the result and look into it\n"
    "  cachetally view lu.h5                         the same in the browser\n"
    "  cachetally sweep lu --preset paper-2002       the experiment of Schulz et al. 2002\n"
    "  cachetally run -- ls /usr                     a real program\n"
    "'cachetally COMMAND --help' lists the options of a command, with examples.\n\n"
    "Exit status: 0 = done; 1 = failed on the way, interrupted, the input is damaged,\n"
    "or the output cannot be written; 2 = the command line, a machine or a monitor is\n"
    "not right, or an input file is not there, and nothing was run.";

/// A message without the ends of endless words, which may come from what was typed.
std::string without_endless_words(const std::string& message) {
    constexpr std::size_t longest_word = 300;
    std::string text;
    std::size_t word = 0;
    for (const char character : message) {
        const bool space = character == ' ' || character == '\n';
        word = space ? 0 : word + 1;
        if (word == longest_word) text += "...";
        if (word < longest_word) text += character;
    }
    return text;
}

/// The name that a program was called by: "cachetally", or that of one with tests of its own.
std::string name_of_program(int argc, char** argv) {
    const std::string name = argc == 0 ? "" : std::filesystem::path(argv[0]).filename().string();
    return name.empty() ? "cachetally" : cachetally::shown(name);
}

void report(const std::string& message) { cachetally::app::to_stderr(without_endless_words(message) + "\n"); }

/// The innermost command that was named.
const CLI::App& chosen(const CLI::App& app) {
    const auto below = app.get_subcommands();
    return below.empty() ? app : chosen(*below.front());
}

/// "cachetally trace convert"
std::string path_of(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(below->get_name());
    return names;
}

/// What a command could have been given in place of a word that it does not know.
std::string advice_for(const CLI::App& command, const std::string& word) {
    std::vector<std::string> names;
    if (word.starts_with('-')) {
        for (const CLI::Option* option : command.get_options())
            if (!option->get_group().empty())  // former names have no group
                for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    } else {
        names = command_names(command);
    }
    const std::vector<std::string_view> known(names.begin(), names.end());
    return known.empty() ? "" : cachetally::advice(word.substr(0, word.find('=')), known);
}

/// What is wrong with a word that nothing takes.
std::string unexpected(const CLI::App& command, const std::string& word) {
    return fmt::format("{} '{}'{}",
                       word.starts_with('-')            ? "there is no option"
                       : command_names(command).empty() ? "unexpected argument"
                                                        : "there is no command",
                       cachetally::shown(word), advice_for(command, word));
}

/// What is wrong with the number of an option's values: CLI11's text begins with its name.
std::string wrong_count(const CLI::App& command, const std::string& text) {
    const std::string name = text.substr(0, text.find(':'));
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr) {  // of options without values the text begins with the name without dashes
        const std::string flag = text.substr(0, text.find(' '));
        return command.get_option_no_throw("--" + flag) == nullptr ? text : fmt::format("--{} takes no value", flag);
    }
    if (option->count() > static_cast<std::size_t>(option->get_expected_max())) {
        const auto& others = option->get_lnames();
        return fmt::format("{}{} is given {} times; give it once", name,
                           others.size() > 1 ? fmt::format(" (also --{})", others.back()) : "", option->count());
    }
    return fmt::format("{} needs a value: {} {}", name, name, option->get_type_name());
}

std::string wrong_use_of(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
    const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
    const std::string text = error.what();
    if (code == CLI::ExitCodes::ArgumentMismatch) return wrong_count(command, text);
    if (code != CLI::ExitCodes::ExtrasError && code != CLI::ExitCodes::RequiredError) return text;
    if (const auto extra = command.remaining(); !extra.empty()) return unexpected(command, extra.front());
    if (const auto early = app.remaining(); !early.empty())
        return fmt::format("'{}' stands before the command; write it behind: {} ...", cachetally::shown(early.front()),
                           path_of(command));
    const std::vector<std::string> below = command_names(command);
    if (!below.empty()) return fmt::format("a command is missing; known are: {}", fmt::join(below, ", "));
    return text;
}

/// The text with another name of an option, where its own stands.
std::string renamed(std::string text, const std::string& own, const std::string& other) {
    for (auto at = text.find(own); at != std::string::npos; at = text.find(own, at + other.size())) {
        const auto behind = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at + own.size());
        const bool is_whole =
            behind == at + own.size() || (behind == std::string::npos && at + own.size() == text.size());
        if (is_whole) text.replace(at, own.size(), other);
    }
    return text;
}

/// What is wrong, with options of several names under those that were written; messages have the first.
std::string as_written(const CLI::App& command, std::string text, const std::vector<std::string>& words) {
    const auto is_written = [&](const std::string& name) {
        return std::ranges::any_of(words,
                                   [&](const auto& word) { return word == name || word.starts_with(name + '='); });
    };
    for (const CLI::Option* option : command.get_options()) {
        const std::vector<std::string>& names = option->get_lnames();
        if (names.size() < 2 || is_written("--" + names.front())) continue;
        for (const std::string& other : names)
            if (is_written("--" + other) && text.find("--" + other) == std::string::npos)
                text = renamed(std::move(text), "--" + names.front(), "--" + other);
    }
    return text;
}

int report_wrong_use(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
    const CLI::App& command = chosen(app);
    report(fmt::format("{}: {}\nTry '{} --help'.", app.get_name(),
                       as_written(command, wrong_use_of(app, command, error), words), path_of(command)));
    return wrong_use;
}

void group_commands(CLI::App& app) {
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        command->group("Commands");
        for (CLI::Option* option : command->get_options())
            if (option->get_expected_max() == 0) option->disable_flag_override();
        group_commands(*command);
    }
}

/// Commands that run programs, which stand behind "--".
constexpr std::string_view with_program[] = {"run", "record", "sweep", "intrusion", "trackers", "advise"};

/// Cuts the program off a command line.
std::vector<std::string> take_program(std::vector<std::string>& words) {
    const auto separator = std::ranges::find(words, "--");
    if (separator == words.end() || words.empty() ||
        std::ranges::find(with_program, words.front()) == std::end(with_program))
        return {};
    std::vector<std::string> program(separator + 1, words.end());
    words.erase(separator, words.end());
    if (program.empty()) throw UsageError("a program must follow '--', as in: cachetally run -- ls -l");
    return program;
}

int run(int argc, char** argv, const std::string& name) {
    if (const char* set = std::getenv("CACHETALLY_INSTRUCTION_SET")) {
        try {
            cachetally::use_instruction_set(set);
        } catch (const std::invalid_argument& error) {
            report(fmt::format("{}: CACHETALLY_INSTRUCTION_SET: {}", name, error.what()));
            return wrong_use;
        }
    }
    CLI::App app("Simulator of hardware cache monitors with memory access histograms", name);
    app.require_subcommand(1);
    app.set_version_flag("--version",
                         fmt::format("cachetally {}\n{}", cachetally::program_version(), cachetally::build_facts()),
                         "Print the version and how this was built, and exit");
    app.set_help_flag("-h,--help", "Print this help and exit");
    app.formatter(std::make_shared<HelpFormatter>());
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    const std::vector<std::string> program = take_program(words);
    cachetally::app::add_run(app, program);
    cachetally::app::add_record(app, program);
    cachetally::app::add_replay(app);
    cachetally::app::add_sweep(app, program);
    cachetally::app::add_campaign(app);
    cachetally::app::add_intrusion(app, program);
    cachetally::app::add_trackers(app, program);
    cachetally::app::add_advise(app, program);
    cachetally::app::add_show(app);
    cachetally::app::add_annotate(app);
    cachetally::app::add_compare(app);
    cachetally::app::add_fit(app);
    cachetally::app::add_check(app);
    cachetally::app::add_view(app);
    cachetally::app::add_report(app);
    cachetally::app::add_figure(app);
    cachetally::app::add_workload(app);
    cachetally::app::add_trace(app);
    cachetally::app::add_machine(app);
    cachetally::app::add_probe(app);
    cachetally::app::add_validate(app);
    cachetally::app::add_cpu(app);
    cachetally::app::add_doctor(app);
    cachetally::app::add_completion(app);
    cachetally::app::add_manual(app);
    // Not before: commands take over what they find here.
    app.set_help_all_flag("--help-all", "Print the help of all commands and exit");
    app.footer(footer);
    group_commands(app);
    try {
        std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        return report_wrong_use(app, error, words);
    } catch (const UsageError& error) {
        throw UsageError(as_written(chosen(app), error.what(), words));
    }
    return 0;
}

/// Where what is printed goes, as the command line says.
std::string output_name(int argc, char** argv) {
    constexpr std::string_view option = "--report";
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        const std::string_view word = argv[i];
        if (word == option && i + 1 < argc) return "--report: " + cachetally::shown(argv[i + 1]);
        if (word.starts_with("--report=")) return "--report: " + cachetally::shown(word.substr(option.size() + 1));
    }
    return "standard output";
}

/// Whoever closed the pipe has seen enough (`| head`): that is not reported.
void report_output_error(const std::string& name, int error, const std::string& output) {
    if (error != EPIPE) report(fmt::format("{}: {} cannot be written: {}", name, output, std::strerror(error)));
}

/// Runs a command; what it throws becomes a message and an exit status.
int guarded(int argc, char** argv, const std::string& name) {
    try {
        return run(argc, argv, name);
    } catch (const cachetally::app::ProgramStatus& program) {
        return program.status;
    } catch (const UsageError& error) {
        report(name + ": " + error.what());
        return wrong_use;
    } catch (const std::invalid_argument& error) {  // machine, monitor and workload options
        report(name + ": " + error.what());
        return wrong_use;
    } catch (const cachetally::FileError& error) {
        report(error.what());
        return wrong_use;
    } catch (const std::bad_alloc&) {
        report(name + ": there is not enough memory for this; try a smaller machine or fewer counters");
        return failed;
    } catch (const std::exception& error) {
        report(name + ": " + error.what());
        return failed;
    }
}

/// A descriptor that is closed would be given to the next file that is opened, and messages would go there.
void occupy_standard_descriptors() {
    for (int descriptor = 0; descriptor <= 2; ++descriptor)
        if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
}

}  // namespace

int cachetally::run_program(int argc, char** argv) {
    occupy_standard_descriptors();
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is a failed write like others
    const std::string name = name_of_program(argc, argv);
    const int status = guarded(argc, argv, name);
    const int error = cachetally::app::end_output();
    if (error == 0) return status;
    report_output_error(name, error, output_name(argc, argv));
    return status == 0 ? failed : status;
}
