// SPDX-License-Identifier: BSD-3-Clause
#include "app/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "app/checks.hpp"
#include "app/pack.hpp"
#include "app/terminal.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "workloads/traces/source_window.hpp"

namespace cachetally::app {
namespace {

/// Gives standard output to the program, and what this one prints to standard error or a file. Returns the descriptor
/// for the program.
int part_standard_output(const std::string& report) {
    std::fflush(stdout);
    const int of_program = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const int target =
        report.empty() ? ::dup(STDERR_FILENO) : ::open(report.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (target < 0)
        throw UsageError(fmt::format("--report: {} cannot be written: {}", shown(report), std::strerror(errno)));
    ::dup2(target, STDOUT_FILENO);
    ::close(target);
    if (report.empty()) std::setvbuf(stdout, nullptr, _IOLBF, 0);  // in the order of the other messages there
    return of_program;
}

/// What users must know of how the program ended.
std::string end_in_words(const ProgramEnd& end) {
    return end.signal != 0 ? fmt::format("was ended by signal {} ({})", end.signal, ::strsignal(end.signal))
                           : fmt::format("exited with status {}", end.status);
}

}  // namespace

void add_program_options(CLI::App& command, ProgramChoice& choice) {
    command
        .add_option(
            "--with", choice.with,
            "What records a program: 'compiled', its own runtime (programs built by cachetally-cc; no fetches); "
            "'valgrind', any program; 'lackey', the same without names and threads; 'auto': the first where the "
            "program has it")
        ->check(one_of({"auto", "valgrind", "compiled", "lackey"}))
        ->capture_default_str();
    command
        .add_option("--report", choice.report,
                    "With a program: the file for what this command prints; default: standard error")
        ->type_name("FILE")
        ->check(not_empty("the name of a file"));
    command.add_flag("--barriers", choice.barriers,
                     "A program's barriers (pthread, OpenMP) end phases, as CACHETALLY_PHASE of cachetally.h does");
    command.add_flag("--children", choice.children,
                     "Capture the programs that the program executes in its place (exec), too");
    command
        .add_option("--program", choice.program,
                    "Capture the first process that executes this program, as in --program cc1 -- gcc -c x.c")
        ->type_name("NAME")
        ->check(not_empty("the name of a program"));
}

void add_field_options(CLI::App& command, ProgramChoice& choice) {
    command.add_flag(
        "--fields", choice.fields,
        "Tell the fields of structs apart: of variables and heap blocks whose types debugging information has");
    command
        .add_option("--type", choice.types,
                    "The elements of a data structure are of this type of the program (may be repeated); NAME is the "
                    "beginning of its name, as of the function that allocates it. Implies --fields")
        ->type_name("NAME=TYPE")
        ->allow_extra_args(false);
    command
        .add_option("--element", choice.elements,
                    "The elements of a data structure have so many bytes, of which words of 8 are told apart")
        ->type_name("NAME=BYTES")
        ->allow_extra_args(false);
}

namespace {

/// The parts of "NAME=VALUE".
std::pair<std::string, std::string> parted(const char* option, const std::string& text, const char* example) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
        throw UsageError(fmt::format("'{} {}': write it as in {}", option, shown(text), example));
    return {text.substr(0, equals), text.substr(equals + 1)};
}

FieldOptions fields_of(const ProgramChoice& choice) {
    constexpr std::uint64_t most_bytes = 1 << 20;
    FieldOptions fields{choice.fields || !choice.types.empty() || !choice.elements.empty(), {}};
    for (const std::string& text : choice.types) {
        const auto [name, type] = parted("--type", text, "new_node=struct node");
        fields.elements.push_back({name, type, 0});
    }
    for (const std::string& text : choice.elements) {
        const auto [name, size] = parted("--element", text, "new_node=64");
        const std::uint64_t bytes = parse_whole(size).value_or(0);
        if (bytes == 0 || bytes > most_bytes)
            throw UsageError(fmt::format("'--element {}': an element has 1 to {} bytes", shown(text), most_bytes));
        fields.elements.push_back({name, "", bytes});
    }
    if (fields.any() && !choice.attribution)
        throw UsageError(
            "--fields, --type and --element tell fields of data structures apart; leave --no-attribution out");
    return fields;
}

CaptureWith capture_with(const std::string& name) {
    if (name == "auto") return CaptureWith::automatic;
    if (name == "lackey") return CaptureWith::lackey;
    return name == "compiled" ? CaptureWith::compiled : CaptureWith::valgrind;
}

}  // namespace

Input program_input(const ProgramChoice& choice, unsigned cores) {
    CaptureOptions options;
    options.command = choice.command;
    options.with = capture_with(choice.with);
    options.children = choice.children;
    options.program = choice.program;
    options.decoder.cores = cores;
    options.decoder.map = choice.part.map;
    for (const unsigned core : choice.part.map)
        if (core >= cores)
            throw UsageError(
                fmt::format("--map: there is no core {}: there are {}; add --cores {}", core, cores, core + 1));
    options.decoder.from = choice.part.from;
    options.decoder.barriers_end_phases = choice.barriers;
    options.decoder.fields = fields_of(choice);
    if (choice.attribution) options.sites = std::make_shared<SiteTable>();
    options.decoder.fetches = choice.data_only ? CapturedFetches::none : choice.fetches;
    catch_interrupts();
    options.stop = [] { return interrupted(); };
    try {
        capture(options);  // while errors are still said on standard error
    } catch (const TraceError& error) {
        throw UsageError(error.what());
    }
    options.standard_output =
        choice.standard_output >= 0 ? choice.standard_output : part_standard_output(choice.report);
    Input input;
    input.name = fmt::format("{}", fmt::join(choice.command, " "));
    std::unique_ptr<CapturedProgram> program = capture(options);
    input.program = program.get();
    input.source = late_source(std::move(program), {"", choice.part.skip});
    return input;
}

void refuse_program_options(const ProgramChoice& choice) {
    const std::pair<const char*, bool> given[] = {
        {"--with", choice.with != "auto"}, {"--report", !choice.report.empty()},    {"--barriers", choice.barriers},
        {"--children", choice.children},   {"--program", !choice.program.empty()},  {"--fields", choice.fields},
        {"--type", !choice.types.empty()}, {"--element", !choice.elements.empty()}, {"--data-only", choice.data_only}};
    for (const auto& [option, is_given] : given)
        if (is_given) throw UsageError("{} is for programs, as in: cachetally run {} ... -- PROGRAM", option, option);
}

void add_workload_options(CLI::App& command, WorkloadOptions& options, bool program) {
    command
        .add_option("WORKLOAD", options.source,
                    "A kernel (cachetally workload list) or a trace file, or -- and a program")
        ->required(!program);
    command.add_option("OPTION", options.settings, "Options of the kernel, as in n=256 block=16");
    add_machine_options(command, options.simulation);
    add_trace_options(command, options.choice);
    add_source_options(command, options.choice.part);
    add_name_options(command, options.choice);
    add_program_options(command, options.program);
}

void with_recording(WorkloadOptions& options, const std::vector<std::string>& program,
                    const std::function<void()>& body) {
    ProgramChoice choice = options.program;
    choice.command = program;
    TraceChoice& reading = options.choice;
    if (program.empty()) {
        refuse_program_options(choice);
        return body();
    }
    if (!options.source.empty())
        throw UsageError(fmt::format("'{}' and a program ('{}') cannot be run at once", shown(options.source),
                                     shown(choice.command.front())));
    if (!reading.structures.empty() || !reading.symbols.empty())
        throw UsageError("--structures and --symbols are for traces; a program that runs has its names");
    const TemporaryFolder folder("the program's trace");
    options.source = folder.path() + "/" + std::filesystem::path(program.front()).filename().string();
    PackingChoice packing;
    packing.output = options.source;
    packing.level = 0;
    packing.max_references = options.simulation.taken();
    std::uint64_t references = 0;
    choice.data_only = reading.data_only;
    choice.part = std::exchange(reading.part, {});
    const Input input = program_input(choice, topology_of(options.simulation).machine().cores);
    try {
        write_packed(input, packing, references);
    } catch (const StorageError& error) {
        throw std::runtime_error(
            fmt::format("the program's trace cannot be kept: {}; TMPDIR may name another folder", error.what()));
    }
    body();
    report_end(input);
}

void report_end(const Input& input) {
    if (!input.program) return;
    const ProgramEnd end = input.program->end();
    const std::uint64_t dropped = input.program->events().dropped;
    if (dropped != 0)
        to_stderr(
            fmt::format("cachetally: warning: {} of the program were not recorded\n", numbered(dropped, "reference")));
    for (const std::string& remark : input.program->remarks())
        to_stderr(fmt::format("cachetally: warning: {}\n", printable(remark)));
    if (end.signal == 0 ? end.status == 0 : interrupted()) return;
    to_stderr(fmt::format("cachetally: {} {}\n", shown(input.name), end_in_words(end)));
    throw ProgramStatus{end.signal != 0 ? 128 + end.signal : end.status};
}

}  // namespace cachetally::app
