// SPDX-License-Identifier: BSD-3-Clause
// cachetally check: workloads against budgets.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "app/budgeted.hpp"
#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/output.hpp"
#include "app/source.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "campaign/budget_report.hpp"
#include "sim/topology/yaml_document.hpp"
#include "viewer/text_table.hpp"

namespace cachetally::app {
namespace {

struct CheckArguments {
    std::string file, junit, markdown, store;
    bool json = false;
    std::uint64_t count = 0, warmup = 0;
    const CLI::Option *count_option = nullptr, *warmup_option = nullptr;
};

/// Takes what programs print.
class NullDevice {
public:
    NullDevice() : descriptor_(::open("/dev/null", O_WRONLY | O_CLOEXEC)) {
        if (descriptor_ < 0)
            throw std::runtime_error(fmt::format("/dev/null cannot be opened: {}", std::strerror(errno)));
    }
    NullDevice(const NullDevice&) = delete;
    NullDevice& operator=(const NullDevice&) = delete;
    ~NullDevice() { ::close(descriptor_); }
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

BudgetFile read_file(const std::string& path) {
    require_present(path);
    const auto text = read_yaml_file(path);
    if (!text) throw UsageError("{} cannot be read: {}", shown(path), std::strerror(errno));
    return read_budgets(*text, path);
}

/// Where an option is given, it is that of all checks.
void cut_checks(const CLI::Option& option, std::uint64_t given, std::uint64_t BudgetCheck::*part, BudgetFile& file) {
    if (option.count() == 0) return;
    for (BudgetCheck& check : file.checks) {
        if (given != 0 && check.needs_instructions())
            throw UsageError(
                "{0}: '{1}' has a budget of mpki, whose instructions are those of the whole run; leave {0} out, or use "
                "mpkr",
                option.get_name(), shown(check.name));
        check.*part = given;
    }
}

void print_table(const BudgetReport& report) {
    std::vector<TextTable::Column> columns;
    for (const std::string& title : budget_columns())
        columns.push_back({title, title == "check" || title == "budget" || title == "verdict"
                                      ? TextTable::Align::left
                                      : TextTable::Align::right});
    TextTable table(std::move(columns), 2);
    for (const std::vector<std::string>& row : budget_rows(report)) table.add({row.begin(), row.end()});
    constexpr unsigned log_width = 160;  // logs of CI are read in pages that scroll
    print_lines(table.text(::isatty(STDOUT_FILENO) != 0 ? terminal_width() : std::max(terminal_width(), log_width)));
    for (const std::string& line : report.complaints()) print_lines(line + '\n');
}

/// Reports are made anew by each call, and replaced.
OutputOptions replaced(const std::string& file) { return {file, true}; }

/// What would be replaced must have been made by the same option, and nothing added.
void require_own(const std::string& path, FileEnds ends, const std::string& option) {
    std::error_code absent;
    if (!std::filesystem::exists(path, absent)) return;
    if (!std::filesystem::is_regular_file(path, absent))
        throw UsageError("{}: '{}' is no file; {}", option, shown(path),
                         option == "--markdown" ? "'-' prints" : "give the name of one");
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty() || (text.starts_with(ends.begin) && text.ends_with(ends.end))) return;
    throw UsageError(
        "{}: '{}' is there and none of its files, or has more in it; it is not replaced: give another name", option,
        shown(path));
}

void check_outputs(const CheckArguments& options, const BudgetFile& file) {
    InputNames inputs = {options.file};
    for (const BudgetCheck& check : file.checks)
        for (const std::string& input : {check.trace, check.machine, is_result_file(check.stored) ? check.stored : ""})
            inputs.push_back(input);
    const std::string* const outputs[] = {&options.junit, &options.markdown, &options.store};
    for (const std::string* one : outputs)
        for (const std::string* other : outputs)
            if (one < other && !one->empty() && *one == *other)
                throw UsageError("'{}' is to be written twice; give each output a name of its own", shown(*one));
    require_own(options.junit, junit_ends, "--junit");
    if (options.markdown != "-") require_own(options.markdown, markdown_ends, "--markdown");
    require_own(options.store, stored_ends, "--store");
    for (const auto& [output, what] :
         {std::pair(options.junit, "JUnit XML"), {options.markdown, "Markdown"}, {options.store, "values"}})
        if (!output.empty() && output != "-") check_text_output(replaced(output), inputs, what);
}

void write_outputs(const CheckArguments& options, const BudgetReport& report, const std::vector<BudgetCheck>& checks) {
    if (!options.junit.empty()) write_text_output(replaced(options.junit), to_junit(report));
    if (!options.markdown.empty() && options.markdown != "-")
        write_text_output(replaced(options.markdown), to_markdown(report));
    if (!options.store.empty()) write_text_output(replaced(options.store), to_stored(report, checks));
}

void check_budget_file(const CheckArguments& options) {
    if (options.json && options.markdown == "-")
        throw UsageError("--json and '--markdown -' both print; give the Markdown a file");
    if (options.junit == "-" || options.store == "-") throw UsageError("--junit and --store write files; '-' is none");
    BudgetFile file = read_file(options.file);
    cut_checks(*options.count_option, options.count, &BudgetCheck::count, file);
    cut_checks(*options.warmup_option, options.warmup, &BudgetCheck::warmup, file);
    check_outputs(options, file);
    catch_interrupts();
    const NullDevice programs_output;
    BudgetReport report{options.file, {}};
    for (const BudgetCheck& check : file.checks)
        for (JudgedBudget& each : run_check(check, programs_output.descriptor(), options.store.empty()))
            report.budgets.push_back(std::move(each));
    if (options.json)
        print_json(to_json(report));
    else if (options.markdown == "-")
        print_lines(to_markdown(report));
    else
        print_table(report);
    write_outputs(options, report, file.checks);
    if (!report.kept()) throw std::runtime_error(fmt::format("{}: {}", shown(options.file), report.summary()));
    to_stderr(fmt::format("{}: {}\n", shown(options.file), report.summary()));
}

}  // namespace

void add_check(CLI::App& app) {
    auto options = std::make_shared<CheckArguments>();
    CLI::App* command =
        app.add_subcommand("check", "Run workloads and say which exceed their budgets of misses, cycles or swap-outs");
    add_text_option(*command, "FILE", options->file, "What is run, and what it may cost (docs/ci.md)", "FILE.yaml",
                    "the name of a budget file")
        ->required();
    options->count_option = add_count_option(*command, options->count, "; default: 'count' of each check");
    options->warmup_option = add_warmup_option(*command, options->warmup, "; default: 'warmup' of each check");
    command->add_flag("--json", options->json, "Print JSON");
    add_text_option(*command, "--junit", options->junit, "Write JUnit XML, a test case for each budget", "FILE.xml",
                    "the name of a file");
    add_text_option(*command, "--markdown", options->markdown,
                    "Write the table in Markdown; -: print it, as for >> $GITHUB_STEP_SUMMARY", "FILE.md",
                    "the name of a file, or -");
    add_text_option(*command, "--store", options->store,
                    "Write the values for later checks, whose file says 'stored: FILE.json'; 'stored' is not compared "
                    "with this time",
                    "FILE.json", "the name of a file");
    command->footer(
        "Exit status: 0 = all budgets are kept; 1 = one is not, or a run failed; 2 = the file is not right, and\n"
        "nothing was run.\n"
        "Examples:\n"
        "  cachetally check budget.yaml\n"
        "  cachetally check budget.yaml --junit budgets.xml --markdown budgets.md\n"
        "  cachetally check budget.yaml --store main.json");
    command->callback([options] { check_budget_file(*options); });
}

}  // namespace cachetally::app
