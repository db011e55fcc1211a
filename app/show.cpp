// SPDX-License-Identifier: BSD-3-Clause
// cachetally show: result files in the terminal.
#include <fmt/format.h>

#include <memory>

#include "app/checks.hpp"
#include "app/commands.hpp"
#include "app/terminal.hpp"
#include "base/phase_list.hpp"
#include "base/text.hpp"
#include "sim/engine/result_file.hpp"
#include "storage/file.hpp"
#include "viewer/show.hpp"
#include "viewer/sweep_view.hpp"

namespace cachetally::app {
namespace {

struct ShowArguments {
    std::string file;
    ShowOptions show;
    unsigned width = 0;
    std::string phases, links, settings;
    ChoiceTexts choice;
    bool plain = false, unicode = false;
    Trust trust = Trust::digests;
};

PhaseChoice phases_of(const std::string& text, const InputFile& file) {
    if (text.empty()) return {};
    if (!file.root().has("phases")) return PhaseChoice({{0, 0}});  // show() says what the option is for
    try {
        return PhaseChoice::of(listed_phases(text, read_phase_names(file.root().open_group("phases"))));
    } catch (const std::invalid_argument& error) {
        throw UsageError("'--phase {}': {}", shown(text), error.what());
    }
}

void run(ShowArguments options) {
    options.show.width = options.width != 0 ? options.width : terminal_width();
    options.show.unicode = options.unicode || (!options.plain && draws_unicode());
    if (!options.links.empty()) options.show.places.links = split_list(options.links);
    if (!options.settings.empty()) options.show.places.settings = split_list(options.settings);
    require_present(options.file);
    const InputFile file(options.file, options.trust);
    options.show.phases = phases_of(options.phases, file);
    const ChoiceTexts& choice = options.choice;
    const std::string kind = result_kind(file);
    if (choice.objectives.empty() && !choice.tolerance && kind == "campaign") {
        options.show.pivot.where = choice.where;
    } else if (choice.given()) {
        options.show.choice = choice_of(choice, kind == "sweep" ? read_sweep_choice(file) : SweepChoice{});
    }
    const std::string text = show(file, options.show);
    if (options.show.json)
        print_json_text(text);
    else
        print_lines(text);
}

}  // namespace

void add_show(CLI::App& app) {
    auto options = std::make_shared<ShowArguments>();
    CLI::App* command =
        app.add_subcommand("show", "Show a result file: tables, histograms over the addresses, heat maps, curves");
    command
        ->add_option("FILE", options->file,
                     "A result of run, replay, sweep, intrusion, trackers or probe with --output, or of a campaign")
        ->required();
    add_trust_option(*command, options->trust);
    ShowOptions& show = options->show;
    add_text_option(*command, "--level", show.level, "A cache or TLB: its tables, its histogram (default: the first)",
                    "NAME", "the name of a level");
    add_text_option(*command, "--phase,--phases", options->phases,
                    "Some phases alone: numbers from 0, ranges and names, each of all phases that have it, as in 3,5-7 "
                    "or solve,4; a name may hold commas, and stand in quotes (\"\")",
                    "N|N-N|NAME,...", "phases, as in 4 or 3,5-7, or a name");
    add_text_option(*command, "--structure", show.structure, "One data structure, in full width", "NAME",
                    "the name of a data structure");
    add_text_option(*command, "--monitor", show.monitor, "The histogram that this monitor gave, instead of a level's",
                    "NAME", "the name of a monitor");
    command->add_option("--what", show.what, "What the histogram of a level shows (default: misses)")
        ->check(one_of_counts({"accesses", "misses", "hits", "missrate", "writebacks"}));
    CLI::Option* heat = command->add_flag("--heat", show.heat, "The histogram as a heat map: phases over addresses");
    command->add_flag("--all-phases", show.all_phases, "Every phase in the table, however many");
    add_choice_options(*command, options->choice,
                       "; of campaigns only points of these values, as in \"n=64,L2.size=1 MiB\"");
    add_text_option(*command, "--workload", show.places.workloads,
                    "Of sweeps: a workload, as in lu or lu,n=64; may be repeated (default: all)",
                    "WORKLOAD[,OPTION...]", "the name of a workload, as in lu,n=64")
        ->allow_extra_args(false);
    add_text_option(*command, "--link", options->links, "Of sweeps: some links, as in core-L1D,L1D-L2 (default: all)",
                    "NAME,NAME...", "the name of a link");
    add_text_option(*command, "--settings", options->settings,
                    "Of sweeps: cells of some settings, as in ways=4 or ways=4,width=8 (default: all)", "KEY=VALUE,...",
                    "settings that were varied, as in ways=4");
    add_text_option(*command, "--rows", show.pivot.rows,
                    "Of campaigns: the parameter down a table of medians (default: with --columns the two numbers with "
                    "most values)",
                    "PARAM", "the name of a parameter");
    add_text_option(*command, "--columns", show.pivot.columns, "Of campaigns: the parameter across it", "PARAM",
                    "the name of a parameter");
    add_text_option(
        *command, "--value", show.pivot.value,
        "Of campaigns: the measure in it, also miss_rate_LEVEL (default: error, else the miss rate of the first level)",
        "MEASURE", "the name of a measure");
    command->add_option("--width", options->width, "Columns; default: the terminal's")
        ->transform(whole_number(40, 1000));
    CLI::Option* plain = command->add_flag("--plain", options->plain, "Draw with ASCII alone");
    command->add_flag("--unicode", options->unicode, "Draw with Unicode blocks even where the output is no terminal")
        ->excludes(plain);
    command
        ->add_flag("--json", show.json, "Print JSON: as the run itself does, and the histogram where one is asked for")
        ->excludes(heat);
    command->footer(
        "Examples:\n"
        "  cachetally run lu --machine generic3 -o lu.h5\n"
        "  cachetally show lu.h5 --level L1D --what accesses\n"
        "  cachetally show lu.h5 --structure A --phase 4 --what missrate\n"
        "  cachetally show lu.h5 --structure A --heat\n"
        "  cachetally show sweep.h5 --workload lu --link core-L1D --where 'error<5'\n"
        "  cachetally show small.campaign/result.h5 --rows L2.size --columns n --value miss_rate_L2");
    command->callback([options] { run(*options); });
}

}  // namespace cachetally::app
