// SPDX-License-Identifier: BSD-3-Clause
// cachetally trace: what is in a trace, and packing it; trace_export.cpp writes it for other tools.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <span>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/input.hpp"
#include "app/pack.hpp"
#include "app/terminal.hpp"
#include "base/text.hpp"
#include "workloads/traces/trace.hpp"

namespace cachetally::app {
namespace {

struct InfoOptions {
    std::string trace;
    TraceChoice choice;
    bool json = false;
};

struct ConvertCommand {
    std::string input;
    std::vector<std::string> settings;
    PackingChoice packing;
};

void run_convert(ConvertCommand command) {
    check_output(command.packing.output, {command.input}, "HDF5");
    catch_interrupts();
    command.packing.input = command.input;
    const Input input = open_input(command.input, command.settings, command.packing.choice);
    pack(input, command.packing);
}

Json to_json(const std::string& name, const TraceInfo& info) {
    Json regions = Json::array();
    for (const Region& region : info.regions)
        regions.push_back({{"name", region.name},
                           {"base", region.base},
                           {"bytes", region.bytes},
                           {"element_bytes", region.element_bytes},
                           {"row_elements", region.row_elements}});
    Json json = {{"trace", name},
                 {"format", name_of(info.format)},
                 {"complete", info.complete && info.failure.empty()},
                 {"file_bytes", info.file_bytes},
                 {"bytes_per_reference", info.bytes_per_reference()},
                 {"cores", info.cores},
                 {"phases", info.phases},
                 {"controls", info.controls},
                 {"references", info.references()},
                 {"loads", info.loads},
                 {"stores", info.stores},
                 {"fetches", info.fetches},
                 {"lines", info.lines},
                 {"pages", info.pages}};
    if (std::ranges::any_of(info.phase_names, [](const std::string& each) { return !each.empty(); }))
        json["phase_names"] = info.phase_names;
    if (info.references() != 0) json["addresses"] = {{"lowest", info.lowest}, {"highest", info.highest}};
    if (is_binary(info.format)) {
        json["records"] = {{"all", info.text_lines}, {"skipped", info.skipped_lines}};
    } else if (info.format != TraceFormat::packed)
        json["text"] = {{"lines", info.text_lines}, {"skipped", info.skipped_lines}};
    json["regions"] = regions;
    json["functions"] = info.functions;
    if (!info.complete) json["incomplete"] = info.incomplete;
    if (!info.failure.empty()) json["failure"] = info.failure;
    return json;
}

/// "fill (1); solve (2, 4, 6)"; empty where no phase has a name.
std::string phase_names(const std::vector<std::string>& names) {
    std::vector<std::string> known;
    std::map<std::string, std::vector<std::size_t>> phases;
    for (std::size_t phase = 0; phase < names.size(); ++phase)
        if (!names[phase].empty()) {
            if (!phases.contains(names[phase])) known.push_back(names[phase]);
            phases[names[phase]].push_back(phase);
        }
    constexpr std::size_t most = 8;
    std::vector<std::string> texts;
    for (const std::string& name : known) {
        const std::span<const std::size_t> all(phases[name]);
        texts.push_back(fmt::format("{} ({}{})", name, fmt::join(all.first(std::min(most, all.size())), ", "),
                                    all.size() > most ? fmt::format(", ...: {} phases", all.size()) : ""));
    }
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string percent(std::uint64_t part, const TraceInfo& info) {
    return fmt::format("{:.1f} %", info.references() == 0
                                       ? 0.0
                                       : 100.0 * static_cast<double>(part) / static_cast<double>(info.references()));
}

void print_table(const std::string& name, const TraceInfo& info) {
    const auto row = [](std::string_view what, const std::string& value) { print("{:<14} {}\n", what, value); };
    row("trace", name);
    row("format", info.complete ? std::string(name_of(info.format))
                                : fmt::format("{}, marked partial: {}", name_of(info.format), info.incomplete));
    row("references", fmt::format("{}", info.references()));
    row("  loads", fmt::format("{} ({})", info.loads, percent(info.loads, info)));
    row("  stores", fmt::format("{} ({})", info.stores, percent(info.stores, info)));
    row("  fetches", fmt::format("{} ({})", info.fetches, percent(info.fetches, info)));
    row("cores", fmt::format("{}", info.cores));
    row("phases", fmt::format("{}", info.phases));
    if (const std::string names = phase_names(info.phase_names); !names.empty()) row("  names", names);
    row("footprint",
        fmt::format("{} of 64 bytes, {} of 4 KiB", numbered(info.lines, "line"), numbered(info.pages, "page")));
    if (info.references() != 0) row("addresses", fmt::format("{:#x} .. {:#x}", info.lowest, info.highest));
    if (info.file_bytes != 0)
        row("file",
            fmt::format("{}, {:.2f} per reference", numbered(info.file_bytes, "byte"), info.bytes_per_reference()));
    if (is_binary(info.format)) {
        row("records", fmt::format("{}, {} of them without references", info.text_lines, info.skipped_lines));
    } else if (info.format != TraceFormat::packed)
        row("text", fmt::format("{}, {} of them not references (skipped)", numbered(info.text_lines, "line"),
                                info.skipped_lines));
    if (!info.functions.empty()) row("functions", fmt::format("{}", fmt::join(info.functions, ", ")));
    if (info.regions.empty()) return;
    print("\n{:<20} {:>18} {:>16} {:>14}\n", "region", "base", "bytes", "element bytes");
    for (const Region& region : info.regions)
        print("{:<20} {:>#18x} {:>16} {:>14}\n", region.name, region.base, region.bytes, region.element_bytes);
}

void run_info(const InfoOptions& options) {
    catch_interrupts();
    if (options.trace.empty()) throw UsageError("the name of the trace is empty; - is standard input");
    if (options.trace != "-") {
        refuse_kernel(options.trace);
        require_present(options.trace);
    }
    TraceOptions trace_options = options_of(options.choice);
    const TraceInfo info =
        trace_info(options.trace, trace_options, [](const ReferenceSource& source) { return progress_line(source); });
    clear_progress_line();
    if (options.json) {
        print_json(to_json(options.trace, info));
    } else {
        print_table(options.trace, info);
    }
    if (!info.failure.empty())
        throw std::runtime_error(interrupted()
                                     ? "interrupted: what is printed covers the trace until there"
                                     : info.failure + "\ncachetally: what is printed covers the trace until there");
}

void add_info(CLI::App& trace) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App* command = trace.add_subcommand("info", "What is in a trace: references by kind, phases, footprint");
    command->add_option("TRACE", options->trace, "A trace file, or - for standard input")->required();
    add_trace_options(*command, options->choice);
    command->add_flag("--json", options->json, "Print JSON");
    command->footer(
        "Examples:\n"
        "  cachetally trace info gzip.ct.h5\n"
        "  valgrind --tool=lackey --trace-mem=yes ls 2>&1 >/dev/null |\n"
        "      cachetally trace info -");
    command->callback([options] { run_info(*options); });
}

void add_convert(CLI::App& trace) {
    auto options = std::make_shared<ConvertCommand>();
    CLI::App* command = trace.add_subcommand("convert", "Pack a trace: small, and fast to replay");
    command->add_option("IN", options->input, "A trace of any format, - for standard input, or a kernel")->required();
    command->add_option("OUT", options->packing.output, "The packed trace, as in NAME.ct.h5")
        ->required()
        ->check(not_empty("the name of a file"));
    command->add_option("OPTION", options->settings, "Options of the kernel, as in n=256 block=16");
    add_trace_options(*command, options->packing.choice);
    add_source_options(*command, options->packing.choice.part);
    add_name_options(*command, options->packing.choice);
    add_packing_options(*command, options->packing);
    command->footer(
        "Examples:\n"
        "  cachetally trace convert prog.lackey.zst prog.ct.h5\n"
        "  cachetally trace convert radix radix.ct.h5 keys=65536 processors=4\n"
        "  valgrind --tool=lackey --trace-mem=yes ./prog 2>&1 >/dev/null |\n"
        "      cachetally trace convert - prog.ct.h5 --data-only");
    command->callback([options] { run_convert(*options); });
}

}  // namespace

void add_trace(CLI::App& app) {
    CLI::App* trace = app.add_subcommand("trace", "Look at traces, pack and export them (docs/traces.md)");
    trace->require_subcommand(1);
    add_info(*trace);
    add_convert(*trace);
    add_trace_export(*trace);
}

}  // namespace cachetally::app
