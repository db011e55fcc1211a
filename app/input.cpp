// SPDX-License-Identifier: BSD-3-Clause
#include "app/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/checks.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "workloads/capture/named_source.hpp"
#include "workloads/kernels/workload.hpp"
#include "workloads/traces/source_window.hpp"

namespace cachetally::app {
namespace {

/// Whether a word that names no file was meant as one.
bool looks_like_path(const std::string& name) { return name.find_first_of("/.") != std::string::npos; }

[[noreturn]] void refuse(const std::string& name) {
    std::vector<std::string_view> known;
    for (const WorkloadInfo& info : workload_list()) known.push_back(info.name);
    throw UsageError(fmt::format("'{}' is neither a workload nor a trace file{}", shown(name), advice(name, known)));
}

}  // namespace

bool is_kernel(const std::string& name) { return find_workload(name) != nullptr; }

void refuse_kernel(const std::string& name) {
    std::error_code absent;
    if (!is_kernel(name) || std::filesystem::exists(name, absent)) return;
    throw UsageError(fmt::format(
        "'{}' is a kernel, and there is no trace file of that name; kernels are run by 'cachetally run {}', and "
        "written as traces by 'cachetally trace convert {} {}.ct.h5'",
        name, name, name, name));
}

namespace {

/// "0,0,1,1"
std::vector<unsigned> parse_map(const std::string& text) {
    std::vector<unsigned> map;
    for (const std::string_view word : split(text, ',')) {
        const auto core = parse_whole(trimmed(word));
        if (!core || *core > 255)
            throw UsageError(
                fmt::format("--map: '{}' is not a core; write their numbers, 0 to 255, as in 0,0,1,1", shown(word)));
        map.push_back(static_cast<unsigned>(*core));
    }
    return map;
}

}  // namespace

void add_source_options(CLI::App& command, SourceChoice& choice) {
    command
        .add_option("--from", choice.from, "Begin where this function is first entered; it does not end at its return")
        ->type_name("FUNCTION")
        ->check(not_empty("the name of a function"));
    command
        .add_option("--skip", choice.skip, "Leave out so many references at the beginning, or from where --from begins")
        ->transform(whole_number());
    command
        .add_option_function<std::string>(
            "--map", [&choice](const std::string& text) { choice.map = parse_map(text); },
            "Cores of the threads (streams of a trace), by their number, as in 0,0,1,1; further ones go to all in turn")
        ->type_name("CORE,CORE...");
}

void add_name_options(CLI::App& command, TraceChoice& choice) {
    command
        .add_option("--structures", choice.structures,
                    "Names of a trace's data: lines of ADDRESS BYTES ELEMENT NAME (docs/traces.md)")
        ->type_name("FILE")
        ->check(not_empty("the name of a file"));
    command
        .add_option("--symbols", choice.symbols,
                    "A program or library whose symbols name a trace's data and code, and the address of its first "
                    "byte where it may lie anywhere; may be repeated, the program first")
        ->type_name("FILE[@0x...]")
        ->check(not_empty("the name of a file"))
        ->allow_extra_args(false);
}

namespace {

/// What the option says of the file that it names.
template <class Read>
auto read_for(const char* option, Read read) {
    try {
        return read();
    } catch (const TraceError& error) {
        throw UsageError(fmt::format("{}: {}", option, error.what()));
    }
}

void give_names(Input& input, const TraceChoice& choice) {
    if (choice.structures.empty() && choice.symbols.empty()) return;
    std::vector<Region> structures;
    std::vector<MappedFile> files;
    if (!choice.structures.empty()) {
        require_present(choice.structures);
        structures = read_for("--structures", [&] { return read_structures(choice.structures); });
    }
    for (const std::string& text : choice.symbols)
        files.push_back(read_for("--symbols", [&] { return symbol_file(text); }));
    auto named = read_for(choice.symbols.empty() ? "--structures" : "--symbols", [&] {
        return named_source(std::move(input.source), std::move(structures), std::move(files));
    });
    input.function_of = [source = named.get()](std::uint32_t site) { return source->function_of(site); };
    input.source = std::move(named);
}

}  // namespace

void choose_part(Input& input, const SourceChoice& choice) {
    input.source = late_source(std::move(input.source), {choice.from, choice.skip, input.function_of});
    if (choice.map.empty()) return;
    if (choice.map.size() > input.source->cores())
        throw UsageError(fmt::format("--map has {}, '{}' has {}", numbered(choice.map.size(), "core"),
                                     shown(input.name), numbered(input.source->cores(), "stream")));
    input.source = mapped_source(std::move(input.source), choice.map, 1 + std::ranges::max(choice.map));
    input.is_mapped = true;
}

void add_trace_options(CLI::App& command, TraceChoice& choice) {
    command
        .add_option("--format", choice.format,
                    fmt::format("What the trace is: {}; auto recognises it", trace_formats_in_words(false)))
        ->check(one_of(trace_format_names()))
        ->capture_default_str();
    command.add_flag("--data-only", choice.data_only, "Leave out instruction fetches");
    command.add_option("--din-bytes", choice.din_bytes, "Bytes of din references that state none (1 to 65535)")
        ->transform(whole_number(1, 65535))
        ->capture_default_str();
    add_trust_option(command, choice.trust);
}

TraceOptions options_of(const TraceChoice& choice) {
    TraceOptions options;
    options.format = parse_trace_format(choice.format).value_or(TraceFormat::automatic);
    options.data_only = choice.data_only;
    options.din_reference_bytes = choice.din_bytes;
    options.trust = choice.trust;
    options.stop = [] { return interrupted(); };
    return options;
}

Input trace_input(const std::string& path_or_dash, const TraceChoice& choice, Opening opening) {
    if (path_or_dash.empty()) throw UsageError("the name of the trace is empty; - is standard input");
    catch_interrupts();  // before the first reading, that may wait for a pipe
    Input input;
    input.name = path_or_dash == "-" ? "standard input" : path_or_dash;
    if (path_or_dash != "-") {
        refuse_kernel(path_or_dash);
        require_present(path_or_dash);
        input.trace_file = path_or_dash;
    }
    TraceOptions options = options_of(choice);
    options.notes = std::make_shared<TextNotes>();
    OpenedTrace opened = open_trace_as(path_or_dash, options);
    if (opened.format != TraceFormat::packed && !is_binary(opened.format)) input.notes = options.notes;
    input.source = std::move(opened.source);
    input.incomplete = std::move(opened.incomplete);
    if (!input.incomplete.empty() && opening == Opening::first)
        to_stderr(fmt::format(
            "cachetally: warning: {} is marked partial ({}): it has the beginning of the program alone, and what "
            "is made of it is marked partial too\n",
            shown(input.name), shown(input.incomplete)));
    give_names(input, choice);
    choose_part(input, choice.part);
    return input;
}

Input open_input(const std::string& name, const std::vector<std::string>& settings, const TraceChoice& choice,
                 Opening opening) {
    if (is_kernel(name)) {
        const TraceChoice usual;
        if (choice.format != usual.format || choice.din_bytes != usual.din_bytes || choice.trust != usual.trust)
            throw UsageError(fmt::format("--format, --din-bytes and --trust are for traces; '{}' is a kernel", name));
        if (!choice.structures.empty() || !choice.symbols.empty())
            throw UsageError(fmt::format("--structures and --symbols are for traces; '{}' is a kernel", name));
        Input input = kernel_input(name, settings);
        choose_part(input, choice.part);
        return input;
    }
    std::error_code error;
    if (name != "-" && !looks_like_path(name) && !std::filesystem::exists(name, error)) refuse(name);
    if (!settings.empty())
        throw UsageError(fmt::format("'{}': a trace has no options, those of kernels are like n=256; '{}' is a trace",
                                     settings.front(), name));
    return trace_input(name, choice, opening);
}

}  // namespace cachetally::app
