// SPDX-License-Identifier: BSD-3-Clause
#include "app/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/checks.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "workloads/kernels/workload.hpp"

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

bool is_kernel(const std::string& name) {
    const auto& all = workload_list();
    return std::any_of(all.begin(), all.end(), [&](const WorkloadInfo& info) { return info.name == name; });
}

void refuse_kernel(const std::string& name) {
    std::error_code absent;
    if (!is_kernel(name) || std::filesystem::exists(name, absent)) return;
    throw UsageError(fmt::format(
        "'{}' is a kernel, and there is no trace file of that name; kernels are run by 'cachetally run {}', and "
        "written as traces by 'cachetally trace convert {} {}.ct.h5'",
        name, name, name, name));
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
    return input;
}

Input open_input(const std::string& name, const std::vector<std::string>& settings, const TraceChoice& choice,
                 Opening opening) {
    if (is_kernel(name)) {
        const TraceChoice usual;
        if (choice.format != usual.format || choice.din_bytes != usual.din_bytes || choice.trust != usual.trust)
            throw UsageError(fmt::format("--format, --din-bytes and --trust are for traces; '{}' is a kernel", name));
        return kernel_input(name, settings);
    }
    std::error_code error;
    if (name != "-" && !looks_like_path(name) && !std::filesystem::exists(name, error)) refuse(name);
    if (!settings.empty())
        throw UsageError(fmt::format("'{}': a trace has no options, those of kernels are like n=256; '{}' is a trace",
                                     settings.front(), name));
    return trace_input(name, choice, opening);
}

}  // namespace cachetally::app
